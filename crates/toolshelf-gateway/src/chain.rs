//! A gateway that starts itself through a wrapper must not do so without end.
//!
//! An entry that plainly starts `toolshelf serve` is refused when the configuration is
//! read. A shell script that does is not seen there, so every gateway tells the
//! processes that it starts which configurations are being served above them.

use std::path::Path;

use toolshelf_core::{Digest, Error, ErrorKind};

/// The environment variable: short digests of configuration paths, separated by `:`.
pub const CHAIN_VARIABLE: &str = "TOOLSHELF_CHAIN";

/// What the refusal of a configuration that would be served within itself says, in the
/// words of the entry as in those of a gateway that was started nevertheless.
pub const WITHOUT_END: &str = "without end";

/// How many gateways may stand one behind the other.
const MAX_DEPTH: usize = 8;

/// Digits of a digest in the chain.
const DIGITS: usize = 16;

/// The chain for the processes below, or a refusal.
///
/// # Errors
///
/// [`ErrorKind::InvalidConfig`] when this configuration is already being served by a
/// gateway above, or when gateways are nested too deep.
pub fn refuse_recursion(config: Option<&Path>) -> Result<String, Error> {
    let above = std::env::var(CHAIN_VARIABLE).unwrap_or_default();
    extend_chain(&above, config)
}

fn extend_chain(above: &str, config: Option<&Path>) -> Result<String, Error> {
    let path = config.map(|path| std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned()));
    let name = path.map_or_else(String::new, |path| path.to_string_lossy().into_owned());
    let own = Digest::of_parts([name.as_str()]).short(DIGITS);
    let links: Vec<&str> = above.split(':').filter(|link| !link.is_empty()).collect();
    if config.is_some() && links.contains(&own.as_str()) {
        return Err(Error::new(
            ErrorKind::InvalidConfig,
            format!(
                "the configuration {name} starts a server that serves the same configuration \
                 again, which would go on {WITHOUT_END}; take that server out of it"
            ),
        ));
    }
    if links.len() >= MAX_DEPTH {
        return Err(Error::new(
            ErrorKind::InvalidConfig,
            format!("more than {MAX_DEPTH} gateways stand one behind the other"),
        ));
    }
    Ok(links
        .into_iter()
        .chain([own.as_str()])
        .collect::<Vec<_>>()
        .join(":"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_configuration_twice_is_refused() {
        let config = Path::new("some/toolshelf.json");
        let once = extend_chain("", Some(config)).unwrap();
        let error = extend_chain(&once, Some(config)).unwrap_err();
        assert!(error.message().contains("without end"), "{error}");
        assert!(extend_chain(&once, Some(Path::new("other.json"))).is_ok());
    }

    #[test]
    fn a_chain_has_an_end() {
        let mut chain = String::new();
        for at in 0..MAX_DEPTH {
            chain = extend_chain(&chain, Some(Path::new(&format!("{at}.json")))).unwrap();
        }
        assert!(extend_chain(&chain, Some(Path::new("last.json"))).is_err());
    }
}
