//! Sessions over the groups of the testkit, and what the tests of this crate ask them.

use std::sync::Arc;

use serde_json::Value;
use toolshelf_core::{Answer, Call, Resolution, State, Strategy};
use toolshelf_search::Lexical;

pub(crate) use toolshelf_testkit::world::{Denied, id, key, tool, tools};
pub(crate) use toolshelf_testkit::{Live, World, call, offered, text};

/// A session that begins.
pub(crate) fn begin<S: Strategy + 'static>(strategy: S, world: World) -> Live {
    Live::new(Arc::new(strategy), world)
}

pub(crate) trait WorldExt {
    /// With the index of this workspace.
    fn searchable(self) -> Self;

    /// The answer of a call that the strategy answers itself.
    fn answer(&mut self, strategy: &dyn Strategy, state: &State, call: &Call) -> Answer;
}

impl WorldExt for World {
    fn searchable(self) -> Self {
        self.indexed(Arc::new(Lexical::default()))
    }

    fn answer(&mut self, strategy: &dyn Strategy, state: &State, call: &Call) -> Answer {
        match self.resolve(strategy, state, call).unwrap() {
            Resolution::Answer(answer) => answer,
            other => panic!("{other:?} is no answer"),
        }
    }
}

pub(crate) trait LiveExt {
    /// The names in the next request.
    fn offered(&mut self) -> Vec<String>;

    /// A call of a tool that the strategy answers itself.
    fn ask(&mut self, name: &str, arguments: Value) -> Answer;

    /// The text that a search answers.
    fn search(&mut self, query: &str) -> String;
}

impl LiveExt for Live {
    fn offered(&mut self) -> Vec<String> {
        let surface = self.surface().unwrap();
        offered(&surface).iter().map(ToString::to_string).collect()
    }

    fn ask(&mut self, name: &str, arguments: Value) -> Answer {
        self.answer(&call(name, arguments)).unwrap()
    }

    fn search(&mut self, query: &str) -> String {
        text(&self.ask("search_tools", serde_json::json!({"query": query})))
    }
}

/// The JSON of an answer to `load_tools`.
pub(crate) fn json_of(answer: &Answer) -> Value {
    serde_json::from_str(&text(answer)).unwrap()
}
