//! Messages of the core.

use toolshelf_core::{Message, Role};

use super::sample::Sample;
use super::{Called, Content, Entry, HistoryFormat};

/// Histories of [`Message`]s. Only the model calls, and only tools answer, whatever else
/// a message holds.
#[derive(Debug, Clone, Copy, Default)]
pub struct Neutral;

impl HistoryFormat for Neutral {
    type Message = Message;

    fn entries<'a>(&self, message: &'a Message, tell: &mut dyn FnMut(Entry<'a>)) {
        match message.role {
            Role::Assistant => {
                tell(Entry::Turn);
                for call in &message.calls {
                    tell(Entry::Call {
                        id: Some(&call.id),
                        called: Called::Tool(call.name.as_str().into()),
                    });
                }
            }
            Role::Tool => {
                if let Some(id) = &message.answers {
                    tell(Entry::Answer {
                        id: Some(id),
                        called: None,
                        failed: false,
                        content: Content::Blocks(&message.content),
                    });
                }
            }
            Role::System | Role::User => {}
        }
    }

    fn sample(&self, message: &Message) -> u64 {
        let mut sample = Sample::default();
        sample.number(message.role as u64);
        sample.text(message.answers.as_deref().unwrap_or_default());
        sample.number(message.calls.len() as u64);
        for call in message.calls.iter().take(4) {
            sample.text(&call.id);
            sample.text(&call.name);
        }
        sample.number(message.content.len() as u64);
        for block in message.content.iter().take(8) {
            sample.text(block.as_text().unwrap_or_default());
        }
        sample.finish()
    }
}
