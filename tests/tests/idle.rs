//! A gateway that nobody asks for anything does nothing. It is alone in this process, whose
//! time is measured.
#![cfg(target_os = "linux")]
#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test states its expectation by failing on the spot"
)]

#[allow(dead_code, reason = "a part of what tests with faults need")]
#[path = "faults/host.rs"]
mod host;

use std::time::Duration;

use serde_json::json;

use host::{Log, faulty, host, within};

/// The time that this process has used, in hundredths of a second.
fn used() -> u64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let fields = stat.rsplit(')').next().unwrap().split_whitespace();
    fields
        .skip(11)
        .take(2)
        .map(|ticks| ticks.parse::<u64>().unwrap())
        .sum()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_idle_gateway_uses_no_time() {
    within(async {
        let log = Log::new();
        let servers = json!({
            "one": faulty(&log.word()),
            "two": faulty("modern"),
            "dead": faulty("exit=1"),
        });
        let host = host(servers).await;
        host.load("one").await;
        host.load("two").await;
        host.load_refused("dead").await;
        let (lines, before) = (log.lines(), used());
        // Not a wait for something: what is measured is this time.
        tokio::time::sleep(Duration::from_secs(2)).await;
        let spent = used() - before;
        assert!(spent <= 4, "{spent} hundredths of a second in two seconds");
        assert_eq!(log.lines(), lines, "the server was left alone");
        host.end().await;
    })
    .await;
}
