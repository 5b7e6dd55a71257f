//! Formats settings and messages for R.

use apportion::text::{Message, Setting};
use apportion_app::reference::SHARES_IN_MEMORY;
use apportion_app::text::shown;

/// Returns the argument of a setting.
pub(crate) fn argument(setting: Setting) -> &'static str {
    match setting {
        Setting::Scores => "columns",
        Setting::Force => "overwrite",
        Setting::LabelName => "name",
        other => other.id(),
    }
}

/// Returns a setting in R syntax, with a value if there is one: `by`, `overwrite = TRUE`, `within = "NC"`.
pub(crate) fn r_name(setting: Setting, value: Option<&str>) -> String {
    let name = argument(setting);
    let code = match (setting, value) {
        (Setting::Force | Setting::Normalize | Setting::SkipMissing, None) => format!("{name} = TRUE"),
        (Setting::Json, _) => "as.data.frame()".to_owned(),
        (_, None | Some(SHARES_IN_MEMORY)) => name.to_owned(),
        (Setting::TruthMap | Setting::LabelMap, Some("VALUE=CLASS")) => format!("{name} = c(value = \"class\")"),
        (Setting::Crosswalk, Some("OLD=NEW" | "OLD=NEW,…")) => format!("{name} = c(old = \"new\")"),
        (_, Some("COL" | "FILE" | "DIR" | "VALUE")) => name.to_owned(),
        (Setting::TruthMap | Setting::LabelMap | Setting::Crosswalk | Setting::AtLeast, Some(pairs))
            if pairs.contains('=') =>
        {
            let pair = |pair: &str| match pair.split_once('=') {
                Some((old, new)) => format!("{} = {}", symbol(old), literal(new)),
                None => literal(pair),
            };
            format!("{name} = c({})", joined(pairs, pair))
        }
        (Setting::Classes | Setting::Scores, Some(names)) => format!("{name} = c({})", joined(names, quoted)),
        (_, Some(value)) => format!("{name} = {}", literal(value)),
    };
    format!("`{code}`")
}

/// Formats each part of a list.
fn joined(list: &str, part: impl Fn(&str) -> String) -> String {
    list.split(',').map(part).collect::<Vec<_>>().join(", ")
}

/// Returns a number as it is, and other text as an R string.
fn literal(text: &str) -> String {
    if text.parse::<f64>().is_ok() { text.to_owned() } else { quoted(text) }
}

/// Returns text as an R string.
fn quoted(text: &str) -> String {
    format!("{text:?}")
}

/// Returns a name, in quotes if it is not a valid R name.
fn symbol(text: &str) -> String {
    let is_plain = text.starts_with(|first: char| first.is_ascii_alphabetic())
        && text.chars().all(|own| own.is_ascii_alphanumeric() || own == '_' || own == '.');
    if is_plain { text.to_owned() } else { quoted(text) }
}

/// Returns a message with its settings as arguments, and the command that it may name as a function. Control characters are
/// escaped.
pub(crate) fn render(message: &Message) -> String {
    shown(&message.render(r_name)).replace("`predict`", "`ap_predict()`")
}
