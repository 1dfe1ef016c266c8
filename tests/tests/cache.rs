//! Lists of tools that outlive a start: what is known is used at once, a server starts
//! when it is called, and a list that has changed meanwhile is noticed then.

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "helpers of tests are tests"
)]

use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};
use toolshelf_gateway::GatewayOptions;
use toolshelf_gateway::cache::DescriptorCache;
use toolshelf_mcp::Lifecycle;
use toolshelf_tests::Connected;
use toolshelf_tests::gateway::{PATIENCE, forward, gateway, starts, strategies, with_host};

const FIXTURE: &str = env!("CARGO_BIN_EXE_fixture-server");

/// A server that notes each of its starts in a file, and whose list another file decides.
fn entry(folder: &Path) -> Value {
    json!({
        "command": FIXTURE,
        "args": ["listed", folder.join("starts"), folder.join("tools")],
        "env": {"SECRET": "t0p-s3cret"},
    })
}

fn write_tools(folder: &Path, tools: Value) {
    std::fs::write(folder.join("tools"), tools.to_string()).unwrap();
}

fn tool(name: &str, argument: &str) -> Value {
    let schema = json!({"type": "object", "properties": {argument: {"type": "string"}}, "required": [argument]});
    json!({"name": name, "inputSchema": schema})
}

async fn with_gateway(folder: &Path, wait: Option<Duration>, test: impl AsyncFnOnce(&Connected)) {
    let mut options = GatewayOptions::default();
    options.cache = Some(DescriptorCache::open(folder.join("cache")).unwrap());
    options.wait = wait;
    let servers = json!({"shop": entry(folder)});
    let gateway = gateway(&servers, options, &strategies()).unwrap();
    with_host(gateway, Lifecycle::Auto, test).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_warm_start_starts_no_server_until_one_is_called() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    write_tools(folder, json!([tool("buy", "item"), tool("sell", "item")]));
    let mut first = Vec::new();
    with_gateway(folder, Some(PATIENCE), async |host| {
        first = host.list().await.unwrap();
        assert!(first[0].contains("buy, sell"), "{}", first[0]);
        assert_eq!(starts(folder), 1);
    })
    .await;
    // Without a wait: the same bytes all the same.
    with_gateway(folder, None, async |host| {
        assert_eq!(host.list().await.unwrap(), first);
        let loaded = host
            .call("load_tools", json!({"group_id": "shop"}))
            .await
            .unwrap();
        assert!(loaded.joined_text().contains("\"expanded\":true"));
        let wrong = host
            .call("deferred_tool_call", forward("buy", json!({})))
            .await
            .unwrap();
        assert!(
            wrong.joined_text().contains("item: expected"),
            "{}",
            wrong.joined_text()
        );
        assert_eq!(
            starts(folder),
            1,
            "listing, loading and a wrong call start nothing"
        );

        let bought = host
            .call("deferred_tool_call", forward("buy", json!({"item": "tea"})))
            .await
            .unwrap();
        assert_eq!(bought.joined_text(), "buy: {\"item\":\"tea\"}");
        assert_eq!(starts(folder), 2, "a call starts its server");
        assert_eq!(
            bought.content.len(),
            1,
            "nothing has changed, so there is no news"
        );
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tool_that_changed_is_validated_against_its_live_schema_and_said_once() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    write_tools(folder, json!([tool("buy", "item"), tool("sell", "item")]));
    with_gateway(folder, Some(PATIENCE), async |host| {
        host.list().await.unwrap();
    })
    .await;
    write_tools(
        folder,
        json!([tool("buy", "article"), tool("swap", "item")]),
    );
    with_gateway(folder, None, async |host| {
        let list = host.list().await.unwrap();
        // Valid under the old schema, not under the one that the server has now.
        let refused = host
            .call("deferred_tool_call", forward("buy", json!({"item": "tea"})))
            .await
            .unwrap();
        assert!(refused.is_error);
        assert!(
            refused.joined_text().contains("article: expected"),
            "{}",
            refused.joined_text()
        );
        let bought = host
            .call(
                "deferred_tool_call",
                forward("buy", json!({"article": "tea"})),
            )
            .await
            .unwrap();
        assert_eq!(bought.joined_text(), "buy: {\"article\":\"tea\"}");
        let gone = host
            .call(
                "deferred_tool_call",
                forward("shop/sell", json!({"item": "tea"})),
            )
            .await
            .unwrap();
        assert!(
            gone.is_error && gone.joined_text().contains("no tool"),
            "{}",
            gone.joined_text()
        );

        let load = json!({"group_id": "shop"});
        let first = host.call("load_tools", load.clone()).await.unwrap();
        assert_eq!(
            first.content[1].as_text(),
            Some(
                "Tools of group `shop`: new: `swap`; gone: `sell`; changed, load again before the \
                 next call: `buy`."
            )
        );
        let second = host.call("load_tools", load).await.unwrap();
        assert_eq!(second.content.len(), 1, "it is said once");
        assert_eq!(second.content[0], first.content[0]);
        assert_eq!(host.list().await.unwrap(), list, "the list stays as it was");
    })
    .await;
    // The next start knows the new list.
    with_gateway(folder, None, async |host| {
        let list = host.list().await.unwrap();
        assert!(list[0].contains("buy, swap"), "{}", list[0]);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_list_that_changes_while_the_server_runs_is_read_again() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    write_tools(folder, json!([tool("buy", "item")]));
    with_gateway(folder, Some(PATIENCE), async |host| {
        host.list().await.unwrap();
        write_tools(folder, json!([tool("buy", "item"), tool("gift", "item")]));
        // The fixture says that its list has changed when this argument comes.
        host.call(
            "deferred_tool_call",
            forward("buy", json!({"item": "announce"})),
        )
        .await
        .unwrap();
        loop {
            let loaded = host
                .call("load_tools", json!({"group_id": "shop"}))
                .await
                .unwrap();
            if loaded.content.len() == 2 {
                assert_eq!(
                    loaded.content[1].as_text(),
                    Some("Tools of group `shop`: new: `gift`.")
                );
                break;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        let gift = host
            .call(
                "deferred_tool_call",
                forward("gift", json!({"item": "tea"})),
            )
            .await
            .unwrap();
        assert_eq!(gift.joined_text(), "gift: {\"item\":\"tea\"}");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_cache_tells_nobody_what_stands_in_the_configuration() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    write_tools(folder, json!([tool("buy", "item")]));
    with_gateway(folder, Some(PATIENCE), async |host| {
        host.list().await.unwrap();
    })
    .await;
    let mut files = 0;
    for file in std::fs::read_dir(folder.join("cache")).unwrap() {
        let file = file.unwrap();
        files += 1;
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = file.metadata().unwrap().permissions().mode() & 0o777;
            assert_eq!(mode, 0o600, "{}", file.path().display());
        }
        let bytes = std::fs::read(file.path()).unwrap();
        let text = String::from_utf8_lossy(&bytes);
        assert!(!text.contains("t0p-s3cret"), "{}", file.path().display());
    }
    assert_eq!(
        files, 2,
        "a key and a record, and no file left over from writing"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_record_that_lost_its_end_costs_a_start_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    write_tools(folder, json!([tool("buy", "item"), tool("sell", "item")]));
    with_gateway(folder, Some(PATIENCE), async |host| {
        host.list().await.unwrap();
    })
    .await;
    for file in std::fs::read_dir(folder.join("cache")).unwrap() {
        let path = file.unwrap().path();
        if path.extension().is_some() {
            let text = std::fs::read_to_string(&path).unwrap();
            std::fs::write(&path, &text[..text.len() - 20]).unwrap();
        }
    }
    with_gateway(folder, None, async |host| {
        let list = host.list().await.unwrap();
        assert!(list[0].contains("buy, sell"), "{}", list[0]);
        assert_eq!(starts(folder), 1);
        let loaded = host
            .call("load_tools", json!({"group_id": "shop"}))
            .await
            .unwrap();
        assert!(loaded.joined_text().contains("\"expanded\":true"));
        assert_eq!(starts(folder), 2);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_broken_record_is_as_good_as_none() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    write_tools(folder, json!([tool("buy", "item")]));
    with_gateway(folder, Some(PATIENCE), async |host| {
        host.list().await.unwrap();
    })
    .await;
    for file in std::fs::read_dir(folder.join("cache")).unwrap() {
        std::fs::write(file.unwrap().path(), "{ broken").unwrap();
    }
    with_gateway(folder, Some(PATIENCE), async |host| {
        let list = host.list().await.unwrap();
        assert!(list[0].contains("buy"), "{}", list[0]);
    })
    .await;
    assert_eq!(starts(folder), 2);
}
