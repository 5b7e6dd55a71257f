//! Names of groups: each has one interpretation, and plain names are unchanged.
#![allow(clippy::unwrap_used)] // also in helper functions

use std::collections::HashMap;

use apportion::Decision;
use apportion::sql::{Dialect, SqlOptions};
use apportion::text::{group_name, quoted};
use serde_json::json;

#[test]
fn plain_values_are_joined_and_ambiguous_ones_quoted() {
    for (values, name) in [
        (&["NC", "Wake"][..], "NC / Wake"),
        (&["a/b", "/"], "a/b / /"),
        (&["", ""], " / "),
        (&["x"], "x"),
        (&["a / b"], "a / b"),
        (&["\"x\""], "\"x\""),
        (&["a / b", "c"], "\"a / b\" / c"),
        (&["a", "b / c"], "a / \"b / c\""),
        (&["a /", "b"], "\"a /\" / b"),
        (&["say \"a / b\"", "c"], "\"say \"\"a / b\"\"\" / c"),
        (&["\"a", "b"], "\"\"\"a\" / b"),
        (&[], ""),
    ] {
        assert_eq!(group_name(values.iter().copied()), name, "{values:?}");
    }
}

/// All pairs of words of up to four relevant characters, and all triples of shorter words.
#[test]
fn no_two_lists_of_values_share_a_name() {
    let mut words = vec![String::new()];
    let mut from = 0;
    for _ in 0..4 {
        let to = words.len();
        for index in from..to {
            words.extend([" ", "/", "\"", "a"].map(|letter| format!("{}{letter}", words[index])));
        }
        from = to;
    }
    let short = &words[..85];
    let pairs = words.iter().flat_map(|a| words.iter().map(move |b| vec![a.as_str(), b.as_str()]));
    unique(pairs);
    let few = &short[..21];
    let triples = few.iter().flat_map(|a| {
        short.iter().flat_map(move |b| few.iter().map(move |c| vec![a.as_str(), b.as_str(), c.as_str()]))
    });
    unique(triples);
}

fn unique<'a>(lists: impl Iterator<Item = Vec<&'a str>>) {
    let mut names: HashMap<String, Vec<&str>> = HashMap::new();
    for list in lists {
        if let Some(other) = names.insert(group_name(list.iter().copied()), list.clone()) {
            panic!("{other:?} and {list:?} have one name");
        }
    }
}

fn sql(groups: &[&str]) -> apportion::Result<String> {
    let prices: Vec<_> = groups.iter().map(|group| json!({"group": group, "prices": [0.0, 0.25]})).collect();
    let decision = json!({"version": 2, "classes": ["a", "b"], "seed": 0, "rule": {"prices": prices}});
    let decision: Decision = serde_json::from_value(decision).unwrap();
    decision.to_sql(&SqlOptions::new(Dialect::DuckDb, ["p_a", "p_b"]).with_groups(["state", "county"]))
}

/// An expression quotes values only if a group's name can be split in several ways.
#[test]
fn sql_quotes_values_where_it_must() {
    for plain in [&["NC / Wake", "SC / York"][..], &["a/b / c"]] {
        assert!(!sql(plain).unwrap().contains("LIKE"), "{plain:?}");
    }
    for ambiguous in [&["NC / Wake", "\"a / b\" / c"][..], &["a / / b"], &["a / \"b / c\""]] {
        let found = sql(ambiguous).unwrap();
        assert!(found.contains("LIKE '% / %'") && found.contains("REPLACE("), "{found}");
    }
    for other in ["a / b / c", "a", "\"a / b\""] {
        let refused = sql(&[other]).unwrap_err().to_string();
        assert!(refused.contains(&quoted(other)) && refused.contains("does not have 2 columns"), "{refused}");
    }
}
