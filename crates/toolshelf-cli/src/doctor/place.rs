//! Where configuration and cache are, and whether they are fit for use.

use std::path::{Path, PathBuf};

use toolshelf_gateway::cache::{DescriptorCache, user_cache_dir};
use toolshelf_gateway::config::{Config, user_config_dir};

use super::findings::{Finding, Place};
use crate::arguments::Servers;

/// The configuration that was read, and what is odd about it.
pub(crate) fn config(servers: &Servers, config: &Config) -> (Option<Place>, Vec<Finding>) {
    let mut findings: Vec<Finding> = config
        .warnings
        .iter()
        .map(|warning| {
            Finding::warning(
                "configuration",
                warning.clone(),
                "correct or remove it in the configuration",
            )
        })
        .collect();
    let Some(path) = &config.path else {
        return (None, findings);
    };
    let by_environment = std::env::var_os("TOOLSHELF_CONFIG").is_some_and(|set| !set.is_empty());
    let because = if servers.config.is_some() {
        "--config"
    } else if by_environment {
        "TOOLSHELF_CONFIG"
    } else if user_config_dir().is_some_and(|folder| path.starts_with(folder)) {
        "your configuration directory"
    } else {
        "the working directory"
    };
    if servers.config.is_none() {
        findings.extend(passed_over(path));
    }
    #[cfg(unix)]
    if is_open(path, 0o002) {
        findings.push(Finding::warning(
            "configuration-writable",
            "everybody on this machine may change the configuration, and so what is started",
            format!("chmod o-w {}", path.display()),
        ));
    }
    let place = Place {
        path: path.display().to_string(),
        because,
    };
    (Some(place), findings)
}

/// Other configurations that would be found if the one that is used were not there.
fn passed_over(used: &Path) -> Option<Finding> {
    let mut places = vec![PathBuf::from("toolshelf.json"), PathBuf::from(".mcp.json")];
    places.extend(user_config_dir().map(|folder| folder.join("toolshelf.json")));
    let others: Vec<String> = places
        .into_iter()
        .filter(|place| place != used && place.is_file())
        .map(|place| place.display().to_string())
        .collect();
    (!others.is_empty()).then(|| {
        Finding::note(
            "configuration-unused",
            format!(
                "not read, since another one comes first: {}",
                others.join(", ")
            ),
            "name the one that you mean with --config",
        )
    })
}

/// The folder of kept lists, and what is wrong with it.
pub(crate) fn cache() -> (Option<Place>, Vec<Finding>) {
    const WITHOUT: &str = "without a cache, each start of `serve` starts every server";
    let Some(folder) = user_cache_dir() else {
        let finding = Finding::warning(
            "cache",
            format!("there is no place for a cache; {WITHOUT}"),
            "set HOME or TOOLSHELF_CACHE_DIR",
        );
        return (None, vec![finding]);
    };
    let own = std::env::var_os("TOOLSHELF_CACHE_DIR").is_some_and(|set| !set.is_empty());
    let place = Place {
        path: folder.display().to_string(),
        because: if own {
            "TOOLSHELF_CACHE_DIR"
        } else {
            "your cache directory"
        },
    };
    let mut findings = Vec::new();
    if let Err(fault) = try_out(&folder) {
        findings.push(Finding::warning(
            "cache",
            format!("{fault}; {WITHOUT}"),
            "make the folder writable for you, or set TOOLSHELF_CACHE_DIR to another one",
        ));
    }
    #[cfg(unix)]
    if is_open(&folder, 0o077) {
        findings.push(Finding::warning(
            "cache-readable",
            "others on this machine may look into the cache",
            format!("chmod 700 {}", folder.display()),
        ));
    }
    (Some(place), findings)
}

/// Makes the cache as `serve` does, and writes a file into it.
fn try_out(folder: &Path) -> Result<(), String> {
    DescriptorCache::open(folder).map_err(|error| error.message().to_owned())?;
    let file = folder.join(format!(".doctor-{}.tmp", std::process::id()));
    std::fs::write(&file, []).map_err(|cause| {
        format!(
            "the cache {} cannot be written to: {cause}",
            folder.display()
        )
    })?;
    // Empty, and named as nobody reads.
    let _ = std::fs::remove_file(&file);
    Ok(())
}

/// Whether others have one of these permissions.
#[cfg(unix)]
fn is_open(path: &Path, bits: u32) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::metadata(path).is_ok_and(|data| data.permissions().mode() & bits != 0)
}
