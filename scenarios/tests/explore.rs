//! Every order of the corpus within a budget (decision 0019): one test per area, with the number of orders.
//!
//! `EXPLORE_ORDERS=20000` takes more of each file; `scenario explore` does the same from the command line.

use std::path::Path;

use scenarios::explore::{Limits, explore};
use scenarios::lang::{catalogue, parse, point};

/// Orders of one file, and of one that has a race in it.
const ORDERS: u64 = 60;
const ORDERS_OF_A_RACE: u64 = 300;

/// Explores an area; at least `explored` files of it must be explorable.
fn area(name: &str, explored: usize) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(name);
    let more = std::env::var("EXPLORE_ORDERS").ok().and_then(|orders| orders.parse().ok());
    let (mut files, mut orders, mut wrong) = (0, 0, String::new());
    for path in catalogue::files(&root).expect("the corpus") {
        let source = std::fs::read_to_string(&path).expect("a story");
        let (Some(file), _) = parse("story", source.as_bytes()) else { continue };
        let axes = point::axes(&file);
        let race = source.contains("\nrace ") || path.to_string_lossy().contains("race");
        let budget = if race { ORDERS_OF_A_RACE } else { ORDERS };
        let limits = Limits { orders: more.unwrap_or(budget), ..Limits::default() };
        let found = match explore(&file, &source, &axes, &point::at(&axes, 0), limits) {
            Ok(found) => found,
            Err(reason) => {
                if race {
                    wrong += &format!("{}, a race, is not explored: {reason}\n", path.display());
                }
                continue;
            }
        };
        files += 1;
        orders += found.orders + found.drawn;
        if let Some(violation) = found.violation {
            wrong += &format!("{}: {}\n{}\n", path.display(), violation.text, violation.story);
        }
    }
    println!("{name}: {orders} orders of {files} files");
    assert!(wrong.is_empty(), "{wrong}");
    assert!(files >= explored, "only {files} files of {name} can be explored");
}

#[test]
fn approval() {
    area("approval", 75);
}

#[test]
fn question() {
    area("question", 30);
}

#[test]
fn cancel() {
    area("cancel", 40);
}

#[test]
fn gap() {
    area("gap", 45);
}

#[test]
fn steering() {
    area("steering", 50);
}

#[test]
fn mode() {
    area("mode", 45);
}

#[test]
fn ends() {
    area("death", 45);
    area("ending", 20);
    area("background", 10);
    area("watchdog", 18);
}

#[test]
fn turns() {
    area("streaming", 45);
    area("lifecycle", 30);
    area("tools", 20);
    area("handshake", 15);
    area("prompt", 10);
    area("robustness", 10);
}
