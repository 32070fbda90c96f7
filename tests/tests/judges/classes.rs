//! The adapter's tables of notifications and item kinds against those of the fake host and, where it is at
//! hand, against the published structure (VEV-1, VEV-2, SCN-FUZ-22).

use std::collections::BTreeSet;

use fake_msp::profiles::{ITEM_KINDS, NOTIFICATIONS, NotificationKind};
use libtest_mimic::{Failed, Trial};
use muse_code_acp::msp::classes::{self, Class};
use serde_json::Value;

const HOST: &str = "judges::classes::every_event_of_the_fake_host_has_a_consumer_or_a_reason";
const SCHEMA: &str = "judges::classes::every_event_of_the_schema_has_a_consumer_or_a_reason";

pub(crate) fn trials() -> [Trial; 2] {
    [Trial::test(HOST, fake_host), Trial::test(SCHEMA, schema)]
}

/// Both ways: a row that no host has is a mistake too.
fn fake_host() -> Result<(), Failed> {
    let from_host = NOTIFICATIONS.iter().filter(|row| row.kind != NotificationKind::ToHost);
    compare(classes::NOTIFICATIONS, from_host.map(|row| row.name).collect())?;
    compare(classes::ITEM_KINDS, ITEM_KINDS.iter().map(|row| row.name).collect())
}

fn compare(table: &[(&str, Class)], names: BTreeSet<&str>) -> Result<(), Failed> {
    let rows: BTreeSet<&str> = table.iter().map(|(name, _)| *name).collect();
    let differ: Vec<&&str> = rows.symmetric_difference(&names).collect();
    match differ.is_empty() {
        true => Ok(()),
        false => Err(format!("in one table only: {differ:?}").into()),
    }
}

fn schema() -> Result<(), Failed> {
    let Some(material) = tests::judge::material(SCHEMA) else { return Ok(()) };
    for version in ["1.3.1", "1.4.13"] {
        let text = std::fs::read_to_string(material.join(format!("schema/{version}.json")))?;
        let schema: Value = serde_json::from_str(&text)?;
        let methods = schema["maps"]["NOTIFICATIONS"].as_object().ok_or("no notifications")?;
        let kinds = schema["knownValues"]["ITEM_KIND"].as_array().ok_or("no item kinds")?;
        let kinds = kinds.iter().filter_map(Value::as_str);
        // What a client sends is no event of a host.
        let of_clients = ["initialized", "userInput/engaged"];
        let events = methods.keys().map(String::as_str).filter(|name| !of_clients.contains(name));
        let unknown = events.filter(|name| classes::notification(name).is_none());
        let listed = |kind: &&str| classes::ITEM_KINDS.iter().any(|(name, _)| name == kind);
        let missing: Vec<&str> = unknown.chain(kinds.filter(|kind| !listed(kind))).collect();
        if !missing.is_empty() {
            return Err(format!("{version} has {missing:?}, which no row classifies").into());
        }
    }
    Ok(())
}
