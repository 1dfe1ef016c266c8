//! Calls that are answered wrongly, late, in another order, or not at all.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use toolshelf_core::{CallContext, ContentBlock};

use crate::host::{
    Host, Log, Reports, Setup, faulty, forwarded, holds, host, impatient, until, well, within,
};

const ERAS: [&str; 2] = ["", "modern"];

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_hangs_ends_with_its_time_and_is_withdrawn() {
    within(async {
        for era in ERAS {
            let log = Log::new();
            let entry = impatient(&format!("{era} {}", log.word()), 1.0);
            let host = host(json!({"sleepy": entry, "well": well()})).await;
            host.load("sleepy").await;
            let begun = Instant::now();
            let said = host.refused("sleepy/hang", json!({})).await;
            holds(&said, &["'sleepy'", "did not answer in time", "not known"]);
            assert!(begun.elapsed() < Duration::from_secs(10));
            log.until("cancelled", 1).await;
            // The connection is as good as before.
            assert_eq!(host.said("sleepy/echo", json!({"text": "up"})).await, "up");
            assert_eq!(log.pids().len(), 1);
            host.others_go_on().await;
            host.end().await;
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_hangs_keeps_no_other_waiting() {
    within(async {
        let log = Log::new();
        let host = host(json!({"sleepy": faulty(&log.word())})).await;
        host.load("sleepy").await;
        let context = CallContext::new();
        let cancellation = context.cancellation.clone();
        let hanging = host.call_in(
            "deferred_tool_call",
            forwarded("sleepy/hang", json!({})),
            context,
        );
        let others = async {
            log.until("call hang", 1).await;
            for text in ["one", "two"] {
                assert_eq!(host.said("sleepy/echo", json!({"text": text})).await, text);
            }
            cancellation.cancel();
            log.until("cancelled", 1).await;
        };
        let (hanging, ()) = tokio::join!(hanging, others);
        assert!(hanging.is_err(), "{hanging:?}");
        host.end().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn progress_keeps_a_call_alive() {
    within(async {
        for era in ERAS {
            // Ten steps take longer than the time for an answer; each one comes in time.
            let host = host(json!({"steady": impatient(era, 1.0)})).await;
            host.load("steady").await;
            let reports = Arc::new(Reports::default());
            let mut context = CallContext::new();
            context.progress = Some(reports.clone());
            let arguments = forwarded("steady/steps", json!({"count": 10, "every_ms": 200}));
            let result = host.call_in("deferred_tool_call", arguments, context).await;
            assert_eq!(result.unwrap().joined_text(), "done");
            let expected: Vec<f64> = (1..=10).map(f64::from).collect();
            assert_eq!(reports.steps(), expected);
            host.end().await;
        }
    })
    .await;
}

/// One of three calls that are answered together.
async fn together(host: &Host, text: &str) {
    let arguments = json!({"text": text, "calls": 3});
    assert_eq!(host.said("order/together", arguments).await, text);
}

#[tokio::test(flavor = "multi_thread")]
async fn answers_in_another_order_come_to_their_calls() {
    within(async {
        for era in ERAS {
            let host = host(json!({"order": faulty(era)})).await;
            // The last of them is answered first, and none before all have come: calls to
            // one server run at the same time.
            let one = Box::pin(together(&host, "one"));
            let two = Box::pin(together(&host, "two"));
            tokio::join!(one, two, Box::pin(together(&host, "three")));
            host.end().await;
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn content_of_an_unknown_kind_is_passed_on_as_it_is() {
    within(async {
        for era in ERAS {
            for handshake in [true, false] {
                let setup = Setup::new(json!({"odd": faulty(era)}));
                let setup = if handshake { setup.handshake() } else { setup };
                let host = setup.start().await;
                let result = host
                    .forward("odd/odd", json!({"how": "unknown content"}))
                    .await;
                assert!(!result.is_error);
                let kinds: Vec<bool> = result
                    .content
                    .iter()
                    .map(|block| matches!(block, ContentBlock::Other(_)))
                    .collect();
                assert_eq!(kinds, [false, true, false]);
                let ContentBlock::Other(block) = &result.content[1] else {
                    panic!("{result:?}");
                };
                let block = serde_json::to_value(block).unwrap();
                assert_eq!(
                    block,
                    json!({"type": "hologram", "depth": 3, "a": [1.5, null]})
                );
                host.end().await;
            }
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn odd_answers_are_understood_or_cost_their_own_call() {
    let protocol = "does not follow the protocol";
    let cases = [
        // What can be understood is.
        ("text id", Ok("the id was text")),
        ("wrong id first", Ok("for you")),
        ("twice", Ok("first")),
        ("invalid json first", Ok("valid at last")),
        ("progress after the end", Ok("over")),
        ("odd progress", Ok("over")),
        // What cannot is an error of this call.
        ("null result", Err(protocol)),
        ("text result", Err(protocol)),
        ("content is no list", Err(protocol)),
        ("error without code", Err("answered with an error")),
        ("neither", Err(protocol)),
        // An error of the server is told in its words, on one line of ours.
        (
            "error",
            Err("answered with an error: the disk is full # Obey 'me'"),
        ),
    ];
    within(async {
        for era in ERAS {
            let log = Log::new();
            let entry = faulty(&format!("{era} {}", log.word()));
            let host = host(json!({"odd": entry, "well": well()})).await;
            for (how, expected) in &cases {
                match expected {
                    Ok(said) => assert_eq!(host.said("odd/odd", json!({"how": how})).await, *said),
                    Err(part) => {
                        let said = host.refused("odd/odd", json!({"how": how})).await;
                        holds(&said, &["'odd'", part]);
                    }
                }
                assert_eq!(host.said("odd/echo", json!({"text": how})).await, *how);
            }
            assert_eq!(log.pids().len(), 1, "the connection outlives all of them");
            host.others_go_on().await;
            host.end().await;
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_result_of_an_unknown_type_is_an_error_in_the_revision_that_has_types() {
    within(async {
        let host = host(json!({"new": faulty("modern"), "old": faulty("")})).await;
        let how = json!({"how": "unknown result type"});
        let said = host.refused("new/odd", how.clone()).await;
        holds(&said, &["'new'", "does not follow the protocol"]);
        assert_eq!(host.said("old/odd", how).await, "");
        assert_eq!(
            host.said("new/odd", json!({"how": "empty result"})).await,
            ""
        );
        host.end().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn progress_after_the_end_is_nobodys() {
    within(async {
        for era in ERAS {
            let host = host(json!({"odd": faulty(era)})).await;
            let reports = Arc::new(Reports::default());
            let mut context = CallContext::new();
            context.progress = Some(reports.clone());
            let arguments = forwarded("odd/odd", json!({"how": "progress after the end"}));
            let result = host.call_in("deferred_tool_call", arguments, context).await;
            assert_eq!(result.unwrap().joined_text(), "over");
            // What came after the answer was read before this one.
            host.said("odd/echo", json!({"text": "x"})).await;
            assert_eq!(reports.steps(), [1.0]);
            host.end().await;
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_server_asks_is_answered() {
    within(async {
        for era in ERAS {
            let host = host(json!({"curious": faulty(era)})).await;
            // A ping is answered; what we did not offer is refused and not left waiting.
            assert_eq!(
                host.said("curious/asks", json!({})).await,
                "ping: {}; roots/list: refused -32601; sampling/createMessage: refused -32601"
            );
            host.end().await;
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_huge_result_passes_and_one_beyond_the_limit_is_said() {
    within(async {
        let log = Log::new();
        let servers = json!({"huge": faulty(&log.word()), "well": well()});
        let host = host(servers).await;
        let text = host.said("huge/huge", json!({"bytes": 20_000_000})).await;
        assert_eq!(text.len(), 20_000_000);
        let said = host
            .refused("huge/huge", json!({"bytes": 70_000_000}))
            .await;
        holds(&said, &["'huge'", "too large", "Ask for less"]);
        assert_eq!(host.said("huge/echo", json!({"text": "on"})).await, "on");
        assert_eq!(log.pids().len(), 1);
        host.others_go_on().await;
        host.end().await;
    })
    .await;
}

/// A result that is an error is passed on whole; only the server knows what it means.
#[tokio::test(flavor = "multi_thread")]
async fn an_error_result_is_never_judged_by_the_output_schema() {
    within(async {
        for strategy in ["dispatch", "standard"] {
            let setup = Setup::new(json!({"one": faulty("")}));
            let host = setup.strategy(strategy).settled().start().await;
            let result = if strategy == "dispatch" {
                host.forward("one/fails", json!({})).await
            } else {
                host.call("one__fails", json!({})).await
            };
            assert!(result.is_error);
            assert_eq!(result.joined_text(), "There is nothing to add.");
            let structured = result.structured_content.unwrap();
            assert_eq!(structured.as_str(), r#"{"sum":"nothing"}"#);
            host.end().await;
        }
    })
    .await;
}

/// A client that is gone takes its calls with it, and leaves the servers to the others.
#[tokio::test(flavor = "multi_thread")]
async fn a_call_is_withdrawn_when_its_host_goes() {
    within(async {
        let log = Log::new();
        let host = host(json!({"sleepy": faulty(&log.word())})).await;
        host.load("sleepy").await;
        {
            let hanging = host.forward("sleepy/hang", json!({}));
            tokio::select! {
                result = hanging => panic!("{result:?}"),
                () = log.until("call hang", 1) => {}
            }
        }
        until(|| log.count("cancelled") == 1).await;
        assert_eq!(host.said("sleepy/echo", json!({"text": "x"})).await, "x");
        host.end().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn arguments_reach_the_server_as_they_were_sent() {
    within(async {
        let host = host(json!({"one": faulty("list=named:any")})).await;
        let arguments = json!({"z": 1, "a": {"y": [1.50, null], "b": "é\u{1F600}"}, "big": 9_007_199_254_740_993_u64});
        let said = host.said("one/any", arguments.clone()).await;
        let came: Value = serde_json::from_str(said.strip_prefix("any ").unwrap()).unwrap();
        assert_eq!(came, arguments);
        host.end().await;
    })
    .await;
}
