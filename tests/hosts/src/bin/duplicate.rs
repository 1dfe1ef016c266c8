//! Has a strategy of its own by the name of one that is linked: an error that names both, and
//! a host that means it says so.

use toolshelf_core::{
    Builder, Error, ErrorKind, NoOptions, Plugin, PluginKind, Registry, options_schema, submit,
};

const OURS: Plugin = Plugin {
    name: "dispatch",
    provider: env!("CARGO_PKG_NAME"),
    about: "Another strategy of the same name.",
    build: Builder::Strategy(|_| Err(Error::new(ErrorKind::Internal, "never built"))),
    options: options_schema::<NoOptions>,
};
submit!(OURS);

fn main() -> Result<(), Error> {
    let error = Registry::linked()
        .err()
        .map(|error| (error.kind(), error.to_string()));
    let message = "the strategy 'dispatch' is provided by both toolshelf-hosts and toolshelf-strategies; use `replace` \
                   where that is meant";
    assert_eq!(error, Some((ErrorKind::InvalidConfig, message.to_owned())));

    let mut registry = Registry::new();
    registry.register(toolshelf_strategies::dispatch::PLUGIN)?;
    let replaced = registry.replace(OURS).map(|plugin| plugin.provider);
    assert_eq!(replaced, Some("toolshelf-strategies"));
    let expected = [(PluginKind::Strategy, "dispatch", "toolshelf-hosts")];
    toolshelf_hosts::check("duplicate", &registry, &expected);
    Ok(())
}
