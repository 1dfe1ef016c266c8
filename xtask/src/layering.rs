//! Who may depend on whom: the table of ARCHITECTURE.md, asserted from `cargo metadata`.
//!
//! An architecture is mostly absences, and nobody sees an absence in a review. So each crate's permitted
//! dependencies inside the workspace are written down here, and what is not written down is an error.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::Path;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::workspace::Workspace;

/// Which crates of the workspace a crate may depend on (development dependencies are free).
#[derive(Clone, Copy)]
enum Allowed {
    Only(&'static [&'static str]),
    /// Everything under `crates/`: what ties the others together.
    EveryCrate,
}

use Allowed::{EveryCrate, Only};

const CORE: &str = "toolshelf-core";
const FAULTS: &str = "toolshelf-faults";
const MCP: &str = "toolshelf-mcp";

/// The layers, lowest first. A new crate gets a line here and one in ARCHITECTURE.md.
const LAYERS: &[(&str, Allowed)] = &[
    // L0
    (CORE, Only(&[])),
    (FAULTS, Only(&[])),
    ("toolshelf-testkit", Only(&[CORE, FAULTS])),
    // L1
    ("toolshelf-catalog", Only(&[CORE])),
    ("toolshelf-discovery", Only(&[CORE])),
    ("toolshelf-search", Only(&[CORE])),
    // L2
    ("toolshelf-shelf", Only(&[CORE])),
    (
        "toolshelf-strategies",
        Only(&[CORE, "toolshelf-catalog", "toolshelf-discovery"]),
    ),
    (MCP, Only(&[CORE])),
    ("toolshelf-provider", Only(&[CORE, "toolshelf-discovery"])),
    ("toolshelf-checkpoint", Only(&[CORE])),
    ("toolshelf-checkpoint-sqlite", Only(&[CORE])),
    ("toolshelf-checkpoint-postgres", Only(&[CORE])),
    ("toolshelf-checkpoint-mysql", Only(&[CORE])),
    ("toolshelf-checkpoint-redis", Only(&[CORE])),
    // L3
    ("toolshelf-agent", Only(&[CORE, "toolshelf-shelf"])),
    (
        "toolshelf-gateway",
        Only(&[
            CORE,
            "toolshelf-shelf",
            "toolshelf-catalog",
            MCP,
            "toolshelf-strategies",
        ]),
    ),
    ("toolshelf-probe", Only(&[FAULTS])),
    ("toolshelf-simulator", Only(&[CORE, "toolshelf-provider"])),
    // L4
    ("toolshelf", EveryCrate),
    ("toolshelf-cli", EveryCrate),
];

/// What `toolshelf-core` must stay free of, however indirectly: a runtime, the protocol, and storage.
/// A name that ends in `-` stands for all packages that begin with it.
const NOT_IN_CORE: &[&str] = &[
    "tokio",
    "tokio-",
    "async-std",
    "smol",
    "rmcp",
    "rmcp-",
    "rusqlite",
    "libsqlite3-sys",
    "sqlx",
    "sqlx-",
    "postgres",
    "postgres-",
    "mysql",
    "mysql_async",
    "mysql_common",
    "redis",
    "fred",
    "diesel",
    "mongodb",
];

/// Runs the check on this workspace and prints what was checked, or fails with every fault found.
pub(crate) fn check(workspace: &Workspace) -> Result<()> {
    let graph = Graph::read(&workspace.metadata()?)?;
    if graph.crates.is_empty() {
        bail!(
            "no crate was found under crates/, so there is nothing that this check could have looked at"
        );
    }
    let faults = faults(&graph);
    if !faults.is_empty() {
        for fault in &faults {
            println!("  {fault}");
        }
        bail!(
            "the layers are violated in {} place(s), listed above",
            faults.len()
        );
    }
    println!(
        "{} crates keep to the layers: {}",
        graph.crates.len(),
        graph.names().join(", ")
    );
    Ok(())
}

/// The part of `cargo metadata` that the rules look at.
struct Graph {
    /// The packages under `crates/`.
    crates: Vec<Package>,
    /// Every package of the workspace, to tell inner dependencies from outer ones.
    members: BTreeSet<String>,
    /// Package id to name.
    names: BTreeMap<String, String>,
    /// Package id to the ids of its resolved dependencies of the normal kind.
    resolved: BTreeMap<String, Vec<String>>,
}

struct Package {
    id: String,
    name: String,
    /// The folder below the workspace root, with `/`.
    folder: String,
    /// Names of declared dependencies, optional ones too, without development dependencies.
    dependencies: BTreeSet<String>,
}

impl Graph {
    fn read(metadata: &Value) -> Result<Self> {
        let root = Path::new(text(metadata, "workspace_root")?);
        let member_ids: BTreeSet<&str> = list(metadata, "workspace_members")?
            .iter()
            .filter_map(Value::as_str)
            .collect();
        let mut graph = Self {
            crates: Vec::new(),
            members: BTreeSet::new(),
            names: BTreeMap::new(),
            resolved: BTreeMap::new(),
        };

        for package in list(metadata, "packages")? {
            let (id, name) = (text(package, "id")?, text(package, "name")?);
            graph.names.insert(id.to_owned(), name.to_owned());
            if !member_ids.contains(id) {
                continue;
            }
            graph.members.insert(name.to_owned());
            let manifest = Path::new(text(package, "manifest_path")?);
            let folder = manifest
                .strip_prefix(root)
                .ok()
                .and_then(Path::parent)
                .with_context(|| {
                    format!("{} is not inside {}", manifest.display(), root.display())
                })?;
            if !folder.starts_with("crates") {
                continue;
            }
            let mut dependencies = BTreeSet::new();
            for dependency in list(package, "dependencies")? {
                if dependency["kind"] != "dev" {
                    dependencies.insert(text(dependency, "name")?.to_owned());
                }
            }
            let folder = folder
                .iter()
                .map(|part| part.to_string_lossy())
                .collect::<Vec<_>>()
                .join("/");
            graph.crates.push(Package {
                id: id.to_owned(),
                name: name.to_owned(),
                folder,
                dependencies,
            });
        }
        graph.crates.sort_by(|a, b| a.name.cmp(&b.name));

        for node in list(&metadata["resolve"], "nodes")? {
            let mut normal = Vec::new();
            for dependency in list(node, "deps")? {
                // A null kind is a normal dependency; what only a build script or a test uses is not linked.
                if list(dependency, "dep_kinds")?
                    .iter()
                    .any(|kind| kind["kind"].is_null())
                {
                    normal.push(text(dependency, "pkg")?.to_owned());
                }
            }
            graph.resolved.insert(text(node, "id")?.to_owned(), normal);
        }
        Ok(graph)
    }

    fn names(&self) -> Vec<&str> {
        self.crates
            .iter()
            .map(|package| package.name.as_str())
            .collect()
    }

    /// The shortest chain of normal dependencies from `start` to each package that `wanted` accepts.
    fn chains<'a>(&'a self, start: &'a str, wanted: impl Fn(&str) -> bool) -> Vec<Vec<&'a str>> {
        let mut came_from: BTreeMap<&str, Option<&str>> = BTreeMap::from([(start, None)]);
        let mut queue = VecDeque::from([start]);
        let mut chains = Vec::new();
        while let Some(id) = queue.pop_front() {
            if wanted(self.name(id)) {
                let ids =
                    std::iter::successors(Some(id), |id| came_from.get(id).copied().flatten());
                let mut chain: Vec<&str> = ids.map(|id| self.name(id)).collect();
                chain.reverse();
                chains.push(chain);
                // What it drags in would only repeat the message.
                continue;
            }
            for next in self.resolved.get(id).into_iter().flatten() {
                if !came_from.contains_key(next.as_str()) {
                    came_from.insert(next, Some(id));
                    queue.push_back(next);
                }
            }
        }
        chains
    }

    fn name<'a>(&'a self, id: &'a str) -> &'a str {
        self.names.get(id).map_or(id, String::as_str)
    }
}

fn faults(graph: &Graph) -> Vec<String> {
    let mut faults = Vec::new();
    for package in &graph.crates {
        let name = &package.name;
        if package.folder != format!("crates/{name}") {
            faults.push(format!(
                "the folder {} holds the crate `{name}`: folder and crate have one name, and crates/ is flat; \
                 move it to crates/{name}",
                package.folder
            ));
        }
        match LAYERS.iter().find(|(known, _)| known == name) {
            None => faults.push(format!(
                "`{name}` stands in no layer: add it to LAYERS in xtask/src/layering.rs with the crates it may depend \
                 on, and to ARCHITECTURE.md"
            )),
            Some((_, allowed)) => faults.extend(forbidden_edges(graph, package, *allowed)),
        }
        if name != MCP && package.dependencies.contains("rmcp") {
            faults.push(format!(
                "`{name}` depends on rmcp: only {MCP} knows it, so that its next major version is a change in one \
                 crate; use what {MCP} offers, or offer it there"
            ));
        }
        if name == CORE {
            for chain in graph.chains(&package.id, is_kept_out_of_core) {
                faults.push(format!(
                    "`{CORE}` must not bring a runtime, rmcp or a database driver to those who write plugins, but it \
                     does: {}",
                    chain.join(" -> ")
                ));
            }
        }
    }
    faults
}

fn forbidden_edges(graph: &Graph, package: &Package, allowed: Allowed) -> Vec<String> {
    let is_crate = |name: &str| graph.crates.iter().any(|package| package.name == name);
    let may = |name: &str| match allowed {
        Only(names) => names.contains(&name),
        EveryCrate => is_crate(name),
    };
    let inner = package
        .dependencies
        .iter()
        .filter(|name| graph.members.contains(*name));
    inner
        .filter(|name| !may(name))
        .map(|name| {
            let permitted = match allowed {
                Only([]) => "no crate of the workspace".to_owned(),
                Only(names) => names.join(", "),
                EveryCrate => "what stands under crates/".to_owned(),
            };
            format!(
                "`{}` depends on `{name}`, but its layer permits only {permitted}: move the code to where both may reach \
                 it, or change LAYERS in xtask/src/layering.rs and ARCHITECTURE.md in one commit that says why",
                package.name
            )
        })
        .collect()
}

fn is_kept_out_of_core(name: &str) -> bool {
    NOT_IN_CORE.iter().any(|unwanted| {
        name == *unwanted || (unwanted.ends_with('-') && name.starts_with(unwanted))
    })
}

fn text<'a>(value: &'a Value, key: &str) -> Result<&'a str> {
    value[key]
        .as_str()
        .with_context(|| format!("`cargo metadata` gave no text `{key}`; its format has changed"))
}

fn list<'a>(value: &'a Value, key: &str) -> Result<&'a Vec<Value>> {
    value[key]
        .as_array()
        .with_context(|| format!("`cargo metadata` gave no list `{key}`; its format has changed"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// A workspace of made-up packages in the shape of `cargo metadata`.
    #[derive(Default)]
    struct MadeUp {
        packages: Vec<Value>,
        members: Vec<String>,
        nodes: Vec<Value>,
    }

    impl MadeUp {
        /// A member in `folder` with dependencies as `name` (normal), `dev:name` or `build:name`.
        fn member(mut self, folder: &str, name: &str, dependencies: &[&str]) -> Self {
            self.members.push(name.to_owned());
            self.package(&format!("/w/{folder}/Cargo.toml"), name, dependencies)
        }

        fn krate(self, name: &str, dependencies: &[&str]) -> Self {
            self.member(&format!("crates/{name}"), name, dependencies)
        }

        fn external(self, name: &str, dependencies: &[&str]) -> Self {
            self.package(&format!("/elsewhere/{name}/Cargo.toml"), name, dependencies)
        }

        fn package(mut self, manifest: &str, name: &str, dependencies: &[&str]) -> Self {
            let split = |entry: &str| match entry.split_once(':') {
                Some((kind, name)) => (json!(kind), name.to_owned()),
                None => (Value::Null, entry.to_owned()),
            };
            let declared: Vec<Value> = dependencies
                .iter()
                .map(|entry| split(entry))
                .map(|(kind, name)| json!({ "name": name, "kind": kind }))
                .collect();
            let resolved: Vec<Value> = dependencies
                .iter()
                .map(|entry| split(entry))
                .map(|(kind, name)| json!({ "pkg": name, "dep_kinds": [{ "kind": kind }] }))
                .collect();
            self.packages
                .push(json!({ "id": name, "name": name, "manifest_path": manifest, "dependencies": declared }));
            self.nodes.push(json!({ "id": name, "deps": resolved }));
            self
        }

        fn faults(self) -> Vec<String> {
            let metadata = json!({
                "workspace_root": "/w",
                "workspace_members": self.members,
                "packages": self.packages,
                "resolve": { "nodes": self.nodes },
            });
            faults(&Graph::read(&metadata).unwrap())
        }
    }

    /// Exactly one fault, which contains all of `parts`.
    fn one_fault(workspace: MadeUp, parts: &[&str]) {
        let faults = workspace.faults();
        assert_eq!(faults.len(), 1, "{faults:#?}");
        for part in parts {
            assert!(
                faults[0].contains(part),
                "{part:?} is not in {:?}",
                faults[0]
            );
        }
    }

    #[test]
    fn a_workspace_that_keeps_to_the_layers_has_no_faults() {
        let workspace = MadeUp::default()
            .krate(CORE, &["serde", "dev:tokio"])
            .krate("toolshelf-catalog", &[CORE])
            .krate(
                "toolshelf-strategies",
                &[CORE, "toolshelf-catalog", "dev:toolshelf-shelf"],
            )
            .krate(
                "toolshelf-shelf",
                &[CORE, "tokio", "dev:toolshelf-strategies"],
            )
            .krate(MCP, &[CORE, "rmcp"])
            .krate(
                "toolshelf-gateway",
                &[
                    CORE,
                    "toolshelf-shelf",
                    "toolshelf-catalog",
                    MCP,
                    "toolshelf-strategies",
                ],
            )
            .krate(
                "toolshelf-cli",
                &[CORE, "toolshelf-gateway", "toolshelf-strategies"],
            )
            .member("tests", "toolshelf-tests", &["toolshelf-cli", "rmcp"])
            .external("serde", &[])
            .external("tokio", &[])
            .external("rmcp", &["tokio"]);
        assert_eq!(workspace.faults(), Vec::<String>::new());
    }

    #[test]
    fn an_edge_that_the_table_lacks_is_a_fault() {
        one_fault(
            MadeUp::default()
                .krate(CORE, &[])
                .krate("toolshelf-catalog", &[CORE, "toolshelf-shelf"])
                .krate("toolshelf-shelf", &[CORE]),
            &[
                "`toolshelf-catalog` depends on `toolshelf-shelf`",
                "permits only toolshelf-core",
                "xtask/src/layering.rs",
            ],
        );
    }

    #[test]
    fn a_build_dependency_counts_as_an_edge() {
        one_fault(
            MadeUp::default()
                .krate("toolshelf-search", &["build:toolshelf-catalog"])
                .krate("toolshelf-catalog", &[]),
            &["`toolshelf-search` depends on `toolshelf-catalog`"],
        );
    }

    #[test]
    fn core_depends_on_no_crate_of_the_workspace() {
        one_fault(
            MadeUp::default()
                .krate(CORE, &["toolshelf-catalog"])
                .krate("toolshelf-catalog", &[]),
            &[
                "`toolshelf-core` depends on `toolshelf-catalog`",
                "permits only no crate of the workspace",
            ],
        );
    }

    #[test]
    fn the_binary_may_use_every_crate_but_not_the_tooling() {
        one_fault(
            MadeUp::default()
                .krate("toolshelf-cli", &["toolshelf-search", "xtask"])
                .krate("toolshelf-search", &[])
                .member("xtask", "xtask", &[]),
            &[
                "`toolshelf-cli` depends on `xtask`",
                "what stands under crates/",
            ],
        );
    }

    #[test]
    fn rmcp_belongs_to_one_crate() {
        one_fault(
            MadeUp::default()
                .krate("toolshelf-gateway", &["rmcp"])
                .external("rmcp", &[]),
            &["`toolshelf-gateway` depends on rmcp", "only toolshelf-mcp"],
        );
    }

    #[test]
    fn core_stays_free_of_a_runtime_however_indirectly() {
        for unwanted in [
            "tokio",
            "tokio-util",
            "rmcp",
            "rusqlite",
            "sqlx-core",
            "tokio-postgres",
            "mysql_async",
            "redis",
        ] {
            one_fault(
                MadeUp::default()
                    .krate(CORE, &["innocent"])
                    .external("innocent", &[unwanted])
                    .external(unwanted, &[]),
                &[&format!("toolshelf-core -> innocent -> {unwanted}")],
            );
        }
    }

    #[test]
    fn what_core_does_not_link_is_not_its_dependency() {
        let workspace = MadeUp::default()
            .krate(CORE, &["innocent", "dev:tokio"])
            .external("innocent", &["build:tokio", "dev:rmcp"])
            .external("tokio", &[])
            .external("rmcp", &[]);
        assert_eq!(workspace.faults(), Vec::<String>::new());
    }

    #[test]
    fn a_name_is_matched_whole() {
        assert!(!is_kept_out_of_core("tokioish"));
        assert!(!is_kept_out_of_core("redistribute"));
        assert!(is_kept_out_of_core("sqlx-sqlite"));
    }

    #[test]
    fn folder_and_crate_have_one_name() {
        one_fault(
            MadeUp::default().member("crates/catalog", "toolshelf-catalog", &[]),
            &[
                "the folder crates/catalog",
                "move it to crates/toolshelf-catalog",
            ],
        );
        one_fault(
            MadeUp::default().member(
                "crates/checkpoint/toolshelf-checkpoint",
                "toolshelf-checkpoint",
                &[],
            ),
            &["crates/ is flat"],
        );
    }

    #[test]
    fn an_unknown_crate_is_told_where_to_be_added() {
        one_fault(
            MadeUp::default().krate("toolshelf-new", &[]),
            &[
                "`toolshelf-new` stands in no layer",
                "LAYERS in xtask/src/layering.rs",
                "ARCHITECTURE.md",
            ],
        );
    }

    #[test]
    fn the_table_permits_only_crates_below() {
        for (position, (name, allowed)) in LAYERS.iter().enumerate() {
            let Only(names) = allowed else { continue };
            for below in *names {
                let found = LAYERS.iter().position(|(known, _)| known == below);
                assert!(
                    found.is_some_and(|found| found < position),
                    "{name} may depend on {below}, which is not below it"
                );
            }
        }
    }

    #[test]
    fn metadata_of_another_shape_is_an_error_and_no_silent_pass() {
        let error = Graph::read(&json!({ "workspace_root": "/w" }))
            .map(|_| ())
            .unwrap_err();
        assert!(error.to_string().contains("workspace_members"), "{error}");
    }
}
