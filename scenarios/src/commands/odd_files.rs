//! Files that are no scenarios, and what each verb says of them. Nothing hangs and nothing panics.

use std::path::{Path, PathBuf};

use super::check::check;
use super::explain::explain;
use super::fmt::fmt;
use super::list::list;
use super::render::{RenderArgs, render};
use super::tests::{Said, folder, say};
use super::{FINDINGS, Format, OK, USAGE};

/// Every verb on one path.
fn every_verb(path: &Path) -> [(&'static str, Said); 5] {
    let paths = [path.to_owned()];
    let args = RenderArgs { path: path.to_owned(), ..RenderArgs::default() };
    [
        ("check", say(|io| check(io, &paths, Format::Text))),
        ("fmt", say(|io| fmt(io, &paths, false))),
        ("list", say(|io| list(io, &paths, false, Format::Text))),
        ("explain", say(|io| explain(io, path, None))),
        ("render", say(|io| render(io, &args))),
    ]
}

/// No verb is content, and each names the path and the reason.
fn refused(path: &Path, reason: &str) {
    for (verb, said) in every_verb(path) {
        let text = said.out + &said.err;
        assert_ne!(said.code, OK, "{verb}: {text}");
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        assert!(text.contains(&name) && text.contains(reason), "{verb}: {text}");
    }
}

#[test]
fn a_path_that_leads_nowhere() {
    let (_folder, root) = folder(&[]);
    refused(&root.join("missing.scn"), "there is no such file or folder");
}

#[test]
fn a_folder_with_the_name_of_a_file() {
    let (_folder, root) = folder(&[]);
    let path = root.join("folder.scn");
    std::fs::create_dir(&path).unwrap();
    for (verb, said) in every_verb(&path) {
        let text = said.out + &said.err;
        assert_eq!(said.code, USAGE, "{verb}: {text}");
        assert!(text.contains("no .scn file in") || text.contains("this is a folder"), "{text}");
    }
}

#[cfg(unix)]
#[test]
fn a_pipe_is_refused_and_not_waited_for() {
    let (_folder, root) = folder(&[]);
    let path = root.join("pipe.scn");
    let made = std::process::Command::new("mkfifo").arg(&path).status().unwrap();
    assert!(made.success());
    refused(&path, "no regular file");
    // Among others in a folder it is passed over, as a socket or a link is.
    let said = say(|io| check(io, std::slice::from_ref(&root), Format::Text));
    assert!(said.code == USAGE && said.err.contains("no .scn file in"), "{}", said.err);
}

#[cfg(unix)]
#[test]
fn a_file_that_may_not_be_read_does_not_hide_the_others() {
    use std::os::unix::fs::PermissionsExt as _;
    let (_folder, root) = folder(&[("a.scn", "x"), ("b.scn", "sceanrio \"x\"\n")]);
    let secret = root.join("a.scn");
    std::fs::set_permissions(&secret, std::fs::Permissions::from_mode(0o000)).unwrap();
    if std::fs::read(&secret).is_ok() {
        // The administrator may read everything.
        return;
    }
    refused(&secret, "it may not be read (permission denied)");
    let said = say(|io| check(io, std::slice::from_ref(&root), Format::Text));
    assert_eq!(said.code, FINDINGS);
    assert!(
        said.out.contains("permission denied") && said.out.contains("b.scn:1:1"),
        "{}",
        said.out
    );
}

// Elsewhere a hole may take room.
#[cfg(unix)]
#[test]
fn a_huge_file_costs_no_more_than_its_first_mebibyte() {
    let (_folder, root) = folder(&[("huge.scn", "")]);
    let path = root.join("huge.scn");
    // A hole of 64 GiB: whoever reads it whole is found out.
    std::fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(64 << 30).unwrap();
    for (verb, said) in every_verb(&path) {
        let text = said.out + &said.err;
        let (code, part) = if verb == "list" {
            (FINDINGS, "have problems")
        } else {
            (FINDINGS, "expected at most 1 MiB")
        };
        assert!(said.code == code && text.contains(part), "{verb}: {text}");
    }
}

#[test]
fn files_that_are_no_text_and_files_of_nothing() {
    let (_folder, root) = folder(&[("empty.scn", ""), ("comment.scn", "# nothing\n")]);
    let write = |name: &str, bytes: &[u8]| -> PathBuf {
        let path = root.join(name);
        std::fs::write(&path, bytes).unwrap();
        path
    };
    let cases = [
        (root.join("empty.scn"), "a file without statements"),
        (root.join("comment.scn"), "a file without statements"),
        (write("latin1.scn", b"scenario \"\xfc\"\n"), "byte 0xFC is not UTF-8"),
        (write("program.scn", b"\x7fELF\x02\x01\x01\0\0"), "this is no text file"),
    ];
    for (path, reason) in cases {
        let said = say(|io| check(io, std::slice::from_ref(&path), Format::Text));
        assert_eq!(said.code, FINDINGS);
        assert!(said.out.contains(reason) && said.out.contains(":1:"), "{}", said.out);
        assert!(said.out.contains("\nhelp: "), "{}", said.out);
    }
}

#[test]
fn a_program_reads_of_a_file_that_cannot_be_read() {
    let (_folder, root) = folder(&[("a.scn", "")]);
    let path = root.join("pipe.scn");
    if std::process::Command::new("mkfifo").arg(&path).status().is_ok_and(|made| made.success()) {
        let said = say(|io| check(io, std::slice::from_ref(&path), Format::Json));
        let line: serde_json::Value = serde_json::from_str(said.out.trim_end()).unwrap();
        assert_eq!((said.code, line["kind"].as_str()), (FINDINGS, Some("unreadable")));
    }
}
