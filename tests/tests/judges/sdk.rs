//! The official packages as clients of the real `fake-msp` (SDK-16..20).

use std::process::Command;

use libtest_mimic::{Failed, Trial};
use serde_json::Value;
use tests::family::Family;
use tests::judge::{JUDGES, Judge};

use crate::expect::CASES;

/// Every judge with every case.
pub(crate) fn trials() -> impl Iterator<Item = Trial> {
    JUDGES.iter().flat_map(|judge| {
        CASES.iter().map(move |case| {
            let name = format!("judges::{}::{}", judge.name(), case.name);
            Trial::test(name.clone(), move || {
                let Some(command) = judge.find(&name) else { return Ok(()) };
                let report = play(judge, command, case.name)?;
                (case.expect)(judge, &report).map_err(|text| format!("{text}\n{report:#}").into())
            })
        })
    })
}

fn play(judge: &Judge, mut command: Command, case: &str) -> Result<Value, Failed> {
    let workspace = tempfile::tempdir()?;
    command.arg(case).arg(env!("CARGO_BIN_EXE_fake-msp-under-test")).arg(judge.profile);
    command.arg(workspace.path());
    report(command)
}

/// Runs a judge to its end and reads its report. No process is left behind.
pub(crate) fn report(mut command: Command) -> Result<Value, Failed> {
    let family = Family::new();
    let (name, value) = family.variable();
    command.env(name, value);
    for variable in fake_msp::cli::ENVIRONMENT {
        command.env_remove(variable);
    }
    let output = assert_cmd::Command::from_std(command).timeout(tests::agent::BOUND).output()?;
    if !output.status.success() {
        family.kill();
        let stderr = String::from_utf8_lossy(&output.stderr);
        return Err(format!("the judge ended with {}\n{stderr}", output.status).into());
    }
    family.assert_empty();
    Ok(serde_json::from_slice(&output.stdout)?)
}
