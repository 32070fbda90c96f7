//! The executable. Which program it is depends on the name it was called by: `scenarios::multicall`.
fn main() -> std::process::ExitCode {
    scenarios::multicall::main()
}
