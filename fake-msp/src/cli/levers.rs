//! `--fault` and `FAKE_MSP_FAULT`: a comma list of levers.
//!
//! Rules: HOST-15.

use crate::engine::Fault;

/// All levers, split into those of the engine and those of the process.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Levers {
    pub(super) faults: Vec<Fault>,
    /// Start a child that holds stdout open for 30 s.
    pub(super) grandchild: bool,
    /// A line for stderr at start.
    pub(super) stderr: Option<String>,
    /// `serve` does not exist.
    pub(super) no_serve: bool,
    /// `--version` never answers.
    pub(super) slow_version: bool,
}

/// The levers, for messages and help.
pub(super) const ALLOWED: &str = "\
ignore:METHOD        never answers METHOD
error:METHOD:CODE    answers METHOD with this error
exit:METHOD:CODE     ends with exit code CODE (0-255) when METHOD arrives
eof:METHOD           closes stdout when METHOD arrives and stays alive
crash:METHOD         dies by a signal when METHOD arrives
hang-on-eof          does not end at the end of stdin
grandchild           a child holds stdout open for 30 s (unix)
stderr:TEXT          writes TEXT to stderr at start
no-serve             `serve` and `serve --help` fail with exit code 2
slow-version         `--version` hangs
";

/// Reads a list; the error names the lever and what is allowed.
pub(super) fn parse(list: &str) -> Result<Levers, String> {
    let mut levers = Levers::default();
    for word in list.split(',').map(str::trim).filter(|word| !word.is_empty()) {
        let unknown = || {
            let forms: Vec<&str> =
                ALLOWED.lines().filter_map(|line| line.split_whitespace().next()).collect();
            format!("unknown lever `{word}`; allowed are {}", forms.join(", "))
        };
        let (name, rest) = word.split_once(':').map_or((word, None), |(n, r)| (n, Some(r)));
        let with_code = || rest.and_then(|rest| rest.rsplit_once(':'));
        match (name, rest) {
            ("ignore", Some(method)) => levers.faults.push(Fault::Ignore(method.into())),
            ("eof", Some(method)) => levers.faults.push(Fault::CloseStdout(method.into())),
            ("crash", Some(method)) => levers.faults.push(Fault::Crash(method.into())),
            ("error", Some(_)) => {
                let (method, code) = with_code().ok_or_else(unknown)?;
                let code = code.parse().map_err(|_| unknown())?;
                levers.faults.push(Fault::Error(method.into(), code));
            }
            ("exit", Some(_)) => {
                let (method, code) = with_code().ok_or_else(unknown)?;
                let code: u8 = code.parse().map_err(|_| unknown())?;
                levers.faults.push(Fault::Exit(method.into(), code.into()));
            }
            ("stderr", Some(text)) => levers.stderr = Some(text.into()),
            ("hang-on-eof", None) => levers.faults.push(Fault::HangOnEof),
            ("grandchild", None) => levers.grandchild = true,
            ("no-serve", None) => levers.no_serve = true,
            ("slow-version", None) => levers.slow_version = true,
            _ => return Err(unknown()),
        }
    }
    Ok(levers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levers_are_read_in_order() {
        let levers = parse("ignore:initialize, exit:turn/start:5,stderr:a:b,grandchild").unwrap();
        assert_eq!(
            levers.faults,
            [Fault::Ignore("initialize".into()), Fault::Exit("turn/start".into(), 5)]
        );
        assert_eq!(levers.stderr.as_deref(), Some("a:b"));
        assert!(levers.grandchild);
    }

    #[test]
    fn an_error_code_may_be_negative() {
        let levers = parse("error:session/setModel:-32030").unwrap();
        assert_eq!(levers.faults, [Fault::Error("session/setModel".into(), -32030)]);
    }

    #[test]
    fn an_unknown_lever_is_named_together_with_the_allowed_ones() {
        for bad in ["explode", "exit:turn/start", "exit:turn/start:999", "ignore", "no-serve:x"] {
            let message = parse(bad).unwrap_err();
            assert!(message.contains(bad) && message.contains("hang-on-eof"), "{message}");
        }
    }
}
