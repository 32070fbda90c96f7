//! What the adapter costs, beside a Node agent on the TypeScript ACP SDK, in one run.
//!
//! `cargo bench -p tests --locked --bench adapter` prints a table: figure, the same figure of the Node
//! agent, their ratio, the budget of the design. Nothing is asserted; a row that cannot be measured here
//! says why. How to read it: docs/performance.md.
//!
//! The same executable is the host of the latency rows: started as `… serve` it stands between the adapter
//! and the fake host and stamps each delta (see [`stamp`]).

#[cfg(target_os = "linux")]
mod client;
#[cfg(target_os = "linux")]
mod proc;
#[cfg(target_os = "linux")]
mod rows;
#[cfg(target_os = "linux")]
mod stamp;
#[cfg(target_os = "linux")]
mod table;
#[cfg(target_os = "linux")]
mod turns;

#[cfg(target_os = "linux")]
fn main() -> std::process::ExitCode {
    if let Some(code) = stamp::main_as_host() {
        return code;
    }
    rows::measure_all();
    std::process::ExitCode::SUCCESS
}

#[cfg(not(target_os = "linux"))]
fn main() {
    println!(
        "SKIPPED benchmark: memory and processor time are read from /proc, which only Linux has"
    );
}
