//! Writes the seeds of all fuzz targets: `cargo run -p scenarios --example seeds -- FOLDER`.

use std::path::PathBuf;
use std::process::ExitCode;

fn main() -> ExitCode {
    let Some(folder) = std::env::args_os().nth(1).map(PathBuf::from) else {
        eprintln!("usage: seeds FOLDER");
        return ExitCode::from(2);
    };
    let corpus = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus");
    let seeds = scenarios::fuzz_support::seeds(&corpus);
    for (number, seed) in seeds.iter().enumerate() {
        let target = folder.join(seed.target);
        let path = target.join(format!("{}-{number}", seed.name));
        if let Err(error) =
            std::fs::create_dir_all(&target).and_then(|()| std::fs::write(path, &seed.bytes))
        {
            eprintln!("seeds: {error}");
            return ExitCode::FAILURE;
        }
    }
    println!("{} seeds", seeds.len());
    ExitCode::SUCCESS
}
