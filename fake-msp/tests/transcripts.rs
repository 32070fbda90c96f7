//! `serve --transcript` against every recording of the public material, as a process.
//!
//! The material is read from `MSP_MATERIAL` or from its place beside the repository; where it is
//! absent the test says so by name and passes. Nothing of it is copied here.

#![allow(clippy::unwrap_used, reason = "a panic is the outcome of a test")]

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use fake_msp::transcript::{Dir, EXIT_DEVIATED, Transcript};
use serde_json::{Value, json};

/// Every recording: the folder where it is the folder's own, else the file.
fn recordings(test: &str) -> Vec<PathBuf> {
    let material = std::env::var_os("MSP_MATERIAL").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/msp"),
        PathBuf::from,
    );
    let Ok(folders) = std::fs::read_dir(material.join("transcripts")) else {
        eprintln!("SKIPPED {test}: no MSP_MATERIAL with a folder transcripts");
        return Vec::new();
    };
    let mut all = Vec::new();
    for folder in folders.map(|entry| entry.unwrap().path()).filter(|path| path.is_dir()) {
        let mut found = 0;
        for file in std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()) {
            let name = file.file_name().unwrap().to_string_lossy().into_owned();
            if name == "transcript.ndjson" {
                all.push(folder.clone());
                found += 1;
            } else if name.ends_with(".ndjson") {
                all.push(file);
                found += 1;
            }
        }
        if found == 0 {
            let name = folder.file_name().unwrap().to_string_lossy().into_owned();
            eprintln!("SKIPPED {test}: {name}: its recording is not published");
        }
    }
    all.sort();
    all
}

fn read(path: &Path) -> Transcript {
    let file = if path.is_dir() { path.join("transcript.ndjson") } else { path.to_owned() };
    Transcript::parse(&std::fs::read_to_string(file).unwrap()).unwrap()
}

/// Plays a recording to a client that says these lines and then leaves.
fn play(recording: &Path, lines: &[String]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fake-msp"));
    command.args(["serve", "--transcript"]).arg(recording);
    for name in fake_msp::cli::ENVIRONMENT {
        command.env_remove(name);
    }
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    // A host that has ended does not read: that is an outcome, not an error.
    let _ = child.stdin.take().unwrap().write_all(text.as_bytes());
    child.wait_with_output().unwrap()
}

fn of(transcript: &Transcript, dir: Dir) -> Vec<String> {
    transcript.lines.iter().filter(|l| l.dir == dir).map(|l| l.raw.clone()).collect()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

#[test]
fn the_recorded_client_gets_the_recorded_bytes() {
    for recording in recordings("the_recorded_client_gets_the_recorded_bytes") {
        let transcript = read(&recording);
        let output = play(&recording, &of(&transcript, Dir::Client));
        let stderr = text(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{}: {stderr}", recording.display());
        let got: Vec<String> = text(&output.stdout).lines().map(str::to_owned).collect();
        assert_eq!(got, of(&transcript, Dir::Server), "{}", recording.display());
        assert!(stderr.contains(" 0 unexpected, 0 missing"), "{stderr}");
    }
}

#[test]
fn a_client_with_ids_of_its_own_gets_the_same_story() {
    for recording in recordings("a_client_with_ids_of_its_own_gets_the_same_story") {
        let transcript = read(&recording);
        // Other request ids, other command ids in the same pattern.
        let rename = |frame: &Value| {
            let mut text = frame.clone();
            if frame.get("method").is_some() && frame.get("id").is_some() {
                text["id"] = format!("own-{}", frame["id"]).into();
            }
            let mut text = text.to_string();
            for line in transcript.lines.iter().filter(|line| line.dir == Dir::Client) {
                if let Some(command) = line.frame["params"]["commandId"].as_str() {
                    text = text.replace(&format!("\"{command}\""), &format!("\"own-{command}\""));
                }
            }
            text
        };
        let clients = transcript.lines.iter().filter(|line| line.dir == Dir::Client);
        let lines: Vec<String> = clients.map(|line| rename(&line.frame)).collect();
        let output = play(&recording, &lines);
        let stderr = text(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{}: {stderr}", recording.display());
        let frames = text(&output.stdout);
        let mut frames = frames.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        for line in transcript.lines.iter().filter(|line| line.dir == Dir::Server) {
            let got = frames.next().unwrap();
            if line.frame.get("method").is_none() {
                assert_eq!(got["id"], format!("own-{}", line.frame["id"]));
            }
            assert_eq!(
                got.get("error"),
                line.frame
                    .get("error")
                    .map(|error| {
                        // A rejection repeats the command's id.
                        serde_json::from_str::<Value>(&rename(error)).unwrap()
                    })
                    .as_ref()
            );
        }
        assert!(frames.next().is_none());
    }
}

#[test]
fn a_client_that_deviates_is_told_where() {
    for recording in recordings("a_client_that_deviates_is_told_where") {
        let transcript = read(&recording);
        let mut lines = of(&transcript, Dir::Client);
        let at = lines.len() - 1;
        let mut frame: Value = serde_json::from_str(&lines[at]).unwrap();
        frame["params"]["colour"] = "red".into();
        lines[at] = frame.to_string();
        let output = play(&recording, &lines);
        let stderr = text(&output.stderr);
        assert_eq!(output.status.code(), Some(EXIT_DEVIATED), "{stderr}");
        let clients = transcript.lines.iter().filter(|line| line.dir == Dir::Client);
        let number = clients.map(|line| line.number).max().unwrap();
        assert!(stderr.contains(&format!("line {number}: the client deviates")), "{stderr}");
        assert!(stderr.contains("differs   params"), "{stderr}");
        assert!(stderr.contains(&format!("{at} of {} matched, 1 unexpected", at + 1)), "{stderr}");

        let output = play(&recording, &lines[..at]);
        let stderr = text(&output.stderr);
        assert_eq!(output.status.code(), Some(EXIT_DEVIATED), "{stderr}");
        assert!(stderr.contains(&format!("missing     line {number}: ")), "{stderr}");
    }
}

#[test]
fn a_frame_log_is_a_recording() {
    let folder = std::env::temp_dir().join(format!("fake-msp-recording-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let log = folder.join("frames.ndjson");
    let lines = [
        json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize",
            "params": { "clientInfo": { "name": "t", "version": "1" } } }),
        json!({ "jsonrpc": "2.0", "method": "initialized" }),
        json!({ "jsonrpc": "2.0", "id": 2, "method": "session/start",
            "params": { "commandId": "0199aaaa-0000-7000-8000-000000000001" } }),
    ]
    .map(|frame| frame.to_string());
    let mut child = Command::new(env!("CARGO_BIN_EXE_fake-msp"))
        .args(["serve", "--frame-log"])
        .arg(&log)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all((lines.join("\n") + "\n").as_bytes()).unwrap();
    let first = child.wait_with_output().unwrap();
    let again = play(&log, &lines);
    assert_eq!(again.status.code(), Some(0), "{}", text(&again.stderr));
    assert_eq!(text(&again.stdout), text(&first.stdout));
    let rows = std::fs::read_to_string(&log).unwrap();
    assert!(rows.lines().all(|row| row.contains("\"ms\":")));
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn a_recording_that_cannot_be_read_is_a_configuration_error() {
    let absent = play(Path::new("/nonexistent"), &[]);
    assert_eq!(absent.status.code(), Some(3));
    assert!(text(&absent.stderr).contains("cannot read the transcript /nonexistent"));
    let bad = play(Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml").as_path(), &[]);
    assert_eq!(bad.status.code(), Some(3));
    assert!(text(&bad.stderr).contains("is no transcript: line 1: "));
}
