//! Plugins that a configuration chooses by name, in a gateway.

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "helpers of tests are tests"
)]

use std::sync::Arc;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use toolshelf_core::catalog::{CatalogFormat, CatalogText, CatalogTier, CatalogView};
use toolshelf_core::codec::{Block, DiscoveryCodec, ReadDiscovery};
use toolshelf_core::{
    Builder, Call, CallContext, Cancellation, ContentBlock, Cx, Error, ErrorKind, FnTool, GroupId,
    JsonText, LoadContext, Loaded, NoOptions, Plugin, Registry, Resolution, State, Step, Strategy,
    Surface, Tool, ToolDefinition, ToolName, ToolResult, ToolSlot, options_schema, read_options,
};
use toolshelf_gateway::config::{Config, EntryState, ProcessEnvironment};
use toolshelf_gateway::{Gateway, GatewayOptions};
use toolshelf_mcp::Lifecycle;
use toolshelf_tests::Connected;
use toolshelf_tests::gateway::{PATIENCE, with_host};

/// Tools that say what they were told to say.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Sayings {
    says: Vec<(String, String)>,
}

fn tool(name: &str, says: String) -> Result<Arc<dyn Tool>, Error> {
    let schema = JsonText::parse(r#"{"type":"object"}"#)?;
    let definition = ToolDefinition::new(ToolName::new(name)?, "Says it.", schema)?;
    Ok(Arc::new(FnTool::new(definition, move |_, _| {
        let says = says.clone();
        async move { Ok(ToolResult::text(says)) }
    })))
}

const SAYINGS: Plugin = Plugin {
    name: "sayings",
    provider: "seams",
    about: "Says things.",
    build: Builder::Loader(|options| {
        let Sayings { says } = read_options("sayings", options)?;
        let tools = says.into_iter().map(|(name, says)| tool(&name, says));
        let tools = tools.collect::<Result<Vec<_>, _>>()?;
        Ok(Arc::new(move |_: LoadContext| {
            let tools = tools.clone();
            async move { Ok(Loaded::new(tools)) }
        }))
    }),
    options: options_schema::<Sayings>,
};

/// Its error quotes its options and has no text for a model.
const CARELESS: Plugin = Plugin {
    name: "careless",
    provider: "seams",
    about: "Is never built.",
    build: Builder::Loader(|options| {
        let fault = format!("what is this: {options}");
        Err(Error::new(ErrorKind::InvalidConfig, fault))
    }),
    options: options_schema::<NoOptions>,
};

/// Loads and answers as late as it is told to, or never.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Late {
    #[serde(default)]
    load: bool,
    #[serde(default)]
    call: bool,
}

const LATE: Plugin = Plugin {
    name: "late",
    provider: "seams",
    about: "Hangs.",
    build: Builder::Loader(|options| {
        let Late { load, call } = read_options("late", options)?;
        Ok(Arc::new(move |_: LoadContext| async move {
            if load {
                std::future::pending::<()>().await;
            }
            let schema = JsonText::parse(r#"{"type":"object"}"#)?;
            let definition = ToolDefinition::new(ToolName::new("wait")?, "Waits.", schema)?;
            let wait = FnTool::new(definition, move |_, _| async move {
                if call {
                    std::future::pending::<()>().await;
                }
                Ok(ToolResult::text("done"))
            });
            Ok(Loaded::new([Arc::new(wait) as Arc<dyn Tool>]))
        }))
    }),
    options: options_schema::<Late>,
};

struct Counting;

impl CatalogFormat for Counting {
    fn name(&self) -> &str {
        "counting/1"
    }

    fn render(&self, view: &CatalogView<'_>) -> CatalogText {
        let groups = view.groups.len();
        CatalogText {
            text: format!("There are {groups} groups."),
            tier: CatalogTier::NoNames,
        }
    }
}

const COUNTING: Plugin = Plugin {
    name: "counting/1",
    provider: "seams",
    about: "Counts groups.",
    build: Builder::CatalogFormat(|_| Ok(Arc::new(Counting))),
    options: options_schema::<NoOptions>,
};

struct Arrow;

impl DiscoveryCodec for Arrow {
    fn name(&self) -> &str {
        "arrow/1"
    }

    fn write(&self, names: &[&str]) -> Result<Vec<ContentBlock>, Error> {
        Ok(vec![ContentBlock::text(format!("-> {}", names.join(" ")))])
    }

    fn read<'a>(&self, _: &'a [Block<'a>]) -> ReadDiscovery<'a> {
        ReadDiscovery::default()
    }
}

const ARROW: Plugin = Plugin {
    name: "arrow/1",
    provider: "seams",
    about: "Points at names.",
    build: Builder::DiscoveryCodec(|_| Ok(Arc::new(Arrow))),
    options: options_schema::<NoOptions>,
};

/// One tool of its own, under any name, which it declares or not.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Named {
    tool: String,
    declares: bool,
}

impl Strategy for Named {
    fn name(&self) -> &str {
        "named"
    }

    fn own_tools(&self) -> Vec<String> {
        self.declares
            .then(|| self.tool.clone())
            .into_iter()
            .collect()
    }

    fn surface(&self, _: &Cx<'_>, _: &State) -> Step<Surface> {
        let schema = JsonText::parse(r#"{"type":"object"}"#).unwrap();
        let name = ToolName::new("own").unwrap();
        let definition = ToolDefinition::new(name, "Does it.", schema).unwrap();
        let mut slot = ToolSlot::own(definition);
        slot.name = self.tool.as_str().into();
        Step::Done(Surface {
            tools: vec![slot],
            ..Surface::default()
        })
    }

    fn resolve(&self, _: &Cx<'_>, _: &State, _: &Call) -> Step<Resolution> {
        Step::Done(Resolution::NotMine)
    }
}

const NAMED: Plugin = Plugin {
    name: "named",
    provider: "seams",
    about: "Has a tool under any name.",
    build: Builder::Strategy(|options| Ok(Arc::new(read_options::<Named>("named", options)?))),
    options: options_schema::<Named>,
};

fn registry() -> Registry {
    let mut registry = Registry::new();
    for plugin in [
        SAYINGS,
        CARELESS,
        LATE,
        NAMED,
        COUNTING,
        ARROW,
        toolshelf_strategies::dispatch::PLUGIN,
        toolshelf_strategies::tst::PLUGIN,
        toolshelf_discovery::codec::reference::PLUGIN,
        toolshelf_search::PLUGIN,
    ] {
        registry.register(plugin).unwrap();
    }
    registry
}

fn gateway(config: &Value) -> Result<Arc<Gateway>, Error> {
    let config = Config::parse(&config.to_string(), &ProcessEnvironment)?;
    assert_eq!(config.warnings, Vec::<String>::new());
    let mut options = GatewayOptions::default();
    options.wait = Some(PATIENCE);
    Gateway::new(&config, options, &registry())
}

async fn serving(config: Value, test: impl AsyncFnOnce(&Connected)) {
    with_host(gateway(&config).unwrap(), Lifecycle::Initialize, test).await;
}

fn sayings() -> Value {
    json!({"wise": {
        "type": "sayings",
        "title": "Wisdom",
        "alwaysVisible": ["gn*"],
        "says": [["know", "thyself"], ["gnothi", "seauton"]],
    }})
}

#[tokio::test]
async fn an_entry_with_the_type_of_a_loader_is_loaded_by_it() {
    serving(json!({"mcpServers": sayings()}), async |host| {
        let list = host.list().await.unwrap();
        assert!(list[0].contains(r#""name":"wise__gnothi""#), "{list:?}");
        assert!(list.iter().any(|tool| tool.contains("`wise` — Wisdom")));
        let call = json!({"tool_name": "wise/know", "arguments": {}});
        let said = host.call("deferred_tool_call", call).await.unwrap();
        assert_eq!(said.joined_text(), "thyself");
    })
    .await;
}

#[tokio::test]
async fn a_loader_that_cannot_be_built_costs_its_own_tools_and_tells_no_model_its_options() {
    let servers = json!({
        "wrong": {"type": "sayings", "says": [["know", 3]]},
        "secret": {"type": "sayings", "says": "s3cret-token"},
        "nested": {"type": "sayings", "says": [], "s3cret-token": true},
        "unknown": {"type": "saying"},
        "careless": {"type": "careless", "key": "s3cret-token"},
        "wise": sayings()["wise"],
    });
    let gateway = gateway(&json!({ "mcpServers": servers })).unwrap();
    for (group, said, told) in [
        (
            "wrong",
            "says[0][1]: invalid type: integer, expected a string",
            ": the options of 'sayings' are not valid",
        ),
        (
            "secret",
            "says: invalid type: string, expected a sequence",
            ": the options of 'sayings' are not valid",
        ),
        (
            "nested",
            "unknown field `s3cret-token`",
            ": the options of 'sayings' are not valid",
        ),
        (
            "unknown",
            "there is no loader 'saying' (did you mean 'sayings'?); there are: careless, late, sayings",
            ": this build has no loader of that name",
        ),
        ("careless", "s3cret-token", ""),
    ] {
        let id = GroupId::new(group).unwrap();
        let loaded = gateway.shelf().load(&id, &Cancellation::new()).await;
        let error = loaded.err().unwrap();
        assert_eq!(error.kind(), ErrorKind::InvalidConfig);
        assert!(error.to_string().contains(said), "{error}");
        assert_eq!(
            error.for_model(),
            format!("the server `{group}` is configured wrongly{told}.")
        );
    }
    with_host(gateway, Lifecycle::Initialize, async |host| {
        for group in ["wrong", "secret", "nested", "unknown", "careless"] {
            let answer = host.call("load_tools", json!({ "group_id": group }));
            let answer = answer.await.unwrap();
            assert!(answer.is_error);
            let text = answer.joined_text();
            assert!(text.contains("is configured wrongly"), "{text}");
            assert!(!text.contains("s3cret"), "{text}");
        }
        let answer = host.call("load_tools", json!({"group_id": "wise"}));
        assert!(!answer.await.unwrap().is_error);
    })
    .await;
}

#[tokio::test]
async fn the_time_out_of_an_entry_bounds_its_loader_and_each_call() {
    let servers = json!({
        "load": {"type": "late", "load": true, "timeout": 0.05},
        "call": {"type": "late", "call": true, "timeout": "0.05"},
        "well": {"type": "late", "timeout": 60},
    });
    serving(json!({ "mcpServers": servers }), async |host| {
        let answer = host.call("load_tools", json!({"group_id": "load"}));
        let answer = answer.await.unwrap();
        assert!(answer.is_error);
        let text = answer.joined_text();
        assert!(text.contains("did not answer within 0.05 s"), "{text}");
        let call = async |group: &str| {
            let call = json!({"tool_name": format!("{group}/wait"), "arguments": {}});
            host.call("deferred_tool_call", call).await.unwrap()
        };
        let late = call("call").await;
        assert!(late.is_error);
        let text = late.joined_text();
        assert!(text.contains("it did not end within 0.05 s."), "{text}");
        assert_eq!(call("well").await.joined_text(), "done");
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_call_of_a_loaders_tool_ends_within_an_hour_where_nothing_is_said() {
    let servers = json!({"call": {"type": "late", "call": true}});
    let gateway = gateway(&json!({ "mcpServers": servers })).unwrap();
    let id = GroupId::new("call").unwrap();
    let loaded = gateway.shelf().load(&id, &Cancellation::new()).await;
    let tool = loaded.unwrap().tools[0].tool.clone();
    let began = tokio::time::Instant::now();
    let called = tool.call(Default::default(), CallContext::new()).await;
    assert_eq!(called.err().unwrap().kind(), ErrorKind::TimedOut);
    assert_eq!(began.elapsed().as_secs(), 3_600);
}

#[tokio::test]
async fn variables_are_expanded_at_any_depth_of_a_loaders_options() {
    let servers = json!({"wise": {
        "type": "sayings",
        "says": [["know", "${TOOLSHELF_TEST_UNSET:-thyself}"]],
    }});
    serving(json!({ "mcpServers": servers }), async |host| {
        let call = json!({"tool_name": "wise/know", "arguments": {}});
        let said = host.call("deferred_tool_call", call).await.unwrap();
        assert_eq!(said.joined_text(), "thyself");
    })
    .await;
}

#[test]
fn a_variable_that_is_not_set_in_a_loaders_options_names_its_place() {
    let entry = json!({"type": "sayings", "deep": {"says": [["know", "${TOOLSHELF_TEST_UNSET}"]]}});
    let text = json!({"mcpServers": {"wise": entry}}).to_string();
    let config = Config::parse(&text, &ProcessEnvironment).unwrap();
    let EntryState::Faulty(fault) = &config.servers[0].state else {
        panic!("{:?}", config.servers[0].state);
    };
    let place = "in 'deep.says[0][1]' the variable TOOLSHELF_TEST_UNSET is not set";
    assert_eq!(fault, place);
}

#[test]
fn what_is_the_entrys_own_is_not_an_option_of_its_loader() {
    let entry = json!({
        "type": "sayings", "says": [], "title": "T", "description": "D", "alwaysVisible": ["*"],
        "enabled": true, "timeout": 5, "idleTimeout": 7, "maxConcurrentCalls": 3,
    });
    let text = json!({"mcpServers": {"wise": entry}}).to_string();
    let config = Config::parse(&text, &ProcessEnvironment).unwrap();
    let EntryState::Loader {
        options, timeout, ..
    } = &config.servers[0].state
    else {
        panic!("{:?}", config.servers[0].state);
    };
    assert_eq!(options, &json!({"says": []}));
    assert_eq!(timeout, &Some(Duration::from_secs(5)));
    let ignored = |key| {
        format!(
            "server 'wise': '{key}' is for servers that are processes, and is ignored with a loader"
        )
    };
    let warnings = [ignored("idleTimeout"), ignored("maxConcurrentCalls")];
    assert_eq!(config.warnings, warnings);
}

#[tokio::test]
async fn the_format_of_the_catalog_is_chosen_by_name() {
    let config = json!({"mcpServers": sayings(), "catalog": "counting/1"});
    serving(config, async |host| {
        let list = host.list().await.unwrap();
        let load = list.iter().find(|tool| tool.contains("load_tools"));
        assert!(load.unwrap().contains("There are 1 groups."), "{list:?}");
    })
    .await;
}

#[tokio::test]
async fn the_codec_of_found_tools_is_chosen_by_name() {
    let config = json!({"mcpServers": sayings(), "codec": "arrow/1", "strategy": "tst"});
    serving(config, async |host| {
        let found = host.call("search_tools", json!({"query": "know"})).await;
        let found = found.unwrap().joined_text();
        assert_eq!(found, "-> wise__know");
        let list = host.list().await.unwrap();
        assert!(list.iter().any(|tool| tool.contains("wise__know")));
    })
    .await;
}

#[tokio::test]
async fn options_of_the_strategy_stand_beside_its_name() {
    let split = json!({"name": "dispatch", "splitCalls": true});
    let config = json!({"mcpServers": sayings(), "strategy": split});
    serving(config, async |host| {
        let list = host.list().await.unwrap();
        assert!(list.iter().any(|tool| tool.contains("deferred_tool_read")));
    })
    .await;
}

#[test]
fn an_own_tool_that_no_client_could_take_is_refused_before_there_is_one() {
    let named = json!({"name": "named", "tool": "a b", "declares": true});
    let error = gateway(&json!({"mcpServers": {}, "strategy": named}));
    let error = error.err().unwrap();
    assert_eq!(
        error.to_string(),
        "the strategy 'named' has a tool of its own under the illegal name \"a b\": names have 1 to \
         64 letters, digits, '_' and '-' of ASCII"
    );
}

#[tokio::test]
async fn a_client_is_told_whose_tools_cannot_be_listed_and_no_option() {
    let named = json!({"name": "named", "tool": "s3cret name", "declares": false});
    let config = json!({"mcpServers": {}, "strategy": named});
    serving(config, async |host| {
        let error = host.list().await.unwrap_err().to_string();
        assert!(
            error.contains("The strategy 'named' offers tools that cannot be listed."),
            "{error}"
        );
        assert!(!error.contains("s3cret"), "{error}");
    })
    .await;
}

#[test]
fn what_cannot_be_chosen_is_refused_with_the_place() {
    let refused = |key: &str, value: Value| {
        let config = json!({"mcpServers": {}, key: value});
        gateway(&config).err().unwrap().to_string()
    };
    for (key, value, part) in [
        (
            "strategy",
            json!({"name": "dispatch", "splitCalls": "yes"}),
            "the options of 'dispatch' are not valid: splitCalls: invalid type",
        ),
        (
            "strategy",
            json!({"name": "dispatch", "spiltCalls": true}),
            "unknown field `spiltCalls`",
        ),
        ("strategy", json!("dipsatch"), "did you mean 'dispatch'?"),
        (
            "strategy",
            json!("inject"),
            "belongs to the crate toolshelf-strategies",
        ),
        (
            "strategy",
            json!(7),
            "neither a name nor an object with \"name\"",
        ),
        ("strategy", json!({"splitCalls": true}), "without \"name\""),
        ("strategy", json!({"name": 1}), "\"name\" is not a string"),
        ("index", json!(" "), "has a \"index\" without a name"),
        ("catalog", json!("counting"), "did you mean 'counting/1'?"),
        ("codec", json!("tool-reference/1"), "writes references"),
    ] {
        let error = refused(key, value);
        assert!(error.contains(part), "{error}");
    }
}
