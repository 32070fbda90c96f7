//! Tells an editor that negotiates `muse/sessionState` whether a rule that the person chose was written
//! (OBS-6..8). It reports; it decides nothing (OBS-2).

use super::{Cx, Session, Slot};
use crate::acp::update;
use crate::core::persistence::{Due, PAGE_LIMIT, Status};
use crate::core::turn::HostCall;
use crate::msp::approval::{ApprovalUpdate, Change};
use crate::msp::view::{Page, ViewPage};
use crate::msp::{ApprovalId, Choice, event};
use crate::wire::peer::Outcome;

impl Session {
    /// APR-35: a choice is being sent.
    pub(super) fn on_chosen(&mut self, cx: &mut Cx<'_>, approval: &ApprovalId, choice: &Choice) {
        if !cx.client.session_state || choice.scope != "localPersistent" {
            return;
        }
        let Slot::Live(host) = &mut self.slot else { return };
        let opened = host.approvals.opened_at(approval);
        if host.rules.chosen(approval, opened, cx.now) {
            cx.update(&self.id, update::rule(approval.as_str(), Status::Unverified.as_str()));
        }
    }

    /// What an update says of a rule, live or read back. Text, path and reason of it are not told.
    pub(super) fn on_rule_change(&mut self, cx: &mut Cx<'_>, told: &ApprovalUpdate) {
        let Some(Change { kind, status }) = &told.change else { return };
        let status = status.as_deref().filter(|_| kind == "policyPersistence");
        let Some(status) = status.and_then(Status::read) else { return };
        let Slot::Live(host) = &mut self.slot else { return };
        if host.rules.told(&told.approval_id) {
            cx.update(&self.id, update::rule(told.approval_id.as_str(), status.as_str()));
        }
    }

    pub(super) fn on_rules_deadline(&mut self, cx: &mut Cx<'_>) {
        if cx.editor_stalled {
            return; // the host is not read, so nobody can say that it is late (PO-19)
        }
        let Slot::Live(host) = &mut self.slot else { return };
        match host.rules.due(cx.now) {
            Some(Due::Read(cursor)) => {
                let id = self.id.clone();
                let params = ViewPage {
                    session_id: &id,
                    cursor: &cursor,
                    direction: "forward",
                    limit: PAGE_LIMIT,
                };
                self.call(cx, "view/page", &params, HostCall::Rules);
            }
            Some(Due::GivenUp) => {
                tracing::info!(code = "rules-unverified", session = %self.id, "a page did not come");
            }
            None => {}
        }
    }

    /// OBS-8: a page that cannot be read is the last one.
    pub(super) fn on_rules_page(&mut self, cx: &mut Cx<'_>, outcome: &Outcome<'_>) {
        let awaited = matches!(&self.slot, Slot::Live(host) if host.rules.awaits_page());
        if !awaited {
            return; // it came too late
        }
        let page = match outcome {
            Outcome::Ok(raw) => serde_json::from_str::<Page>(raw.get()).ok(),
            Outcome::Err(_) | Outcome::Impossible => None,
        };
        let Some(page) = page else {
            if let Slot::Live(host) = &mut self.slot {
                host.rules.give_up();
            }
            return;
        };
        for told in &page.events {
            if told.method == "approval/updated"
                && let event::Event::ApprovalUpdated(update) =
                    event::decode(&told.method, Some(&told.params))
            {
                self.on_rule_change(cx, &update);
            }
        }
        if let Slot::Live(host) = &mut self.slot {
            host.rules.page(page.next_cursor.flatten(), cx.now);
        }
    }
}
