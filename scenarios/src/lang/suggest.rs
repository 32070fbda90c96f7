//! "Did you mean": the nearest word of a table.
//!
//! Inputs: what was written and what is allowed. Output: one allowed word at an edit distance of at
//! most two, where swapping two neighbours counts once. Invariant: the same table gives the same
//! answer; of equally near words the first wins. It does not know the language.

/// Farthest distance that is still called a typing mistake (MSG-1).
pub(crate) const DISTANCE_MAX: usize = 2;

/// The allowed word that is nearest to `found`, unless it is too far or `found` is too short to tell.
pub(crate) fn nearest<'a>(
    found: &str,
    allowed: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    let limit = DISTANCE_MAX.min(found.chars().count().saturating_sub(1));
    let mut best: Option<(usize, &str)> = None;
    for word in allowed {
        let distance = distance(found, word);
        if distance <= limit && best.is_none_or(|(least, _)| distance < least) {
            best = Some((distance, word));
        }
    }
    best.map(|(_, word)| word)
}

/// Insertions, deletions, replacements and swaps of neighbours that make `b` of `a`, letters of either
/// case being equal. Words whose lengths differ by more than [`DISTANCE_MAX`] are simply far.
fn distance(a: &str, b: &str) -> usize {
    let fold = |word: &str| word.chars().flat_map(char::to_lowercase).collect::<Vec<_>>();
    let (a, b) = (fold(a), fold(b));
    if a.len().abs_diff(b.len()) > DISTANCE_MAX {
        return usize::MAX;
    }
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let replace = last[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut least = replace.min(last[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                least = least.min(before[j - 2] + 1);
            }
            row.push(least);
        }
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(found: &str, allowed: &[&'static str], expected: Option<&str>) {
        assert_eq!(nearest(found, allowed.iter().copied()), expected, "{found}");
    }

    #[test]
    fn one_or_two_typing_mistakes_are_found() {
        check("eror", &["ok", "error"], Some("error"));
        check("hsot", &["editor", "host"], Some("host"));
        check("turn/sart", &["turn/start", "turn/steer"], Some("turn/start"));
        check("EDITOR", &["editor", "host"], Some("editor"));
    }

    #[test]
    fn far_and_tiny_words_are_left_alone() {
        check("banana", &["ok", "error"], None);
        check("xk", &["ok", "no"], Some("ok"));
        check("x", &["ok"], None);
        check("", &["ok"], None);
    }
}
