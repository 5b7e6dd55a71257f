//! Sentences that name settings. A front end decides how a setting is written when it renders the sentence.

use std::fmt;
use std::ops::Add;

use super::Setting;

/// A sentence in parts: text, and settings with or without a value.
///
/// ```
/// use apportion::text::{Message, Setting};
///
/// let message = Message::from("no truth; name a column with ") + Setting::Truth.with("race");
/// let shown = message.render(|setting, value| format!("--{} {}", setting.id(), value.unwrap_or_default()));
/// assert_eq!(shown, "no truth; name a column with --truth race");
/// assert_eq!(message.to_string(), "no truth; name a column with `truth` race");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Message {
    parts: Vec<Part>,
}

/// A part of a message.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Part {
    /// Text, the same in every front end.
    Text(String),
    /// A setting, with an example of its value if there is one.
    Setting(Setting, Option<String>),
}

impl Setting {
    /// Returns the setting with a value, as part of a message.
    pub fn with(self, value: impl Into<String>) -> Part {
        Part::Setting(self, Some(value.into()))
    }
}

impl Message {
    /// Returns the parts, in order.
    pub fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// Returns the sentence, with every setting written by `name_setting` from its value.
    pub fn render(&self, name_setting: impl Fn(Setting, Option<&str>) -> String) -> String {
        let mut text = String::new();
        for part in &self.parts {
            match part {
                Part::Text(own) => text.push_str(own),
                Part::Setting(setting, value) => text.push_str(&name_setting(*setting, value.as_deref())),
            }
        }
        text
    }
}

/// Writes settings by their ids, for readers who use no front end.
impl fmt::Display for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.render(|setting, value| match value {
            Some(value) => format!("`{}` {value}", setting.id()),
            None => format!("`{}`", setting.id()),
        }))
    }
}

impl From<Setting> for Part {
    fn from(setting: Setting) -> Part {
        Part::Setting(setting, None)
    }
}

impl From<&str> for Part {
    fn from(text: &str) -> Part {
        Part::Text(text.to_owned())
    }
}

impl From<String> for Part {
    fn from(text: String) -> Part {
        Part::Text(text)
    }
}

impl<T: Into<Part>> From<T> for Message {
    fn from(part: T) -> Message {
        Message { parts: vec![part.into()] }
    }
}

impl<T: Into<Part>> Add<T> for Message {
    type Output = Message;

    fn add(mut self, part: T) -> Message {
        self.parts.push(part.into());
        self
    }
}

impl Add<Message> for Message {
    type Output = Message;

    fn add(mut self, other: Message) -> Message {
        self.parts.extend(other.parts);
        self
    }
}
