//! `plugins`: what is linked.

use serde_json::{Value, json};
use toolshelf_core::{Plugin, Registry};

use crate::arguments::PluginsArguments;
use crate::failure::Failure;
use crate::output::{Look, Output, wrap};

pub(crate) fn run(
    arguments: &PluginsArguments,
    registry: &Registry,
    output: &Output,
) -> Result<(), Failure> {
    let plugins: Vec<&Plugin> = registry.plugins().collect();
    if arguments.json {
        let rows: Vec<Value> = plugins.iter().map(|plugin| row(plugin)).collect();
        return output.write_json(&Value::Array(rows));
    }
    let wide = |text: fn(&Plugin) -> &str| {
        let widths = plugins.iter().map(|plugin| text(plugin).chars().count());
        widths.max().unwrap_or(0)
    };
    let name_width = wide(|plugin| plugin.name);
    let provider_width = wide(|plugin| plugin.provider);
    let mut text = String::new();
    let mut kind = None;
    for plugin in plugins {
        if kind != Some(plugin.kind()) {
            if kind.is_some() {
                text.push('\n');
            }
            kind = Some(plugin.kind());
            text.push_str(&output.paint(Look::Strong, plugin.kind().as_str()));
            text.push('\n');
        }
        let indent = 2 + name_width + 2 + provider_width + 2;
        let about = wrap(plugin.about, output.width.saturating_sub(indent));
        let name = format!("{:name_width$}", plugin.name);
        let provider = format!("{:provider_width$}", plugin.provider);
        text.push_str(&format!(
            "  {}  {}  {}\n",
            output.paint(Look::Ours, &name),
            output.paint(Look::Faint, &provider),
            about.join(&format!("\n{}", " ".repeat(indent)))
        ));
    }
    output.write(&text)
}

fn row(plugin: &Plugin) -> Value {
    json!({
        "kind": plugin.kind().as_str(),
        "name": plugin.name,
        "provider": plugin.provider,
        "about": plugin.about,
        "options": (plugin.options)(),
    })
}
