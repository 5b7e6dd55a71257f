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
        // A shell would expand or split these.
        Some(value) if value.contains(['*', ';', '|']) => format!("{name} '{value}'"),
        Some(value) => format!("{name} {value}"),
        None => name,
    }
}

/// Returns the sentence of an error: its contexts, the outermost first, then the cause.
pub(crate) fn sentence(error: &anyhow::Error) -> String {
    error.chain().map(sentence_of).collect::<Vec<_>>().join(": ")
}

/// Returns the sentence of an error without its causes.
fn sentence_of(error: &(dyn std::error::Error + 'static)) -> String {
    if let Some(error) = error.downcast_ref::<apportion_app::Error>() {
        return render(&error.message());
    }
    match error.downcast_ref::<apportion_io::Error>() {
        Some(error) => render(&error.message()),
        None => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use anyhow::Context;

    use super::*;

    #[test]
    fn errors_name_options_inside_contexts_too() {
        let problem = Message::from("say which with ") + Setting::Scores.with("bisg_*");
        let error: Result<(), _> = Err(apportion_io::Error::file("in.csv".as_ref(), problem));
        let error = error.context("--reference x").unwrap_err();
        assert_eq!(sentence(&error), "--reference x: in.csv: say which with --scores 'bisg_*'");
        let error = anyhow::Error::from(apportion_app::Error::from(apportion::Error::ReferenceByGroup))
            .context("the report failed");
        assert!(sentence(&error).starts_with("the report failed: the reference is given by group"));
        assert!(sentence(&error).ends_with("match by group with --by"));
        assert_eq!(sentence(&anyhow::anyhow!("inner").context("outer")), "outer: inner");
    }
}
