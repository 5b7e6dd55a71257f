//! Values of options, as the command line has them: what is wrong with one is said before anything is read.

use std::path::{Path, PathBuf};

use apportion::audit::UncodedPolicy;
use apportion::rule::Bound;
use apportion_io::did_you_mean;

type Parsed<T> = Result<T, String>;

/// A threshold: for one class, or for all.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct At {
    pub(crate) class: Option<String>,
    pub(crate) least: f64,
}

/// `0.8` or `black=0.5`.
pub(crate) fn at(text: &str) -> Parsed<At> {
    let (class, number) = match text.rsplit_once('=') {
        Some((class, number)) => (Some(class.trim().to_owned()), number),
        None => (None, text),
    };
    let least = share(number).map_err(|problem| format!("{problem}: write 0.8, or 0.8,black=0.5"))?;
    Ok(At { class, least })
}

/// A number from 0 to 1.
pub(crate) fn share(text: &str) -> Parsed<f64> {
    within(text, "from 0 to 1", |number| (0.0..=1.0).contains(&number))
}

/// A weight of accuracy against fidelity.
pub(crate) fn gamma(text: &str) -> Parsed<f64> {
    within(text, "0, or from 0.001 to 1", |number| number == 0.0 || (0.001..=1.0).contains(&number))
}

fn within(text: &str, range: &str, holds: impl Fn(f64) -> bool) -> Parsed<f64> {
    let number: f64 = text.trim().parse().map_err(|_| format!("{text:?} is no number"))?;
    if holds(number) { Ok(number) } else { Err(format!("it must be {range}")) }
}

/// `black=2000` or `black=20%`.
pub(crate) fn bound(text: &str) -> Parsed<(String, Bound)> {
    let (class, value) = text.rsplit_once('=').ok_or("it must be CLASS=N or CLASS=P%")?;
    let bound = match value.trim().strip_suffix('%') {
        Some(percent) => percent.trim().parse().ok().map(|percent: f64| Bound::Share(percent / 100.0)),
        None => value.trim().parse().ok().map(Bound::Count),
    };
    let bound = bound.ok_or_else(|| format!("{value:?} is neither a whole number nor a percentage"))?;
    Ok((class.trim().to_owned(), bound))
}

/// The values that stand for no label, and what to do with such rows: `Uncoded,Unknown=drop`.
pub(crate) fn uncoded(text: &str) -> Parsed<(Vec<String>, UncodedPolicy)> {
    let (value, policy) = text.rsplit_once('=').ok_or("it must be VALUE=argmax, VALUE=drop or VALUE=keep")?;
    let policy = match policy {
        "argmax" => UncodedPolicy::Argmax,
        "drop" => UncodedPolicy::Drop,
        "keep" => UncodedPolicy::Keep,
        other => {
            let near = did_you_mean(other, ["argmax", "drop", "keep"]);
            return Err(format!("{other:?} is none of argmax, drop and keep{near}"));
        }
    };
    Ok((value.split(',').map(|value| value.trim().to_owned()).collect(), policy))
}

/// The references that have a name.
const REFERENCES: [&str; 3] = ["posterior", "truth", "uniform"];

/// posterior, truth, uniform, or a file. What looks like a path is looked for later, as all files are.
pub(crate) fn reference(text: &str) -> Parsed<String> {
    let is_path = text == "-" || text.contains(['.', '/', '\\', '*', '?']) || Path::new(text).exists();
    if is_path || REFERENCES.contains(&text) {
        return Ok(text.to_owned());
    }
    let near = did_you_mean(text, REFERENCES);
    Err(format!("it must be posterior, truth, uniform or a FILE{near}; there is no such file"))
}

/// A report, whose ending says what it is.
pub(crate) fn report(text: &str) -> Parsed<PathBuf> {
    let path = PathBuf::from(text);
    let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default().to_lowercase();
    if ["html", "htm", "md"].contains(&ending.as_str()) {
        return Ok(path);
    }
    Err("its ending says what it is: .html for a page, .md for Markdown".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_read_or_refused() {
        assert_eq!(at("0.8"), Ok(At { class: None, least: 0.8 }));
        assert_eq!(at("black = 0.5"), Ok(At { class: Some("black".into()), least: 0.5 }));
        assert!(at("black=much").unwrap_err().starts_with("\"much\" is no number"));
        assert!(at("8").unwrap_err().starts_with("it must be from 0 to 1"));
        assert!(share("NaN").is_err() && share("inf").is_err());
        assert!(gamma("0").is_ok() && gamma("0.001").is_ok() && gamma("0.0001").is_err());
        assert_eq!(bound("black=20%"), Ok(("black".into(), Bound::Share(0.2))));
        assert_eq!(bound("a=b=7"), Ok(("a=b".into(), Bound::Count(7))));
        assert_eq!(bound("a=b"), Err("\"b\" is neither a whole number nor a percentage".into()));
        assert_eq!(uncoded("a=b=drop"), Ok((vec!["a=b".into()], UncodedPolicy::Drop)));
        assert_eq!(uncoded("x=kep").unwrap_err(), "\"kep\" is none of argmax, drop and keep (did you mean \"keep\"?)");
        assert!(
            report("a.html").is_ok() && report("a.MD").is_ok() && report("a.pdf").is_err() && report("html").is_err()
        );
        assert!(reference("shares.csv").is_ok() && reference("uniform").is_ok() && reference("unifrom").is_err());
    }
}
