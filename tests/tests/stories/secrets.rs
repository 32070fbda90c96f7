//! What must not be in any log (LOG-3..6, FAIL-20, STY-57).

use serde_json::json;
use tests::{Agent, setup};

const KEY: &str = "key-8d1f3c5e7a9b";
const PROMPT: &str = "Xenolith-prompt-5f2a";
const COMMAND: &str = "Quokka-command-77aa";
const LINK: &str = "Zarzuela-link-31bc";

/// Credentials, prompts, commands and answers stay out of stderr and the log file at the loudest level,
/// even when the host itself prints the credential.
#[tokio::test]
async fn no_log_holds_a_credential_or_a_word_of_the_conversation() {
    let setup = setup!()
        .var("META_API_KEY", KEY)
        .var("RUST_LOG", "trace")
        .fault(format!("stderr:the key is {KEY}"));
    let logs = setup.scratch().join("logs");
    let setup = setup.var("MUSE_AGENT_LOGS", &logs);
    let mut agent = Agent::start(&setup).await;
    let session = agent.new_session().await;
    agent.prompt(&session, PROMPT).await;
    let running = agent.begin_prompt(&session, &format!("run {COMMAND}")).await;
    let permission = agent.permission().await;
    agent.choose(&permission, "allow_once").await;
    agent.result(&running).await;
    let link = json!({"type": "resource_link", "uri": format!("file:///{LINK}"), "name": LINK});
    let params = json!({"sessionId": session, "prompt": [link]});
    let linked = agent.request("session/prompt", params).await;
    agent.answer(&linked).await;
    // Input that cannot be understood is not quoted either.
    agent.send_bytes(format!("{{\"{PROMPT}\n").as_bytes()).await;
    let wrong = agent.request("session/prompt", json!({"sessionId": [PROMPT]})).await;
    let error = agent.refusal(&wrong).await;

    let record = agent.finish().await;

    let file = std::fs::read_to_string(logs.join("agent.log")).expect("the log file is written");
    // Control: there is something in which a secret could be.
    assert!(record.stderr.lines().count() > 10, "trace says more: {}", record.stderr);
    assert!(file.contains("pid="), "LOG-2: {file}");
    for secret in [KEY, PROMPT, COMMAND, LINK] {
        for (place, text) in [("stderr", &record.stderr), ("agent.log", &file)] {
            let line = text.lines().find(|line| line.contains(secret));
            assert_eq!(line, None, "{secret} in {place}");
        }
    }
    // WIRE-9: nor does the answer quote it.
    assert!(!error.to_string().contains(PROMPT), "{error}");
    assert!(!String::from_utf8_lossy(&record.stdout).contains(KEY));
}
