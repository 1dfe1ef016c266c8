//! What the benchmarks measure on: groups of made-up tools with five parameters each,
//! the shape that the figures of the source system were taken on.

use std::sync::Arc;

use toolshelf_core::{
    Error, FnTool, GroupId, JsonText, LoadContext, Loaded, Tool, ToolDefinition, ToolGroup,
    ToolName, ToolResult,
};

/// A tool with five parameters that does nothing.
///
/// # Errors
///
/// When the name is not valid.
pub fn tool(name: &str) -> Result<Arc<dyn Tool>, Error> {
    let schema = JsonText::parse(
        r#"{"type":"object","properties":{
            "repo":{"type":"string","description":"Owner and name of the repository, such as octo/hello"},
            "title":{"type":"string","description":"A short title","minLength":1},
            "labels":{"type":"array","items":{"type":"string"},"description":"Labels to set"},
            "priority":{"type":"string","enum":["low","normal","high"],"default":"normal"},
            "limit":{"type":"integer","minimum":1,"maximum":100,"default":20}
        },"required":["repo","title"],"additionalProperties":false}"#,
    )?;
    let description = format!(
        "Does what {name} says for one repository, and returns the object as it is afterwards."
    );
    let definition = ToolDefinition::new(ToolName::new(name)?, description, schema)?;
    Ok(Arc::new(FnTool::new(definition, async |_, _| {
        Ok(ToolResult::text("done"))
    })))
}

/// A group of so many tools, with their names declared.
///
/// # Errors
///
/// When the id is not valid.
pub fn group(id: &str, tools: usize) -> Result<ToolGroup, Error> {
    let names: Vec<String> = (0..tools)
        .map(|at| format!("{id}_action_{at:03}"))
        .collect();
    let made: Vec<Arc<dyn Tool>> = names
        .iter()
        .map(|name| tool(name))
        .collect::<Result<_, _>>()?;
    ToolGroup::new(GroupId::new(id)?, move |_: LoadContext| {
        let made = made.clone();
        async move { Ok(Loaded::new(made)) }
    })
    .title("Benchmark")
    .description("Tools to measure with")
    .declared_tools(names)
}

/// So many groups of so many tools each.
///
/// # Errors
///
/// None in practice: the ids are valid.
pub fn groups(count: usize, tools: usize) -> Result<Vec<ToolGroup>, Error> {
    (0..count)
        .map(|at| group(&format!("group{at:04}"), tools))
        .collect()
}
