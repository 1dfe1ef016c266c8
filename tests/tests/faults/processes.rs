//! Servers that start late, end early, or do not end.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use toolshelf_gateway::config::{Config, EntryState};

use crate::host::{
    FAULTY, Log, SECRET, Setup, assert_gone, faulty, holds, host, impatient, until, well, within,
};

/// Both eras, as words of the fixture.
const ERAS: [&str; 2] = ["", "modern"];

/// A shell that starts the fixture and waits for it: the fixture is not our child.
fn in_a_shell(words: &str) -> Value {
    let script = format!(r#""{FAULTY}" {words}; exit 9"#);
    json!({"command": "sh", "args": ["-c", script]})
}

/// The fixture, deaf for the signal that asks a process to end.
fn deaf(words: &str) -> Value {
    let script = format!(r#"trap "" TERM; exec "{FAULTY}" {words}"#);
    json!({"command": "sh", "args": ["-c", script]})
}

#[tokio::test(flavor = "multi_thread")]
async fn a_slow_start_delays_its_own_tools_only() {
    within(async {
        for era in ERAS {
            let slow = faulty(&format!("{era} start=1000"));
            let host = host(json!({"slow": slow, "well": well()})).await;
            let begun = Instant::now();
            holds(&host.catalog().await, &["- `slow`", "- `well`"]);
            host.others_go_on().await;
            // The call waits for the start instead of failing.
            assert_eq!(
                host.said("slow/echo", json!({"text": "late"})).await,
                "late"
            );
            assert!(begun.elapsed() >= Duration::from_millis(500));
            host.end().await;
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_start_that_takes_too_long_is_said_and_costs_nobody_else() {
    within(async {
        let log = Log::new();
        let slow = impatient(&format!("start=60000 {}", log.word()), 0.5);
        let host = host(json!({"slow": slow, "well": well()})).await;
        let said = host.load_refused("slow").await;
        holds(&said, &["`slow`", "did not start in time", "tried again"]);
        let said = host.refused("slow/echo", json!({"text": "x"})).await;
        holds(&said, &["`slow`", "did not start in time"]);
        host.others_go_on().await;
        host.end().await;
        assert_gone(&log.pids());
    })
    .await;
}

/// The start of real servers on a first run: 8 and 15 seconds, longer than any probe.
#[tokio::test(flavor = "multi_thread")]
async fn servers_that_take_8_and_15_seconds_to_start_are_used() {
    if std::env::var_os("TOOLSHELF_NIGHTLY").is_none() {
        return;
    }
    within(async {
        for era in ERAS {
            let servers = json!({
                "eight": faulty(&format!("{era} start=8000")),
                "fifteen": faulty(&format!("{era} start=15000")),
            });
            let host = host(servers).await;
            for server in ["eight/echo", "fifteen/echo"] {
                assert_eq!(host.said(server, json!({"text": "up"})).await, "up");
            }
            host.end().await;
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_late_answer_to_the_probe_is_no_answer_to_anything_else() {
    within(async {
        // Longer than the probe is waited for, so that `initialize` is sent as well.
        for words in [
            "probe=late:3500",
            "probe=slow:3500",
            "modern probe=slow:3500",
            "modern probe=late:3500",
        ] {
            let late = faulty(words);
            let host = host(json!({"late": late, "well": well()})).await;
            host.others_go_on().await;
            for text in ["one", "two"] {
                assert_eq!(host.said("late/echo", json!({"text": text})).await, text);
            }
            host.end().await;
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_does_not_survive_the_probe_is_used_without_it() {
    within(async {
        for how in ["silent", "dies"] {
            let log = Log::new();
            let entry = faulty(&format!("probe={how} {}", log.word()));
            let host = host(json!({"odd": entry})).await;
            assert_eq!(host.said("odd/echo", json!({"text": "hi"})).await, "hi");
            // Once is enough to know it: a new process is not probed again.
            host.refused("odd/crash", json!({})).await;
            assert_eq!(host.said("odd/echo", json!({"text": "hi"})).await, "hi");
            assert_eq!(log.count("probe"), 1, "{how}: {:?}", log.lines());
            host.end().await;
            assert_gone(&log.pids());
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_ends_at_once_is_reported_without_its_words() {
    within(async {
        for era in ERAS {
            let servers = json!({"dead": faulty(&format!("{era} exit=7")), "well": well()});
            let host = host(servers).await;
            host.others_go_on().await;
            let said = host.load_refused("dead").await;
            holds(
                &said,
                &["`dead`", "ended while it was starting", "operator"],
            );
            let said = host.refused("dead/echo", json!({"text": "x"})).await;
            holds(&said, &["`dead`", "ended while it was starting"]);
            // The operator is told why, in the server's words.
            holds(&host.for_operator("dead"), &["7", SECRET]);
            host.end().await;
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_failed_is_tried_again_after_a_pause() {
    within(async {
        let log = Log::new();
        let words = format!(
            "list=error-once:{} {}",
            log.beside("once").display(),
            log.word()
        );
        let setup = Setup::new(json!({"flaky": faulty(&words)}));
        let host = setup
            .settled()
            .backoff(Duration::from_millis(100))
            .start()
            .await;
        host.catalog().await;
        until(|| log.count("list") == 1).await;
        let answer = async {
            loop {
                let answer = host.load("flaky").await;
                if answer["expanded"] == true {
                    return answer;
                }
                holds(answer["error"].as_str().unwrap(), &["throttled"]);
                tokio::task::yield_now().await;
            }
        };
        assert_eq!(answer.await["tool_names"].as_array().unwrap().len(), 11);
        assert_eq!(log.count("list"), 2, "no try was made within the pause");
        host.end().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_is_configured_wrongly_or_missing_is_said_to_be() {
    within(async {
        let servers = json!({
            "missing": {"command": "no-such-program-anywhere"},
            "nowhere": {"command": FAULTY, "cwd": "/no/such/folder"},
            "well": well(),
        });
        let host = host(servers).await;
        let said = host.load_refused("missing").await;
        holds(&said, &["`missing`", "not installed", "operator"]);
        let said = host.load_refused("nowhere").await;
        holds(&said, &["`nowhere`", "cannot be started", "operator"]);
        holds(&host.for_operator("missing"), &["no-such-program-anywhere"]);
        holds(&host.for_operator("nowhere"), &["/no/such/folder"]);
        host.others_go_on().await;
        host.end().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_crash_costs_its_call_and_the_server_is_started_again() {
    within(async {
        for era in ERAS {
            let log = Log::new();
            let entry = faulty(&format!("{era} crash-on=3 {}", log.word()));
            let host = host(json!({"frail": entry, "well": well()})).await;
            for text in ["one", "two"] {
                assert_eq!(host.said("frail/echo", json!({"text": text})).await, text);
            }
            let said = host.refused("frail/echo", json!({"text": "three"})).await;
            holds(
                &said,
                &[
                    "'frail'",
                    "ended before it answered",
                    "not known",
                    "started again",
                ],
            );
            host.others_go_on().await;
            assert_eq!(
                host.said("frail/echo", json!({"text": "four"})).await,
                "four"
            );
            assert_eq!(log.pids().len(), 2, "one new process");
            assert_eq!(
                log.count(r#"call echo {"text":"three"}"#),
                1,
                "a call that may have taken effect is never repeated"
            );
            host.end().await;
            assert_gone(&log.pids());
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_crash_ends_all_calls_in_flight_to_that_server_and_no_other() {
    within(async {
        let log = Log::new();
        let servers = json!({"frail": faulty(&log.word()), "well": well()});
        let host = host(servers).await;
        host.load("frail").await;
        let hanging = host.refused("frail/hang", json!({}));
        let crash = async {
            log.until("call hang", 1).await;
            host.others_go_on().await;
            host.refused("frail/crash", json!({})).await
        };
        let (hanging, crash) = tokio::join!(hanging, crash);
        for said in [hanging, crash] {
            holds(&said, &["'frail'", "ended before it answered"]);
        }
        host.end().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_ignores_the_end_of_its_input_is_ended() {
    within(async {
        for era in ERAS {
            let log = Log::new();
            let words = format!("{era} stays {}", log.word());
            let host = host(json!({"stays": faulty(&words)})).await;
            host.load("stays").await;
            host.end().await;
            assert_eq!(log.count("end-of-input"), 1, "it was asked politely first");
            assert_gone(&log.pids());
        }
    })
    .await;
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_ignores_signals_too_is_killed() {
    within(async {
        let log = Log::new();
        let host = host(json!({"deaf": deaf(&format!("stays {}", log.word()))})).await;
        host.load("deaf").await;
        let begun = Instant::now();
        host.end().await;
        assert!(begun.elapsed() < Duration::from_secs(15));
        assert_gone(&log.pids());
    })
    .await;
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn what_a_wrapper_starts_ends_with_it() {
    within(async {
        // The shell is our child, the server is its child, and that has a child as well.
        for words in ["child", "child stays"] {
            let log = Log::new();
            let entry = in_a_shell(&format!("{words} '{}'", log.word()));
            let host = host(json!({"wrapped": entry})).await;
            assert_eq!(host.said("wrapped/echo", json!({"text": "x"})).await, "x");
            assert_eq!(log.pids().len(), 2);
            host.end().await;
            assert_gone(&log.pids());
        }
    })
    .await;
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn what_a_crashed_server_started_does_not_stay() {
    within(async {
        let log = Log::new();
        let entry = in_a_shell(&format!("child '{}'", log.word()));
        let host = host(json!({"wrapped": entry})).await;
        host.load("wrapped").await;
        let first = log.pids();
        assert_eq!(first.len(), 2);
        host.refused("wrapped/crash", json!({})).await;
        assert_eq!(host.said("wrapped/echo", json!({"text": "x"})).await, "x");
        until_gone(&first).await;
        host.end().await;
        assert_gone(&log.pids());
    })
    .await;
}

/// Waits until none of these runs.
#[cfg(unix)]
async fn until_gone(pids: &[u32]) {
    #[cfg(target_os = "linux")]
    until(|| !pids.iter().any(|pid| crate::host::is_alive(*pid))).await;
    #[cfg(not(target_os = "linux"))]
    let _ = pids;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_gateway_that_is_closed_while_servers_start_leaves_none() {
    within(async {
        let log = Log::new();
        let servers = json!({
            "slow": faulty(&format!("start=60000 {}", log.word())),
            "mute": faulty(&format!("probe=silent list=hang {}", log.word())),
        });
        let host = host(servers).await;
        log.until("pid", 2).await;
        host.end().await;
        assert_gone(&log.pids());
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_banner_on_standard_output_is_skipped() {
    within(async {
        for era in ERAS {
            for noise in ["banner", "chatter", "banner chatter"] {
                let host = host(json!({"loud": faulty(&format!("{era} {noise}"))})).await;
                let said = host.said("loud/echo", json!({"text": "clear"})).await;
                assert_eq!(said, "clear", "{noise}");
                host.end().await;
            }
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_flood_on_standard_error_neither_blocks_nor_fills_the_memory() {
    within(async {
        let before = rss();
        let servers = json!({"flood": faulty("flood=20000000"), "well": well()});
        let host = host(servers).await;
        let flood = json!({"bytes": 80_000_000});
        assert_eq!(host.said("flood/flood", flood).await, "flooded");
        host.others_go_on().await;
        let grown = rss().saturating_sub(before);
        assert!(grown < 100_000_000, "grown by {grown} bytes");
        let said = host.refused("flood/crash", json!({})).await;
        holds(&said, &["'flood'", "ended before it answered"]);
        host.end().await;
    })
    .await;
}

/// How many bytes of memory this process has; 0 where that is not known.
fn rss() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmRSS:"));
    line.and_then(|line| line.split_whitespace().nth(1))
        .and_then(|kilobytes| kilobytes.parse::<u64>().ok())
        .unwrap_or_default()
        * 1_024
}

#[tokio::test(flavor = "multi_thread")]
async fn a_connection_that_is_refused_or_answered_with_nothing_is_said() {
    within(async {
        let servers = json!({
            "null": faulty("connect=null"),
            "full": faulty("connect=error"),
            "well": well(),
        });
        let host = host(servers).await;
        let said = host.load_refused("null").await;
        holds(&said, &["`null`", "does not follow the protocol"]);
        let said = host.load_refused("full").await;
        holds(&said, &["`full`", "no room for another client"]);
        host.others_go_on().await;
        host.end().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn many_servers_start_a_few_at_a_time() {
    within(async {
        // 22 servers that each need a moment. Never more than four start at once; all come.
        let log = Log::new();
        let servers: serde_json::Map<String, Value> = (0..22)
            .map(|n| {
                let words = format!("start=100 {}", log.word());
                (format!("server-{n:02}"), faulty(&words))
            })
            .collect();
        let host = Setup::new(servers.into()).settled().start().await;
        let list = host.catalog().await;
        holds(&list, &["server-00", "server-21"]);
        let (mut starting, mut most) = (0_i32, 0);
        for line in log.lines() {
            match line.split(' ').next() {
                Some("pid") => starting += 1,
                Some("ready") => starting -= 1,
                _ => {}
            }
            most = most.max(starting);
        }
        assert_eq!(starting, 0);
        assert!((2..=4).contains(&most), "{most} at once");
        for server in ["server-00/echo", "server-21/echo"] {
            assert_eq!(host.said(server, json!({"text": "x"})).await, "x");
        }
        host.end().await;
        assert_gone(&log.pids());
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn one_connection_serves_all_calls() {
    within(async {
        let log = Log::new();
        let host = host(json!({"pooled": faulty(&log.word())})).await;
        for n in 0..20 {
            let text = n.to_string();
            assert_eq!(host.said("pooled/echo", json!({"text": text})).await, text);
        }
        host.load("pooled").await;
        assert_eq!(log.pids().len(), 1, "one process");
        assert_eq!(log.count("list"), 1, "one list");
        host.end().await;
    })
    .await;
}

/// A server that keeps state between calls keeps it: all clients and calls of a gateway
/// share its process.
#[tokio::test(flavor = "multi_thread")]
async fn a_server_with_a_state_keeps_it_between_calls() {
    within(async {
        let log = Log::new();
        let host = host(json!({"state": faulty(&format!("changes {}", log.word()))})).await;
        host.said("state/change", json!({"to": "gone"})).await;
        log.until("list", 2).await;
        assert_eq!(
            host.said("state/change", json!({"to": "gone"})).await,
            "changed"
        );
        assert_eq!(log.pids().len(), 1);
        host.end().await;
    })
    .await;
}

/// Each field of an entry may hold variables. One that is not set names the field, disables
/// its own server, and tells no value.
#[test]
fn variables_are_expanded_in_every_field() {
    let environment: BTreeMap<String, String> = [
        ("PROGRAM", FAULTY),
        ("WORD", "modern"),
        ("FOLDER", env!("CARGO_MANIFEST_DIR")),
        ("TOKEN", SECRET),
        ("SECONDS", "7"),
        ("EMPTY", ""),
    ]
    .map(|(name, value)| (name.to_owned(), value.to_owned()))
    .into();
    let right = json!({
        "command": "${PROGRAM}", "args": ["${WORD}", "a-${WORD}-${NONE:-b}-${EMPTY:-c}", "$WORD"],
        "env": {"KEY": "Bearer ${TOKEN}"}, "cwd": "${FOLDER}/src", "timeout": "${SECONDS}",
        "description": "Speaks ${WORD}",
    });
    let mut servers = serde_json::Map::new();
    servers.insert("right".to_owned(), right.clone());
    let unset = "x${TOOLSHELF_TEST_UNSET}${TOKEN}";
    let fields = [
        ("command", json!(unset)),
        ("args", json!(["a", unset])),
        ("env", json!({"KEY": unset})),
        ("cwd", json!(unset)),
        ("timeout", json!(unset)),
        ("description", json!(unset)),
        ("title", json!(unset)),
    ];
    for (field, value) in &fields {
        let mut entry = right.clone();
        entry[*field] = value.clone();
        servers.insert(format!("un-{field}"), entry);
    }
    let text = json!({ "mcpServers": servers }).to_string();
    let config = Config::parse(&text, &environment).unwrap();
    for entry in &config.servers {
        let Some(field) = entry.id.as_str().strip_prefix("un-") else {
            assert_eq!(entry.description.as_deref(), Some("Speaks modern"));
            let EntryState::Stdio {
                command,
                args,
                env,
                cwd,
                timeout,
                ..
            } = &entry.state
            else {
                panic!("{entry:?}");
            };
            assert_eq!(command, FAULTY);
            assert_eq!(args, &["modern", "a-modern-b-c", "$WORD"]);
            assert_eq!(env["KEY"], format!("Bearer {SECRET}"));
            assert!(cwd.as_ref().unwrap().ends_with("src"));
            assert_eq!(*timeout, Some(Duration::from_secs(7)));
            continue;
        };
        let EntryState::Faulty(fault) = &entry.state else {
            panic!("{entry:?}");
        };
        holds(fault, &[field, "TOOLSHELF_TEST_UNSET", "not set"]);
        assert!(!fault.contains(SECRET), "{fault}");
    }
    assert_eq!(config.servers.len(), fields.len() + 1);
}
