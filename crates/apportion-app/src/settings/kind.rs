//! Kinds of settings: how a value is parsed from text, and which values are allowed.

use std::collections::BTreeMap;

use apportion_io::did_you_mean;
use serde_json::{Map, Number, Value, json};

use crate::class_map::{ClassMap, check_name};
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
    /// The reference: one of five names, or a file.
    Reference,
    /// Several texts.
    List,
    /// Several numbers.
    Numbers,
    /// One of several names, each with its help.
    Choice(&'static [(&'static str, &'static str)]),
    /// Values and the classes they mean: `W=white`.
    Pairs,
    /// The same, optionally with a built-in map: `nc`, `M=aian`.
    ClassMap,
    /// A number or a share of people for each class: `black=2000`, `black=20%`.
    Bounds,
    /// The minimum score of a label, for all classes and for individual ones: `0.8`, `black=0.5`.
    Thresholds,
    /// Values that mean unlabeled, and optionally the policy for such rows: `Uncoded=drop`.
    Uncoded,
}

type Read<T> = Result<T, String>;

impl Kind {
    /// Returns whether a setting of this kind takes several values.
    pub fn is_list(self) -> bool {
        matches!(
            self,
            Kind::List | Kind::Numbers | Kind::Pairs | Kind::ClassMap | Kind::Bounds | Kind::Thresholds | Kind::Uncoded
        )
    }

    /// Parses the values of a setting from text. A setting with one value can be given only once.
    ///
    /// # Errors
    /// If a value is not of this kind, or is out of range.
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
            Kind::ClassMap => json!(ClassMap::from_texts(texts)?),
            Kind::Bounds => bounds(texts)?,
            Kind::Thresholds => thresholds(texts)?,
            Kind::Uncoded => uncoded(texts)?,
        };
        self.check(&value)?;
        Ok(value)
    }

    /// Converts a value of a programming language to the form used in requests: `"512M"` to a number of bytes, a number
    /// to the threshold of all classes, one text to a list. Any other value is unchanged, for [`check`](Self::check) to
    /// accept or refuse.
    ///
    /// # Errors
    /// If text cannot be parsed as a value of this kind.
    pub fn normalize(self, value: Value) -> Read<Value> {
        Ok(match (self, value) {
            (Kind::Whole(..) | Kind::Size(..), Value::Number(number)) => whole(number).into(),
            (Kind::Size(..), Value::String(text)) => json!(memory::parse(&text)?),
            (Kind::Character, Value::String(text)) => json!(character(&text)?),
            (Kind::Text | Kind::Report | Kind::Reference | Kind::Choice(_), value) => text_of(value),
            (Kind::List, Value::Array(values)) => json!(texts_of(values)?),
            (Kind::List, value @ (Value::String(_) | Value::Number(_))) => json!([text_of(value)]),
            (Kind::Numbers, value @ Value::Number(_)) => json!([value]),
            (Kind::Numbers, Value::String(text)) => json!([number(&text)?]),
            (Kind::Pairs, Value::Object(pairs)) => {
                pairs.into_iter().map(|(value, class)| (value, text_of(class))).collect::<Map<_, _>>().into()
            }
            (Kind::Pairs, Value::String(text)) => pairs(&[text])?,
            (Kind::Pairs, Value::Array(values)) => pairs(&texts_of(values)?)?,
            (Kind::ClassMap, Value::Object(pairs)) if !is_class_map(&pairs) => {
                let pairs: Map<_, _> = pairs.into_iter().map(|(value, class)| (value, text_of(class))).collect();
                json!({ "vocabulary": null, "pairs": pairs })
            }
            (Kind::ClassMap, Value::String(text)) => json!(ClassMap::from_texts(text.split(','))?),
            (Kind::ClassMap, Value::Array(values)) => json!(ClassMap::from_texts(texts_of(values)?)?),
            (Kind::Bounds, Value::Object(bounds)) => {
                let bound = |(class, value): (String, Value)| Ok((class, bound_of(value)?));
                bounds.into_iter().map(bound).collect::<Read<Map<_, _>>>()?.into()
            }
            (Kind::Bounds, Value::String(text)) => bounds(&[text])?,
            (Kind::Bounds, Value::Array(values)) => bounds(&texts_of(values)?)?,
            (Kind::Thresholds, Value::Object(classes)) if !classes.contains_key("by_class") => thresholds_of(
                classes.into_iter().map(|(class, least)| (Some(class).filter(|own| !own.is_empty()), least)),
            )?,
            (Kind::Thresholds, value @ Value::Number(_)) => thresholds_of([(None, value)])?,
            (Kind::Thresholds, Value::String(text)) => thresholds(&[text])?,
            (Kind::Thresholds, Value::Array(values)) => thresholds(&texts_of(values)?)?,
            (Kind::Uncoded, Value::String(text)) => uncoded(&text.split(',').map(str::to_owned).collect::<Vec<_>>())?,
            (Kind::Uncoded, Value::Array(values)) => uncoded(&texts_of(values)?)?,
            (_, value) => value,
        })
    }

    /// Checks the range of a value.
    ///
    /// # Errors
    /// If the value is out of range, or has the wrong type.
    pub fn check(self, value: &Value) -> Read<()> {
        let within = |holds: bool, range: String| if holds { Ok(()) } else { Err(format!("it must be {range}")) };
        let expected = |what: &str| format!("it must be {what}, not {value}");
        match self {
            Kind::Flag => value.as_bool().map(drop).ok_or_else(|| expected("true or false")),
            Kind::Whole(min, max) => {
                let range = if max == u64::MAX { format!("{min} or more") } else { format!("from {min} to {max}") };
                if value.as_i64().is_some_and(|whole| whole < 0) {
                    return within(false, range);
                }
                let whole = value.as_u64().ok_or_else(|| expected("a whole number"))?;
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
            Kind::ClassMap => {
                let map = value.as_object().ok_or_else(|| expected("a mapping"))?;
                map.get("vocabulary").and_then(Value::as_str).map_or(Ok(()), check_name)
            }
            Kind::Pairs | Kind::Bounds | Kind::Thresholds | Kind::Uncoded => {
                value.as_object().map(drop).ok_or_else(|| expected("a mapping"))
            }
        }
    }
}

/// Converts a float without a fraction to an integer; other numbers are unchanged.
fn whole(number: Number) -> Number {
    /// The largest number up to which all integers can be represented as floats.
    const MAX: f64 = 9_007_199_254_740_992.0;
    match number.as_f64() {
        Some(own) if number.is_f64() && own.fract() == 0.0 && own.abs() <= MAX => Number::from(own as i64),
        _ => number,
    }
}

/// Converts a number to text; other values are unchanged.
fn text_of(value: Value) -> Value {
    match value {
        Value::Number(number) => number.to_string().into(),
        other => other,
    }
}

fn texts_of(values: Vec<Value>) -> Read<Vec<String>> {
    let text = |value| match text_of(value) {
        Value::String(text) => Ok(text),
        other => Err(format!("it must be a list of texts, not {other}")),
    };
    values.into_iter().map(text).collect()
}

/// Converts a count, a share or text to a bound.
fn bound_of(value: Value) -> Read<Value> {
    Ok(match value {
        Value::Number(number) => match number.as_u64() {
            Some(count) => json!({ "count": count }),
            None if number.is_f64() => json!({ "share": number }),
            None => {
                return Err(format!(
                    "{number} is neither a count nor a share; use a whole number or a share from 0 to 1"
                ));
            }
        },
        Value::String(text) => bound(&text)?,
        other => other,
    })
}

/// Converts numbers, or texts of numbers, for all classes and for individual ones, to thresholds.
fn thresholds_of(given: impl IntoIterator<Item = (Option<String>, Value)>) -> Read<Value> {
    let mut texts = Vec::new();
    for (class, least) in given {
        let Value::String(least) = text_of(least.clone()) else {
            return Err(format!("{least} is not a number: write 0.8, or a number for each class"));
        };
        texts.push((class, least));
    }
    read_thresholds(texts.iter().map(|(class, least)| (class.as_deref(), least.as_str())))
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

/// Checks the name of a reference. Text that looks like a path is accepted, because files are searched for later.
fn reference(text: &str) -> Read<()> {
    use crate::reference::{REFERENCES, SHARES_IN_MEMORY};
    let is_path = text == "-" || text.contains(['.', '/', '\\', '*', '?']) || std::path::Path::new(text).exists();
    if is_path || REFERENCES.contains(&text) || text == SHARES_IN_MEMORY {
        return Ok(());
    }
    Err(format!(
        "it must be posterior, truth, uniform, em, pacc or a file{}; there is no such file",
        did_you_mean(text, REFERENCES)
    ))
}

fn choice(text: &str, choices: &[(&str, &str)]) -> Read<()> {
    if choices.iter().any(|(name, _)| *name == text) {
        return Ok(());
    }
    let names: Vec<&str> = choices.iter().map(|(name, _)| *name).collect();
    let near = did_you_mean(text, names.iter().copied());
    Err(format!("{text:?} is not one of {}{near}", names.join(", ")))
}

fn pairs(texts: &[String]) -> Read<Value> {
    let mut pairs = Map::new();
    for text in texts {
        let (value, class) = text.split_once('=').ok_or_else(|| format!("{text:?} is not VALUE=CLASS"))?;
        pairs.insert(value.trim().to_owned(), json!(class.trim()));
    }
    Ok(pairs.into())
}

/// Returns whether an object is a class map of a request, and not pairs.
fn is_class_map(object: &Map<String, Value>) -> bool {
    object.get("pairs").is_some_and(Value::is_object)
}

fn bounds(texts: &[String]) -> Read<Value> {
    let mut bounds = Map::new();
    for text in texts {
        let (class, value) = text.rsplit_once('=').ok_or("it must be CLASS=N or CLASS=P%")?;
        bounds.insert(class.trim().to_owned(), bound(value)?);
    }
    Ok(bounds.into())
}

fn bound(value: &str) -> Read<Value> {
    let bound = match value.trim().strip_suffix('%') {
        Some(percent) => percent.trim().parse().ok().map(|percent: f64| json!({ "share": percent / 100.0 })),
        None => value.trim().parse().ok().map(|count: u64| json!({ "count": count })),
    };
    bound.ok_or_else(|| format!("{value:?} is neither a whole number nor a percentage"))
}

fn thresholds(texts: &[String]) -> Read<Value> {
    let divided = texts.iter().map(|text| match text.rsplit_once('=') {
        Some((class, least)) => (Some(class), least),
        None => (None, text.as_str()),
    });
    read_thresholds(divided)
}

fn read_thresholds<'a>(given: impl Iterator<Item = (Option<&'a str>, &'a str)>) -> Read<Value> {
    let (mut all, mut by_class) = (None, BTreeMap::new());
    for (class, least) in given {
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

fn uncoded(texts: &[String]) -> Read<Value> {
    const POLICIES: [&str; 3] = ["argmax", "drop", "keep"];
    let (mut values, mut policies) = (Vec::new(), Vec::new());
    for text in texts {
        let (value, policy) =
            text.rsplit_once('=').map_or((text.as_str(), None), |(value, policy)| (value, Some(policy)));
        if let Some(policy) = policy.filter(|policy| !POLICIES.contains(policy)) {
            let near = did_you_mean(policy, POLICIES);
            return Err(format!("{policy:?} is not one of argmax, drop and keep{near}"));
        }
        values.push(value.trim());
        policies.extend(policy);
    }
    policies.dedup();
    match policies[..] {
        [] => Ok(json!({ "values": values, "policy": "keep" })),
        [policy] => Ok(json!({ "values": values, "policy": policy })),
        _ => Err("all values have the same policy; write it once, as A,B=drop".into()),
    }
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
        assert_eq!(read(Kind::Uncoded, &["x", "y=drop"]), Ok(json!({ "values": ["x", "y"], "policy": "drop" })));
        assert_eq!(read(Kind::Uncoded, &["x", "y"]), Ok(json!({ "values": ["x", "y"], "policy": "keep" })));
        assert!(read(Kind::Uncoded, &["x=drop", "y=keep"]).unwrap_err().starts_with("all values have the same policy"));
        let problem = read(Kind::Uncoded, &["x=kep"]).unwrap_err();
        assert_eq!(problem, "\"kep\" is not one of argmax, drop and keep (did you mean \"keep\"?)");
        for (name, is_report) in [("a.html", true), ("a.MD", true), ("a.pdf", false), ("html", false)] {
            assert_eq!(read(Kind::Report, &[name]).is_ok(), is_report, "{name}");
        }
        assert!(read(Kind::Reference, &["shares.csv"]).is_ok() && read(Kind::Reference, &["uniform"]).is_ok());
        assert!(read(Kind::Reference, &["unifrom"]).unwrap_err().contains("did you mean \"uniform\"?"));
        assert_eq!(read(Kind::Character, &["tab"]), Ok(json!('\t')));
        assert_eq!(read(Kind::Size(1 << 10, 1 << 30), &["2G"]), Err("it must be from 1K to 1G".into()));
        assert_eq!(read(Kind::Whole(1, 1000), &["1001"]), Err("it must be from 1 to 1000".into()));
    }

    #[test]
    fn natural_values_become_those_of_requests() {
        let rules = Kind::Choice(&[("match", "")]);
        for (kind, natural, expected) in [
            (Kind::Size(0, u64::MAX), json!("512M"), json!(512 << 20)),
            (Kind::Size(0, u64::MAX), json!(1024), json!(1024)),
            (Kind::Whole(1, 9), json!(3.0), json!(3)),
            (Kind::Whole(1, 9), json!(2.5), json!(2.5)),
            (Kind::Whole(0, 9), json!(-1.0), json!(-1)),
            (Kind::Character, json!("tab"), json!("\t")),
            (Kind::Text, json!(1), json!("1")),
            (rules, json!(3), json!("3")),
            (Kind::List, json!("county"), json!(["county"])),
            (Kind::List, json!(["a", 2]), json!(["a", "2"])),
            (Kind::Numbers, json!(0.5), json!([0.5])),
            (Kind::Pairs, json!({ "W": "white", "1": 2 }), json!({ "W": "white", "1": "2" })),
            (Kind::Pairs, json!("W=white"), json!({ "W": "white" })),
            (Kind::ClassMap, json!({ "W": "white" }), json!({ "vocabulary": null, "pairs": { "W": "white" } })),
            (Kind::ClassMap, json!("nc"), json!({ "vocabulary": "nc", "pairs": {} })),
            (Kind::ClassMap, json!(["nc", "M=aian"]), json!({ "vocabulary": "nc", "pairs": { "M": "aian" } })),
            (Kind::Bounds, json!({ "a": 7, "b": 0.25 }), json!({ "a": { "count": 7 }, "b": { "share": 0.25 } })),
            (Kind::Bounds, json!({ "a": "20%" }), json!({ "a": { "share": 0.2 } })),
            (Kind::Bounds, json!({ "a": { "count": 7 } }), json!({ "a": { "count": 7 } })),
            (Kind::Thresholds, json!(0.7), json!({ "all": 0.7, "by_class": {} })),
            (Kind::Thresholds, json!({ "": 0.8, "b": 0.5 }), json!({ "all": 0.8, "by_class": { "b": 0.5 } })),
            (Kind::Thresholds, json!({ "all": 0.5 }), json!({ "all": null, "by_class": { "all": 0.5 } })),
            (Kind::Uncoded, json!("Uncoded=drop"), json!({ "values": ["Uncoded"], "policy": "drop" })),
            (Kind::Uncoded, json!(["U", "X"]), json!({ "values": ["U", "X"], "policy": "keep" })),
            (Kind::Flag, json!(true), json!(true)),
        ] {
            let once = kind.normalize(natural.clone()).unwrap();
            assert_eq!(once, expected, "{kind:?} {natural}");
            assert_eq!(kind.normalize(once), Ok(expected), "{kind:?} twice");
        }
    }

    #[test]
    fn values_that_are_no_values_are_refused() {
        for (kind, value, problem) in [
            (Kind::Size(0, 9), json!("much"), "it must be a number with K, M, G or T, such as 512M or 2G"),
            (
                Kind::Bounds,
                json!({ "a": -1 }),
                "-1 is neither a count nor a share; use a whole number or a share from 0 to 1",
            ),
            (Kind::Bounds, json!({ "a": "b" }), "\"b\" is neither a whole number nor a percentage"),
            (Kind::Thresholds, json!({ "a": null }), "null is not a number: write 0.8, or a number for each class"),
            (Kind::Thresholds, json!(8), "it must be from 0 to 1: write 0.8, or 0.8,black=0.5"),
            (Kind::List, json!([["a"]]), "it must be a list of texts, not [\"a\"]"),
            (Kind::Uncoded, json!("x="), "\"\" is not one of argmax, drop and keep"),
        ] {
            assert_eq!(kind.normalize(value.clone()), Err(problem.to_owned()), "{kind:?} {value}");
        }
        assert_eq!(Kind::Whole(1, 9).check(&json!(2.5)), Err("it must be a whole number, not 2.5".into()));
        assert_eq!(Kind::Whole(0, u64::MAX).check(&json!(-1)), Err("it must be 0 or more".into()));
    }
}
