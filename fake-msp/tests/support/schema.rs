//! A walker for the subset of JSON Schema that the material uses: `type`, `properties`,
//! `required`, `items`, `anyOf`, `enum`, `const`, `additionalProperties` and `$ref`.
//!
//! Stricter than the schema in one point: a member that the schema does not name is a problem,
//! because the fake host must not teach clients members that no host sends.

use serde_json::Value;

/// Members that older schemas call optional while hosts already sent null (STA-1).
const NULL_ON_THE_WIRE: &[&str] = &[".providerId", ".goal", ".branch", ".modelId"];

/// The material of one schema generation.
pub(crate) struct Schema {
    root: Value,
}

impl Schema {
    pub(crate) fn new(root: Value) -> Self {
        assert!(root["$defs"].is_object(), "the material has $defs");
        Self { root }
    }

    /// Problems of one host frame; `method` types requests, notifications and answers.
    pub(crate) fn check_frame(&self, method: Option<&str>, frame: &Value) -> Vec<String> {
        let mut out = Vec::new();
        if frame["jsonrpc"] != "2.0" {
            out.push("jsonrpc".to_owned());
        }
        let maps = &self.root["maps"];
        if frame.get("error").is_some() {
            self.check_type("ErrorResponse", frame, "", &mut out);
            return out;
        }
        let Some(method) = method else {
            return vec!["a frame that nothing types".into()];
        };
        let (name, value) = match (frame.get("result"), frame.get("id")) {
            (Some(result), _) => (maps["METHODS"][method]["result"].as_str(), result),
            (None, Some(_)) => (
                match method {
                    "approval/request" => Some("ApprovalRequestParams"),
                    "userInput/request" => Some("UserInputRequestParams"),
                    _ => None,
                },
                &frame["params"],
            ),
            (None, None) => {
                let row = &maps["NOTIFICATIONS"][method];
                (row.as_str().or_else(|| row["params"].as_str()), &frame["params"])
            }
        };
        match name {
            // Recorded hosts sent it before the schema had it.
            None if method == "session/started" => {}
            None => out.push("the schema has no such frame".into()),
            Some(name) => self.check_type(name, value, "", &mut out),
        }
        if name == Some("ViewPageResult") {
            for event in value["events"].as_array().into_iter().flatten() {
                let mut frame = event.clone();
                frame["jsonrpc"] = "2.0".into();
                let method = event["method"].as_str();
                out.extend(self.check_frame(method, &frame));
            }
        }
        out
    }

    /// Problems of one frame of a client; `method` is that of the frame.
    #[allow(dead_code, reason = "clients are judged from another package")]
    pub(crate) fn check_client_frame(&self, method: Option<&str>, frame: &Value) -> Vec<String> {
        let mut out = Vec::new();
        if frame["jsonrpc"] != "2.0" {
            out.push("jsonrpc".to_owned());
        }
        match (method, frame.get("error")) {
            (Some("initialized"), _) => {}
            // A client has requests, and notifications of its own.
            (Some(method), _) => match ["METHODS", "NOTIFICATIONS"]
                .iter()
                .find_map(|map| self.root["maps"][map][method]["params"].as_str())
            {
                None => out.push("the schema has no such method".into()),
                Some(name) => self.check_type(name, &frame["params"], "", &mut out),
            },
            (None, Some(_)) => self.check_type("ErrorResponse", frame, "", &mut out),
            // A receipt for a request (ENV-10).
            (None, None) if frame["result"].as_object().is_some_and(serde_json::Map::is_empty) => {}
            (None, None) => out.push("a receipt is the empty object".into()),
        }
        out
    }

    fn check_type(&self, name: &str, value: &Value, path: &str, out: &mut Vec<String>) {
        match self.root["$defs"].get(name) {
            Some(schema) => self.check(schema, value, &format!("{path}<{name}>"), out),
            None => out.push(format!("no type {name}")),
        }
    }

    fn check(&self, schema: &Value, value: &Value, path: &str, out: &mut Vec<String>) {
        if value.is_null() && NULL_ON_THE_WIRE.iter().any(|name| path.ends_with(name)) {
            return;
        }
        if let Some(reference) = schema["$ref"].as_str() {
            let name = reference.strip_prefix("#/$defs/").unwrap_or(reference);
            return self.check_type(name, value, path, out);
        }
        if let Some(options) = schema["anyOf"].as_array() {
            let tries = options.iter().map(|option| {
                let mut problems = Vec::new();
                self.check(option, value, path, &mut problems);
                problems
            });
            let mut tries: Vec<Vec<String>> = tries.collect();
            if tries.iter().all(|problems| !problems.is_empty()) {
                // The closest branch says most.
                tries.sort_by_key(Vec::len);
                out.extend(tries.pop().unwrap_or_default());
            }
            return;
        }
        if schema.get("const").is_some_and(|constant| constant != value) {
            out.push(format!("{path}: not the constant"));
        }
        if schema["enum"].as_array().is_some_and(|words| !words.contains(value)) {
            out.push(format!("{path}: outside the enum"));
        }
        let fits = match schema["type"].as_str() {
            None => true,
            Some("object") => value.is_object(),
            Some("array") => value.is_array(),
            Some("string") => value.is_string(),
            Some("boolean") => value.is_boolean(),
            Some("integer") => value.is_i64() || value.is_u64(),
            Some("number") => value.is_number(),
            Some("null") => value.is_null(),
            Some(other) => panic!("the walker does not know type {other}"),
        };
        if !fits {
            out.push(format!("{path}: wrong type"));
            return;
        }
        if let (Some(element), Some(list)) = (schema.get("items"), value.as_array()) {
            for value in list {
                self.check(element, value, &format!("{path}[]"), out);
            }
        }
        if let Some(object) = value.as_object() {
            self.check_members(schema, object, path, out);
        }
    }

    fn check_members(
        &self,
        schema: &Value,
        object: &serde_json::Map<String, Value>,
        path: &str,
        out: &mut Vec<String>,
    ) {
        for name in schema["required"].as_array().into_iter().flatten() {
            let name = name.as_str().unwrap_or_default();
            if !object.contains_key(name) {
                out.push(format!("{path}.{name}: missing"));
            }
        }
        for (name, value) in object {
            let known = schema["properties"].get(name);
            match (known, schema.get("additionalProperties")) {
                (Some(member), _) => self.check(member, value, &format!("{path}.{name}"), out),
                (None, Some(Value::Bool(true))) => {}
                (None, Some(element @ Value::Object(_))) => {
                    self.check(element, value, &format!("{path}.*"), out);
                }
                (None, _) if schema.get("properties").is_none() => {}
                // Paged events are typed by their method; each is checked as a frame of its own.
                (None, _) if path.ends_with("<UnframedViewNotificationParams>") => {}
                (None, _) => out.push(format!("{path}.{name}: not in the schema")),
            }
        }
    }
}
