//! The behaviours, one function each.

mod arguments;
mod calls;
mod changes;
mod content;
mod list;
mod names;
mod orphans;
mod servers;

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use crate::report::{Bad, Good};
use crate::stage::{Session, Setup, Stage};

/// How a behaviour ended.
pub(crate) type Verdict = Result<Good, Bad>;

type Run = fn(Arc<Setup>) -> Pin<Box<dyn Future<Output = Verdict> + Send>>;

/// Something that a gateway should do.
pub struct Behaviour {
    /// Its name, for `--only`.
    pub name: &'static str,
    /// What it is about.
    pub group: &'static str,
    /// What a gateway should do.
    pub promise: &'static str,
    pub(crate) run: Run,
}

impl std::fmt::Debug for Behaviour {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

macro_rules! table {
    ($($group:literal { $($name:literal $promise:literal $run:path,)* })*) => {
        &[$($(Behaviour {
            name: $name,
            group: $group,
            promise: $promise,
            run: |setup| Box::pin($run(setup)),
        },)*)*]
    };
}

static TABLE: &[Behaviour] = table! {
    "servers" {
        "slow" "A server that is still starting keeps nobody waiting, and is used once it has started" servers::slow,
        "warm-up" "A server that needs 15 s to start is used" servers::warm_up,
        "dead" "Servers that end at once or do not exist cost nobody else anything; calls to them are errors" servers::dead,
        "crash" "A crash in a call is an error of that call, and the server is started again" servers::crash,
        "banner" "Lines of a server that are no messages are passed over" servers::banner,
        "stderr-flood" "Forty megabytes on a server's standard error block nothing" servers::stderr_flood,
        "pages" "All pages of a server's list are read" servers::pages,
        "repeated-cursor" "A list without end is given up, and costs nobody else anything" servers::repeated_cursor,
        "malformed-tool" "A malformed tool costs itself and no other" servers::malformed_tool,
        "one-process" "One process of a server serves all calls" servers::one_process,
    }
    "changes" {
        "list-changed" "A server's list is read again when the server says that it changed" changes::list_changed,
        "changed-schema" "A schema that changed is shown as it is now" changes::changed_schema,
    }
    "content" {
        "images" "Pictures, sounds and resources arrive unchanged" content::images,
        "structured" "Structured content arrives unchanged" content::structured,
        "meta" "The _meta of a result arrives" content::meta,
        "error-result" "A result that is an error arrives as one, with its text, whatever its output schema" content::error_result,
        "unknown-content" "Content of an unknown kind arrives unchanged" content::unknown_content,
    }
    "arguments" {
        "arguments-as-text" "Arguments that are a text holding JSON are read, or refused; never lost" arguments::as_text,
        "arguments-flattened" "Arguments beside the name are read, or refused; never lost" arguments::flattened,
        "missing-arguments" "A call without what the tool requires is refused before the server hears of it, naming it" arguments::missing,
    }
    "calls" {
        "progress" "Progress arrives before the result, under the host's token" calls::progress,
        "cancellation" "A cancelled call is cancelled at its server" calls::cancellation,
        "parallel" "Calls to one server run at the same time, and answers out of order find their calls" calls::parallel,
        "hanging-call" "A call that hangs keeps no other waiting" calls::hanging_call,
    }
    "names" {
        "same-name" "Two tools of one name are both reached, and the right one runs" names::same_name,
        "ambiguous-name" "A bare name that two servers have runs neither, and the answer names both" names::ambiguous,
        "unknown-name" "A name that nobody has runs nothing and is an error" names::unknown,
        "near-miss" "A misspelt name runs nothing, and the answer names the tool that was meant" names::near_miss,
    }
    "processes" {
        "orphans-close" "Nothing is left when the host closes the connection" orphans::after_close,
        "orphans-kill" "Nothing is left when the gateway is killed" orphans::after_kill,
    }
    "list" {
        "list-bytes" "The gateway's list keeps its bytes, from the start on" list::bytes,
    }
};

/// All behaviours, in the order in which they are looked at.
pub fn behaviours() -> &'static [Behaviour] {
    TABLE
}

/// A session with two servers, `alpha` and `beta`, which can be called.
async fn begin(setup: &Arc<Setup>) -> Result<Session, Bad> {
    let stage = Stage::new(setup)?.server("alpha", &[]).server("beta", &[]);
    let session = stage.start().await?;
    for server in ["alpha", "beta"] {
        session.echo_within(server, "ready", setup.patience).await?;
    }
    Ok(session)
}
