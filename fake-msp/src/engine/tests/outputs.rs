use serde_json::{Value, json};

use super::{Talk, scripted};

fn read(talk: &mut Talk, session: &str, item: &Value, name: &str, extra: &Value) -> Value {
    let mut params = json!({ "sessionId": session, "itemId": item["itemId"],
        "outputRef": item[name]["id"] });
    for (member, value) in extra.as_object().unwrap() {
        params[member] = value.clone();
    }
    talk.request("item/readOutput", params)
}

#[test]
fn a_stored_output_is_read_in_slices_that_join_to_the_whole() {
    let mut talk = Talk::ready();
    let session = talk.session();
    talk.prompt(&session, "output 1000");
    talk.settle();
    let item = talk.item(&session, "toolCall");
    assert_eq!(item["outputRef"]["byteLen"], 1000);
    assert_eq!(item["outputRef"]["availability"], "available");

    let whole = read(&mut talk, &session, &item, "outputRef", &json!({}))["result"].clone();
    assert_eq!((&whole["eof"], &whole["byteLen"]), (&json!(true), &json!(1000)));
    assert_eq!(whole["encoding"], "utf8");
    let mut text = String::new();
    loop {
        let extra = json!({ "offsetBytes": text.len(), "lengthBytes": 77 });
        let slice = read(&mut talk, &session, &item, "outputRef", &extra)["result"].clone();
        text.push_str(slice["content"].as_str().unwrap());
        if slice["eof"] == true {
            break;
        }
    }
    assert_eq!(whole["content"], text);
    assert_eq!(talk.host.violations(), []);
}

#[test]
fn a_large_output_is_cut_inline_and_whole_behind_its_reference() {
    let mut talk = Talk::ready();
    let session = talk.session();
    talk.prompt(&session, "output 20000000");
    talk.settle();
    let item = talk.item(&session, "toolCall");
    assert_eq!(item["truncated"], true);
    assert!(item["visibleOutput"].as_str().unwrap().len() <= 64 * 1024, "ITM-7");

    let first = read(&mut talk, &session, &item, "outputRef", &json!({}))["result"].clone();
    assert_eq!((&first["byteLen"], &first["eof"]), (&json!(6 * 1024 * 1024), &json!(false)));
    let last = json!({ "offsetBytes": 20_000_000 });
    let end = read(&mut talk, &session, &item, "outputRef", &last)["result"].clone();
    assert_eq!((&end["byteLen"], &end["eof"]), (&json!(0), &json!(true)));
}

#[test]
fn odd_reads_are_refused_with_their_data() {
    let mut talk = Talk::ready();
    let session = talk.session();
    talk.prompt(&session, "output 100");
    talk.settle();
    let item = talk.item(&session, "toolCall");
    // "é" is the 24th and 25th byte of a stored line.
    let inside = read(&mut talk, &session, &item, "outputRef", &json!({ "offsetBytes": 25 }));
    assert_eq!(inside["error"]["code"], -32602);
    assert_eq!(inside["error"]["data"]["alignedNextOffset"], 26);
    let behind = read(&mut talk, &session, &item, "outputRef", &json!({ "offsetBytes": 101 }));
    assert_eq!(behind["error"]["code"], -32602);
    let unknown = read(&mut talk, &session, &item, "outputRef", &json!({ "outputRef": "x" }));
    assert_eq!(unknown["error"]["code"], -32011);
    assert!(talk.host.violations().iter().any(|v| v.rule == "ENV-7"), "{:?}", talk.rules());
    talk.prompt(&session, "output lost");
    talk.settle();
    let item = talk.item(&session, "toolCall");
    let lost = read(&mut talk, &session, &item, "outputRef", &json!({}));
    assert_eq!(lost["error"]["code"], -32041);
    assert_eq!(lost["error"]["data"]["availability"], "missing");
}

#[test]
fn a_patch_is_json_and_bytes_that_are_no_text_come_as_base64() {
    let mut talk = Talk::ready();
    let session = talk.session();
    talk.prompt(&session, "patch");
    talk.settle();
    let item = talk.item(&session, "toolCall");
    assert_eq!(item["patchSummary"]["added"], 1);
    let patch = read(&mut talk, &session, &item, "patchRef", &json!({}))["result"].clone();
    assert_eq!(patch["mediaType"], "application/json");
    serde_json::from_str::<Value>(patch["content"].as_str().unwrap()).unwrap();
    talk.prompt(&session, "output binary");
    talk.settle();
    let item = talk.item(&session, "toolCall");
    let extra = json!({ "lengthBytes": 3 });
    let bytes = read(&mut talk, &session, &item, "outputRef", &extra)["result"].clone();
    assert_eq!((&bytes["encoding"], &bytes["content"]), (&json!("base64"), &json!("AAEC")));
}

#[test]
fn stored_output_survives_the_process_and_is_read_without_loading() {
    let mut talk = Talk::ready();
    let session = talk.session();
    talk.prompt(&session, "output 50");
    talk.settle();
    let item = talk.item(&session, "toolCall");
    let host = std::mem::replace(
        &mut talk.host,
        super::Host::new(crate::profiles::Profile::newest(), super::Options::default()),
    );
    talk.host = host.restart(super::super::Recovery::Infer);
    talk.initialize(json!({}));
    talk.send(&json!({ "jsonrpc": "2.0", "method": "initialized" }));
    let slice = read(&mut talk, &session, &item, "outputRef", &json!({}));
    assert_eq!(slice["result"]["byteLen"], 50, "{slice}");
}

#[test]
fn a_script_may_point_at_an_output_that_it_never_said() {
    let mut talk = Talk::ready_with("1.4.14", scripted());
    let session = talk.session();
    let reference = json!({ "id": "o1", "kind": "tool_output", "uri": "fake://o1", "byteLen": 70,
        "availability": "available" });
    let sets = [
        ("item.kind", json!("toolCall")),
        ("item.turnId", json!("t")),
        ("item.outputRef", reference),
    ];
    talk.host.emit_lie("item/completed", &sets, None).unwrap();
    talk.drain();
    let item = talk.item(&session, "toolCall");
    let slice = read(&mut talk, &session, &item, "outputRef", &json!({}));
    assert_eq!(slice["result"]["byteLen"], 70);
}
