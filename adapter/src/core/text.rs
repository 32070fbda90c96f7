//! How much of a growing text the editor has been shown, without keeping the text (PO-43).
//!
//! Invariants: what was shown is always a prefix of what the host said; memory per text is constant;
//! no character is sent twice (STR-4, STR-5).

use sha2::{Digest, Sha256};

/// Length and digest of the text shown so far.
#[derive(Clone, Default)]
pub struct Shown {
    bytes: usize,
    digest: Sha256,
}

impl std::fmt::Debug for Shown {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Shown({} bytes)", self.bytes)
    }
}

impl Shown {
    /// Records that `text` is being sent.
    pub fn append(&mut self, text: &str) {
        self.bytes += text.len();
        self.digest.update(text.as_bytes());
    }

    /// What of `whole` has not been shown; `None` when `whole` does not start with what was.
    #[must_use]
    pub fn rest<'a>(&self, whole: &'a str) -> Option<&'a str> {
        let rest = whole.get(self.bytes..)?;
        let same =
            Sha256::digest(&whole.as_bytes()[..self.bytes]) == self.digest.clone().finalize();
        same.then_some(rest)
    }

    /// Whether anything was shown.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.bytes == 0
    }
}

/// The longest prefix of at most `max` bytes that ends at a character boundary (GEN-5).
#[must_use]
pub fn prefix(text: &str, max: usize) -> &str {
    &text[..text.floor_char_boundary(max)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rest_of_a_snapshot_does_not_depend_on_how_the_text_was_cut() {
        let whole = "grüße, 世界!";
        for (at, _) in whole.char_indices() {
            let mut shown = Shown::default();
            for character in whole[..at].chars() {
                shown.append(character.encode_utf8(&mut [0; 4]));
            }
            assert_eq!(shown.rest(whole), Some(&whole[at..]));
        }
    }

    #[test]
    fn another_text_a_shorter_one_and_a_split_character_are_no_continuation() {
        let mut shown = Shown::default();
        shown.append("héllo");
        assert_eq!(shown.rest("hallo world"), None);
        assert_eq!(shown.rest("hé"), None);
        let mut one_byte = Shown::default();
        one_byte.append("a");
        assert_eq!(one_byte.rest("é"), None);
    }
}
