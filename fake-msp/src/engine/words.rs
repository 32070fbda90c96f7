//! Words that steer the obliging host.
//!
//! Purpose: read a prompt, find out what to play. Pure text work.

/// The words, for people.
pub const WORDS_HELP: &str = "\
Prompts that steer the fake host (first line of the prompt; nothing is ever executed):
  run COMMAND      a bash tool card with an approval; `run` may stand anywhere, the rest of its
                   line is the command; `;`, `&&` and `|` make stages, each is asked; what is asked
                   follows the approval mode of the session (see `fake-msp profiles`)
  repeat N COMMAND as run, N times in a row in one turn (at most 10000), without a pause
  remember COMMAND as run, with a choice that writes a rule; `remember late COMMAND` tells the
                   outcome of writing it after the turn
  write PATH       a protected write: allow once or reject, nothing else
  fetch HOST       an approval about the network
  ask              a question with options (userInput/request); `question` is the same word
  ask two | many   two questions, or one that takes several options
  ask soon MS      a question that settles itself after MS milliseconds (default 5000)
  tool N           a tool card whose output grows by N deltas: try task/background, task/stop
  task N           a background task of N deltas that outlives its turn: try task/list, task/stop
  output N         a tool card with N bytes of stored output behind item/readOutput; `output binary`
                   is not text, `output lost` cannot be read
  patch            an edit with its patch behind item/readOutput
  shell COMMAND    a userShell item
  subagent [N]     N subagents (1 to 3), from accepted to closed; the turn waits for them
  subagent wait    one that runs until told: try subagent/interrupt, followupTask, stop, close
  workflow         two children, one of which is retried; `workflow wait` runs until told: try
                   workflow/cancel, childControl, pause, resume
  goal TEXT        sets the session's goal and reports progress
  todo             a todo list that is worked off
  compact          a compaction by itself before the answer
  retry [model]    a notice that the provider is asked again, then an answer
  burst N [BYTES]  N text deltas of BYTES bytes (default 16) as fast as the pipe takes them; a text
                   of 1 MiB or more ends as its first 64 KiB, marked truncated
  fail KIND        ends the turn failed with error.kind KIND (modelError, authRequired, stepLimit);
                   a queued `fail launchError` never starts
  gap N            N messages that are not delivered, then a view/gap that names the hole
  wait             never ends by itself: try cancel
anything else      one thought and a short answer, streamed word by word
";

/// What a prompt asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Word {
    Answer,
    Run { command: String },
    Repeat { count: u64, command: String },
    Remember { command: String, late: bool },
    Write { path: String },
    Fetch { host: String },
    Ask(Question),
    Tool { deltas: u64 },
    Task { deltas: u64 },
    Output(Stored),
    Patch,
    Shell { command: String },
    Subagents { count: u64 },
    SubagentWait,
    Workflow { wait: bool },
    Goal { objective: String },
    Todo,
    Compact,
    Retry { model: bool },
    Burst { deltas: u64, bytes: usize },
    Fail { kind: String },
    Gap { messages: u64 },
    Wait,
}

/// Which question is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Question {
    One,
    Two,
    Many,
    Soon { ms: u64 },
}

/// What a tool stores.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Stored {
    Text { bytes: u64 },
    Binary,
    Lost,
}

/// Largest delta of a burst, in bytes: well under the frame limit even when escaped.
const DELTA_BYTES_MAX: usize = 1024 * 1024;
const DELTA_BYTES_DEFAULT: usize = 16;
/// Most messages in one hole: a page of 1000 events holds it.
const GAP_MESSAGES_MAX: u64 = 400;
/// Longest quotation of a prompt, in characters.
const QUOTE_CHARS_MAX: usize = 200;
/// Countdown of `ask soon`, in milliseconds.
const SOON_MS: u64 = 5000;
/// Most subagents of one prompt.
const SUBAGENTS_MAX: u64 = 3;
/// Each round is an item of the turn, and a client may bound those.
const REPEAT_MAX: u64 = 10_000;
/// Largest stored output, in bytes: made when it is read, so the bound is one of patience.
const STORED_BYTES_MAX: u64 = 1 << 30;

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
    let rest = |count: usize| words[count..].join(" ");
    match words.as_slice() {
        ["wait"] => return Word::Wait,
        ["todo"] => return Word::Todo,
        ["compact"] => return Word::Compact,
        ["patch"] => return Word::Patch,
        ["retry"] => return Word::Retry { model: false },
        ["retry", "model"] => return Word::Retry { model: true },
        ["workflow"] => return Word::Workflow { wait: false },
        ["workflow", "wait"] => return Word::Workflow { wait: true },
        ["subagent"] => return Word::Subagents { count: 1 },
        ["subagent", "wait"] => return Word::SubagentWait,
        ["subagent", _] => {
            if let Some(count) = number(1) {
                return Word::Subagents { count: count.clamp(1, SUBAGENTS_MAX) };
            }
        }
        ["ask" | "question", "two"] => return Word::Ask(Question::Two),
        ["ask" | "question", "many"] => return Word::Ask(Question::Many),
        ["ask" | "question", "soon", ..] => {
            return Word::Ask(Question::Soon { ms: number(2).unwrap_or(SOON_MS) });
        }
        ["ask", ..] | ["question"] => return Word::Ask(Question::One),
        ["fail", kind] => return Word::Fail { kind: (*kind).to_owned() },
        ["goal", _, ..] => return Word::Goal { objective: rest(1) },
        ["shell", _, ..] => return Word::Shell { command: rest(1) },
        ["repeat", _, _, ..] => {
            if let Some(count) = number(1) {
                return Word::Repeat { count: count.clamp(1, REPEAT_MAX), command: rest(2) };
            }
        }
        ["remember", "late", _, ..] => return Word::Remember { command: rest(2), late: true },
        ["remember", _, ..] => return Word::Remember { command: rest(1), late: false },
        ["write", path] => return Word::Write { path: (*path).to_owned() },
        ["fetch", host] => return Word::Fetch { host: (*host).to_owned() },
        ["output", "binary"] => return Word::Output(Stored::Binary),
        ["output", "lost"] => return Word::Output(Stored::Lost),
        ["output", _] => {
            if let Some(bytes) = number(1) {
                return Word::Output(Stored::Text { bytes: bytes.min(STORED_BYTES_MAX) });
            }
        }
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
        ["task", _] => {
            if let Some(deltas) = number(1) {
                return Word::Task { deltas };
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
            ("repeat 3 ls -l", Word::Repeat { count: 3, command: "ls -l".into() }),
            ("repeat 0 ls", Word::Repeat { count: 1, command: "ls".into() }),
            ("repeat after me", Word::Answer),
            ("remember make", Word::Remember { command: "make".into(), late: false }),
            ("remember late make a", Word::Remember { command: "make a".into(), late: true }),
            ("remember", Word::Answer),
            ("write a.txt", Word::Write { path: "a.txt".into() }),
            ("write a poem", Word::Answer),
            ("ask me", Word::Ask(Question::One)),
            ("question", Word::Ask(Question::One)),
            ("question of taste", Word::Answer),
            ("ask two", Word::Ask(Question::Two)),
            ("ask soon", Word::Ask(Question::Soon { ms: 5000 })),
            ("question soon 40", Word::Ask(Question::Soon { ms: 40 })),
            ("subagent 9", Word::Subagents { count: 3 }),
            ("subagent wait", Word::SubagentWait),
            ("subagents are fun", Word::Answer),
            ("workflow wait", Word::Workflow { wait: true }),
            ("output 7", Word::Output(Stored::Text { bytes: 7 })),
            ("output more", Word::Answer),
            ("goal world peace", Word::Goal { objective: "world peace".into() }),
            ("goal", Word::Answer),
            ("fail authRequired", Word::Fail { kind: "authRequired".into() }),
            ("burst 3", Word::Burst { deltas: 3, bytes: 16 }),
            ("burst 3 4000000", Word::Burst { deltas: 3, bytes: DELTA_BYTES_MAX }),
            ("burst many", Word::Answer),
            ("tool 5", Word::Tool { deltas: 5 }),
            ("gap 3", Word::Gap { messages: 3 }),
            ("gap 0", Word::Gap { messages: 1 }),
            ("gap", Word::Answer),
            ("task 5", Word::Task { deltas: 5 }),
            ("wait", Word::Wait),
            ("wait for me", Word::Answer),
            ("", Word::Answer),
        ];
        for (prompt, word) in cases {
            assert_eq!(read(prompt), word, "{prompt:?}");
        }
    }
}
