//! Groups in every condition, and planners that are asked about them.

use std::sync::Arc;

use toolshelf_core::{
    Condition, Cx, Error, ErrorKind, Exposure, FnTool, GroupId, Groups, JsonText, LoadContext,
    Loaded, LoadedGroup, Need, Placement, State, Step, Strategy, Surface, Tool, ToolDefinition,
    ToolGroup, ToolName, ToolResult,
};

pub(crate) fn id(id: &str) -> GroupId {
    GroupId::new(id).unwrap()
}

fn tool(name: &str) -> Arc<dyn Tool> {
    let schema =
        r#"{"type":"object","required":["z"],"properties":{"z":{"type":"string"},"a":{}}}"#;
    let definition = ToolDefinition::new(
        ToolName::new(name).unwrap(),
        format!("Does {name}."),
        JsonText::parse(schema).unwrap(),
    );
    Arc::new(FnTool::new(definition.unwrap(), async |_, _| {
        Ok(ToolResult::default())
    }))
}

/// A deferred group with declared tools.
pub(crate) fn group(name: &str, tools: &[&str]) -> ToolGroup {
    ToolGroup::new(id(name), async |_: LoadContext| Ok(Loaded::default()))
        .title(name.to_uppercase())
        .declared_tools(tools)
        .unwrap()
}

/// The groups of a host: two deferred ones that share a tool's name, one of which nothing
/// is known, and the host's own.
pub(crate) fn groups() -> Groups {
    let mut groups = Groups::new();
    groups.insert(group("mail", &["send", "list"])).unwrap();
    groups.insert(group("chat", &["send", "rooms"])).unwrap();
    let unknown = ToolGroup::new(id("unknown"), async |_: LoadContext| Ok(Loaded::default()));
    groups.insert(unknown).unwrap();
    groups
        .insert(ToolGroup::core(id("host"), vec![tool("read_file")]))
        .unwrap();
    load(&mut groups, "host", &["read_file"]);
    groups
}

/// Has a group loaded with these tools.
pub(crate) fn load(groups: &mut Groups, name: &str, tools: &[&str]) {
    let group = groups.get(name).unwrap().group.clone();
    let loaded = Loaded::new(tools.iter().map(|name| tool(name)));
    let loaded = LoadedGroup::new(&group, loaded).unwrap();
    groups.set_condition(&id(name), Condition::Ready(Arc::new(loaded)));
}

pub(crate) fn fail(groups: &mut Groups, name: &str) {
    let error = Error::new(ErrorKind::Exited, "it ended").for_model_text("it ended.");
    groups.set_condition(&id(name), Condition::Failed(Arc::new(error)));
}

pub(crate) fn hide(groups: &mut Groups, name: &str) {
    let entry = groups.remove(&id(name)).unwrap();
    let mut group = (*entry.group).clone();
    group.exposure = Exposure::Hidden;
    groups.insert(group).unwrap();
}

pub(crate) fn surface(
    strategy: &dyn Strategy,
    groups: &Groups,
    placement: Placement,
    state: &State,
) -> Result<Surface, Vec<Need>> {
    let mut cx = Cx::new(groups);
    cx.placement = placement;
    match strategy.surface(&cx, state) {
        Step::Done(surface) => Ok(surface),
        Step::Need(needs) => Err(needs),
    }
}
