//! The real adapter, under a name that Cargo hands to the tests of this package.

fn main() -> std::process::ExitCode {
    muse_code_acp::cli::main()
}
