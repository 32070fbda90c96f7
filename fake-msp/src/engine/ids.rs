//! Ids and times, made from the seed and counters.
//!
//! Invariants: same seed and same calls give the same ids; ids do not depend on time, so a run in
//! real time and one in virtual time name things alike. Times are the fixed epoch plus the `now`
//! of the input. Rules: HOST-20, ENV-7.

/// Unix milliseconds of engine time 0: 2026-01-01T00:00:00Z.
pub const EPOCH_MS: u64 = 1_767_225_600_000;

/// Mints uuid-shaped ids (version 7 in form).
#[derive(Debug, Clone)]
pub(crate) struct Ids {
    salt: u64,
    minted: u64,
}

impl Ids {
    pub(crate) fn new(seed: u64) -> Self {
        Self::over(seed, 0)
    }

    /// `boot` tells hosts over one store apart: the same seed gives each of them other ids.
    pub(crate) fn over(seed: u64, boot: u64) -> Self {
        let salt = if boot == 0 { mix(seed) } else { mix(mix(seed) ^ boot) };
        Self { salt, minted: 0 }
    }

    /// The next id. `kind` only colours the id so that transcripts are easier to read.
    pub(crate) fn next(&mut self, kind: Kind) -> String {
        self.minted += 1;
        let stamp = EPOCH_MS + self.minted;
        format!(
            "{:08x}-{:04x}-7{:03x}-8{:03x}-{:012x}",
            (stamp >> 16) & 0xffff_ffff,
            stamp & 0xffff,
            kind as u16,
            self.salt & 0xfff,
            self.salt >> 16
        )
    }
}

/// What an id is for; the value is the third group of the id.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind {
    Session = 0x100,
    /// A turn that no client asked for.
    Turn = 0x200,
    Item = 0x300,
    Approval = 0x400,
    Input = 0x500,
    Record = 0x600,
    Call = 0x700,
    /// A subagent or a workflow run.
    Agent = 0x800,
    /// Stored output.
    Output = 0x900,
}

/// A bijective scramble (the finaliser of splitmix64), so that neighbouring seeds look different.
fn mix(seed: u64) -> u64 {
    let mut z = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// RFC 3339 text, UTC, milliseconds, of engine time `now_ms`.
pub(crate) fn rfc3339(now_ms: u64) -> String {
    let unix_ms = EPOCH_MS.saturating_add(now_ms);
    let (secs, millis) = (unix_ms / 1000, unix_ms % 1000);
    let day_secs = secs % 86_400;
    let (year, month, day) = date(now_ms);
    format!(
        "{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}.{millis:03}Z",
        day_secs / 3600,
        day_secs / 60 % 60,
        day_secs % 60
    )
}

/// Year, month and day of engine time `now_ms`, UTC.
pub(crate) fn date(now_ms: u64) -> (u64, u64, u64) {
    let days = EPOCH_MS.saturating_add(now_ms) / 86_400_000;
    // Civil date from a day count: eras of 400 years that begin on the first of March.
    let shifted = days + 719_468;
    let era = shifted / 146_097;
    let day_of_era = shifted % 146_097;
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    (year_of_era + era * 400 + u64::from(month <= 2), month, day)
}

/// Unix milliseconds of an RFC 3339 text; `None` when it is none. A leap second counts as the
/// second before it.
pub(crate) fn unix_ms(text: &str) -> Option<i64> {
    let number = |from: usize, to: usize| -> Option<i64> {
        let digits = text.get(from..to)?;
        digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok())?
    };
    let byte = |at: usize| text.as_bytes().get(at).copied();
    let marks = [(4, b'-'), (7, b'-'), (13, b':'), (16, b':')];
    if marks.iter().any(|(at, mark)| byte(*at) != Some(*mark))
        || !matches!(byte(10), Some(b'T' | b't' | b' '))
    {
        return None;
    }
    let (year, month, day) = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
    let (hour, minute, second) = (number(11, 13)?, number(14, 16)?, number(17, 19)?);
    if !(1..=12).contains(&month)
        || !(1..=31).contains(&day)
        || hour > 23
        || minute > 59
        || second > 60
    {
        return None;
    }
    let rest = text.get(19..)?;
    let (fraction, zone) = match rest.strip_prefix('.') {
        None => ("", rest),
        Some(rest) => rest.split_at(rest.bytes().take_while(u8::is_ascii_digit).count()),
    };
    if rest.starts_with('.') && fraction.is_empty() {
        return None;
    }
    let millis: i64 = format!("{fraction:0<3}").get(..3)?.parse().ok()?;
    let offset = match zone {
        "Z" | "z" => 0,
        _ => {
            let sign = match zone.as_bytes() {
                [b'+', _, _, b':', _, _] => 1,
                [b'-', _, _, b':', _, _] => -1,
                _ => return None,
            };
            let at = text.len() - 5;
            sign * (number(at, at + 2)? * 60 + number(at + 3, at + 5)?)
        }
    };
    // Days from a civil date, counted from the first of March.
    let shifted_year = if month <= 2 { year - 1 } else { year };
    let era = shifted_year.div_euclid(400);
    let year_of_era = shifted_year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let days = era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100
        + day_of_year
        - 719_468;
    let minutes = days * 1440 + hour * 60 + minute - offset;
    Some((minutes * 60 + second.min(59)) * 1000 + millis)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oracle::shape::is_uuid_v7;

    #[test]
    fn ids_are_unique_uuid_shaped_and_repeat_with_the_seed() {
        let mut one = Ids::new(7);
        let mut two = Ids::new(7);
        let mut other = Ids::new(8);
        let first = one.next(Kind::Item);
        assert_eq!(first, two.next(Kind::Item));
        assert_ne!(first, one.next(Kind::Item));
        assert_ne!(first, other.next(Kind::Item));
        assert!(is_uuid_v7(&first), "{first}");
    }

    #[test]
    fn times_are_read_as_they_are_written() {
        for now in [0, 1, 86_400_000 * 58 + 3_723_004, 86_400_000 * 789, 86_400_000 * 3000 + 999] {
            let unix = i64::try_from(EPOCH_MS + now).unwrap();
            assert_eq!(unix_ms(&rfc3339(now)), Some(unix), "{}", rfc3339(now));
        }
        assert_eq!(unix_ms("1970-01-01T01:00:00+01:00"), Some(0));
        assert_eq!(unix_ms("1969-12-31T23:59:59.5Z"), Some(-500));
        for wrong in [
            "",
            "yesterday",
            "2026-01-01",
            "2026-13-01T00:00:00Z",
            "2026-01-01T00:00:00",
            "2026-01-01T00:00:00.Z",
            "2026-01-01T00:00:00+1:00",
            "2026-01-01T24:00:00Z",
            "é026-01-01T00:00:00Z",
        ] {
            assert_eq!(unix_ms(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn times_are_civil() {
        assert_eq!(rfc3339(0), "2026-01-01T00:00:00.000Z");
        assert_eq!(rfc3339(86_400_000 * 58 + 3_723_004), "2026-02-28T01:02:03.004Z");
        assert_eq!(rfc3339(86_400_000 * 789), "2028-02-29T00:00:00.000Z");
    }
}
