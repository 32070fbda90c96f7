//! Every code of the language: what it means, a file that has it and the same file without it.
//!
//! Purpose: `docs/diagnostics.md` and the promise that a code is stable. Data only. Invariants, under test:
//! each wrong example gives exactly its code, each right one gives nothing; a code is never used for
//! something else and never given again. Ranges: `S00xx` the file, `S01xx` statements, `S02xx` the lines
//! below them, `S03xx` the header, `S1xxx` names. `S2xxx` and `R0xxx` belong to the runner.
//! Rule: MSG-3.

mod file;
mod header;
mod members;
mod names;
mod page;
mod statements;

pub use page::page;

/// A stable code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Code(&'static str);

impl Code {
    /// `S0104`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        self.0
    }
}

impl std::fmt::Display for Code {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.0)
    }
}

/// What there is to say about a code.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// The code.
    pub code: Code,
    /// What it is about, without a full stop.
    pub title: &'static str,
    /// Why it is refused and what to do.
    pub text: &'static str,
    /// A file with this problem and no other.
    pub wrong: Example,
    /// The same file without it.
    pub right: &'static str,
}

/// A file.
#[derive(Clone, Copy, Debug)]
pub enum Example {
    /// As it is.
    Text(&'static str),
    /// Made, because it is too large or no text; the words describe it.
    Made(fn() -> Vec<u8>, &'static str),
}

impl Example {
    /// The bytes of the file.
    #[must_use]
    pub fn bytes(&self) -> Vec<u8> {
        match self {
            Self::Text(text) => text.as_bytes().to_vec(),
            Self::Made(make, _) => make(),
        }
    }
}

macro_rules! codes {
    ($($name:ident = $text:literal;)*) => {
        $(#[doc = concat!("See the page of codes: `", $text, "`.")] pub const $name: Code = Code($text);)*
        /// Every code in order.
        pub const ALL: &[Code] = &[$($name),*];
    };
}

codes! {
    FILE_TOO_LARGE = "S0001";
    NOT_UTF8 = "S0002";
    LINE_TOO_LONG = "S0003";
    TOO_MANY_STATEMENTS = "S0004";
    TOO_DEEP = "S0005";
    TOO_MANY_POINTS = "S0006";
    TOO_MANY_PROBLEMS = "S0007";
    NO_SCENARIO = "S0101";
    SECOND_SCENARIO = "S0102";
    UNKNOWN_METHOD = "S0103";
    UNKNOWN_KEYWORD = "S0104";
    UNKNOWN_LANE = "S0105";
    WRONG_DIRECTION = "S0106";
    INCOMPLETE = "S0107";
    EXTRA = "S0108";
    BAD_NAME = "S0109";
    BAD_NUMBER = "S0110";
    BAD_DURATION = "S0111";
    UNKNOWN_FAULT = "S0112";
    RACE_ALONE = "S0113";
    RACE_MIXED = "S0114";
    BAD_LOST = "S0115";
    UNKNOWN_OPENING = "S0116";
    OUT_OF_PLACE = "S0117";
    BAD_CHECK = "S0118";
    NOTHING_ASSERTED = "S0119";
    INDENTATION = "S0201";
    STRAY_MEMBER = "S0202";
    NO_MEMBERS_HERE = "S0203";
    BAD_MEMBER = "S0204";
    BAD_PATH = "S0205";
    BAD_VALUE = "S0206";
    UNCLOSED = "S0207";
    NOT_ON_ACT = "S0208";
    MEMBER_TWICE = "S0209";
    BAD_STAGE = "S0210";
    BAD_STRING = "S0211";
    KEY_TWICE = "S0212";
    UNKNOWN_HEADER_KEY = "S0301";
    BAD_HEADER_VALUE = "S0302";
    HEADER_KEY_TWICE = "S0303";
    NO_ID = "S0304";
    UNBOUND = "S1001";
    BOUND_TWICE = "S1002";
    NOT_A_REQUEST = "S1003";
    ANSWERED_TWICE = "S1004";
    NOT_SAME_ENTITY = "S1005";
    WRONG_USE = "S1006";
    NEVER_USED = "S1007";
}

/// All entries in the order of their codes.
pub fn entries() -> impl Iterator<Item = &'static Entry> {
    [file::ENTRIES, statements::ENTRIES, members::ENTRIES, header::ENTRIES, names::ENTRIES]
        .into_iter()
        .flatten()
}

/// The entry of a code, in any case of letters.
#[must_use]
pub fn find(code: &str) -> Option<&'static Entry> {
    entries().find(|entry| entry.code.as_str().eq_ignore_ascii_case(code))
}

const fn entry(
    code: Code,
    title: &'static str,
    text: &'static str,
    wrong: &'static str,
    right: &'static str,
) -> Entry {
    Entry { code, title, text, wrong: Example::Text(wrong), right }
}
