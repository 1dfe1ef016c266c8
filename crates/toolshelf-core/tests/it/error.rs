use std::error::Error as _;
use std::time::Duration;

use toolshelf_core::{Error, ErrorKind, MAX_MODEL_TEXT_BYTES};

fn full() -> Error {
    Error::new(ErrorKind::Unavailable, "cannot start /usr/bin/x")
        .operation("spawn")
        .context("server", "github")
        .context("stderr", "token=secret")
        .caused_by(std::io::Error::other("no such file"))
        .retry_after(Duration::from_secs(3))
}

#[test]
fn the_operator_reads_everything() {
    let error = full();
    assert_eq!(
        error.to_string(),
        "spawn: cannot start /usr/bin/x (server: github, stderr: token=secret)"
    );
    assert_eq!(error.source().unwrap().to_string(), "no such file");
    assert!(format!("{error:?}").contains("no such file"));
    assert_eq!(error.retry_delay(), Some(Duration::from_secs(3)));
    assert_eq!(Error::new(ErrorKind::Denied, "no").to_string(), "no");
}

#[test]
fn the_model_reads_what_was_meant_for_it() {
    assert_eq!(full().for_model(), "unavailable");
    assert_eq!(
        full().for_model_text("It did not start.").for_model(),
        "It did not start."
    );
    let long = full().for_model_text("é".repeat(5_000));
    assert!(long.for_model().len() <= MAX_MODEL_TEXT_BYTES);
    assert!(long.for_model().ends_with('…'));
}

#[test]
fn a_copy_keeps_the_cause_as_text() {
    let error = full().for_model_text("It did not start.");
    let copy = error.duplicate().duplicate();
    assert_eq!(copy.kind(), error.kind());
    assert_eq!(copy.for_model(), error.for_model());
    assert_eq!(copy.retry_delay(), error.retry_delay());
    assert!(copy.to_string().contains("cause: no such file"));
    assert!(copy.source().is_none());
}

#[test]
fn only_what_may_pass_is_retried() {
    use ErrorKind::{
        Conflict, Denied, Exited, InvalidArguments, NeedsSignIn, TimedOut, Unavailable,
    };
    for kind in [Unavailable, Exited, TimedOut, Conflict] {
        assert!(kind.is_retryable(), "{kind}");
    }
    for kind in [Denied, NeedsSignIn, InvalidArguments] {
        assert!(!kind.is_retryable(), "{kind}");
    }
}
