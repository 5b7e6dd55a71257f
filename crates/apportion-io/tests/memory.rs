//! Tables built from columns in memory, without files. `cargo test -p apportion-io --no-default-features --test memory`
//! runs this without Arrow; with the feature `files`, the labels are also compared with those of a CSV file.
#![allow(clippy::unwrap_used)]

use apportion::{Match, Reference, Rule, Settings};
use apportion_io::{ClassColumn, MemoryTable, SharedColumn, SharedValues, Table, TableOptions};

const ROWS: usize = 500;
const GROUPS: [&str; 3] = ["x", "y, z", ""];
const CLASSES: [&str; 3] = ["a", "b", "c"];

/// Returns the scores of a row, with few decimals.
fn scores(row: usize) -> [f64; 3] {
    let a = (row * 7 % 50) as f64 / 100.0;
    let b = (row * 13 % 49) as f64 / 100.0;
    [a, b, ((1.0 - a - b) * 100.0).round() / 100.0]
}

fn truth(row: usize) -> &'static str {
    if row.is_multiple_of(11) { "" } else { CLASSES[row % 3] }
}

/// Returns the rows as columns. Groups are a dictionary, and IDs are numbers.
fn columns() -> Vec<(String, SharedColumn)> {
    let ids: Vec<i64> = (0..ROWS).map(|row| 1000 - row as i64).collect();
    let codes: Vec<i32> = (0..ROWS).map(|row| row as i32 % 3).collect();
    let groups = SharedValues::Dictionary(codes.into(), GROUPS.map(String::from).to_vec().into());
    let score = |class: usize| -> SharedColumn { (0..ROWS).map(|row| scores(row)[class]).collect::<Vec<f64>>().into() };
    let truth: Vec<String> = (0..ROWS).map(|row| truth(row).to_owned()).collect();
    vec![
        ("id".into(), ids.into()),
        ("county".into(), groups.into()),
        ("p_a".into(), score(0)),
        ("p_b".into(), score(1)),
        ("p_c".into(), score(2)),
        ("truth".into(), truth.into()),
    ]
}

fn options() -> TableOptions {
    TableOptions {
        id: Some("id".into()),
        by: vec!["county".into()],
        truth: Some(ClassColumn { column: "truth".into(), ..ClassColumn::default() }),
        ..TableOptions::default()
    }
}

fn labels(table: &Table) -> Vec<u8> {
    let matching = Match { by_group: true, ..Match::overall(Reference::Posterior) };
    let labeled = Rule::Match(matching).label(&table.scores().unwrap(), &Settings::default()).unwrap();
    assert!(labeled.joint.unwrap().certificate.is_closed());
    labeled.labels.into_values()
}

fn in_memory(options: &TableOptions) -> Table {
    Table::from_memory("a frame", &MemoryTable::from_columns(columns()).unwrap(), options).unwrap()
}

#[test]
fn a_table_is_built_from_columns_in_memory() {
    let table = in_memory(&options());
    assert_eq!(table.rows(), ROWS);
    assert_eq!(table.group_names().unwrap(), ["", "x", "y, z"]);
    assert_eq!(labels(&table).len(), ROWS);
    // A row-major matrix gives the same labels.
    let matrix: Vec<f64> = (0..ROWS).flat_map(scores).collect();
    let others = columns().into_iter().filter(|(name, _)| !name.starts_with("p_")).collect();
    let names = ["p_a", "p_b", "p_c"].map(String::from).to_vec();
    let matrix = MemoryTable::from_columns(others).unwrap().with_scores(names, matrix.into()).unwrap();
    assert_eq!(labels(&Table::from_memory("a frame", &matrix, &options()).unwrap()), labels(&table));
}

#[test]
fn rows_are_excluded_and_errors_located() {
    let with_truth = in_memory(&TableOptions { only_with_truth: true, ..options() });
    assert_eq!(with_truth.rows(), ROWS - ROWS.div_ceil(11));
    let mut damaged = columns();
    damaged[2].1 = (0..ROWS).map(|row| if row == 7 { 2.0 } else { scores(row)[0] }).collect::<Vec<f64>>().into();
    let table = MemoryTable::from_columns(damaged).unwrap();
    let table = Table::from_memory("a frame", &table, &options()).unwrap();
    let error = table.locate(table.scores().unwrap().check().unwrap_err()).to_string();
    assert!(error.starts_with("a frame: row 8: the scores sum to "), "{error}");
    let mut short = columns();
    short[0].1 = vec![1i64].into();
    assert!(MemoryTable::from_columns(short).is_err());
}

#[cfg(feature = "files")]
#[test]
fn labels_are_those_of_a_file() {
    use apportion_io::{Input, InputOptions};
    let mut text = "id,county,p_a,p_b,p_c,truth\n".to_owned();
    for row in 0..ROWS {
        let [a, b, c] = scores(row);
        text += &format!("{},\"{}\",{a},{b},{c},{}\n", 1000 - row as i64, GROUPS[row % 3], truth(row));
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rows.csv");
    std::fs::write(&path, text).unwrap();
    for only_with_truth in [false, true] {
        let options = TableOptions { only_with_truth, ..options() };
        let input = Input::new(&[path.to_str().unwrap().into()], InputOptions::default()).unwrap();
        let file = Table::read(&input, &options).unwrap();
        assert_eq!(labels(&in_memory(&options)), labels(&file));
        let frame = MemoryTable::from_columns(columns()).unwrap();
        let lent = Input::from_memory("a frame", frame, InputOptions { batch_rows: 7, ..InputOptions::default() });
        assert_eq!(labels(&Table::read(&lent, &options).unwrap()), labels(&file));
        let rows: usize = lent.open(0).unwrap().map(|batch| batch.unwrap().num_rows()).sum();
        assert_eq!(rows, ROWS);
    }
}
