//! The printed result.

use std::time::Duration;

/// One line: a name, our figure, the Node agent's, how they compare, what the design allows.
pub(crate) fn row(name: &str, ours: &str, node: &str, ratio: &str, budget: &str) {
    println!("| {name:<52} | {ours:>15} | {node:>15} | {ratio:>12} | {budget:<24} |");
}

/// The head of the table.
pub(crate) fn head() {
    row("what", "adapter", "Node agent", "ratio", "budget");
    println!("|{:-<54}|{:-<17}|{:-<17}|{:-<14}|{:-<26}|", "", "", "", "", "");
}

/// A row that was not measured.
pub(crate) fn skipped(name: &str, reason: &str) {
    println!("SKIPPED {name}: {reason}");
}

/// How many times as much the Node agent needs.
pub(crate) fn times(ours: f64, node: f64) -> String {
    if ours > 0.0 { format!("{:.1} times", node / ours) } else { String::new() }
}

pub(crate) fn milliseconds(time: Duration) -> String {
    format!("{:.1} ms", time.as_secs_f64() * 1e3)
}

pub(crate) fn microseconds(time: Duration) -> String {
    format!("{:.0} µs", time.as_secs_f64() * 1e6)
}

pub(crate) fn mebibytes(kib: u64) -> String {
    #[expect(clippy::cast_precision_loss, reason = "a figure for people")]
    let mebibytes = kib as f64 / 1024.0;
    format!("{mebibytes:.1} MiB")
}

/// The value at this share of the sorted list, `0.5` for the median.
pub(crate) fn percentile(sorted: &[Duration], share: f64) -> Duration {
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "an index into a list that fits in memory"
    )]
    let index = ((sorted.len().saturating_sub(1)) as f64 * share).round() as usize;
    sorted.get(index).copied().unwrap_or_default()
}

pub(crate) fn median(mut values: Vec<Duration>) -> Duration {
    values.sort_unstable();
    percentile(&values, 0.5)
}
