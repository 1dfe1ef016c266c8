//! A session without a shelf.

use std::fmt;
use std::sync::Arc;

use serde_json::Value;
use toolshelf_core::{Answer, Call, Event, Resolution, Settled, State, Strategy, Surface};

use crate::world::World;

/// A session over a [`World`]: it asks the strategy, applies the deltas, and goes on.
pub struct Live {
    /// The groups.
    pub world: World,
    /// The strategy.
    pub strategy: Arc<dyn Strategy>,
    /// The state.
    pub state: State,
}

impl fmt::Debug for Live {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Live")
            .field("strategy", &self.strategy.name())
            .field("state", &self.state)
            .finish_non_exhaustive()
    }
}

/// A call under the id `call_1`.
pub fn call(name: &str, arguments: Value) -> Call {
    Call {
        id: "call_1".to_owned(),
        name: name.to_owned(),
        arguments,
    }
}

impl Live {
    /// A session that begins.
    pub fn new(strategy: Arc<dyn Strategy>, world: World) -> Self {
        let state = State::new(strategy.name());
        Self {
            world,
            strategy,
            state,
        }
    }

    /// The next request.
    ///
    /// # Errors
    ///
    /// As [`World::surface`].
    pub fn surface(&mut self) -> Result<Surface, String> {
        let surface = self.world.surface(&*self.strategy, &self.state)?;
        for delta in &surface.deltas {
            self.state.apply(delta);
        }
        Ok(surface)
    }

    /// What a call means; an answer's deltas are applied.
    ///
    /// # Errors
    ///
    /// As [`World::resolve`].
    pub fn call(&mut self, call: &Call) -> Result<Resolution, String> {
        let resolution = self.world.resolve(&*self.strategy, &self.state, call)?;
        if let Resolution::Answer(answer) = &resolution {
            for delta in &answer.deltas {
                self.state.apply(delta);
            }
        }
        Ok(resolution)
    }

    /// The answer of a call that the strategy answers itself.
    ///
    /// # Errors
    ///
    /// As [`World::resolve`], and when the call means something else.
    pub fn answer(&mut self, call: &Call) -> Result<Answer, String> {
        match self.call(call)? {
            Resolution::Answer(answer) => Ok(answer),
            other => Err(format!("`{}` is not answered but {other:?}", call.name)),
        }
    }

    /// Something happens that the strategy may learn from.
    pub fn observe(&mut self, event: &Event) {
        let settled = Settled::new();
        let cx = self.world.cx(&settled);
        self.strategy.observe(&cx, &mut self.state, event);
    }
}

/// The text of an answer.
pub fn text(answer: &Answer) -> String {
    let blocks = answer.content.iter();
    blocks.filter_map(|block| block.as_text()).collect()
}

/// The names under which a request offers tools, in the order of its array: the strategy's own
/// and those of groups alike. The slot says which is which: [`Surface::tools`] holds the
/// [`key`](toolshelf_core::ToolSlot::key) of a tool of a group, and none for an own one.
///
/// ```
/// use toolshelf_core::Surface;
/// assert!(toolshelf_testkit::offered(&Surface::default()).is_empty());
/// ```
pub fn offered(surface: &Surface) -> Vec<&str> {
    surface.tools.iter().map(|slot| &*slot.name).collect()
}

/// A surface as text: each tool as it is sent, and the section for the system prompt. Two
/// requests with the same text have the same prefix, byte for byte.
pub fn written(surface: &Surface) -> String {
    let mut text = String::new();
    for slot in &surface.tools {
        let line = slot.definition.descriptor_as(&slot.name);
        match line {
            Ok(line) => text.push_str(line.as_str()),
            Err(error) => text.push_str(&error.to_string()),
        }
        text.push('\n');
    }
    text.push_str("---\n");
    text.push_str(surface.prompt_section.as_deref().unwrap_or("(no section)"));
    text
}
