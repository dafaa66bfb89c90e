//! Events on standard output, one JSON object a line.

use crate::failure::Failure;
use serde_json::{Value, json};
use std::io::Write;

/// Says what ended the run.
pub fn failed(failure: &Failure) {
    say(&json!({
        "event": "error",
        "code": failure.code(),
        "message": failure.to_string().replace('\n', " "),
        "hint": failure.hint(),
    }));
}

/// A reader that has gone is no reason to fail: standard input's end tells of that.
pub fn say(event: &Value) {
    let mut out = std::io::stdout().lock();
    let _ = writeln!(out, "{event}").and_then(|()| out.flush());
}
