//! `serve --scenario FILE`: the story is played by `scenario host`, which stands beside this executable.
//!
//! The language belongs to `scenario`, and it knows this crate; the other way round there would be a circle. So
//! this is a hand-over of the process, streams and all (decision 0015).

use std::ffi::OsString;
use std::io::Write;
use std::path::PathBuf;
use std::process::Command;

use super::args::{ServeOptions, Story};

/// There is nobody to hand over to: the host's code for a configuration error.
const EXIT_CONFIGURATION: u8 = 3;

/// Becomes `scenario host`; returns only with the code to end with.
pub(super) fn hand_over(options: &ServeOptions, story: &Story, stderr: &mut dyn Write) -> u8 {
    let Some(program) = find() else {
        let _ = writeln!(
            stderr,
            "fake-msp: serve --scenario needs the executable `scenario` beside this one; \
             both come from the same build"
        );
        return EXIT_CONFIGURATION;
    };
    let mut command = Command::new(&program);
    command.args(words(options, story));
    let error = become_it(&mut command);
    match error {
        Ok(code) => code,
        Err(error) => {
            let _ = writeln!(stderr, "fake-msp: {}: {error}", program.display());
            EXIT_CONFIGURATION
        }
    }
}

fn words(options: &ServeOptions, story: &Story) -> Vec<OsString> {
    let mut words: Vec<OsString> = vec!["host".into(), "--seed".into()];
    words.push(options.common.seed.to_string().into());
    for (flag, value) in [("--at", story.at.as_deref()), ("--profile", story.profile)] {
        if let Some(value) = value {
            words.extend([flag.into(), value.into()]);
        }
    }
    if options.strict {
        words.push("--strict".into());
    }
    // Behind all flags; a path that begins with a dash is one in this folder.
    let file = match story.file.strip_prefix('-') {
        Some(_) => format!("./{}", story.file),
        None => story.file.clone(),
    };
    words.push(file.into());
    words
}

/// The executable of that name in the folder of this one, which may itself be a link to it.
fn find() -> Option<PathBuf> {
    let own = std::env::current_exe().ok()?.canonicalize().ok()?;
    let path = own.with_file_name(format!("scenario{}", std::env::consts::EXE_SUFFIX));
    path.is_file().then_some(path)
}

#[cfg(unix)]
fn become_it(command: &mut Command) -> std::io::Result<u8> {
    use std::os::unix::process::CommandExt;
    Err(command.exec())
}

#[cfg(not(unix))]
fn become_it(command: &mut Command) -> std::io::Result<u8> {
    let code = command.status()?.code();
    Ok(code.and_then(|code| u8::try_from(code).ok()).unwrap_or(1))
}
