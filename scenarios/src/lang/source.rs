//! A text with its path, and positions in it.
//!
//! Inputs: the text of a file. Outputs: lines, columns, excerpts. Invariants: spans are byte ranges on
//! character boundaries; lines and columns count from one, columns in characters (MSG-1).
//! It does not know the language.

/// A range of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    /// First byte.
    pub start: usize,
    /// One behind the last byte.
    pub end: usize,
}

impl Span {
    /// From `start` to `end`.
    #[must_use]
    pub const fn new(start: usize, end: usize) -> Self {
        Self { start, end }
    }

    /// From the start of `self` to the end of `last`.
    #[must_use]
    pub const fn to(self, last: Self) -> Self {
        Self { start: self.start, end: last.end }
    }
}

/// Where something stands. Two places are always equal: position is no part of what a file says, so
/// that two trees can be compared by meaning.
#[derive(Clone, Copy, Debug)]
pub struct At {
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
    /// The bytes.
    pub span: Span,
}

impl PartialEq for At {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for At {}

/// The text of one file.
#[derive(Clone, Debug)]
pub struct Source {
    path: String,
    text: String,
    starts: Vec<usize>,
}

impl Source {
    /// A text and the path that messages name.
    #[must_use]
    pub fn new(path: impl Into<String>, text: impl Into<String>) -> Self {
        let text = text.into();
        let starts = std::iter::once(0)
            .chain(
                text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at + 1),
            )
            .collect();
        Self { path: path.into(), text, starts }
    }

    /// The path as given.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The whole text.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Number of lines. What follows the last `\n` is a line only if it is not empty.
    #[must_use]
    pub fn line_count(&self) -> usize {
        let open_end = self.starts.last() != Some(&self.text.len());
        self.starts.len() - usize::from(!open_end)
    }

    /// Index of the line, from 0, that holds this byte.
    #[must_use]
    pub fn line_of(&self, offset: usize) -> usize {
        self.starts.partition_point(|start| *start <= offset).saturating_sub(1)
    }

    /// The line of this index without its end; empty behind the last one.
    #[must_use]
    pub fn line(&self, index: usize) -> &str {
        let span = self.line_span(index);
        &self.text[span.start..span.end]
    }

    /// The bytes of the line of this index, without its end (`\n` or `\r\n`).
    #[must_use]
    pub fn line_span(&self, index: usize) -> Span {
        let end = self.text.len();
        let Some(&start) = self.starts.get(index) else { return Span::new(end, end) };
        let stop = self.starts.get(index + 1).map_or(end, |next| next - 1);
        let line = &self.text[start..stop];
        Span::new(start, start + line.strip_suffix('\r').unwrap_or(line).len())
    }

    /// Where a span stands.
    #[must_use]
    pub fn at(&self, span: Span) -> At {
        let line = self.line_of(span.start);
        let start = self.line_span(line).start;
        let column = self.text[start..span.start].chars().count() + 1;
        At { line: number(line + 1), column: number(column), span }
    }
}

fn number(value: usize) -> u32 {
    u32::try_from(value).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_end_with_or_without_a_carriage_return() {
        let source = Source::new("a.scn", "one\r\ntwo\nthree");
        assert_eq!((0..3).map(|n| source.line(n)).collect::<Vec<_>>(), ["one", "two", "three"]);
        assert_eq!(source.line_count(), 3);
        assert_eq!(Source::new("", "a\n").line_count(), 1);
        assert_eq!(Source::new("", "").line_count(), 0);
    }

    #[test]
    fn columns_count_characters() {
        let source = Source::new("a.scn", "x\näö = 1\n");
        let at = source.at(Span::new(7, 8));
        assert_eq!((at.line, at.column), (2, 4));
        let end = source.at(Span::new(11, 11));
        assert_eq!((end.line, end.column), (3, 1));
    }
}
