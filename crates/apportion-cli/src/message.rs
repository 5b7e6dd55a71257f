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
        Setting::Baseline => "--against".to_owned(),
        other => format!("--{}", other.id().replace('_', "-")),
    };
    match value {
        Some(value) => format!("{name} {value}"),
        None => name,
    }
}

/// Returns the sentence of an error, with what was being done when it came up.
pub(crate) fn sentence(error: &anyhow::Error) -> String {
    let mut parts = Vec::new();
    for cause in error.chain() {
        if let Some(own) = cause.downcast_ref::<apportion_app::Error>() {
            parts.push(render(&own.message()));
            break;
        }
        parts.push(cause.to_string());
    }
    parts.join(": ")
}
