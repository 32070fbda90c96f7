//! The adapter in front of an editor that is built on the TypeScript ACP SDK (acp.md section 7).
//!
//! The SDK checks every message that it reads against its own schema; a message that it refuses ends the
//! driver with an error. What it understood comes back here as one JSON line per step.

use std::process::Command;

use serde_json::{Value, json};
use tests::family::Family;
use tests::outside::{NODE_FOR_SDK, Outside};
use tests::setup;

#[test]
fn an_editor_on_the_typescript_sdk_sees_the_whole_story() {
    let package = "@agentclientprotocol/sdk";
    let Some(outside) = Outside::find("typescript_sdk", package, NODE_FOR_SDK) else { return };
    let setup = setup!();
    let family = Family::new();

    let steps = drive(&outside, &setup, &family);

    let step = |name: &str| -> Vec<&Value> { steps.iter().filter(|s| s["step"] == name).collect() };
    assert_eq!(step("initialize")[0]["result"]["protocolVersion"], 1);
    assert_eq!(step("new")[0]["hasId"], true);

    let prompt = step("prompt")[0];
    assert_eq!(prompt["stopReason"], "end_turn");
    assert!(prompt["message"].to_string().contains("hello from the TypeScript SDK"), "{prompt}");
    assert!(prompt["thought"].as_str().is_some_and(|text| !text.is_empty()), "{prompt}");
    assert!(prompt["chunks"].as_u64().is_some_and(|chunks| chunks > 1), "{prompt}");

    let [allowed, denied] = step("permission")[..] else { panic!("{steps:#?}") };
    for permission in [allowed, denied] {
        assert_eq!(permission["asked"].as_array().map(Vec::len), Some(1), "{permission}");
        assert_eq!(permission["stopReason"], "end_turn", "{permission}");
    }
    assert_eq!(allowed["lastStatus"], "completed");
    assert_eq!(denied["lastStatus"], "failed");

    assert_eq!(
        *step("cancel")[0],
        json!({"step": "cancel", "stopReason": "cancelled", "next": "end_turn"})
    );
    let error = step("error")[0];
    assert_eq!(error["code"], -32603);
    assert_eq!(error["failure"]["kind"], "modelError");
    assert_eq!(step("close")[0]["result"], json!({}));
    assert_eq!(step("closed")[0]["code"], -32002);
    assert_eq!(*step("exit")[0], json!({"step": "exit", "code": 0, "signal": null}));
    family.assert_empty();
}

fn drive(outside: &Outside, setup: &tests::Setup, family: &Family) -> Vec<Value> {
    let mut command = setup.dress(Command::new(&outside.node));
    let (name, value) = family.variable();
    command.env(name, value);
    command.arg(outside.clients.join("ts-sdk.mjs")).arg(setup.adapter()).arg(setup.workspace());
    let output = assert_cmd::Command::from_std(command)
        .timeout(tests::agent::BOUND)
        .output()
        .unwrap_or_else(|error| {
            family.kill();
            panic!("node cannot be run: {error}")
        });
    let (stdout, stderr) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    if !output.status.success() {
        family.kill();
        panic!("the driver ended with {}\n{stdout}\n{stderr}", output.status);
    }
    stdout.lines().map(|line| serde_json::from_str(line).expect("a JSON line")).collect()
}
