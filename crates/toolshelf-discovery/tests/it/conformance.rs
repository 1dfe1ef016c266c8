//! Each codec under the kit.

use serde_json::json;
use toolshelf_core::ContentBlock;
use toolshelf_discovery::{FoundLine, Functions, LoadAnswers, ToolReferences};
use toolshelf_testkit::codec::Subject;
use toolshelf_testkit::codec_tests;

fn found() -> Subject {
    Subject::new(|| FoundLine)
}

fn tool_reference() -> Subject {
    Subject::new(|| ToolReferences)
}

fn functions() -> Subject {
    Subject::new(|| Functions).written_with(|names| {
        let one = |name: &&str| {
            let definition = json!({"description": "Does it.", "name": name, "parameters": {}});
            format!("<function>{definition}</function>\n")
        };
        let all: String = names.iter().map(one).collect();
        vec![ContentBlock::text(format!(
            "<functions>\n{all}</functions>"
        ))]
    })
}

fn load() -> Subject {
    let written = |names: &[&str]| {
        let answer = json!({
            "error": null, "expanded": true, "group_id": "g", "remaining": 0, "tool_names": names,
        });
        vec![ContentBlock::text(answer.to_string())]
    };
    Subject::new(|| LoadAnswers)
        .written_with(written)
        .read_as(|name| format!("g/{name}"))
}

codec_tests!(found: writes);
codec_tests!(tool_reference: writes);
codec_tests!(functions);
codec_tests!(load);

mod plugins {
    use toolshelf_testkit::plugin::Subject;
    use toolshelf_testkit::plugin_tests;

    fn found() -> Subject {
        Subject::new(toolshelf_discovery::codec::found::PLUGIN)
    }

    fn tool_reference() -> Subject {
        Subject::new(toolshelf_discovery::codec::reference::PLUGIN)
    }

    fn functions() -> Subject {
        Subject::new(toolshelf_discovery::codec::functions::PLUGIN)
    }

    fn load() -> Subject {
        Subject::new(toolshelf_discovery::codec::load::PLUGIN)
    }

    plugin_tests!(found: defaults);
    plugin_tests!(tool_reference: defaults);
    plugin_tests!(functions: defaults);
    plugin_tests!(load: defaults);
}
