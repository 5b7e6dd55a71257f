//! Numbers in messages, and messages in responses.

use apportion::text::Message;
use serde::Serializer;

/// Returns a whole number with a comma between thousands.
pub fn count(number: u64) -> String {
    let digits = number.to_string();
    let groups: Vec<&str> = digits.as_bytes().rchunks(3).rev().map(|g| std::str::from_utf8(g).unwrap_or("")).collect();
    groups.join(",")
}

/// Returns a number of things, with the singular or the plural.
pub fn counted(number: u64, one: &str, several: &str) -> String {
    format!("{} {}", count(number), if number == 1 { one } else { several })
}

/// Serializes a message as text that names settings by their ids.
pub(crate) fn message_text<S: Serializer>(message: &Message, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(message)
}

/// Serializes a message as text, if there is one.
#[allow(clippy::ref_option)] // serde passes the field
pub(crate) fn optional_message_text<S: Serializer>(
    message: &Option<Message>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    match message {
        Some(message) => serializer.collect_str(message),
        None => serializer.serialize_none(),
    }
}
