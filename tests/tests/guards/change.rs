//! One file of `tests/guards`: what it says, and the change that it makes.

use std::path::Path;

/// A guard and how it is taken away.
#[derive(Clone, Debug)]
pub(crate) struct Guard {
    /// The file's name.
    pub(crate) name: String,
    /// What holds thanks to it.
    pub(crate) what: String,
    /// Rules of the contract.
    pub(crate) rules: String,
    /// `area/case` in the corpus.
    pub(crate) story: String,
    /// `area/case` of which `scenario explore` finds an order that breaks a rule.
    pub(crate) order: Option<String>,
    pub(crate) hunks: Vec<Hunk>,
}

/// One replacement.
#[derive(Clone, Debug)]
pub(crate) struct Hunk {
    pub(crate) file: String,
    with: String,
    without: String,
}

impl Guard {
    pub(crate) fn read(file: &Path) -> Result<Self, String> {
        let text = std::fs::read_to_string(file).map_err(|error| error.to_string())?;
        let mut sections = text.split("\n--- ");
        let head = sections.next().unwrap_or_default();
        let member = |name: &str| {
            let line = head.lines().find_map(|line| line.strip_prefix(name));
            line.map(|value| value.trim().to_owned()).ok_or_else(|| format!("no line `{name}`"))
        };
        let hunks = sections.map(Hunk::parse).collect::<Result<Vec<_>, _>>()?;
        if hunks.is_empty() {
            return Err("it changes nothing".to_owned());
        }
        let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let (what, rules, story) = (member("guard ")?, member("rule ")?, member("red ")?);
        Ok(Self { name, what, rules, story, order: member("order ").ok(), hunks })
    }

    pub(crate) fn story_path(&self) -> String {
        path(&self.story)
    }

    pub(crate) fn order_path(&self) -> Option<String> {
        self.order.as_deref().map(path)
    }
}

fn path(story: &str) -> String {
    format!("scenarios/corpus/{story}.scn")
}

impl Hunk {
    fn parse(section: &str) -> Result<Self, String> {
        let (file, change) = section.split_once('\n').ok_or("a change without text")?;
        let (with, without) = change.split_once("\n+++\n").ok_or("a change without `+++`")?;
        let without = without.trim_end_matches('\n').to_owned();
        Ok(Self { file: file.trim().to_owned(), with: with.to_owned(), without })
    }

    /// The file's text before and after.
    pub(crate) fn apply(&self, root: &Path) -> Result<(String, String), String> {
        let path = root.join(&self.file);
        let before =
            std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", self.file))?;
        match before.matches(&self.with).count() {
            1 => {}
            count => {
                return Err(format!("{} has the guard {count} times:\n{}", self.file, self.with));
            }
        }
        let after = before.replace(&self.with, &self.without);
        Ok((before, after))
    }
}
