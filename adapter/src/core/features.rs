//! What only some generations of Muse have: one table of feature, first host, and how it is known
//! (PO-13).

/// Something that not every host has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Feature {
    /// The notification `userInput/engaged`.
    Engaged,
}

/// How a row is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Evidence {
    /// The published schema has it.
    Declared,
    /// It was seen to work.
    Verified,
}

/// Feature, the first version that has it, evidence.
const TABLE: [(Feature, [u32; 3], Evidence); 1] =
    [(Feature::Engaged, [1, 4, 0], Evidence::Declared)];

/// Whether a host of this version has the feature. A version that cannot be read has nothing.
#[must_use]
pub fn has(version: Option<&str>, feature: Feature) -> bool {
    let numbers = |version: &str| -> Option<[u32; 3]> {
        let mut parts = version.splitn(3, '.').map(|part| {
            let digits = part.bytes().take_while(u8::is_ascii_digit).count();
            part[..digits].parse().ok()
        });
        Some([parts.next()??, parts.next()??, parts.next()??])
    };
    let Some(found) = version.and_then(numbers) else { return false };
    TABLE.iter().any(|(row, first, _)| *row == feature && found >= *first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_compared_by_its_numbers() {
        for (version, expected) in [
            (Some("1.4.0"), true),
            (Some("1.10.2-R9"), true),
            (Some("1.3.9"), false),
            (Some("1.4"), false),
            (Some("new"), false),
            (None, false),
        ] {
            assert_eq!(has(version, Feature::Engaged), expected, "{version:?}");
        }
    }
}
