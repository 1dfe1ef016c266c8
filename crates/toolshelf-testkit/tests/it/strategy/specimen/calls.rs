//! What a call means.

use serde_json::{Map, Value};
use toolshelf_core::{
    Availability, Call, Cx, Exposure, Need, Resolution, ShelvedTool, Step, Strategy, ToolKey,
    ToolName, read_arguments,
};

use super::{Fault, Mini, answer};

impl Mini {
    pub(super) fn visible(&self, cx: &Cx<'_>, key: &ToolKey) -> bool {
        let hidden = |entry: &toolshelf_core::GroupEntry| {
            entry.exposure_of(key.tool.as_str()) == Exposure::Hidden
        };
        let entry = cx.groups.get(key.group.as_str());
        (cx.visible(key) || self.is(Fault::ShowsDenied)) && !entry.is_none_or(hidden)
    }

    pub(super) fn shown(&self, cx: &Cx<'_>, tool: &ShelvedTool) -> bool {
        let own = self.own_tools().contains(&tool.wire_name.to_string());
        let own = own && !self.is(Fault::TakesOwnName);
        let reached = cx.groups.by_wire_name(&tool.wire_name) == Some(&tool.key);
        self.visible(cx, &tool.key) && reached && !own
    }

    /// What a name means.
    pub(super) fn candidates(&self, cx: &Cx<'_>, name: &str) -> Vec<ToolKey> {
        if self.is(Fault::PrefersBareNames) && cx.groups.groups_with(name).len() > 1 {
            return self.bare(cx, name);
        }
        if let Some(key) = cx.groups.by_wire_name(name)
            && self.visible(cx, key)
        {
            return vec![key.clone()];
        }
        if let Some(key) = cx.groups.qualified(name)
            && self.visible(cx, &key)
        {
            return vec![key];
        }
        self.bare(cx, name)
    }

    /// All that have this name in their groups.
    fn bare(&self, cx: &Cx<'_>, name: &str) -> Vec<ToolKey> {
        let Ok(tool) = ToolName::new(name) else {
            return Vec::new();
        };
        let groups = cx.groups.groups_with(name).iter();
        let keys = groups.map(|group| ToolKey::new(group.clone(), tool.clone()));
        keys.filter(|key| self.visible(cx, key)).collect()
    }

    pub(super) fn native(&self, cx: &Cx<'_>, call: &Call) -> Step<Resolution> {
        let mut keys = self.candidates(cx, &call.name);
        if keys.len() > 1 && !self.is(Fault::Guesses) {
            return answer(true, "Which one?".to_owned(), Vec::new());
        }
        keys.truncate(1);
        let Some(key) = keys.pop() else {
            return self.unknown(cx, call);
        };
        if matches!(cx.availability(&key.group), Availability::Unsettled) {
            let load = Need::Load(key.group.clone());
            return Step::Need(if self.is(Fault::LoadsFirst) {
                vec![load]
            } else {
                vec![Need::Permit(key), load]
            });
        }
        match read_arguments(Some(call.arguments.clone())) {
            Ok((mut arguments, repair)) => {
                if self.is(Fault::ChangesArguments) {
                    arguments.retain(|_, value| !value.is_null());
                }
                let repairs = repair.into_iter().collect();
                Step::Done(Resolution::Execute {
                    key,
                    arguments,
                    repairs,
                })
            }
            Err(_) if self.is(Fault::LosesArguments) => Step::Done(Resolution::Execute {
                key,
                arguments: Map::new(),
                repairs: Vec::new(),
            }),
            Err(error) => answer(true, error.for_model().to_owned(), Vec::new()),
        }
    }

    fn unknown(&self, cx: &Cx<'_>, call: &Call) -> Step<Resolution> {
        let tool = ToolName::new(&call.name).ok();
        let ask: Vec<Need> = cx
            .groups
            .iter()
            .filter(|(id, entry)| {
                let unsettled = matches!(cx.availability(id), Availability::Unsettled);
                unsettled && !entry.names_known()
            })
            .filter_map(|(id, _)| Some(Need::Probe(ToolKey::new(id.clone(), tool.clone()?))))
            .collect();
        if !ask.is_empty() {
            return Step::Need(ask);
        }
        if self.is(Fault::ClaimsAll) {
            return answer(true, "There is no such tool.".to_owned(), Vec::new());
        }
        Step::Done(Resolution::NotMine)
    }

    /// A call through the forwarder.
    pub(super) fn run(&self, cx: &Cx<'_>, arguments: &Value) -> Step<Resolution> {
        let name = arguments
            .get("tool")
            .and_then(Value::as_str)
            .unwrap_or_default();
        if self.is(Fault::RunGuesses)
            && let Some(key) = self.bare(cx, name).into_iter().next()
        {
            let arguments = Map::new();
            let repairs = Vec::new();
            return Step::Done(Resolution::Execute {
                key,
                arguments,
                repairs,
            });
        }
        let mut given = arguments.get("arguments").cloned().unwrap_or_default();
        if self.is(Fault::RunLosesArguments)
            && let Some(given) = given.as_object_mut()
        {
            given.remove("tool");
        }
        let call = Call {
            id: "forwarded".to_owned(),
            name: name.to_owned(),
            arguments: given,
        };
        match self.native(cx, &call) {
            Step::Done(Resolution::NotMine) => {
                answer(true, "There is no such tool.".to_owned(), Vec::new())
            }
            step => step,
        }
    }
}
