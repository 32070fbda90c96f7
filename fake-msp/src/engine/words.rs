//! Words that steer the obliging host.
//!
//! Purpose: read a prompt, find out what to play. Pure text work.

/// The words, for people.
pub const WORDS_HELP: &str = "\
Prompts that steer the fake host (first line of the prompt; nothing is ever executed):
  run COMMAND      a bash tool card with an approval; `run` may stand anywhere, the rest of its
                   line is the command; `;`, `&&` and `|` make stages, each is asked
  ask              a question with options (userInput/request)
  tool N           a tool card whose output grows by N deltas
  burst N [BYTES]  N text deltas of BYTES bytes (default 16) as fast as the pipe takes them; a text
                   of 1 MiB or more ends as its first 64 KiB, marked truncated
  fail KIND        ends the turn failed with error.kind KIND (modelError, authRequired, stepLimit)
  gap N            N messages that are not delivered, then a view/gap that names the hole
  wait             never ends by itself: try cancel
anything else      one thought and a short answer, streamed word by word
";

/// What a prompt asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Word {
    Answer,
    Run { command: String },
    Ask,
    Tool { deltas: u64 },
    Burst { deltas: u64, bytes: usize },
    Fail { kind: String },
    Gap { messages: u64 },
    Wait,
}

/// Largest delta of a burst, in bytes: well under the frame limit even when escaped.
const DELTA_BYTES_MAX: usize = 1024 * 1024;
const DELTA_BYTES_DEFAULT: usize = 16;
/// Most messages in one hole: a page of 1000 events holds it.
const GAP_MESSAGES_MAX: u64 = 400;
/// Longest quotation of a prompt, in characters.
const QUOTE_CHARS_MAX: usize = 200;

/// The first line that is not blank, shortened.
pub(crate) fn first_line(prompt: &str) -> String {
    let line = prompt.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or("");
    line.chars().take(QUOTE_CHARS_MAX).collect()
}

/// Reads a prompt. What it does not understand is something to answer.
pub(crate) fn read(prompt: &str) -> Word {
    let line = first_line(prompt);
    let words: Vec<&str> = line.split_whitespace().collect();
    let number = |index: usize| words.get(index).and_then(|word| word.parse::<u64>().ok());
    match words.as_slice() {
        ["wait"] => return Word::Wait,
        ["ask", ..] => return Word::Ask,
        ["fail", kind] => return Word::Fail { kind: (*kind).to_owned() },
        ["tool", _] => {
            if let Some(deltas) = number(1) {
                return Word::Tool { deltas };
            }
        }
        ["gap", _] => {
            if let Some(messages) = number(1) {
                return Word::Gap { messages: messages.clamp(1, GAP_MESSAGES_MAX) };
            }
        }
        ["burst", _] | ["burst", _, _] => {
            if let Some(deltas) = number(1) {
                let bytes = number(2).and_then(|bytes| usize::try_from(bytes).ok());
                let bytes = bytes.unwrap_or(DELTA_BYTES_DEFAULT).clamp(1, DELTA_BYTES_MAX);
                return Word::Burst { deltas, bytes };
            }
        }
        _ => {}
    }
    for line in prompt.lines() {
        let mut rest = line;
        while let Some(at) = rest.find("run") {
            let (before, tail) = (&rest[..at], &rest[at + 3..]);
            let starts = before.chars().next_back().is_none_or(char::is_whitespace);
            let command = tail.trim();
            if starts && tail.starts_with(char::is_whitespace) && !command.is_empty() {
                return Word::Run { command: command.to_owned() };
            }
            rest = tail;
        }
    }
    Word::Answer
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prompts_are_read_by_their_words() {
        let run = |command: &str| Word::Run { command: command.to_owned() };
        let cases = [
            ("run ls -la", run("ls -la")),
            ("please run make test", run("make test")),
            ("prune the trees", Word::Answer),
            ("run", Word::Answer),
            ("line one\nrun pwd; ls", run("pwd; ls")),
            ("fail authRequired", Word::Fail { kind: "authRequired".into() }),
            ("burst 3", Word::Burst { deltas: 3, bytes: 16 }),
            ("burst 3 4000000", Word::Burst { deltas: 3, bytes: DELTA_BYTES_MAX }),
            ("burst many", Word::Answer),
            ("tool 5", Word::Tool { deltas: 5 }),
            ("gap 3", Word::Gap { messages: 3 }),
            ("gap 0", Word::Gap { messages: 1 }),
            ("gap", Word::Answer),
            ("wait", Word::Wait),
            ("wait for me", Word::Answer),
            ("", Word::Answer),
        ];
        for (prompt, word) in cases {
            assert_eq!(read(prompt), word, "{prompt:?}");
        }
    }
}
