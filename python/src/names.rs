//! Formats settings and messages for Python.

use apportion::text::{Message, Setting};
use apportion_app::reference::SHARES_IN_MEMORY;
use apportion_app::text::shown;

/// Returns the keyword argument of a setting.
pub(crate) fn keyword(setting: Setting) -> &'static str {
    match setting {
        Setting::Scores => "columns",
        Setting::Force => "overwrite",
        Setting::LabelName => "name",
        Setting::Json => ".details",
        other => other.id(),
    }
}

/// Returns a setting in Python syntax, with a value if there is one: `by`, `overwrite=True`, `within='NC'`.
pub(crate) fn python_name(setting: Setting, value: Option<&str>) -> String {
    let name = keyword(setting);
    match (setting, value) {
        (Setting::Force | Setting::Normalize | Setting::SkipMissing, None) => format!("{name}=True"),
        (_, None | Some(SHARES_IN_MEMORY)) => name.to_owned(),
        // A name within a sentence.
        (Setting::Rule | Setting::Model, Some(value)) => format!("{name} {value}"),
        (Setting::TruthMap | Setting::LabelMap, Some("VALUE=CLASS")) => format!("{name}={{value: class}}"),
        (Setting::Crosswalk, Some("OLD=NEW" | "OLD=NEW,…")) => format!("{name}={{old: new}}"),
        (_, Some("COL" | "FILE" | "DIR" | "VALUE")) => format!("{name}=…"),
        (Setting::TruthMap | Setting::LabelMap | Setting::Crosswalk | Setting::AtLeast, Some(pairs))
            if pairs.contains('=') =>
        {
            let pair = |pair: &str| match pair.split_once('=') {
                // A bound is a number of people.
                Some((class, people)) if setting == Setting::AtLeast => format!("{}: {people}", quoted(class)),
                Some((old, new)) => format!("{}: {}", quoted(old), quoted(new)),
                None => quoted(pair),
            };
            format!("{name}={{{}}}", joined(pairs, pair))
        }
        (Setting::Classes | Setting::Scores, Some(names)) => format!("{name}=[{}]", joined(names, quoted)),
        (_, Some(value)) if value.parse::<f64>().is_ok() => format!("{name}={value}"),
        (_, Some(value)) => format!("{name}={}", quoted(value)),
    }
}

/// Formats each part of a list.
fn joined(list: &str, part: impl Fn(&str) -> String) -> String {
    list.split(',').map(part).collect::<Vec<_>>().join(", ")
}

/// Returns text as a Python string literal.
fn quoted(text: &str) -> String {
    if text.contains('\'') { format!("\"{text}\"") } else { format!("'{text}'") }
}

/// Returns a message with its settings as keyword arguments. Control characters, which names from files may contain,
/// are escaped.
pub(crate) fn render(message: &Message) -> String {
    shown(&message.render(python_name))
}

/// Returns the text of a result, with the method that returns all of its rows instead of the setting `json`.
pub(crate) fn render_result(message: &Message, all_rows: &str) -> String {
    shown(&message.render(|setting, value| match setting {
        Setting::Json => all_rows.to_owned(),
        other => python_name(other, value),
    }))
}
