//! A host behind levers.

use serde_json::json;

use super::*;
use crate::engine::{FRAME_BYTES_MAX, Host, Options};
use crate::profiles::Profile;

const INITIALIZE: &[u8] = br#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"clientInfo":{"name":"t","version":"1"}}}"#;

fn behind(levers: Vec<Tamper>) -> Tampered<Host> {
    Tampered::new(Host::new(Profile::newest(), Options::default()), levers)
}

fn drain(host: &mut Tampered<Host>) -> Vec<Output> {
    std::iter::from_fn(|| host.poll_output()).collect()
}

fn frame(output: &Output) -> Value {
    match output {
        Output::Line(line) => serde_json::from_slice(line).unwrap(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_delayed_method_holds_back_everything_after_it() {
    let mut host = behind(vec![Tamper::Delay("initialize".into(), 50)]);
    host.handle(10, Input::Line(INITIALIZE));
    host.handle(10, Input::Eof);
    assert_eq!(drain(&mut host), []);
    assert_eq!(host.deadline(), Some(60));
    host.handle(59, Input::Timer);
    assert_eq!(drain(&mut host), []);
    host.handle(60, Input::Timer);
    let outputs = drain(&mut host);
    assert_eq!(frame(&outputs[0])["id"], 1);
    assert_eq!(outputs.last(), Some(&Output::Exit { code: 0 }));
}

#[test]
fn a_late_answer_comes_before_the_end_and_a_lost_one_never() {
    let mut host = behind(vec![Tamper::Late("initialize".into(), 50)]);
    host.handle(0, Input::Line(INITIALIZE));
    assert_eq!(drain(&mut host), []);
    host.handle(1, Input::Eof);
    assert_eq!(drain(&mut host), []);
    assert_eq!(host.deadline(), Some(50));
    host.handle(50, Input::Timer);
    let outputs = drain(&mut host);
    assert_eq!(frame(&outputs[0])["id"], 1);
    assert_eq!(outputs[1], Output::Exit { code: 0 });

    let mut host = behind(vec![Tamper::Lost("initialize".into())]);
    host.handle(0, Input::Line(INITIALIZE));
    assert_eq!(drain(&mut host), []);
    host.handle(0, Input::Eof);
    assert_eq!(drain(&mut host), [Output::Exit { code: 0 }]);
}

#[test]
fn an_answer_can_come_twice_after_noise_or_not_whole() {
    let mut host = behind(vec![
        Tamper::Twice("initialize".into()),
        Tamper::Noise("initialize".into()),
        Tamper::Huge("initialize".into()),
    ]);
    host.handle(0, Input::Line(INITIALIZE));
    let outputs = drain(&mut host);
    assert!(matches!(&outputs[0], Output::Raw(bytes) if bytes.len() > FRAME_BYTES_MAX));
    assert_eq!((outputs.len(), &outputs[1]), (3, &outputs[2]));

    let mut host = behind(vec![Tamper::Cut("initialize".into())]);
    host.handle(0, Input::Line(INITIALIZE));
    let outputs = drain(&mut host);
    assert!(matches!(&outputs[0], Output::Raw(half) if half.starts_with(b"{")));
    assert_eq!(outputs[1], Output::Exit { code: 1 });
}

#[test]
fn answers_can_name_another_build() {
    let mut host = behind(vec![Tamper::Fingerprint("sha256:0".into()), Tamper::LegacyProfile]);
    host.handle(0, Input::Line(INITIALIZE));
    let outputs = drain(&mut host);
    assert_eq!(frame(&outputs[0])["result"]["schema"]["fingerprint"], "sha256:0");
    host.handle(0, Input::Line(br#"{"jsonrpc":"2.0","id":"r","method":"session/resume"}"#));
    let outputs = drain(&mut host);
    let refusal = frame(&outputs[0]);
    assert_eq!((&refusal["id"], &refusal["error"]["code"]), (&json!("r"), &json!(-32603)));
    assert!(refusal["error"]["message"].as_str().unwrap().contains(":auto-review"));
}
