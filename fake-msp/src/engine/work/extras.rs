//! Small families that no session state depends on: uploads, recaps, feedback, usage, computer use.
//!
//! Rules: section 13.9, 13.10, HSK-5, CMD-3.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::super::ids::EPOCH_MS;
use super::super::sessions::str_of;
use super::super::{After, Host, Refusal, Reply};
use super::accepted;

/// Most chunks of one upload: more than 10 MiB frames could carry of any real video.
const CHUNKS_MAX: u64 = 4096;

/// An upload: how many chunks arrived of how many.
#[derive(Debug, Default)]
pub(in super::super) struct Uploads(BTreeMap<String, (u64, u64)>);

impl Host {
    /// Chunks come in order; the bytes are not kept (CMD-3: only `uploadId` is echoed).
    pub(super) fn media_upload(&mut self, params: &Map<String, Value>) -> Reply {
        self.loaded(params)?;
        let number = |name: &str| params.get(name).and_then(Value::as_u64).unwrap_or(0);
        let (index, count) = (number("chunkIndex"), number("chunkCount"));
        if count == 0 || count > CHUNKS_MAX || index >= count {
            return Err(Refusal::invalid_params("chunkIndex: 0 up to chunkCount"));
        }
        let id = str_of(params, "uploadId").unwrap_or_default().to_owned();
        let known = self.uploads.0.get(&id).copied();
        match (known, index) {
            (None, 0) => {}
            (None, _) => {
                return Err(Refusal::new(-32038, "no such upload").with("uploadId", id));
            }
            (Some((next, total)), index) if next == index && total == count => {}
            (Some(_), _) => {
                return Err(Refusal::invalid_params("chunkIndex: chunks come in order"));
            }
        }
        self.uploads.0.insert(id.clone(), (index + 1, count));
        Ok(json!({ "uploadId": id }))
    }

    /// A `video` part of an input names a complete upload.
    pub(in super::super) fn check_upload(&self, part: &Value) -> Result<(), Refusal> {
        let id = part["uploadId"].as_str().unwrap_or_default();
        match self.uploads.0.get(id) {
            Some((arrived, count)) if arrived == count => Ok(()),
            _ => Err(Refusal::new(-32038, "no such upload").with("uploadId", id)),
        }
    }

    /// A recap of a session; the answer is a broadcast.
    pub(super) fn recap(
        &mut self,
        method: &str,
        params: &Map<String, Value>,
        after: &mut Vec<After>,
    ) -> Reply {
        let session = self.loaded(params)?;
        let id = session.log.session_id.clone();
        if method == "recap/request" {
            let turns = session.log.view().turn_count;
            after.push(After::Broadcast {
                method: "recap/completed",
                params: json!({
                    "sessionId": id, "commandId": params.get("commandId"), "outcome": "completed",
                    "title": "Fake recap", "text": format!("{turns} turns were completed."),
                }),
            });
        }
        Ok(accepted(params))
    }

    pub(super) fn feedback_submit(&mut self) -> Reply {
        self.need("feedback", "feedback/submit")?;
        Ok(json!({
            "outcome": "recorded", "bundlePath": "/home/fake/.muse/feedback/bundle.zip",
            "sessionRecordAttached": false, "sessionRecordTruncated": false,
        }))
    }

    pub(in super::super) fn usage_read(&self) -> Value {
        let reset = EPOCH_MS + 18_000_000;
        json!({ "usage": {
            "window": { "usedPercent": 12, "windowDurationMins": 300, "resetsAtMs": reset },
            "weekly": { "usedPercent": 3, "resetsAtMs": EPOCH_MS + 604_800_000 },
            "tier": "fake", "observedAtMs": EPOCH_MS + self.now,
        } })
    }

    /// Computer use exists on a Mac; this host says it is none.
    pub(super) fn computer_use(&self, method: &str) -> Reply {
        if method.starts_with("computerUseSetup/") {
            self.need("computerUseSetup", method)?;
        }
        Err(Refusal::new(-32033, "computer use needs a Mac"))
    }
}
