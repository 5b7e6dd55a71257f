//! Messages of jobs, with settings written as options of the command line.

use apportion::text::{Message, Setting};

/// Returns a message with its settings as options: `--by county`.
pub(crate) fn render(message: &Message) -> String {
    message.render(option)
}

/// Returns an option, with a value if there is one.
pub(crate) fn option(setting: Setting, value: Option<&str>) -> String {
    let name = match setting {
        Setting::Output => "-o".to_owned(),
        Setting::LabelName => "--as".to_owned(),
        other => format!("--{}", other.id().replace('_', "-")),
    };
    match value {
        // A shell would expand or divide these.
        Some(value) if value.contains(['*', ';', '|']) => format!("{name} '{value}'"),
        Some(value) => format!("{name} {value}"),
        None => name,
    }
}

/// Returns the sentence of an error: its contexts from the outermost on, and what is wrong.
pub(crate) fn sentence(error: &anyhow::Error) -> String {
    error.chain().map(sentence_of).collect::<Vec<_>>().join(": ")
}

/// Returns the sentence of an error without its causes.
fn sentence_of(error: &(dyn std::error::Error + 'static)) -> String {
    let message = if let Some(error) = error.downcast_ref::<apportion_app::Error>() {
        error.message()
    } else if let Some(error) = error.downcast_ref::<apportion_io::Error>() {
        error.message()
    } else if let Some(error) = error.downcast_ref::<apportion::Error>() {
        apportion_io::core_message(error)
    } else if let Some(error) = error.downcast_ref::<apportion_bisg::Error>() {
        error.message()
    } else if let Some(error) = error.downcast_ref::<apportion_report::GeometryError>() {
        error.message()
    } else {
        error.to_string().into()
    };
    render(&message)
}
