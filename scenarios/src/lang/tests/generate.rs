//! Stories by seed: well-formed, in any layout, with comments everywhere.
//!
//! `arbitrary` reads its choices from a run of bytes, so a story is a function of its seed, and the same
//! generator can serve a fuzzer later. A failing story is printed whole; there is nothing to shrink.

use std::fmt::Write as _;

use arbitrary::Unstructured;

/// Bytes a story: enough that the choices never run out.
const BYTES: usize = 16 * 1024;

/// The story of a seed.
pub(super) fn story(seed: u64) -> String {
    let bytes = noise(seed);
    let mut writer = Writer {
        choices: Unstructured::new(&bytes),
        out: String::new(),
        comments: 0,
        names: 0,
        items: Vec::new(),
        open: Vec::new(),
    };
    writer.story();
    writer.out
}

/// `splitmix64`, byte by byte.
fn noise(seed: u64) -> Vec<u8> {
    let mut state = seed;
    let words = std::iter::repeat_with(|| {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = state;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ (word >> 31)
    });
    words.take(BYTES / 8).flat_map(u64::to_le_bytes).collect()
}

struct Writer<'b> {
    choices: Unstructured<'b>,
    out: String,
    comments: usize,
    names: usize,
    /// Items that can be continued.
    items: Vec<String>,
    /// Requests of the adapter that are not answered.
    open: Vec<String>,
}

impl Writer<'_> {
    fn below(&mut self, end: usize) -> usize {
        self.choices.int_in_range(0..=end - 1).unwrap_or(0)
    }

    fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    fn pick<'t>(&mut self, all: &[&'t str]) -> &'t str {
        all[self.below(all.len())]
    }

    fn name(&mut self) -> String {
        self.names += 1;
        format!("n{}", self.names)
    }

    fn gap(&mut self) -> &'static str {
        self.pick(&[" ", "  ", "\t", "    "])
    }

    /// A new comment.
    fn comment(&mut self) -> String {
        self.comments += 1;
        let tail = self.pick(&["", " why", "  \"quoted ", " $x {["]);
        format!("#c{}{tail}", self.comments)
    }

    /// Ends a line, maybe with a comment, maybe with blanks, maybe as another system does.
    fn end(&mut self) {
        if self.one_in(6) {
            let comment = self.comment();
            let _ = write!(self.out, " {comment}");
        }
        let end = self.pick(&["\n", "\n", "\n", "\n", "  \n", "\r\n"]);
        self.out.push_str(end);
    }

    /// Comments and blank lines between lines.
    fn pause(&mut self) {
        while self.one_in(4) {
            if self.one_in(2) {
                self.out.push_str(self.choices.choose(&["\n", "\n\n\n", "   \n"]).unwrap_or(&"\n"));
            } else {
                let indent = self.pick(&["", "", "  ", "      "]);
                let comment = self.comment();
                let _ = writeln!(self.out, "{indent}{comment}");
            }
        }
    }

    fn line(&mut self, text: &str) {
        self.pause();
        self.out.push_str(text);
        self.end();
    }

    /// A line below a statement.
    fn member(&mut self, text: &str) {
        let indent = self.pick(&["  ", "   ", "        "]);
        self.line(&format!("{indent}{text}"));
    }

    fn story(&mut self) {
        self.line("scenario \"a generated story\"");
        self.member("id SCN-GEN-01   SCN-GEN-02");
        if self.one_in(2) {
            self.member("hosts fake ,proxy  >= 1.2.1, host < 2.0.0");
        }
        if self.one_in(3) {
            self.member("budget submit = 30s,stall=10s".replace("stall=", "stall = ").as_str());
        }
        self.line("vary $lag in 0ms,  1ms ,2min");
        self.line("vary $any in 1, \"two, 2\", [3, {\"four\": null}], true");
        self.line("stages $run");
        self.member("0 unresolved echo \"one two\" a,b");
        self.member("1    \"futureKind\"");
        self.line("given   turn   running");
        for _ in 0..3 + self.below(12) {
            self.step();
        }
        self.line("after $lag");
        self.line("host -> approval/requested as apr");
        self.member("subject.stages = $run");
        self.member("itemId =  $any");
        self.line("editor <- ok prompt");
        self.line("check host <- turn/start = 1 where sessionId present");
        self.line("check file \"a b.txt\" contains \"x\"");
        self.line("never host <- turn/cancel");
        self.pause();
    }

    fn step(&mut self) {
        match self.below(10) {
            0..=2 => self.item(""),
            3 => {
                self.item("");
                self.item("race ");
            }
            4 => self.expectation(),
            5 => self.answer(),
            6 => {
                let wait = self.pick(&["after 1500ms", "after   2min", "quiet"]);
                self.line(wait);
            }
            7 => {
                let value = self.object(0);
                let gap = self.gap();
                self.line(&format!("host  ->{gap}raw {value}"));
            }
            8 => {
                let bytes = self.pick(&["{\\xff", "\\u00e4\\n", "a\\\\b\\\"", "\\xc3\\xa4"]);
                self.line(&format!("host -> bytes \"{bytes}\""));
            }
            _ => {
                let text = self.text();
                self.line(&format!("editor <- text {text}"));
                let text = self.text();
                self.line(&format!("race editor   <- thought {text}"));
            }
        }
    }

    fn item(&mut self, prefix: &str) {
        let name = self.name();
        let gap = self.gap();
        let lost = if self.one_in(5) { "lost " } else { "" };
        let of = match self.items.last().cloned() {
            Some(item) if self.one_in(2) => format!(" of {item}"),
            _ => String::new(),
        };
        self.line(&format!("{prefix}{lost}host{gap}-> item/started as {name}{of}"));
        for n in 0..self.below(4) {
            let value = self.value(0, true);
            let gap = self.gap();
            let path = self.pick(&["item.kind", "item.x[0].y", "_meta.muse/a[\"b c\"]", "z"]);
            self.member(&format!("m{n}.{path}{gap}= {value}"));
        }
        self.items.push(name);
    }

    fn expectation(&mut self) {
        let name = self.name();
        self.line(&format!("host <- turn/steer as {name}"));
        for n in 0..self.below(4) {
            let test = match self.below(4) {
                0 => "absent".to_owned(),
                1 => "present".to_owned(),
                2 => format!("contains {}", self.text()),
                _ => {
                    let value = self.value(0, false);
                    format!("=   {value}")
                }
            };
            self.member(&format!("m{n} {test}"));
        }
        self.open.push(name);
    }

    fn answer(&mut self) {
        let Some(name) = self.open.pop() else { return };
        if self.one_in(2) {
            self.line(&format!("host -> error  {name}   -32603"));
            self.member("data.kind = \"x\"");
        } else {
            self.line(&format!("host -> ok {name}"));
        }
    }

    fn text(&mut self) -> String {
        self.pick(&["\"one \"", "\"\"", "\"\\u0041\\/\\t\"", "\"ä\u{200b}\\\"#c\"", "\"a # b {\""])
            .replace("#c", "# c")
    }

    /// A value; `act` leaves `_` out.
    fn value(&mut self, depth: usize, act: bool) -> String {
        match self.below(if depth > 2 { 5 } else { 8 }) {
            0 => self.pick(&["0", "-1", "1e400", "0.50", "12345678901234567890"]).to_owned(),
            1 => self.pick(&["true", "false", "null"]).to_owned(),
            2 => self.pick(&["$turn", "$start.commandId", "$any", "$turn.a[0].b/c"]).to_owned(),
            3 if !act => "_".to_owned(),
            3 | 4 => self.text(),
            5 | 6 => {
                let list = self.list(depth, |writer| writer.value(depth + 1, act));
                format!("[{list}]")
            }
            _ => self.object(depth),
        }
    }

    fn object(&mut self, depth: usize) -> String {
        let mut key = 0;
        let list = self.list(depth, |writer| {
            key += 1;
            let gap = writer.pick(&["", " ", "  "]);
            let value = writer.value(depth + 1, true);
            format!("\"k{key}\"{gap}:{gap}{value}")
        });
        format!("{{{list}}}")
    }

    /// Elements in one line, or over several with comments and blank lines between them.
    fn list(&mut self, depth: usize, mut element: impl FnMut(&mut Self) -> String) -> String {
        let count = self.below(4);
        let broken = self.one_in(3);
        let mut out = String::new();
        for n in 0..count {
            self.inside(broken, depth, &mut out);
            out.push_str(&element(self));
            if n + 1 < count {
                out.push_str(self.pick(&[",", ", ", " , "]));
            }
            if broken && self.one_in(3) {
                let comment = self.comment();
                let _ = write!(out, " {comment}\n  ");
            }
        }
        self.inside(broken, depth, &mut out);
        out
    }

    fn inside(&mut self, broken: bool, depth: usize, out: &mut String) {
        if !broken {
            return;
        }
        out.push_str(self.pick(&["\n", "\n\n", "  \n\n\n"]));
        while self.one_in(4) {
            let comment = self.comment();
            let indent = self.pick(&["", "   "]);
            let _ = writeln!(out, "{indent}{comment}");
        }
        let _ = write!(out, "{:width$}", "", width = 1 + depth);
    }
}
