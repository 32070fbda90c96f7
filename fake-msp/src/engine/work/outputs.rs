//! Stored output: what stands behind `outputRef` and `patchRef`, read with `item/readOutput`.
//!
//! Purpose: slices of contents that are computed, not kept, so that a gigabyte costs nothing.
//! Invariants: a text slice never splits a character; `offsetBytes + byteLen` is the next offset
//! until `eof`; the same request gives the same bytes. Rules: section 13.3, ITM-13.

use serde_json::{Map, Value, json};

use super::super::frames::FRAME_BYTES_MAX;
use super::super::plan::{INLINE_BYTES_MAX, Step};
use super::super::repertoire::{speech, tool};
use super::super::sessions::str_of;
use super::super::words::Stored as Wanted;
use super::super::{Host, Kind, Refusal, Reply};

/// Default and largest length of one read, in bytes.
const READ_BYTES_MAX: u64 = 6 * 1024 * 1024;
/// One line of stored text: a number, words, a two-byte letter, a line feed.
const LINE_BYTES: u64 = 32;

/// A stored content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Content {
    /// Numbered lines of [`LINE_BYTES`] bytes, cut at the length.
    Lines { bytes: u64 },
    /// Every byte in turn, which is no text.
    Binary { bytes: u64 },
    /// The change that the word `patch` pretends.
    Patch,
    /// A text of a test.
    #[cfg(test)]
    Text(&'static str),
}

/// The pretended change: the shape of a real one is the host's own and differs by version (ITM-11).
const PATCH: &str = "{\"files\":[{\"path\":\"fake.txt\",\"diff\":\"@@ -0,0 +1 @@\\n+fake\\n\"}]}";

impl Content {
    /// The content behind a reference: its uri says which, so that nothing must be kept and another
    /// process reads the same. A reference of a script has lines.
    fn of(reference: &Value) -> Self {
        let bytes = reference["byteLen"].as_u64().unwrap_or(0);
        let rest = reference["uri"].as_str().and_then(|uri| uri.strip_prefix("fake://"));
        match rest.and_then(|rest| rest.split('/').next()) {
            Some("binary") => Self::Binary { bytes },
            Some("patch") => Self::Patch,
            _ => Self::Lines { bytes },
        }
    }

    fn word(&self) -> &'static str {
        match self {
            Self::Binary { .. } => "binary",
            Self::Patch => "patch",
            _ => "lines",
        }
    }

    /// A content that is a text as it stands.
    fn text(&self) -> Option<&'static str> {
        match self {
            Self::Patch => Some(PATCH),
            #[cfg(test)]
            Self::Text(text) => Some(text),
            Self::Lines { .. } | Self::Binary { .. } => None,
        }
    }

    fn len(&self) -> u64 {
        match self {
            Self::Lines { bytes } | Self::Binary { bytes } => *bytes,
            _ => self.text().map_or(0, |text| text.len() as u64),
        }
    }

    fn slice(&self, from: u64, to: u64) -> Vec<u8> {
        match self {
            Self::Binary { .. } => (from..to).map(|at| (at % 256) as u8).collect(),
            Self::Lines { .. } => {
                let mut bytes = Vec::new();
                for number in from / LINE_BYTES..to.div_ceil(LINE_BYTES) {
                    let line = format!("{number:011} stored fake é line\n");
                    let start = number * LINE_BYTES;
                    for (at, byte) in (start..).zip(line.bytes()) {
                        if (from..to).contains(&at) {
                            bytes.push(byte);
                        }
                    }
                }
                bytes
            }
            _ => {
                let at = |position: u64| usize::try_from(position).unwrap_or(usize::MAX);
                let bytes = self.text().unwrap_or_default().as_bytes();
                bytes.get(at(from)..at(to)).unwrap_or_default().to_vec()
            }
        }
    }

    /// The first position at or after `at` that starts a character (text only).
    fn boundary(&self, at: u64) -> u64 {
        let mut at = at;
        // Continuation bytes look like 10xxxxxx; a character has at most three of them.
        while at < self.len()
            && self.slice(at, at + 1).first().is_some_and(|byte| byte & 0xc0 == 0x80)
        {
            at += 1;
        }
        at
    }
}

impl Host {
    pub(super) fn item_read_output(&mut self, params: &Map<String, Value>) -> Reply {
        let session = self.stored(params)?;
        let (item_id, wanted) = (str_of(params, "itemId"), str_of(params, "outputRef"));
        let not_found = |text: &str| {
            let refusal = Refusal::new(-32011, text).with("itemId", item_id.unwrap_or_default());
            refusal.with("outputRef", wanted.unwrap_or_default())
        };
        let item = item_id.and_then(|id| session.log.view().items.get(id));
        let Some(item) = item else { return Err(not_found("no such item")) };
        let refs = [&item["outputRef"], &item["patchRef"]];
        let Some(reference) = refs.into_iter().find(|slot| slot["id"].as_str() == wanted) else {
            return Err(not_found("the item has no such output"));
        };
        let availability = reference["availability"].as_str().unwrap_or("available");
        if availability != "available" {
            let refusal = Refusal::new(-32041, "the output cannot be read");
            let refusal = refusal.with("availability", availability);
            let refusal = refusal.with("itemId", item_id.unwrap_or_default());
            return Err(refusal.with("outputRef", wanted.unwrap_or_default()));
        }
        let content = Content::of(reference);
        let media = reference["mediaType"].as_str().unwrap_or("text/plain");
        let number = |name: &str| params.get(name).and_then(Value::as_u64);
        let length = number("lengthBytes").unwrap_or(READ_BYTES_MAX).min(READ_BYTES_MAX);
        let mut result = read(&content, number("offsetBytes").unwrap_or(0), length)?;
        result["mediaType"] = media.into();
        if result.to_string().len() > FRAME_BYTES_MAX - 64 * 1024 {
            let refusal = Refusal::new(-32603, "ask for less").kind("outputResultTooLarge");
            return Err(refusal.with("limitBytes", FRAME_BYTES_MAX));
        }
        Ok(result)
    }

    /// The reference to a content, for the item.
    fn reference(&mut self, kind: &str, media: &str, content: &Content) -> Value {
        let id = self.ids.next(Kind::Output);
        json!({
            "id": id, "kind": kind, "uri": format!("fake://{}/{id}", content.word()),
            "mediaType": media, "byteLen": content.len(), "availability": "available",
        })
    }

    pub(in super::super) fn output_steps(&mut self, wanted: Wanted) -> Vec<Step> {
        let (content, media) = match wanted {
            Wanted::Text { bytes } => (Content::Lines { bytes }, "text/plain"),
            Wanted::Binary => (Content::Binary { bytes: 1000 }, "application/octet-stream"),
            Wanted::Lost => (Content::Lines { bytes: 0 }, "text/plain"),
        };
        let inline = content.len().min(INLINE_BYTES_MAX as u64 / 2);
        let shown = match &content {
            Content::Binary { .. } => "(binary output)\n".to_owned(),
            content => {
                String::from_utf8_lossy(&content.slice(0, content.boundary(inline))).into_owned()
            }
        };
        let cut = content.len() > inline;
        let mut reference = self.reference("tool_output", media, &content);
        if wanted == Wanted::Lost {
            reference["availability"] = "missing".into();
        }
        let mut set = json!({ "outputRef": reference });
        if cut {
            set["truncated"] = true.into();
        }
        let mut steps = vec![
            tool("bash", "{}"),
            Step::Delta { part: 0, text: shown },
            Step::Close { status: "completed", set },
        ];
        steps.extend(speech("The whole output is stored. Nothing was executed."));
        steps
    }

    pub(in super::super) fn patch_steps(&mut self) -> Vec<Step> {
        let reference = self.reference("tool_patch", "application/json", &Content::Patch);
        let set = json!({
            "patchSummary": { "files": 1, "added": 1, "removed": 0 }, "patchRef": reference,
        });
        let mut steps = vec![
            tool("edit_file", "{\"path\":\"fake.txt\"}"),
            Step::Close { status: "completed", set },
        ];
        steps.extend(speech("I pretended to edit a file. Nothing was written."));
        steps
    }
}

/// One read: content, encoding and positions.
fn read(content: &Content, offset: u64, length: u64) -> Reply {
    let end = content.len();
    if offset > end {
        return Err(Refusal::invalid_params("offsetBytes: behind the end"));
    }
    if length == 0 {
        return Err(Refusal::invalid_params("lengthBytes: at least 1"));
    }
    let mut to = end.min(offset.saturating_add(length));
    let binary = matches!(content, Content::Binary { .. });
    if !binary {
        let aligned = content.boundary(offset);
        if aligned != offset {
            let refusal = Refusal::invalid_params("offsetBytes: inside a character");
            return Err(refusal.with("alignedNextOffset", aligned));
        }
        // Never half a character: the slice ends before it.
        while to > offset && content.boundary(to) != to {
            to -= 1;
        }
        if to == offset && offset < end {
            let refusal = Refusal::invalid_params("lengthBytes: shorter than the next character");
            return Err(refusal.with("alignedNextOffset", content.boundary(offset + 1)));
        }
    }
    let bytes = content.slice(offset, to);
    let (text, encoding) = match String::from_utf8(bytes) {
        Ok(text) if !binary => (text, "utf8"),
        Ok(text) => (base64(text.as_bytes()), "base64"),
        Err(error) => (base64(error.as_bytes()), "base64"),
    };
    Ok(json!({
        "content": text, "encoding": encoding, "byteLen": to - offset, "offsetBytes": offset,
        "eof": to == end,
    }))
}

/// Standard base64 with padding.
fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let byte = |index: usize| u32::from(chunk.get(index).copied().unwrap_or(0));
        let group = byte(0) << 16 | byte(1) << 8 | byte(2);
        for index in 0..4 {
            let six = (group >> (18 - 6 * index) & 63) as usize;
            let letter = if index <= chunk.len() { char::from(LETTERS[six]) } else { '=' };
            out.push(letter);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stored_line_has_the_length_that_its_arithmetic_needs() {
        let lines = Content::Lines { bytes: 3 * LINE_BYTES };
        let text = String::from_utf8(lines.slice(0, lines.len())).unwrap();
        assert_eq!(text.lines().count(), 3);
        assert!(text.lines().all(|line| line.len() as u64 + 1 == LINE_BYTES), "{text}");
    }

    #[test]
    fn base64_pads() {
        for (plain, coded) in
            [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg==")]
        {
            assert_eq!(base64(plain.as_bytes()), coded);
        }
    }

    #[test]
    fn slices_join_to_the_whole_and_never_split_a_character() {
        let content = Content::Text("aé€😀z");
        let mut offset = 0;
        let mut whole = String::new();
        loop {
            let result = read(&content, offset, 4).unwrap();
            whole.push_str(result["content"].as_str().unwrap());
            offset += result["byteLen"].as_u64().unwrap();
            if result["eof"] == true {
                break;
            }
        }
        assert_eq!(whole, "aé€😀z");
        let inside = read(&content, 2, 4).unwrap_err();
        assert_eq!((inside.code, inside.data["alignedNextOffset"].as_u64()), (-32602, Some(3)));
        assert_eq!(read(&content, 6, 1).unwrap_err().data["alignedNextOffset"], 10);
    }
}
