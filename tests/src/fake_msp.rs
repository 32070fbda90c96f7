//! The real fake host, under a name that Cargo hands to the tests of this package.

fn main() -> std::process::ExitCode {
    fake_msp::cli::main()
}
