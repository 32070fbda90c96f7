//! See `muse_code_acp::cli`.

fn main() -> std::process::ExitCode {
    muse_code_acp::cli::main()
}
