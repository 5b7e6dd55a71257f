//! Decisions as SQL, with arbitrary names of classes, groups and columns.
//!
//! Oracle: a small tokenizer for the quoting of each dialect. Outside of quotes there are only the words, numbers and
//! operators of the expression; every quoted text is a given name; parentheses and CASE are balanced.

use apportion::Decision;
use apportion::sql::{Dialect, SqlOptions};
use serde_json::{Value, json};

use super::files::checked;
use crate::Outcome;
use crate::draw::Draw;

const DIALECTS: [Dialect; 6] =
    [Dialect::DuckDb, Dialect::PostgreSql, Dialect::Sqlite, Dialect::BigQuery, Dialect::Snowflake, Dialect::Spark];

/// Pieces of generated names.
const PIECES: [&str; 26] = [
    "a",
    "B",
    "'",
    "''",
    "\"",
    "`",
    "``",
    "\\",
    "\\'",
    "\n",
    "\r",
    "--",
    "/*",
    "*/",
    ";",
    ")",
    "(",
    " / ",
    "é",
    "\u{2028}",
    "\0",
    "$$",
    "{{",
    "DROP TABLE t",
    "END",
    "%",
];

/// Words that are allowed outside of quotes.
const WORDS: &str = "CASE WHEN THEN ELSE END AND AS ABS GREATEST MAX COALESCE CAST VARCHAR TEXT STRING FLOAT float8 SELECT FROM \
                     t D e OR LIKE REPLACE WITH VALUES LEFT JOIN ON IS NOT NULL SUBSTR ROUND RINT MD5 TO HEX NUMBER bit bigint \
                     BIGINT INT64 CONV DOUBLE FLOAT64 ARRAY STRUCT UNNEST RECURSIVE UNICODE UNION ALL WHERE LENGTH ORDER BY \
                     DESC LIMIT";

/// Words after `apportion_` in names of the statement.
const OWN_NAMES: [&str; 10] =
    ["apportion", "price", "prices", "tie", "group", "rows", "values", "hash", "hashes", "place"];

/// Makes a decision from bytes and writes it in every dialect.
pub(super) fn run(data: &[u8]) -> Outcome {
    let mut draw = Draw::from_bytes(data);
    let classes: Vec<String> = (0..1 + draw.index(5)).map(|class| format!("{}{class}", name(&mut draw))).collect();
    let columns: Vec<String> = classes.iter().map(|_| name(&mut draw)).collect();
    let groups: Vec<String> = (0..draw.index(3)).map(|group| format!("{group}{}", name(&mut draw))).collect();
    let by: Vec<String> = (0..draw.index(3)).map(|_| name(&mut draw)).collect();
    let label = draw.one_in(2).then(|| name(&mut draw));
    let table = draw.one_in(2).then(|| "t".to_owned());
    let (percent, single) = (draw.one_in(2), draw.one_in(2));
    let rule = rule(&mut draw, classes.len(), &groups);
    let id = draw.one_in(2).then(|| name(&mut draw));
    let prices = (table.is_some() && draw.one_in(2)).then(|| name(&mut draw));
    let saved = json!({"version": 2, "classes": classes, "seed": 0, "rule": rule});
    let Some(decision) = checked(serde_json::from_value::<Decision>(saved)) else { return Outcome::Refused };
    // Ambiguous values of several columns are quoted, as in the names of groups.
    let own = ["Uncoded", "label", "", " / ", "% / %", "% /", "\"%", "\"", "\"\""].map(String::from);
    let mut given = [&classes[..], &columns, &groups, &by, &own].concat();
    given.extend([&label, &id, &prices].into_iter().flatten().cloned());
    // Parts of hashes of IDs: prefixes of hexadecimal numbers, and the seed with the class.
    given.extend(["0x", "x", "XXXXXXXXXX", ":"].map(String::from));
    given.extend(
        (0..=classes.len()).flat_map(|class| [class.to_string(), format!(":0:{class}"), format!("0:{class}:")]),
    );
    let mut outcome = Outcome::Refused;
    for dialect in DIALECTS {
        let options = SqlOptions {
            percent,
            single,
            label: label.clone(),
            table: table.clone(),
            id: id.clone(),
            prices: prices.clone(),
            ..SqlOptions::new(dialect, &columns)
        };
        if let Some(sql) = checked(decision.to_sql(&options.with_groups(by.clone()))) {
            check(dialect, &sql, &given);
            outcome = Outcome::Accepted;
        }
    }
    outcome
}

fn name(draw: &mut Draw<'_>) -> String {
    (0..1 + draw.index(4)).map(|_| *draw.pick(&PIECES)).collect()
}

/// Returns a fitted rule in its saved form.
fn rule(draw: &mut Draw<'_>, k: usize, groups: &[String]) -> Value {
    let numbers = |draw: &mut Draw<'_>, length: usize| -> Vec<f64> {
        (0..length).map(|_| *draw.pick(&[0.0, 0.25, -0.5, 0.1, -1e-12, 1e-300, 3.0])).collect()
    };
    match draw.below(5) {
        0 => json!("argmax"),
        1 => json!({"threshold": {"at": numbers(draw, k).iter().map(|bar| bar.abs().min(1.0)).collect::<Vec<_>>()}}),
        2 => {
            let plane = |draw: &mut Draw<'_>| json!({"weights": numbers(draw, k), "intercept": numbers(draw, 1)[0]});
            let planes: Vec<Value> = (0..k).map(|_| plane(draw)).collect();
            json!({"learned": {"learner": "svm", "planes": planes}})
        }
        _ => {
            let names: Vec<Option<&String>> =
                if groups.is_empty() { vec![None] } else { groups.iter().map(Some).collect() };
            let more = draw.index(2);
            let prices: Vec<Value> = names
                .into_iter()
                .map(|group| {
                    let ties: Vec<Vec<f64>> = (0..draw.index(2)).map(|_| numbers(draw, k + more)).collect();
                    match group {
                        Some(group) => json!({"group": group, "prices": numbers(draw, k + more), "ties": ties}),
                        None => json!({"prices": numbers(draw, k + more), "ties": ties}),
                    }
                })
                .collect();
            json!({"prices": prices})
        }
    }
}

/// The quoting rules of a dialect.
struct Quoting {
    name: char,
    /// Whether a backslash in a name escapes the next character.
    name_backslash: bool,
    text_backslash: bool,
}

fn quoting(dialect: Dialect) -> Quoting {
    match dialect {
        Dialect::Sqlite => Quoting { name: '`', name_backslash: false, text_backslash: false },
        Dialect::BigQuery => Quoting { name: '`', name_backslash: true, text_backslash: true },
        Dialect::Spark => Quoting { name: '`', name_backslash: false, text_backslash: true },
        Dialect::Snowflake => Quoting { name: '"', name_backslash: false, text_backslash: true },
        _ => Quoting { name: '"', name_backslash: false, text_backslash: false },
    }
}

fn check(dialect: Dialect, sql: &str, given: &[String]) {
    let Quoting { name, name_backslash, text_backslash } = quoting(dialect);
    let mut rest: &str = sql.trim_end_matches('\n');
    let (mut open, mut cases, mut bare) = (0i64, 0i64, String::new());
    while let Some(line) = rest.strip_prefix("--") {
        // Comments are above the expression, and end with their line in every dialect.
        let end = line.find(['\n', '\r']).unwrap_or(line.len());
        rest = line[end..].trim_start_matches('\n');
    }
    let mut letters = rest.chars().peekable();
    while let Some(letter) = letters.next() {
        if letter == '\'' || letter == name {
            let is_escaped = if letter == '\'' { text_backslash } else { name_backslash };
            let doubled = !(dialect == Dialect::BigQuery);
            let text = quoted(&mut letters, letter, is_escaped, doubled);
            let Some(text) = text else { panic!("{dialect:?}: a quote without an end in {sql}") };
            assert!(given.contains(&text), "{dialect:?}: the quoted text {text:?} was not given, in {sql}");
            bare.push(' ');
            continue;
        }
        open += i64::from(letter == '(') - i64::from(letter == ')');
        assert!(open >= 0, "{dialect:?}: a parenthesis too many in {sql}");
        bare.push(letter);
    }
    assert_eq!(open, 0, "{dialect:?}: parentheses in {sql}");
    for word in bare.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '.') {
        let is_number = word.starts_with(|letter: char| letter.is_ascii_digit());
        cases += i64::from(word == "CASE") - i64::from(word == "END");
        let word = word.trim_end_matches('.'); // a table before a column
        let is_known = || WORDS.split(' ').chain(OWN_NAMES).any(|own| own == word);
        assert!(word.is_empty() || is_number || is_known(), "{dialect:?}: {word:?} outside of quotes in {sql}");
    }
    assert_eq!(cases, 0, "{dialect:?}: CASE without END in {sql}");
    let symbols = bare.chars().filter(|letter| !letter.is_ascii_alphanumeric());
    let odd: String = symbols.filter(|letter| !" \n.,()[]<>=+-*/%|:;_".contains(*letter)).collect();
    assert!(odd.is_empty(), "{dialect:?}: {odd:?} outside of quotes in {sql}");
    assert!(!bare.contains("--") && !bare.contains("/*"), "{dialect:?}: a comment inside of {sql}");
    assert!(!bare.trim_end().trim_end_matches(';').contains(';'), "{dialect:?}: two statements in {sql}");
}

/// Returns the text between quotes as the database reads it, or `None` if they do not end.
fn quoted(
    letters: &mut std::iter::Peekable<std::str::Chars<'_>>,
    end: char,
    backslash: bool,
    doubled: bool,
) -> Option<String> {
    let mut text = String::new();
    loop {
        match letters.next()? {
            '\\' if backslash => text.push(match letters.next()? {
                'n' => '\n',
                'r' => '\r',
                other => other,
            }),
            letter if letter == end && doubled && letters.peek() == Some(&end) => {
                letters.next();
                text.push(end);
            }
            letter if letter == end => return Some(text),
            letter => text.push(letter),
        }
    }
}
