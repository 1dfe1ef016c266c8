//! The command line.

use std::path::PathBuf;

use clap::{ArgAction, Args, Parser, Subcommand, ValueEnum};

const AFTER: &str = "\
Examples:
  toolshelf tour                                 See what it does, without any set-up
  toolshelf serve --config mcp.json              Serve the servers of a file to an MCP host
  toolshelf tools                                List all servers and their tools
  toolshelf doctor                               Find out why a server does not work
  toolshelf call github/search_repos '{\"query\": \"mcp\"}'

An entry for an MCP host:
  {\"mcpServers\": {\"toolshelf\": {\"command\": \"toolshelf\", \"args\": [\"serve\", \"--config\", \"/path/to/mcp.json\"]}}}

Where the configuration is, unless --config names it: TOOLSHELF_CONFIG, then toolshelf.json
or .mcp.json here, then toolshelf.json in your configuration directory.

Exit codes:
  0    All is well
  1    A tool or a server failed; of those that look at all servers (tools, refresh, doctor),
       also one whose entry is wrong
  2    The command line, the arguments of a tool or the configuration are wrong
  130  Control-C (143 for SIGTERM); `serve` ends with 0, since that is how it ends";

/// A tool shelf in front of MCP servers: an agent sees two tools instead of hundreds.
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

    /// What is logged, to standard error [default: warn]
    #[arg(
        long,
        global = true,
        value_name = "LEVEL",
        env = "TOOLSHELF_LOG",
        hide_env_values = true
    )]
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
    Plugins(PluginsArguments),
    Tour(TourArguments),
    Refresh(RefreshArguments),
    Doctor(DoctorArguments),
    Completions(CompletionsArguments),
    SampleServer(SampleServerArguments),
    /// End the servers of a gateway that was killed; started by `serve`
    #[command(hide = true)]
    Watchdog,
}

/// Which servers.
#[derive(Debug, Args)]
#[command(next_help_heading = "Servers")]
pub(crate) struct Servers {
    /// The file with "mcpServers" (see `toolshelf --help` for where it is looked for)
    #[arg(short, long, value_name = "FILE", conflicts_with = "samples")]
    pub(crate) config: Option<PathBuf>,

    /// Use the sample servers that are part of this program, and no configuration
    #[arg(long)]
    pub(crate) samples: bool,
}

const SERVE_AFTER: &str = "\
Strategies:
  dispatch  Two tools that never change: load_tools gives schemas, deferred_tool_call runs tools
  inject    Loaded tools join the list and are called directly (clients with a handshake only;
            those of 2026-07-28 get dispatch)
  standard  Every tool of every server, passed through
  `toolshelf plugins` lists all that are part of this program.

Examples:
  toolshelf serve --config mcp.json
  toolshelf serve --config mcp.json --wait 5     A catalog with the names of all tools, for hosts
                                                 that list tools once and at once
  toolshelf serve --samples                      Try it in your host without any set-up

It ends when its host closes the connection, or on SIGINT or SIGTERM, and ends its servers with
itself. Standard output belongs to the protocol; the log goes to standard error.";

/// Serve all servers as one MCP server, over standard input and output
#[derive(Debug, Args)]
#[command(after_help = SERVE_AFTER)]
pub(crate) struct ServeArguments {
    #[command(flatten)]
    pub(crate) servers: Servers,

    /// How tools are shown
    #[arg(short, long, value_name = "NAME", default_value = "dispatch")]
    pub(crate) strategy: String,

    /// How long the first list of tools waits for servers that are starting [default: 0; 10
    /// under standard]
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
Starts the servers, lists their tools and ends them again. The exit code is 1 when one of them
could not be used; the others are listed all the same.

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
cache, commands, starts, protocol, lists of tools, names, sizes and schemas. Each finding is an
error (something cannot be used), a warning (less good than it could be) or a note, and says how to
mend it. The exit code is 1 when there is an error, and 0 otherwise.

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
they are a section of the system prompt, for agents that use the library.

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

    /// Whose catalog
    #[arg(short, long, value_name = "NAME", default_value = "dispatch")]
    pub(crate) strategy: String,

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

    /// How long the call may take
    #[arg(short, long, value_name = "SECONDS", value_parser = seconds)]
    pub(crate) timeout: Option<std::time::Duration>,

    /// Print the whole result as JSON: content, structured content and `_meta`
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
