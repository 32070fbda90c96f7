//! One case of the official Rust SDK against a host; prints one JSON object.
//!
//! ```text
//! judge CASE MUSE PROFILE WORKSPACE [HOST_ARG…]
//! judge frames FILE
//! ```
//!
//! Only the SDK's public interface is used. What was seen is reported and not judged: the test beside
//! it knows what it should have been. Every call is bounded, because the SDK has no deadlines.

mod cases;
mod frames;
mod host;

use std::process::ExitCode;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let report = match args.as_slice() {
        [case, file] if case == "frames" => frames::decode_all(file),
        [case, muse, profile, workspace, rest @ ..] => {
            let setup = host::Setup::new(muse, profile, workspace, rest);
            cases::run(case, &setup).await
        }
        _ => Err("usage: judge CASE MUSE PROFILE WORKSPACE [HOST_ARG…] | judge frames FILE".into()),
    };
    match report {
        Ok(report) => {
            println!("{report}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("judge: {error}");
            ExitCode::FAILURE
        }
    }
}
