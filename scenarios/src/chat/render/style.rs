//! Colours. Only here are escape sequences written.

/// Whether text is decorated. Decoration never adds or removes a visible character.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// No escape sequences.
    Plain,
    /// ANSI SGR sequences.
    Ansi,
}

impl Style {
    /// For what matters less.
    #[must_use]
    pub fn dim(self, text: &str) -> String {
        self.sgr("2", text)
    }

    /// For what is looked for.
    #[must_use]
    pub fn bold(self, text: &str) -> String {
        self.sgr("1", text)
    }

    /// For what was added or went well.
    #[must_use]
    pub fn green(self, text: &str) -> String {
        self.sgr("32", text)
    }

    /// For what was removed or went wrong.
    #[must_use]
    pub fn red(self, text: &str) -> String {
        self.sgr("31", text)
    }

    /// For what needs an answer.
    #[must_use]
    pub fn yellow(self, text: &str) -> String {
        self.sgr("33", text)
    }

    fn sgr(self, code: &str, text: &str) -> String {
        match self {
            Self::Plain => text.to_owned(),
            Self::Ansi => format!("\x1b[{code}m{text}\x1b[0m"),
        }
    }
}
