//! Which strategies a gateway has: one for clients with a handshake, and one for those whose
//! list of tools must not depend on the connection.

use std::sync::Arc;

use serde_json::{Map, Value, json};
use toolshelf_core::codec::DiscoveryCodec;
use toolshelf_core::search::SearchIndex;
use toolshelf_core::{
    ContentBlock, Error, ErrorKind, PluginKind, Registry, Strategy, read_options,
};
use toolshelf_strategies::{Tst, TstAutoOptions, TstOptions};

use crate::config::Selection;
use crate::gateway::GatewayOptions;
use crate::servers::Servers;
use crate::size::Size;

/// The index that is taken where none is named and it is part of the build.
const DEFAULT_INDEX: &str = "lexical/1";

/// What everybody gets whose list cannot grow.
pub(crate) const DISPATCH: &str = "dispatch";

/// The strategy that has to see all tools before it decides.
pub(crate) const TST_AUTO: &str = "tst-auto";

/// Decides by what is known of the servers.
const AUTO: &str = "auto";

/// The strategies, and how they came to be chosen.
pub(crate) struct Choice {
    /// What clients with a handshake get.
    pub(crate) strategy: Arc<dyn Strategy>,
    /// What clients of the modern era get.
    pub(crate) modern: Arc<dyn Strategy>,
    /// What `tst-auto` comes to for a client whose servers are not all there in time.
    pub(crate) late: Option<Arc<dyn Strategy>>,
    /// Why, where the gateway had to decide.
    pub(crate) decision: Option<String>,
}

/// The index that tools are searched by: the one that is named, or the usual one where it is
/// part of the build.
pub(crate) fn index(
    chosen: Option<&Selection>,
    registry: &Registry,
) -> Result<Option<Arc<dyn SearchIndex>>, Error> {
    match chosen {
        Some(chosen) => registry.search_index(&chosen.name, &chosen.options),
        None if registry
            .find(PluginKind::SearchIndex, DEFAULT_INDEX)
            .is_err() =>
        {
            return Ok(None);
        }
        None => registry.search_index(DEFAULT_INDEX, &Value::Null),
    }
    .map(Some)
}

/// The codec by its name. What it writes passes through MCP, which has text and no references.
pub(crate) fn codec(
    chosen: &Selection,
    registry: &Registry,
) -> Result<Arc<dyn DiscoveryCodec>, Error> {
    let codec = registry.discovery_codec(&chosen.name, &chosen.options)?;
    let is_text = |block: &ContentBlock| matches!(block, ContentBlock::Text { .. });
    if codec.write(&["tool"])?.iter().all(is_text) {
        return Ok(codec);
    }
    Err(Error::new(
        ErrorKind::InvalidConfig,
        format!(
            "the codec '{}' writes references, which an MCP server cannot answer with",
            chosen.name
        ),
    ))
}

impl Choice {
    pub(crate) fn new(
        chosen: &Selection,
        options: &GatewayOptions,
        servers: &Servers,
        searchable: bool,
        registry: &Registry,
    ) -> Result<Self, Error> {
        let mut name = chosen.name.as_str();
        let mut decision = None;
        let mut given = chosen.options.clone();
        if name == AUTO {
            let size = servers.size(options.defer_above, options.counter.as_deref());
            name = if matches!(size, Size::Small(_)) {
                // What was said of deferring is of no use to a strategy that does not.
                given = Value::Null;
                "standard"
            } else {
                DISPATCH
            };
            decision = Some(size.text(options.defer_above));
        }
        if matches!(name, "tst" | TST_AUTO) && !searchable {
            return Err(Error::new(
                ErrorKind::InvalidConfig,
                format!("the strategy '{name}' needs a search index, and this build has none"),
            ));
        }
        let late = if name == TST_AUTO {
            Some(late(&given)?)
        } else {
            None
        };
        let strategy = registry
            .strategy(name, &options_for(name, given, searchable))
            .map_err(|error| with_auto(name, error, registry))?;
        // A list that grows with a session is not for clients whose list must not depend on
        // the connection.
        let grows = !strategy.stable() && !strategy.own_tools().is_empty();
        let modern = if grows {
            registry.strategy(DISPATCH, &options_for(DISPATCH, Value::Null, searchable))?
        } else {
            strategy.clone()
        };
        Ok(Self {
            strategy,
            modern,
            late,
            decision,
        })
    }
}

/// The error for a name that no strategy has, with the one that the gateway knows besides.
fn with_auto(name: &str, error: Error, registry: &Registry) -> Error {
    let absent = registry.find(PluginKind::Strategy, name).is_err();
    let names = registry.names(PluginKind::Strategy);
    if !absent || names.is_empty() {
        return error;
    }
    Error::new(
        error.kind(),
        format!(
            "{}, and '{AUTO}', which chooses between two of them",
            error.message()
        ),
    )
}

/// `tst` with those options of `tst-auto` that it has too.
fn late(given: &Value) -> Result<Arc<dyn Strategy>, Error> {
    let options: TstAutoOptions = read_options(TST_AUTO, given)?;
    Ok(Arc::new(Tst::new(TstOptions {
        search_tool: options.search_tool,
        max_results: options.max_results,
    })?))
}

/// The options of a strategy with what the gateway adds where nothing else is said.
fn options_for(name: &str, given: Value, searchable: bool) -> Value {
    match (name, given) {
        // The gateway starts the servers itself; a list must not wait for one that hangs.
        ("standard", Value::Null) => json!({ "load": false }),
        (DISPATCH, given @ (Value::Null | Value::Object(_))) if searchable => {
            let mut members = match given {
                Value::Object(members) => members,
                _ => Map::new(),
            };
            members.entry("search").or_insert(Value::Bool(true));
            members.into()
        }
        (_, given) => given,
    }
}
