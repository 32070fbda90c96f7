//! `session/list`: an index by activity, paged by key.
//!
//! Purpose: newest first over everything the host and its store know. Invariants: a page costs what it
//! shows (with a filter: what it passes over), not what the store holds; a cursor names the last row it
//! followed, so sessions that move while somebody pages are seen at most once more and never shift
//! others out; a cursor belongs to one listing. Rules: SES-6, SES-8, LB-63.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;

use serde_json::{Map, Value, json};

use super::head::Head;
use super::ids::{EPOCH_MS, unix_ms};
use super::record::{Line, Record};
use super::sessions::str_of;
use super::store::Ends;
use super::{Host, Refusal, Reply};

const LIMIT_DEFAULT: u64 = 50;
const LIMIT_MAX: u64 = 200;

/// Newest first; the id only makes the order total.
type Key = (Reverse<u64>, Reverse<String>);

/// Every session by activity.
#[derive(Debug, Default)]
pub(crate) struct Listing {
    order: BTreeSet<Key>,
    rows: BTreeMap<String, Row>,
    /// Sessions of this host that changed since the last listing.
    touched: BTreeSet<String>,
}

#[derive(Debug)]
struct Row {
    updated_ms: u64,
    /// As the store told it; absent for a session that only this host knows.
    head: Option<Box<Head>>,
}

impl Listing {
    /// Notes that a session of this host is new or changed.
    pub(crate) fn touch(&mut self, session: &str) {
        if !self.touched.contains(session) {
            self.touched.insert(session.to_owned());
        }
    }

    fn put(&mut self, session: &str, updated_ms: u64, head: Option<Head>) {
        let row = self.rows.entry(session.to_owned()).or_insert(Row { updated_ms, head: None });
        self.order.remove(&(Reverse(row.updated_ms), Reverse(session.to_owned())));
        row.updated_ms = updated_ms;
        if let Some(head) = head {
            row.head = Some(Box::new(head));
        }
        self.order.insert((Reverse(updated_ms), Reverse(session.to_owned())));
    }

    fn forget(&mut self, session: &str) {
        if let Some(row) = self.rows.remove(session) {
            self.order.remove(&(Reverse(row.updated_ms), Reverse(session.to_owned())));
        }
    }
}

impl Host {
    pub(super) fn session_list(&mut self, params: &Map<String, Value>) -> Reply {
        let limit = params.get("limit").and_then(Value::as_u64).unwrap_or(LIMIT_DEFAULT);
        if limit == 0 || limit > LIMIT_MAX {
            return Err(Refusal::invalid_params("limit: 1 to 200"));
        }
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let filter = Filter::read(params)?;
        let after = match str_of(params, "cursor") {
            None => None,
            Some(cursor) => Some(filter.position(cursor).ok_or_else(|| {
                Refusal::invalid_params("cursor: unknown, or of another listing")
            })?),
        };
        if after.is_none() {
            self.scan_store()?;
        }
        self.absorb_touched();
        let from = after.map_or(Bound::Unbounded, Bound::Excluded);
        let mut page: Vec<Value> = Vec::new();
        let (mut last, mut more) = (None, false);
        for key in self.listing.order.range((from, Bound::Unbounded)) {
            let (Reverse(updated_ms), Reverse(id)) = key;
            if filter.is_before(*updated_ms) {
                break; // Everything after it is older still.
            }
            let ours = self.sessions.get(id).filter(|s| s.loaded || !s.disk.exists);
            let stored = self.listing.rows.get(id).and_then(|row| row.head.as_deref());
            let admitted = match (ours, stored) {
                (Some(session), _) => filter.admits(&Head::of(session)),
                (None, Some(head)) => filter.admits(head),
                (None, None) => false,
            };
            if !admitted {
                continue;
            }
            if page.len() == limit {
                more = true;
                break;
            }
            page.extend(match (ours, stored) {
                (Some(session), _) => Some(self.session_object(session)),
                (None, head) => head.map(|head| self.stored_object(head)),
            });
            last = Some((*updated_ms, id.as_str()));
        }
        let next = last.filter(|_| more).map(|(updated_ms, id)| filter.cursor(updated_ms, id));
        let mut result = json!({ "sessions": page, "nextCursor": next });
        if let Some(applied) = filter.applied {
            result["appliedFilter"] = applied;
        }
        Ok(result)
    }

    /// What other hosts did to the store meanwhile.
    fn scan_store(&mut self) -> Result<(), Refusal> {
        let Some(store) = &mut self.store else { return Ok(()) };
        let listing = &mut self.listing;
        let gone = store.scan(&mut |ends| match read_head(ends) {
            Some(head) => listing.put(ends.session, head.updated_ms, Some(head)),
            None => listing.forget(ends.session),
        });
        let gone = gone.map_err(|error| super::disk::refusal("", &error))?;
        for id in gone {
            self.listing.forget(&id);
            // This host may know it without a log.
            self.listing.touch(&id);
        }
        Ok(())
    }

    fn absorb_touched(&mut self) {
        for id in std::mem::take(&mut self.listing.touched) {
            if let Some(session) = self.sessions.get(&id) {
                let head = session.disk.exists.then(|| Head::of(session));
                self.listing.put(&id, session.updated_ms, head);
            }
        }
    }
}

/// The newest metadata record of a log, by its ends alone.
fn read_head(ends: Ends<'_>) -> Option<Head> {
    let newest = |bytes: &[u8]| {
        bytes.rsplit(|byte| *byte == b'\n').find_map(|line| match Line::read(line)? {
            Line { session, record: Record::Metadata(record), .. } if session == ends.session => {
                Head::from_record(ends.session, &record)
            }
            _ => None,
        })
    };
    let mut head = newest(ends.last).or_else(|| newest(ends.first))?;
    ends.path.clone_into(&mut head.path);
    Some(head)
}

/// Which sessions a listing shows.
#[derive(Debug)]
struct Filter {
    root: Option<String>,
    /// Unix milliseconds; rows must be newer.
    updated_after: Option<i64>,
    ids: Option<Vec<String>>,
    branches: Option<Vec<Option<String>>>,
    fields: Vec<String>,
    all_of: Vec<String>,
    any_of: Option<Vec<String>>,
    /// The predicates that were understood, to be echoed.
    applied: Option<Value>,
    digest: u64,
}

impl Filter {
    fn read(params: &Map<String, Value>) -> Result<Self, Refusal> {
        let filter = params.get("filter").filter(|filter| filter.is_object());
        let part = |name: &str| filter.map_or(&Value::Null, |filter| &filter[name]);
        let words = |list: &Value| -> Option<Vec<String>> {
            let list = list.as_array()?;
            Some(list.iter().filter_map(Value::as_str).map(str::to_owned).collect())
        };
        let lower = |list: Option<Vec<String>>| -> Option<Vec<String>> {
            Some(list?.iter().map(|word| word.to_lowercase()).collect())
        };
        let updated_after = match str_of(params, "updatedAfter") {
            None => None,
            Some(text) => {
                let error = || Refusal::invalid_params("updatedAfter: an RFC 3339 time");
                Some(unix_ms(text).ok_or_else(error)?)
            }
        };
        let branches = part("branch")["anyOf"].as_array();
        let mut listing = params.clone();
        listing.remove("cursor");
        // How many rows a page has does not change which listing it is.
        listing.remove("limit");
        let applied = filter.map(|filter| {
            let known = ["sessionId", "branch", "text"];
            let members = known
                .iter()
                .filter_map(|name| Some(((*name).to_owned(), filter.get(*name)?.clone())));
            Value::Object(members.collect())
        });
        Ok(Self {
            root: str_of(params, "workspaceRoot").map(str::to_owned),
            updated_after,
            ids: words(&part("sessionId")["anyOf"]),
            branches: branches
                .map(|list| list.iter().map(|b| b.as_str().map(str::to_owned)).collect()),
            fields: words(&part("text")["fields"]).unwrap_or_default(),
            all_of: lower(words(&part("text")["allOf"])).unwrap_or_default(),
            any_of: lower(words(&part("text")["anyOf"])),
            applied,
            digest: digest(&Value::Object(listing).to_string()),
        })
    }

    fn is_before(&self, updated_ms: u64) -> bool {
        let unix = i64::try_from(EPOCH_MS.saturating_add(updated_ms)).unwrap_or(i64::MAX);
        self.updated_after.is_some_and(|after| unix <= after)
    }

    fn admits(&self, head: &Head) -> bool {
        let root = self.root.is_none() || self.root == head.birth.workspace_root;
        let id = self.ids.as_ref().is_none_or(|ids| ids.contains(&head.session_id));
        let branch = self.branches.as_ref().is_none_or(|list| list.contains(&head.branch));
        root && id && branch && self.reads(head)
    }

    /// The text predicate, without regard to case.
    fn reads(&self, head: &Head) -> bool {
        if self.fields.is_empty() {
            return true;
        }
        let texts: Vec<String> = self
            .fields
            .iter()
            .filter_map(|field| match field.as_str() {
                "name" => head.name.clone(),
                _ => head.title(),
            })
            .map(|text| text.to_lowercase())
            .collect();
        let has = |word: &String| texts.iter().any(|text| text.contains(word.as_str()));
        self.all_of.iter().all(has) && self.any_of.as_ref().is_none_or(|any| any.iter().any(has))
    }

    fn cursor(&self, updated_ms: u64, id: &str) -> String {
        format!("l:{:x}:{updated_ms}:{id}", self.digest)
    }

    fn position(&self, cursor: &str) -> Option<Key> {
        let rest = cursor.strip_prefix("l:")?;
        let (digest, rest) = rest.split_once(':')?;
        let (updated_ms, id) = rest.split_once(':')?;
        let position = (updated_ms.parse().ok()?, id);
        (u64::from_str_radix(digest, 16) == Ok(self.digest)
            && self.cursor(position.0, id) == cursor)
            .then(|| (Reverse(position.0), Reverse(id.to_owned())))
    }
}

/// FNV-1a: tells listings apart, protects nothing.
fn digest(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}
