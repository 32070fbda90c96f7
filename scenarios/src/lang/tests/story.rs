//! What a runner gets from the three stories that the language was designed with.

use crate::lang::ast::{ActKind, CheckKind, File, Lane, Step, Test, VaryValues, Wait};
use crate::lang::diagnostic::{Style, render_all};
use crate::lang::{parse, point};

pub(super) const STAGES: &str = include_str!("stories/stages.scn");
pub(super) const GAP: &str = include_str!("stories/gap.scn");
pub(super) const DEADLINE: &str = include_str!("stories/deadline.scn");

fn file(text: &str) -> File {
    let (file, found) = parse("story.scn", text.as_bytes());
    assert!(found.is_empty(), "{}", render_all(&found, Style::Plain));
    file.unwrap()
}

#[test]
fn the_stages_story_is_a_table_a_race_and_three_counts() {
    let file = file(STAGES);
    let ids: Vec<_> = file.header.ids.iter().map(|id| id.text.as_str()).collect();
    assert_eq!(ids, ["SCN-APR-11", "SCN-APR-14", "SCN-APR-15"]);
    let row = &file.stages[0].rows[2];
    assert_eq!((row.resolution.as_str(), row.argv.join("|")), ("unresolved", "touch|third".into()));
    let race = file.steps.iter().find_map(|step| match step {
        Step::ActRace(race) => Some(race),
        _ => None,
    });
    let race = race.unwrap();
    assert!(matches!(race.lines[0].kind, ActKind::Error { .. }));
    assert_eq!(race.lines[1].sets[1].path.to_string(), "currentRequirementId.sourceIndex");
    assert_eq!(race.lines[1].at.line, 42);
    assert_eq!(file.checks.len(), 3);
    let CheckKind::Count { count: 1, condition: Some(condition), .. } = &file.checks[1].kind else {
        panic!("{:?}", file.checks[1]);
    };
    assert_eq!(condition.path.to_string(), "requirementId.sourceIndex");
}

#[test]
fn the_gap_story_has_a_race_of_each_kind_and_a_lost_event() {
    let file = file(GAP);
    let lost: Vec<_> = file
        .steps
        .iter()
        .filter_map(|step| match step {
            Step::Act(act) if act.lost => act.bind.as_ref().map(|name| name.text.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(lost, ["green"]);
    let axes = point::axes(&file);
    assert_eq!(point::count(&axes), 2, "only races of acts are points");
    assert_eq!(point::label(&axes, &point::at(&axes, 1)), "race1=BA");
    let races = |step: &&Step| matches!(step, Step::ExpectRace(race) if race.lines.len() == 2);
    assert_eq!(file.steps.iter().filter(races).count(), 1);
    // The opening brings the prompt and the acknowledged turn.
    assert_eq!(
        file.timeline().count(),
        file.given.as_ref().unwrap().steps.len() + file.steps.len()
    );
}

#[test]
fn the_deadline_story_varies_a_duration() {
    let file = file(DEADLINE);
    assert!(matches!(&file.varies[0].values, VaryValues::Durations(list) if list.len() == 3));
    let waits = file.steps.iter().filter(|step| {
        matches!(step, Step::After(after) if matches!(&after.wait, Wait::Name(name) if name.text == "lag"))
    });
    assert_eq!(waits.count(), 1);
    let axes = point::axes(&file);
    let labels: Vec<_> = (0..3).map(|n| point::label(&axes, &point::at(&axes, n))).collect();
    assert_eq!(labels, ["lag=0ms", "lag=1ms", "lag=100ms"]);
    for (n, label) in labels.iter().enumerate() {
        assert_eq!(point::parse(&axes, label), Ok(point::at(&axes, n as u64)));
    }
    assert!(point::parse(&axes, "lag=2ms").unwrap_err().contains("there are: 0ms, 1ms, 100ms"));
    assert!(point::parse(&axes, "leg=1ms").unwrap_err().contains("with one of: lag"));
}

#[test]
fn orders_of_a_race_are_those_of_a_dictionary() {
    let text = "scenario \"t\"\n  id SCN-A-01\ngiven turn running\nhost -> item/started\n\
                race host -> item/started\nrace host ! eof\neditor <- ok prompt\n";
    let file = file(text);
    let axes = point::axes(&file);
    let all: Vec<_> = (0..6).map(|n| axes[0].label(n)).collect();
    assert_eq!(all, ["ABC", "ACB", "BAC", "BCA", "CAB", "CBA"]);
}

#[test]
fn lies_numbers_and_tests_keep_what_was_written() {
    let text = r#"scenario "t"
  id SCN-A-01
vary $code in -32601, -32603
given turn running
host1 -> raw as odd {"id": 123456789012345678901234567890, "method": "x/y", "at": 1e400}
host <- error odd $code
host -> bytes "{\xff\u00e4\n"
editor <- ok prompt
  _meta.muse/approval["a b"][0] = {"any": _, "list": [1, _]}
  text contains "a"
  text contains "b"
  other present
"#;
    let file = file(text);
    let Step::Act(raw) = &file.steps[0] else { panic!() };
    assert_eq!(raw.lane, Lane::HostNumber(1));
    let ActKind::Raw(value) = &raw.kind else { panic!() };
    assert!(crate::lang::fmt::value_line(value).contains("123456789012345678901234567890"));
    let Step::Act(bytes) = &file.steps[2] else { panic!() };
    assert_eq!(bytes.kind, ActKind::Bytes(b"{\xff\xc3\xa4\n".to_vec()));
    let Step::Expect(last) = &file.steps[3] else { panic!() };
    assert_eq!(last.matches[0].path.to_string(), r#"_meta.muse/approval["a b"][0]"#);
    assert_eq!(last.matches[3].test, Test::Present);
}

#[test]
fn a_file_from_another_system_reads_the_same() {
    let (unix, _) = parse("a.scn", GAP.as_bytes());
    let windows = format!("\u{feff}{}", GAP.replace('\n', "\r\n"));
    let (other, found) = parse("a.scn", windows.as_bytes());
    assert!(found.is_empty(), "{}", render_all(&found, Style::Plain));
    assert_eq!(unix, other);
}
