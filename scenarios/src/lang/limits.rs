//! Bounds of a scenario file, each with its reason.
//!
//! Purpose: a file from anywhere cannot make the reader slow or deep. Every bound that is hit is
//! reported with its value; nothing is cut off silently. Data only.

use std::time::Duration;

/// Largest file: no story that a person reviews comes near (section 2 of the language page).
pub const FILE_BYTES_MAX: usize = 1024 * 1024;

/// Longest line: long enough for a pasted frame, short enough to draw a caret under.
pub const LINE_BYTES_MAX: usize = 16 * 1024;

/// Most statements of one file.
pub const STATEMENTS_MAX: usize = 5_000;

/// Deepest nesting of a value; the reader of values is recursive.
pub const DEPTH_MAX: usize = 64;

/// Most problems that are kept of one file; the rest is only counted.
pub const PROBLEMS_MAX: usize = 1_000;

/// Most problems that are printed of one file (MSG-2).
pub const PROBLEMS_SHOWN: usize = 20;

/// Most lines of one `race`: five lines have 120 orders.
pub const RACE_LINES_MAX: usize = 5;

/// Most points that `vary` and `race` may span together. The runner draws by seed long before
/// (DEC-5); a larger product is a mistake.
pub const POINTS_MAX: u64 = 100_000;

/// Longest `after`: no deadline of the adapter is longer than a day.
pub const DURATION_MAX: Duration = Duration::from_secs(24 * 60 * 60);

/// Largest index in a path, so that a typing mistake cannot make a list of millions.
pub const INDEX_MAX: u32 = 999;
