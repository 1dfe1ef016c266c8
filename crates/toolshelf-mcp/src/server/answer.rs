//! The results that a server writes, in the words of each era.

use serde_json::{Map, Value, json};
use toolshelf_core::{Error, ErrorKind, JsonText, ToolOutcome, ToolResult};

use super::ServerIdentity;
use super::session::Era;
use crate::message::{Id, RpcError};
use crate::protocol::{
    HANDSHAKE, INTERNAL_ERROR, INVALID_PARAMS, META_SERVER, META_SUBSCRIPTION, MODERN,
    UNSUPPORTED_VERSION,
};

/// How long clients may keep a list without asking again, in milliseconds: not at all.
/// Asking costs nothing here, and a configuration may change at any time.
const TTL_MS: u64 = 0;

/// Whose list it is: that of the one user of this process.
const CACHE_SCOPE: &str = "private";

fn implementation(identity: &ServerIdentity) -> Value {
    let mut info = Map::new();
    info.insert("name".to_owned(), Value::from(identity.name.as_str()));
    info.insert("version".to_owned(), Value::from(identity.version.as_str()));
    for (key, value) in [
        ("title", &identity.title),
        ("websiteUrl", &identity.website),
    ] {
        if let Some(value) = value {
            info.insert(key.to_owned(), Value::from(value.as_str()));
        }
    }
    Value::Object(info)
}

/// The fields that results carry in the modern era, without braces.
fn modern_fields(identity: &ServerIdentity, cached: bool) -> String {
    let cache = if cached {
        format!(r#","ttlMs":{TTL_MS},"cacheScope":"{CACHE_SCOPE}""#)
    } else {
        String::new()
    };
    let meta = json!({ (META_SERVER): implementation(identity) });
    format!(r#""resultType":"complete"{cache},"_meta":{meta}"#)
}

/// What a server can do.
fn capabilities(identity: &ServerIdentity) -> Value {
    let tools = if identity.tools_change {
        json!({ "listChanged": true })
    } else {
        json!({})
    };
    json!({ "tools": tools })
}

/// The result of `initialize`.
pub(crate) fn initialize(identity: &ServerIdentity, version: &str) -> String {
    let mut result = json!({
        "protocolVersion": version,
        "capabilities": capabilities(identity),
        "serverInfo": implementation(identity),
    });
    if let Some(instructions) = &identity.instructions {
        result["instructions"] = Value::from(instructions.as_str());
    }
    result.to_string()
}

/// The result of `server/discover`.
pub(crate) fn discover(identity: &ServerIdentity) -> String {
    let mut result = json!({
        "supportedVersions": MODERN,
        "capabilities": capabilities(identity),
    });
    if let Some(instructions) = &identity.instructions {
        result["instructions"] = Value::from(instructions.as_str());
    }
    with_fields(&result.to_string(), &modern_fields(identity, true))
}

/// The result of `tools/list`: one page.
pub(crate) fn tools(tools: &[JsonText], era: Era, identity: &ServerIdentity) -> String {
    let tools: Vec<&str> = tools.iter().map(JsonText::as_str).collect();
    let list = format!(r#"{{"tools":[{}]}}"#, tools.join(","));
    match era {
        Era::Handshake => list,
        Era::Modern => with_fields(&list, &modern_fields(identity, true)),
    }
}

/// The result of `ping`.
pub(crate) fn empty(era: Era, identity: &ServerIdentity) -> String {
    match era {
        Era::Handshake => "{}".to_owned(),
        Era::Modern => format!("{{{}}}", modern_fields(identity, false)),
    }
}

/// The result of `subscriptions/listen`, when the server ends it.
pub(crate) fn listened(id: &Id, identity: &ServerIdentity) -> String {
    let info = implementation(identity);
    // The id is written as it came.
    format!(
        r#"{{"resultType":"complete","_meta":{{"{META_SUBSCRIPTION}":{id},"{META_SERVER}":{info}}}}}"#
    )
}

/// The result of `tools/call`.
pub(crate) fn outcome(
    outcome: ToolOutcome,
    era: Era,
    identity: &ServerIdentity,
) -> Result<String, Error> {
    let mut result = match (outcome, era) {
        (ToolOutcome::Complete(result), _) => result,
        (ToolOutcome::InputRequired(input), Era::Modern) => {
            return Ok(input.result.as_str().to_owned());
        }
        (ToolOutcome::Task(task), Era::Modern) => return Ok(task.result.as_str().to_owned()),
        // There are no words for these in a session with handshake.
        (_, _) => ToolResult::error(
            "The tool needs something that this client's version of the protocol cannot express.",
        ),
    };
    if era == Era::Modern {
        let meta = result.meta.get_or_insert_default();
        meta.insert(META_SERVER.to_owned(), implementation(identity));
    }
    let text = serde_json::to_string(&result).map_err(|cause| {
        Error::new(ErrorKind::Internal, "a result cannot be written").caused_by(cause)
    })?;
    Ok(match era {
        Era::Handshake => text,
        Era::Modern => with_fields(&text, r#""resultType":"complete""#),
    })
}

/// Adds fields to an object that has at least one.
fn with_fields(object: &str, fields: &str) -> String {
    let open = object.strip_suffix('}').unwrap_or(object);
    format!("{open},{fields}}}")
}

/// The error for a revision that is not spoken here.
pub(crate) fn unsupported(requested: &str) -> RpcError {
    let supported: Vec<&str> = MODERN.iter().chain(HANDSHAKE).copied().collect();
    RpcError {
        code: UNSUPPORTED_VERSION,
        message: "this revision of the protocol is not supported".to_owned(),
        data: Some(json!({ "supported": supported, "requested": requested }).to_string()),
    }
}

/// An error of the server in the words of the protocol.
pub(crate) fn fault(error: &Error) -> RpcError {
    let code = match error.kind() {
        ErrorKind::NotFound | ErrorKind::InvalidArguments => INVALID_PARAMS,
        _ => INTERNAL_ERROR,
    };
    RpcError::new(code, error.for_model())
}
