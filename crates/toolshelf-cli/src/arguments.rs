//! The command line.

use std::path::PathBuf;

use clap::{ArgAction, Args, Parser, Subcommand, ValueEnum};

use crate::commands::faulty_server::FaultyServerArguments;
use crate::commands::probe::ProbeArguments;

const AFTER: &str = "\
Examples:
  toolshelf tour                                 See what it does, without any set-up
  toolshelf serve --config mcp.json              Serve the servers of a file to an MCP host
  toolshelf tools                                List all servers and their tools
  toolshelf doctor                               Find out why a server does not work
  toolshelf search 'open a pull request'         Find the tool for a task, as a model would
  toolshelf call github/search_repos '{\"query\": \"mcp\"}'

An entry for an MCP host:
  {\"mcpServers\": {\"toolshelf\": {\"command\": \"toolshelf\", \"args\": [\"serve\", \"--config\", \"/path/to/mcp.json\"]}}}

Where the configuration is, unless --config names it: TOOLSHELF_CONFIG, then toolshelf.json
or .mcp.json here, then toolshelf.json in your configuration directory.

Exit codes:
  0    All is well
  1    A tool or a server failed; of those that look at all servers (tools, catalog, refresh,
       doctor), also one whose entry is wrong; `search` found nothing
  2    The command line, the arguments of a tool or the configuration are wrong
  130  Control-C (143 for SIGTERM); `serve` ends with 0, since that is how it ends";

/// A tool shelf in front of MCP servers: an agent sees three tools instead of hundreds.
#[derive(Debug, Parser)]
#[command(
    name = "toolshelf",
    version,
    after_help = AFTER,
    arg_required_else_help = true,
    max_term_width = 100,
    disable_help_subcommand = false
)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: Global,

    #[command(subcommand)]
    pub(crate) command: Command,
}

/// Options of every command.
#[derive(Debug, Args)]
#[command(next_help_heading = "Global options")]
pub(crate) struct Global {
    /// Log more: -v what happens, -vv also each call, -vvv everything
    #[arg(short, long, global = true, action = ArgAction::Count, conflicts_with = "log_level")]
    pub(crate) verbose: u8,

    /// What is logged, to standard error [env: TOOLSHELF_LOG] [default: warn]
    #[arg(long, global = true, value_name = "LEVEL")]
    pub(crate) log_level: Option<LogLevel>,

    /// Log JSON: on standard error each line is an object with timestamp, level, fields and
    /// target, notes and errors too
    #[arg(long, global = true)]
    pub(crate) log_json: bool,

    /// When to colour; NO_COLOR is respected
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    pub(crate) color: Color,
}

/// How much is logged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub(crate) enum LogLevel {
    Off,
    Error,
    Warn,
    Info,
    Debug,
    Trace,
}

impl LogLevel {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Error => "error",
            Self::Warn => "warn",
            Self::Info => "info",
            Self::Debug => "debug",
            Self::Trace => "trace",
        }
    }
}

/// When to colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    /// On a terminal
    Auto,
    Always,
    Never,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Serve(ServeArguments),
    Tools(ToolsArguments),
    Catalog(CatalogArguments),
    Call(CallArguments),
    Search(SearchArguments),
    EvalSearch(EvalSearchArguments),
    Plugins(PluginsArguments),
    Tour(TourArguments),
    Refresh(RefreshArguments),
    Doctor(DoctorArguments),
    Probe(ProbeArguments),
    Completions(CompletionsArguments),
    SampleServer(SampleServerArguments),
    #[command(hide = true)]
    FaultyServer(FaultyServerArguments),
    /// End the servers of a gateway that was killed; started by `serve`
    #[command(hide = true)]
    Watchdog,
}

/// Which servers.
#[derive(Debug, Args)]
#[command(next_help_heading = "Servers")]
pub(crate) struct Servers {
    /// The file with "mcpServers" (the help without a command says where it is looked for)
    #[arg(short, long, value_name = "FILE", conflicts_with = "samples")]
    pub(crate) config: Option<PathBuf>,

    /// Use the sample servers that are part of this program, and no configuration
    #[arg(long)]
    pub(crate) samples: bool,
}

const SERVE_AFTER: &str = "\
Strategies:
  dispatch  Three tools that never change: search_tools finds tools, load_tools gives schemas,
            deferred_tool_call runs tools
  inject    Loaded tools join the list and are called directly
  tst       One tool, search_tools: what it finds joins the list and is called directly
  tst-auto  As tst once the definitions of all tools come to 10 % of --context-window, else as
            standard; decided for each client when it lists tools
  standard  Every tool of every server, passed through
  auto      As standard while the definitions that are known from earlier starts come to fewer
            tokens than --defer-above, else as dispatch; decided once, at the start (-v shows by
            which figures). A server that is not known yet counts as large: the first start
            defers, later ones need not
  Under inject, tst and tst-auto the list grows, which is for clients with a handshake only; those
  of 2026-07-28 get dispatch. `toolshelf plugins` lists all that are part of this program.

Configuration:
  Beside `mcpServers` the file may hold `strategy`, `index`, `catalog` (the format of catalogs) and
  `codec` (how tst names what was found): each a name, or an object with `name` and options, such as
  {\"strategy\": {\"name\": \"dispatch\", \"splitCalls\": true}}. `toolshelf plugins --json` has the options'
  schemas. An entry whose `type` is the name of a loader, and which has no command, is loaded by it;
  its other keys are the loader's options.

Environment:
  ENABLE_SEARCH_EXTRA_TOOLS, ENABLE_TOOL_SEARCH   Where neither --strategy nor the configuration
            says something, the first that is set chooses:
            true (1, yes, on) = tst; auto, auto:N = tst-auto from 10 or N % of the context window
            on (auto:0 = tst, auto:100 = standard); false (0, no, off) = standard. An unset or
            empty one changes nothing

Examples:
  toolshelf serve --config mcp.json
  toolshelf serve --config mcp.json --wait 5     A catalog with the names of all tools, for hosts
                                                 that list tools once and at once
  toolshelf serve --strategy auto --defer-above 8000
  toolshelf serve --samples                      Try it in your host without any set-up

It ends when its host closes the connection, or on SIGINT or SIGTERM, and ends its servers with
itself. Standard output belongs to the protocol; the log goes to standard error.";

/// Serve all servers as one MCP server, over standard input and output
#[derive(Debug, Args)]
#[command(after_help = SERVE_AFTER)]
pub(crate) struct ServeArguments {
    #[command(flatten)]
    pub(crate) servers: Servers,

    /// How tools are shown [default: what the configuration says, else the environment, else
    /// dispatch]
    #[arg(short, long, value_name = "NAME")]
    pub(crate) strategy: Option<String>,

    /// From how many tokens of definitions (o200k_base) on tools are deferred under auto [default:
    /// 20000]
    #[arg(long, value_name = "TOKENS")]
    pub(crate) defer_above: Option<u64>,

    /// The context window of your model, of which tst-auto takes a share [default: unknown, and
    /// 20,000 tokens decide]
    #[arg(long, value_name = "TOKENS", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) context_window: Option<u64>,

    /// The index that search_tools uses [default: what the configuration says, else lexical/1]
    #[arg(long, value_name = "NAME")]
    pub(crate) index: Option<String>,

    /// The format of the catalog [default: what the configuration says, else the strategy's own]
    #[arg(long, value_name = "NAME")]
    pub(crate) catalog: Option<String>,

    /// How long lists of tools wait for servers that are starting, counted from the start of
    /// the gateway [default: 0; 10 under standard and tst-auto]
    #[arg(short, long, value_name = "SECONDS", value_parser = seconds)]
    pub(crate) wait: Option<std::time::Duration>,

    /// Offer three forwarders instead of one: for tools that read, that write, and that may
    /// destroy, by their servers' hints, so that your host can ask before some and not before
    /// others (dispatch only)
    #[arg(long)]
    pub(crate) split_calls: bool,

    /// Keep no lists of tools between starts, and use none
    #[arg(long)]
    pub(crate) no_cache: bool,
}

const REFRESH_AFTER: &str = "\
`serve` keeps each server's list of tools and starts a server only when one of its tools is called.
A list that has changed is noticed then; this notices it now. The exit code is 1 when a server could
not be used; what was kept of it stays.

Lists are kept in TOOLSHELF_CACHE_DIR, or in the folder that the system has for caches.

Examples:
  toolshelf refresh
  toolshelf refresh github            Only this server";

/// Ask servers for their tools again, and keep the answers for later starts
#[derive(Debug, Args)]
#[command(after_help = REFRESH_AFTER)]
pub(crate) struct RefreshArguments {
    /// Only these servers
    #[arg(value_name = "SERVER")]
    pub(crate) only: Vec<String>,

    #[command(flatten)]
    pub(crate) servers: Servers,

    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

const COMPLETIONS_AFTER: &str = "\
Examples:
  toolshelf completions bash > ~/.local/share/bash-completion/completions/toolshelf
  toolshelf completions zsh > \"${fpath[1]}/_toolshelf\"
  toolshelf completions fish > ~/.config/fish/completions/toolshelf.fish";

/// Print a script that completes commands and options in a shell
#[derive(Debug, Args)]
#[command(after_help = COMPLETIONS_AFTER)]
pub(crate) struct CompletionsArguments {
    /// The shell
    pub(crate) shell: clap_complete::Shell,
}

const TOOLS_AFTER: &str = "\
Starts the servers, lists their tools and ends them again; the lists are kept for later starts of
`serve`, as after `refresh`. The exit code is 1 when one of them could not be used; the others are
listed all the same.

Tokens are those of o200k_base, of name, description and input schema: what a request would carry.

--raw prints what one server really answered: {\"tools\": [...]} with all pages, one tool a line, byte
for byte as it came. Nothing is set aside, put in order or made harmless; it is data for a program.
Only at a terminal, control characters stand as escapes of JSON.

Examples:
  toolshelf tools
  toolshelf tools github files        Only these servers
  toolshelf tools --samples --json | jq '.totals'
  toolshelf tools --raw github | jq '.tools[] | select(.name == \"create_issue\").inputSchema'";

/// List servers, their state and their tools
#[derive(Debug, Args)]
#[command(after_help = TOOLS_AFTER)]
pub(crate) struct ToolsArguments {
    /// Only these servers
    #[arg(value_name = "SERVER")]
    pub(crate) only: Vec<String>,

    #[command(flatten)]
    pub(crate) servers: Servers,

    /// Print what this server answered to tools/list, as it came
    #[arg(long, value_name = "SERVER", conflicts_with_all = ["only", "json"])]
    pub(crate) raw: Option<String>,

    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

const DOCTOR_AFTER: &str = "\
Starts the servers, a few at a time, lists their tools and ends them again. Looks at configuration,
cache, commands, starts, protocol, lists of tools, names, sizes and schemas, and says when a list is
another one than what was kept; the present ones are kept then. Each finding is an error (something
cannot be used), a warning (less good than it could be) or a note, and says how to mend it. The exit
code is 1 when there is an error, and 0 otherwise.

--json prints version, ok, config, cache, findings, servers and summary. A finding has severity,
code, text and mend, and may have facts and tools. Members may be added; what is there stays.

Examples:
  toolshelf doctor
  toolshelf doctor github             Only this server
  toolshelf doctor --json | jq '.servers[] | {id, state, problems: [.findings[].code]}'";

/// Examine configuration and servers, and say how to mend what is wrong
#[derive(Debug, Args)]
#[command(after_help = DOCTOR_AFTER)]
pub(crate) struct DoctorArguments {
    /// Only these servers
    #[arg(value_name = "SERVER")]
    pub(crate) only: Vec<String>,

    #[command(flatten)]
    pub(crate) servers: Servers,

    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

const CATALOG_AFTER: &str = "\
Prints the bytes that a model reads, and figures on standard error (or both in --json).
Under `gateway` they stand in the description of load_tools, within 2,000 bytes; under `prompt`
they are a section of the system prompt, for agents that use the library. The exit code is 1 when a
server could not be used; it stands in the catalog without its tools.

Examples:
  toolshelf catalog
  toolshelf catalog --placement prompt
  toolshelf catalog --samples --strategy inject --json";

/// Print the catalog that a model would see
#[derive(Debug, Args)]
#[command(after_help = CATALOG_AFTER)]
pub(crate) struct CatalogArguments {
    #[command(flatten)]
    pub(crate) servers: Servers,

    /// Whose catalog [default: what the configuration says, else dispatch]
    #[arg(short, long, value_name = "NAME")]
    pub(crate) strategy: Option<String>,

    /// The format of the catalog [default: what the configuration says, else the strategy's own]
    #[arg(short, long, visible_alias = "catalog", value_name = "NAME")]
    pub(crate) format: Option<String>,

    /// Where the catalog stands
    #[arg(short, long, value_name = "WHERE", default_value = "gateway")]
    pub(crate) placement: Where,

    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Where a catalog stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Where {
    /// In the system prompt
    Prompt,
    /// In the description of a tool
    Gateway,
}

const CALL_AFTER: &str = "\
The server of the tool is started for the call and ended after it; the others are not touched.
The tool's answer goes to standard output, its progress to standard error. Arguments are checked
against the tool's schema first: exit code 2 means that nothing ran.

Examples:
  toolshelf call time/get_current_time '{\"timezone\": \"Europe/Berlin\"}'
  toolshelf call github/create_issue @issue.json
  echo '{\"query\": \"lamp\"}' | toolshelf call --samples warehouse/search -
  toolshelf call --samples issues/burndown_chart '{\"project\": \"WEB\"}' --json";

/// Call one tool
#[derive(Debug, Args)]
#[command(after_help = CALL_AFTER)]
pub(crate) struct CallArguments {
    /// The tool: GROUP is the key of its server in the configuration
    #[arg(value_name = "GROUP/TOOL")]
    pub(crate) tool: String,

    /// Its arguments, a JSON object; `-` reads standard input, `@FILE` a file
    #[arg(value_name = "JSON", default_value = "{}", hide_default_value = true)]
    pub(crate) arguments: String,

    #[command(flatten)]
    pub(crate) servers: Servers,

    /// How long it may take, the start of the server included, whatever its entry says [default:
    /// 60 s for the start, and 5 min for each sign of life of the call]
    #[arg(short, long, value_name = "SECONDS", value_parser = seconds)]
    pub(crate) timeout: Option<std::time::Duration>,

    /// Print the whole result as JSON: content, structured content and `_meta`
    #[arg(long)]
    pub(crate) json: bool,
}

const SEARCH_AFTER: &str = "\
Ranks tools as search_tools does under `serve`. What is known of a server from earlier starts is
enough; only a server of which nothing is known is started, and standard error says so. Tools that
are always visible are marked as such: a model is told that they are in its list already.

QUERY is what a model may write: words for the task, `+word` for one that must occur,
`select:a,b` for tools whose names are known, /pattern/ for a regular expression over names,
titles and descriptions.

A line of --tools is an object with `name` and, where known, `server`, `title`, `description`,
`input_schema` and `id`; `-` reads standard input. --explain shows what each score is made of,
largest part first.

The exit code is 0 when something was found, 1 when nothing was (the nearest names are printed), and
2 when the query, a file or the configuration is wrong.

Examples:
  toolshelf search 'when is everybody free' --samples
  toolshelf search 'create issue' --group github --explain
  toolshelf search 'send a message' --tools tools.jsonl --json | jq -r '.hits[].id'";

/// Find tools by what they do, as a model would
#[derive(Debug, Args)]
#[command(after_help = SEARCH_AFTER)]
pub(crate) struct SearchArguments {
    /// What the tool should do, or its name
    pub(crate) query: String,

    #[command(flatten)]
    pub(crate) servers: Servers,

    /// Search the tools of this file, one JSON object a line, and no servers
    #[arg(long, value_name = "FILE", conflicts_with_all = ["config", "samples"])]
    pub(crate) tools: Option<PathBuf>,

    /// Only the tools of this server; may be given several times
    #[arg(short, long, value_name = "SERVER")]
    pub(crate) group: Vec<String>,

    /// How many tools at most
    #[arg(short = 'n', long, value_name = "N", default_value_t = 5,
          value_parser = clap::builder::RangedU64ValueParser::<usize>::new().range(1..=1_000))]
    pub(crate) limit: usize,

    /// Show what each score is made of
    #[arg(long)]
    pub(crate) explain: bool,

    /// The index [default: what the configuration says, else lexical/1]
    #[arg(long, value_name = "NAME")]
    pub(crate) index: Option<String>,

    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

const EVAL_SEARCH_AFTER: &str = "\
A line of --tools is an object with `name` and, where known, `server`, `title`, `description`,
`input_schema` and `id` (server/name where there is none). `-` in place of one of the files reads
standard input. A line of --queries is an object with
`query`, and `relevant`, a list of ids; or `groups`, lists of ids of which one is enough; and `kind`,
for figures of its own. A query of the kind `no-match` without relevant tools is right when nothing
is found; any other that needs no tool of the set is not counted. What is odd about a line, such as
an id that no tool has, is told with its file and line.

All figures are means over queries, in percent. hit@1: one of the tools is first. MRR: one over the
best rank. R@k: the share of what is needed among the first k. nDCG@k: the same, weighted by rank.
--json has them under `overall` and, by kind, under `kinds`; times are microseconds, the
build from the tools to the first answer.

Examples:
  toolshelf eval-search --tools tools.jsonl --queries queries.jsonl
  toolshelf eval-search --tools tools.jsonl --queries queries.jsonl --json | jq '.overall[\"R@5\"]'";

/// Measure how well searches find what they should
#[derive(Debug, Args)]
#[command(after_help = EVAL_SEARCH_AFTER)]
pub(crate) struct EvalSearchArguments {
    /// The tools, one JSON object a line
    #[arg(long, value_name = "FILE")]
    pub(crate) tools: PathBuf,

    /// The queries and their answers, one JSON object a line
    #[arg(long, value_name = "FILE")]
    pub(crate) queries: PathBuf,

    /// The index
    #[arg(long, value_name = "NAME", default_value = "lexical/1")]
    pub(crate) index: String,

    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

const PLUGINS_AFTER: &str = "\
Plugins of other crates are listed too when they are linked into the program: build your own
with `toolshelf_cli::run(registry)`.

Examples:
  toolshelf plugins
  toolshelf plugins --json | jq '.[] | select(.name == \"dispatch\").options'";

/// List strategies, catalog formats, loaders and other plugins
#[derive(Debug, Args)]
#[command(after_help = PLUGINS_AFTER)]
pub(crate) struct PluginsArguments {
    /// Print JSON, with the schemas of their options
    #[arg(long)]
    pub(crate) json: bool,
}

const TOUR_AFTER: &str = "\
Needs no file and no network: three sample servers are part of this program. They run as real
processes behind a real `toolshelf serve`, and a real MCP client plays a session of a model that
is written down. It checks what it shows: the exit code is 1 when anything is not as it should be.

Examples:
  toolshelf tour
  toolshelf tour --json | jq '.figures'";

/// See a whole session, from the catalog to the figures
#[derive(Debug, Args)]
#[command(after_help = TOUR_AFTER)]
pub(crate) struct TourArguments {
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

const SAMPLE_AFTER: &str = "\
Sample servers work on a few records in memory: no network, no file, no clock.

  calendar   events, rooms and free times
  issues     bugs and tasks of three projects
  warehouse  items, stock and orders

Examples:
  toolshelf sample-server issues       Speaks MCP on standard input and output
  toolshelf tools --samples            What the three offer";

/// Serve one of the sample servers, for trying and testing
#[derive(Debug, Args)]
#[command(after_help = SAMPLE_AFTER)]
pub(crate) struct SampleServerArguments {
    /// calendar, issues or warehouse
    pub(crate) name: String,
}

/// Reads a time in seconds.
fn seconds(text: &str) -> Result<std::time::Duration, String> {
    const MAX: f64 = 24.0 * 3_600.0;
    match text.parse::<f64>() {
        Ok(seconds) if (0.0..=MAX).contains(&seconds) => {
            Ok(std::time::Duration::from_secs_f64(seconds))
        }
        _ => Err("expected a number of seconds between 0 and 86400".to_owned()),
    }
}
