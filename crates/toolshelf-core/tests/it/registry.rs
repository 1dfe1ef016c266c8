use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use toolshelf_core::codec::{Block, DiscoveryCodec, ReadDiscovery};
use toolshelf_core::{
    Builder, ContentBlock, Error, ErrorKind, NoOptions, Plugin, PluginKind, Registry,
    options_schema, read_options, submit,
};

#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct Options {
    separator: String,
}

struct Joined(Options);

impl DiscoveryCodec for Joined {
    fn name(&self) -> &str {
        "joined/1"
    }

    fn write(&self, names: &[&str]) -> Result<Vec<ContentBlock>, Error> {
        Ok(vec![ContentBlock::text(names.join(&self.0.separator))])
    }

    fn read<'a>(&self, _content: &'a [Block<'a>]) -> ReadDiscovery<'a> {
        ReadDiscovery::default()
    }
}

const JOINED: Plugin = Plugin {
    name: "joined/1",
    provider: "first",
    about: "Joins names.",
    build: Builder::DiscoveryCodec(|options| {
        Ok(Arc::new(Joined(read_options("joined/1", options)?)))
    }),
    options: options_schema::<Options>,
};
submit!(JOINED);

const REFUSES: Plugin = Plugin {
    name: "refuses",
    provider: "first",
    about: "Cannot be built.",
    build: Builder::Strategy(|options| {
        read_options::<NoOptions>("refuses", options)?;
        Err(Error::new(ErrorKind::Internal, "never"))
    }),
    options: options_schema::<NoOptions>,
};

fn message<T>(result: Result<T, Error>) -> String {
    result.err().unwrap().to_string()
}

#[test]
fn submitted_plugins_are_linked() {
    let registry = Registry::linked().unwrap();
    assert_eq!(registry.names(PluginKind::DiscoveryCodec), ["joined/1"]);
    assert_eq!(registry.plugins().count(), 1);
    let codec = registry
        .discovery_codec("joined/1", &json!({"separator": "+"}))
        .unwrap();
    assert_eq!(
        codec.write(&["a", "b"]).unwrap(),
        [ContentBlock::text("a+b")]
    );
}

#[test]
fn a_name_taken_twice_names_both_providers() {
    let mut registry = Registry::new();
    registry.register(JOINED).unwrap();
    let second = Plugin {
        provider: "second",
        ..JOINED
    };
    let error = registry.register(second).err().unwrap();
    assert_eq!(error.kind(), ErrorKind::InvalidConfig);
    let said = error.to_string();
    assert!(
        said.contains("first") && said.contains("second") && said.contains("joined/1"),
        "{said}"
    );
    assert_eq!(
        registry
            .find(PluginKind::DiscoveryCodec, "joined/1")
            .unwrap()
            .provider,
        "first"
    );
    // Replacing is another verb.
    assert_eq!(registry.replace(second).unwrap().provider, "first");
    assert_eq!(
        registry
            .find(PluginKind::DiscoveryCodec, "joined/1")
            .unwrap()
            .provider,
        "second"
    );
    assert!(registry.replace(REFUSES).is_none());
}

#[test]
fn one_name_may_be_of_two_kinds() {
    let mut registry = Registry::new();
    registry.register(JOINED).unwrap();
    registry
        .register(Plugin {
            name: "joined/1",
            ..REFUSES
        })
        .unwrap();
    assert_eq!(registry.plugins().count(), 2);
}

#[test]
fn an_unknown_name_lists_what_there_is() {
    let mut registry = Registry::new();
    registry.register(JOINED).unwrap();
    registry.register(REFUSES).unwrap();
    let error = registry
        .discovery_codec("join/1", &Value::Null)
        .err()
        .unwrap();
    assert_eq!(error.kind(), ErrorKind::NotFound);
    let said = error.to_string();
    assert!(said.contains("did you mean 'joined/1'?"), "{said}");
    assert!(
        said.contains(
            "there is no discovery codec 'join/1' (did you mean 'joined/1'?); there are: joined/1"
        ) && !said.contains("refuses"),
        "{said}"
    );
    let none = message(registry.search_index("bm25", &Value::Null));
    assert!(none.contains("no plugin of this kind"), "{none}");
}

#[test]
fn a_plugin_left_out_of_the_build_says_so() {
    let registry = Registry::new();
    for (name, error) in [
        (
            "dispatch",
            message(registry.strategy("dispatch", &Value::Null)),
        ),
        (
            "dispatch/1",
            message(registry.catalog_format("dispatch/1", &Value::Null)),
        ),
        ("stdio", message(registry.loader("stdio", &Value::Null))),
    ] {
        assert!(
            error.contains(name) && error.contains("toolshelf-"),
            "{error}"
        );
        assert!(error.contains("not linked"), "{error}");
    }
}

#[test]
fn options_are_read_strictly() {
    let registry = Registry::linked().unwrap();
    assert!(registry.discovery_codec("joined/1", &Value::Null).is_ok());
    assert!(registry.discovery_codec("joined/1", &json!({})).is_ok());
    for options in [
        json!({"seperator": ","}),
        json!([1]),
        json!([","]),
        json!(","),
        json!({"separator": 1}),
    ] {
        let error = registry
            .discovery_codec("joined/1", &options)
            .err()
            .unwrap();
        assert_eq!(error.kind(), ErrorKind::InvalidConfig);
        assert!(error.to_string().contains("joined/1"), "{error}");
    }
    let schema = (JOINED.options)();
    assert_eq!(schema["properties"]["separator"]["type"], "string");
}

#[derive(Debug, Deserialize)]
#[allow(dead_code, reason = "only reading it is tested")]
struct Guarded {
    #[serde(default)]
    limit: u32,
    #[serde(default)]
    mode: Option<Mode>,
    #[serde(default)]
    small: Vec<u8>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Mode {
    Fast,
}

#[test]
fn an_error_of_options_quotes_none_of_their_values() {
    for (options, said) in [
        (
            json!({"limit": "s3cret"}),
            "limit: invalid type: string, expected u32",
        ),
        (
            json!({"limit": "s3cret\", expected `s3cret"}),
            "limit: invalid type: string, expected u32",
        ),
        (
            json!({"small": [1, 777]}),
            "small[1]: invalid value: integer, expected u8",
        ),
        (
            json!({"mode": "s3cret"}),
            "mode: unknown variant, expected `fast`",
        ),
        (
            json!({"limit": []}),
            "limit: invalid type: sequence, expected u32",
        ),
        (
            json!("s3cret"),
            "a single value, where an object is expected",
        ),
    ] {
        let error = read_options::<Guarded>("guarded", &options).unwrap_err();
        let before = "the options of 'guarded' are not valid";
        assert_eq!(error.to_string(), format!("{before}: {said}"));
        assert_eq!(error.for_model(), before);
    }
}

#[test]
fn what_is_built_under_another_name_than_its_plugins_is_refused() {
    let mut registry = Registry::new();
    let renamed = Plugin {
        name: "joined/2",
        ..JOINED
    };
    registry.register(renamed).unwrap();
    let error = registry.discovery_codec("joined/2", &Value::Null);
    let error = error.err().unwrap();
    assert_eq!(error.kind(), ErrorKind::Internal);
    assert_eq!(
        error.to_string(),
        "the discovery codec 'joined/2' of first builds one that calls itself 'joined/1'; the two \
         names have to be the same"
    );
}
