//! The `fake-msp` program.

fn main() -> std::process::ExitCode {
    fake_msp::cli::main()
}
