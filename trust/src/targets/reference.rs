//! Reference files and tables of names, places and margins by class.
//!
//! Oracle: an accepted table has keys times classes numbers, all nonnegative, and can be used as names or places;
//! labels with a reference from a file have one label per row and a closed certificate.

use apportion_app::input::Source;
use apportion_app::{Context, label};
use apportion_bisg::{Numbers, Scratch};
use apportion_io::{KeyedFile, KeyedOptions, KeyedTable, Subject, TableKeys};

use super::files::{checked, in_threads};
use crate::Outcome;
use crate::draw::hash;
use crate::mutate::{GZIP, ZSTANDARD};
use crate::scratch;

const SCORES: &[u8] =
    b"id,county,p_white,p_black,p_other\n1,Wake,0.6,0.3,0.1\n2,Wake,0.5,0.25,0.25\n3,Durham,0.1,0.8,0.1\n\
    4,Durham,0.3,0.3,0.4\n5,Durham,0.9,0.05,0.05\n";

/// Reads bytes as a table by class, and as a reference.
pub(super) fn run(data: &[u8]) -> Outcome {
    let name = match data {
        _ if data.starts_with(&GZIP) => "numbers.csv.gz",
        _ if data.starts_with(&ZSTANDARD) => "numbers.csv.zst",
        _ if data.starts_with(b"PAR1") => "numbers.parquet",
        _ => "numbers.csv",
    };
    let choice = hash(data);
    scratch::with_files(&[(name, data), ("scores.csv", SCORES)], |folder| {
        let path = |name: &str| folder.join(name).to_string_lossy().into_owned();
        let (numbers, scores) = (path(name), path("scores.csv"));
        let mut accepted = false;
        for subject in [None, Some(Subject::Surnames), Some(Subject::FirstNames), Some(Subject::Places)] {
            let own = ["klingon".to_owned()];
            let options = KeyedOptions { classes: if choice & 1 == 0 { &own } else { &[] }, ..KeyedOptions::default() };
            let read = in_threads(choice >> 1 & 1 == 0, || KeyedFile::read(&numbers, subject, &options));
            if let Some(file) = checked(read) {
                check_table(&file.table);
                accepted = true;
            }
        }
        let by: &[&str] = if choice >> 2 & 1 == 0 { &["county"] } else { &[] };
        // The whole program is a hundred times slower than the reader.
        if choice >> 4 & 7 == 0 || data.windows(5).any(|word| word == b"share") {
            accepted |= check_reference(&scores, &numbers, &path("out.csv"), by);
        }
        if accepted { Outcome::Accepted } else { Outcome::Refused }
    })
}

fn check_table(table: &KeyedTable) {
    let (rows, k) = (table.rows(), table.classes.len());
    assert!(rows > 0 && k > 1, "{rows} rows and {k} classes");
    assert_eq!(table.values.len(), rows * k, "a number for each key and class");
    let keys = match &table.keys {
        TableKeys::Texts(texts) => texts.len(),
        TableKeys::Codes(_, codes) => codes.len(),
    };
    assert_eq!(keys, rows, "a key for each row");
    if table.numbers == Numbers::Shares {
        let off =
            |row: &&[f64]| row.iter().all(|value| value.is_finite()) && (row.iter().sum::<f64>() - 1.0).abs() > 0.06;
        let is_share = |row: &&[f64]| row.iter().any(|value| *value > 0.0);
        let odd = table.values.chunks_exact(k).filter(is_share).filter(off).count();
        assert_eq!(odd, 0, "shares that do not sum to one");
    }
    (0..rows).for_each(|row| drop(table.key_of(row)));
    assert!(table.people().is_none_or(|people| people.len() == rows));
    let mut renamed = table.clone();
    if checked(renamed.rename(&[(table.classes[0].clone(), table.classes[1].clone())])).is_some() {
        assert_eq!(renamed.classes.len(), k - 1, "two classes became one");
        assert_eq!(renamed.rows(), rows);
    }
    let mut reversed = table.clone();
    let order: Vec<String> = table.classes.iter().rev().cloned().collect();
    assert!(reversed.reorder_classes(&order).is_ok(), "the same classes in another order");
    if matches!(table.keys, TableKeys::Texts(_))
        && let Some(names) = checked(table.clone().into_names())
    {
        let mut room = Scratch::default();
        (0..rows.min(50)).for_each(|row| _ = names.find(&table.key_of(row), &mut room));
    }
    checked(table.clone().into_places());
}

/// Labels with a reference from the file; returns whether it was accepted.
fn check_reference(scores: &str, reference: &str, output: &str, by: &[&str]) -> bool {
    let mut request = label::Request::default();
    request.table.source = Source::files([scores]);
    request.table.by = by.iter().map(|column| (*column).to_owned()).collect();
    request.rule.reference = Some(reference.to_owned());
    request.output.output = output.to_owned();
    let Some(response) = checked(label::run(&request, &Context::default())) else { return false };
    let closed = response.contract.certificate.is_some_and(|certificate| certificate.primal == certificate.dual);
    assert!(closed, "an open certificate");
    let rows = csv::Reader::from_path(output).map(|mut rows| rows.byte_records().count());
    assert!(matches!(rows, Ok(5)), "{rows:?} rows in the output");
    true
}
