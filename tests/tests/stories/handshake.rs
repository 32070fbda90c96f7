//! `initialize`, and stdout that belongs to the protocol alone.

use serde_json::{Value, json};
use similar_asserts::assert_eq;
use tests::{Agent, setup};

/// Pretty, with sorted keys: a difference is then readable.
fn pretty(value: &Value) -> String {
    let mut value = value.clone();
    value.sort_all_objects();
    serde_json::to_string_pretty(&value).expect("a value is JSON")
}

/// INIT-1..9, PO-3, PO-4: exactly what this version can do, and one method to authenticate.
#[tokio::test]
async fn the_handshake_advertises_only_what_is_there() {
    let setup = setup!();
    let mut agent = Agent::spawn(&setup);

    let mut result = agent.initialize().await;

    let methods = result["authMethods"].take();
    let ids: Vec<_> = methods.as_array().expect("a list").iter().map(|m| &m["id"]).collect();
    assert_eq!(ids, ["meta-api-key"]);
    assert!(methods[0].get("type").is_none(), "an agent method has no type: {methods}");
    assert!(methods[0]["description"].to_string().contains("META_API_KEY"), "{methods}");
    let expected = json!({
        "protocolVersion": 1,
        "agentCapabilities": {
            "loadSession": false,
            "promptCapabilities": {"image": false, "audio": false, "embeddedContext": false},
            "mcpCapabilities": {"http": false, "sse": false},
            "sessionCapabilities": {"close": {}},
        },
        "agentInfo": {
            "name": "muse-code-acp",
            "title": "Muse Code",
            "version": env!("CARGO_PKG_VERSION"),
        },
        "authMethods": null,
    });
    // Members that the protocol lets an agent leave out are not held against it.
    let advertised = with_defaults(&result);
    assert_eq!(pretty(&advertised), pretty(&with_defaults(&expected)));
    agent.finish().await;
}

/// An absent capability is a capability that is off, and so is an empty `auth`.
fn with_defaults(result: &Value) -> Value {
    let mut result = result.clone();
    let capabilities = &mut result["agentCapabilities"];
    for (group, members) in [
        ("promptCapabilities", ["image", "audio", "embeddedContext"].as_slice()),
        ("mcpCapabilities", &["http", "sse"]),
    ] {
        for member in members {
            let value = capabilities[group][member].as_bool().unwrap_or(false);
            capabilities[group][member] = value.into();
        }
    }
    capabilities["loadSession"] = capabilities["loadSession"].as_bool().unwrap_or(false).into();
    if capabilities.get("auth") == Some(&json!({})) {
        capabilities.as_object_mut().expect("an object").remove("auth");
    }
    result
}

/// WIRE-7: the answer does not depend on having been asked before.
#[tokio::test]
async fn a_repeated_handshake_is_answered_like_the_first() {
    let setup = setup!();
    let mut agent = Agent::spawn(&setup);

    let first = agent.initialize().await;
    let second = agent.initialize().await;

    assert_eq!(pretty(&first), pretty(&second));
    agent.finish().await;
}

/// ACP-4: an editor of the future gets version 1 offered.
#[tokio::test]
async fn a_newer_protocol_version_is_answered_with_version_1() {
    let setup = setup!();
    let mut agent = Agent::spawn(&setup);

    let id = agent.request("initialize", json!({"protocolVersion": 7})).await;

    assert_eq!(agent.result(&id).await["protocolVersion"], 1);
    agent.finish().await;
}

/// AUTH-3, AUTH-4: evidence is looked for where it may be; nobody is asked over the network.
#[tokio::test]
async fn authenticating_needs_evidence_of_a_credential() {
    let key = json!({"methodId": "meta-api-key"});
    let bare = setup!();
    let mut without = Agent::start(&bare).await;
    let id = without.request("authenticate", key.clone()).await;
    assert_eq!(without.refusal(&id).await["code"], -32000);
    let id = without.request("authenticate", json!({"methodId": "no such method"})).await;
    assert_eq!(without.refusal(&id).await["code"], -32602);
    without.finish().await;

    let configured = setup!().var("META_API_KEY", "a value that nobody checks");
    let mut with = Agent::start(&configured).await;
    let id = with.request("authenticate", key).await;
    with.result(&id).await;
    with.finish().await;
}
