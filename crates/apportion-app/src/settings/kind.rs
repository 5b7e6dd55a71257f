//! Kinds of settings: how a value is read from text, and which values are allowed.

use std::collections::BTreeMap;

use apportion_io::did_you_mean;
use serde_json::{Map, Value, json};

use crate::memory;

/// The type of a setting, and its range.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// Yes or no.
    Flag,
    /// A whole number within a range.
    Whole(u64, u64),
    /// A number within a range.
    Number(f64, f64),
    /// The weight of accuracy: 0, or from 0.001 to 1.
    Gamma,
    /// A number of bytes within a range, such as 512M.
    Size(u64, u64),
    /// One character, or `tab`.
    Character,
    /// Text, such as the name of a column or a file.
    Text,
    /// A report: a file that ends in .html or .md.
    Report,
    /// The reference: one of three names, or a file.
    Reference,
    /// Several texts.
    List,
    /// Several numbers.
    Numbers,
    /// One of several names, each with its help.
    Choice(&'static [(&'static str, &'static str)]),
    /// Values and what they stand for: `W=white`.
    Pairs,
    /// A number or a share of people for each class: `black=2000`, `black=20%`.
    Bounds,
    /// The minimum score of a label, for all classes and for single ones: `0.8`, `black=0.5`.
    Thresholds,
    /// Values that stand for no label, and what to do with such rows: `Uncoded=drop`.
    Uncoded,
}

type Read<T> = Result<T, String>;

impl Kind {
    /// Returns whether a setting of this kind takes several values.
    pub fn is_list(self) -> bool {
        matches!(self, Kind::List | Kind::Numbers | Kind::Pairs | Kind::Bounds | Kind::Thresholds)
    }

    /// Reads the values of a setting from text. A setting that takes one value is given once.
    ///
    /// # Errors
    /// If a value is not of this kind, or out of range.
    pub fn read(self, texts: &[String]) -> Read<Value> {
        let text = texts.last().map_or("", String::as_str);
        let value = match self {
            Kind::Flag => Value::Bool(true),
            Kind::Whole(..) => {
                json!(text.trim().parse::<u64>().map_err(|_| format!("{text:?} is not a whole number"))?)
            }
            Kind::Number(..) | Kind::Gamma => json!(number(text)?),
            Kind::Size(..) => json!(memory::parse(text)?),
            Kind::Character => json!(character(text)?),
            Kind::Text | Kind::Report | Kind::Reference | Kind::Choice(_) => json!(text),
            Kind::List => json!(texts),
            Kind::Numbers => json!(texts.iter().map(|text| number(text)).collect::<Read<Vec<f64>>>()?),
            Kind::Pairs => pairs(texts)?,
            Kind::Bounds => bounds(texts)?,
            Kind::Thresholds => thresholds(texts)?,
            Kind::Uncoded => uncoded(text)?,
        };
        self.check(&value)?;
        Ok(value)
    }

    /// Checks the range of a value.
    ///
    /// # Errors
    /// If it is out of range, or of another type.
    pub fn check(self, value: &Value) -> Read<()> {
        let within = |holds: bool, range: String| if holds { Ok(()) } else { Err(format!("it must be {range}")) };
        let expected = |what: &str| format!("it must be {what}, not {value}");
        match self {
            Kind::Flag => value.as_bool().map(drop).ok_or_else(|| expected("true or false")),
            Kind::Whole(min, max) => {
                let whole = value.as_u64().ok_or_else(|| expected("a whole number"))?;
                let range = if max == u64::MAX { format!("{min} or more") } else { format!("from {min} to {max}") };
                within((min..=max).contains(&whole), range)
            }
            Kind::Number(min, max) => {
                let number = value.as_f64().ok_or_else(|| expected("a number"))?;
                let range =
                    if max == f64::INFINITY { format!("{min} or more") } else { format!("from {min} to {max}") };
                within(number.is_finite() && (min..=max).contains(&number), range)
            }
            Kind::Gamma => {
                let gamma = value.as_f64().ok_or_else(|| expected("a number"))?;
                within(gamma == 0.0 || (0.001..=1.0).contains(&gamma), "0, or from 0.001 to 1".into())
            }
            Kind::Size(min, max) => {
                let bytes = value.as_u64().ok_or_else(|| expected("a number of bytes"))?;
                within((min..=max).contains(&bytes), format!("from {} to {}", size(min), size(max)))
            }
            Kind::Report => {
                let name = value.as_str().unwrap_or_default().to_lowercase();
                let known =
                    [".html", ".htm", ".md"].iter().any(|ending| name.len() > ending.len() && name.ends_with(ending));
                within(known, "a file that ends in .html (a page) or .md (Markdown)".into())
            }
            Kind::Reference => reference(value.as_str().unwrap_or_default()),
            Kind::Choice(choices) => choice(value.as_str().unwrap_or_default(), choices),
            Kind::Character | Kind::Text => value.as_str().map(drop).ok_or_else(|| expected("text")),
            Kind::List | Kind::Numbers => value.as_array().map(drop).ok_or_else(|| expected("a list")),
            Kind::Pairs | Kind::Bounds | Kind::Thresholds | Kind::Uncoded => {
                value.as_object().map(drop).ok_or_else(|| expected("a mapping"))
            }
        }
    }
}

fn number(text: &str) -> Read<f64> {
    text.trim().parse().map_err(|_| format!("{text:?} is not a number"))
}

fn size(bytes: u64) -> String {
    match bytes {
        _ if bytes >= 1 << 30 => format!("{}G", bytes >> 30),
        _ if bytes >= 1 << 20 => format!("{}M", bytes >> 20),
        _ => format!("{}K", bytes >> 10),
    }
}

fn character(text: &str) -> Read<char> {
    let mut letters = text.chars();
    match (text, letters.next(), letters.next()) {
        ("tab" | "\\t", ..) => Ok('\t'),
        (_, Some(letter), None) if letter.is_ascii() => Ok(letter),
        _ => Err("it must be one character, or tab".into()),
    }
}

/// A name that looks like a path is searched for later, as all files are.
fn reference(text: &str) -> Read<()> {
    use crate::reference::REFERENCES;
    let is_path = text == "-" || text.contains(['.', '/', '\\', '*', '?']) || std::path::Path::new(text).exists();
    if is_path || REFERENCES.contains(&text) {
        return Ok(());
    }
    Err(format!(
        "it must be posterior, truth, uniform or a FILE{}; there is no such file",
        did_you_mean(text, REFERENCES)
    ))
}

fn choice(text: &str, choices: &[(&str, &str)]) -> Read<()> {
    if choices.iter().any(|(name, _)| *name == text) {
        return Ok(());
    }
    let names: Vec<&str> = choices.iter().map(|(name, _)| *name).collect();
    let near = did_you_mean(text, names.iter().copied());
    Err(format!("{text:?} is none of {}{near}", names.join(", ")))
}

fn pairs(texts: &[String]) -> Read<Value> {
    let mut pairs = Map::new();
    for text in texts {
        let (value, class) = text.split_once('=').ok_or_else(|| format!("{text:?} is not VALUE=CLASS"))?;
        pairs.insert(value.trim().to_owned(), json!(class.trim()));
    }
    Ok(pairs.into())
}

fn bounds(texts: &[String]) -> Read<Value> {
    let mut bounds = Map::new();
    for text in texts {
        let (class, value) = text.rsplit_once('=').ok_or("it must be CLASS=N or CLASS=P%")?;
        let bound = match value.trim().strip_suffix('%') {
            Some(percent) => percent.trim().parse().ok().map(|percent: f64| json!({ "share": percent / 100.0 })),
            None => value.trim().parse().ok().map(|count: u64| json!({ "count": count })),
        };
        let bound = bound.ok_or_else(|| format!("{value:?} is neither a whole number nor a percentage"))?;
        bounds.insert(class.trim().to_owned(), bound);
    }
    Ok(bounds.into())
}

fn thresholds(texts: &[String]) -> Read<Value> {
    let (mut all, mut by_class) = (None, BTreeMap::new());
    for text in texts {
        let (class, least) = text.rsplit_once('=').map_or((None, text.as_str()), |(class, least)| (Some(class), least));
        let least = number(least).map_err(|problem| format!("{problem}: write 0.8, or 0.8,black=0.5"))?;
        if !(0.0..=1.0).contains(&least) {
            return Err("it must be from 0 to 1: write 0.8, or 0.8,black=0.5".into());
        }
        match class {
            Some(class) => drop(by_class.insert(class.trim().to_owned(), least)),
            None if all.is_some() => {
                return Err("several thresholds for all classes; name the classes of the others: 0.8,black=0.5".into());
            }
            None => all = Some(least),
        }
    }
    Ok(json!({ "all": all, "by_class": by_class }))
}

fn uncoded(text: &str) -> Read<Value> {
    const POLICIES: [&str; 3] = ["argmax", "drop", "keep"];
    let (values, policy) = text.rsplit_once('=').ok_or("it must be VALUE=argmax, VALUE=drop or VALUE=keep")?;
    if !POLICIES.contains(&policy) {
        let near = did_you_mean(policy, POLICIES);
        return Err(format!("{policy:?} is none of argmax, drop and keep{near}"));
    }
    let values: Vec<&str> = values.split(',').map(str::trim).collect();
    Ok(json!({ "values": values, "policy": policy }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(kind: Kind, texts: &[&str]) -> Read<Value> {
        kind.read(&texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn values_are_read_or_refused() {
        let thresholds = read(Kind::Thresholds, &["0.8", "black = 0.5"]).unwrap();
        assert_eq!(thresholds, json!({ "all": 0.8, "by_class": { "black": 0.5 } }));
        assert!(read(Kind::Thresholds, &["black=much"]).unwrap_err().starts_with("\"much\" is not a number"));
        assert!(read(Kind::Thresholds, &["8"]).unwrap_err().starts_with("it must be from 0 to 1"));
        assert!(read(Kind::Thresholds, &["0.8", "0.9"]).unwrap_err().starts_with("several thresholds"));
        assert!(read(Kind::Number(0.0, 1.0), &["NaN"]).is_err() && read(Kind::Number(0.0, 1.0), &["inf"]).is_err());
        assert!(read(Kind::Gamma, &["0"]).is_ok() && read(Kind::Gamma, &["0.001"]).is_ok());
        assert!(read(Kind::Gamma, &["0.0001"]).is_err());
        assert_eq!(read(Kind::Bounds, &["black=20%"]), Ok(json!({ "black": { "share": 0.2 } })));
        assert_eq!(read(Kind::Bounds, &["a=b=7"]), Ok(json!({ "a=b": { "count": 7 } })));
        assert_eq!(read(Kind::Bounds, &["a=b"]), Err("\"b\" is neither a whole number nor a percentage".into()));
        assert_eq!(read(Kind::Uncoded, &["a=b=drop"]), Ok(json!({ "values": ["a=b"], "policy": "drop" })));
        let problem = read(Kind::Uncoded, &["x=kep"]).unwrap_err();
        assert_eq!(problem, "\"kep\" is none of argmax, drop and keep (did you mean \"keep\"?)");
        for (name, is_report) in [("a.html", true), ("a.MD", true), ("a.pdf", false), ("html", false)] {
            assert_eq!(read(Kind::Report, &[name]).is_ok(), is_report, "{name}");
        }
        assert!(read(Kind::Reference, &["shares.csv"]).is_ok() && read(Kind::Reference, &["uniform"]).is_ok());
        assert!(read(Kind::Reference, &["unifrom"]).unwrap_err().contains("did you mean \"uniform\"?"));
        assert_eq!(read(Kind::Character, &["tab"]), Ok(json!('\t')));
        assert_eq!(read(Kind::Size(1 << 10, 1 << 30), &["2G"]), Err("it must be from 1K to 1G".into()));
        assert_eq!(read(Kind::Whole(1, 1000), &["1001"]), Err("it must be from 1 to 1000".into()));
    }
}
