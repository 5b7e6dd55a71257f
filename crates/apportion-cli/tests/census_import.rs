//! `apportion tables import`: tables as data.census.gov exports them become tables that `predict` reads.
//!
//! The files are built here in the layout of these exports: a byte order mark, a line of column codes, a line of labels,
//! quoted values, columns of annotations, and a comma at the end of each line.
#![allow(clippy::print_stderr, clippy::unwrap_used)] // also in helpers

mod common;

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use common::{apportion, json, refused, run, text};
use tempfile::TempDir;

const CLASSES: [&str; 6] = ["white", "black", "hispanic", "asian", "aian", "other"];

/// A table of the Census Bureau: code, number of columns, last letter of the columns, and numbers of the columns for
/// Hispanic people and for white people who are not Hispanic.
#[derive(Clone, Copy)]
struct Table {
    code: &'static str,
    cells: usize,
    letter: char,
    hispanic: usize,
    white: usize,
}

const P2: Table = Table { code: "P2", cells: 73, letter: 'N', hispanic: 2, white: 5 };
const P4: Table = Table { code: "P4", ..P2 };
const P11: Table = Table { code: "P11", ..P2 };
const P5: Table = Table { code: "P5", cells: 17, letter: 'N', hispanic: 10, white: 3 };
const B03002: Table = Table { code: "B03002", cells: 21, letter: 'E', hispanic: 12, white: 3 };

impl Table {
    fn column(&self, cell: usize) -> String {
        format!("{}_{cell:03}{}", self.code, self.letter)
    }

    fn label(&self, cell: usize) -> String {
        let start = if self.letter == 'E' { "Estimate!!Total:" } else { " !!Total:" };
        if cell == self.hispanic {
            format!("{start}!!Hispanic or Latino{}", if self.letter == 'E' { ":" } else { "" })
        } else if cell == self.white {
            format!("{start}!!Not Hispanic or Latino:!!White alone")
        } else {
            format!("{start}!!column {cell}")
        }
    }

    /// Returns a file. A row is a code and the values of some columns; other columns are 0.
    fn file(&self, rows: &[(&str, &[(usize, &str)])]) -> String {
        let line = |values: Vec<String>| values.iter().map(|value| format!("\"{value}\",")).collect::<String>() + "\n";
        let cells = || 1..=self.cells;
        let is_estimate = self.letter == 'E';
        let expand = |of: &dyn Fn(usize, &str) -> String| {
            let endings: &[&str] = if is_estimate { &["", "A", "M", "MA"] } else { &["", "A"] };
            cells()
                .flat_map(|cell| endings.iter().map(move |ending| (cell, *ending)))
                .map(|(c, e)| of(c, e))
                .collect::<Vec<_>>()
        };
        let mut header = vec!["GEO_ID".to_owned(), "NAME".to_owned()];
        header.extend(expand(&|cell, ending| match ending {
            "M" | "MA" => format!("{}_{cell:03}{ending}", self.code),
            _ => self.column(cell) + ending,
        }));
        let mut labels = vec!["Geography".to_owned(), "Geographic Area Name".to_owned()];
        labels.extend(expand(&|cell, ending| match ending {
            "" => self.label(cell),
            "M" => self.label(cell).replace("Estimate", "Margin of Error"),
            _ => format!("Annotation of {}", self.label(cell)),
        }));
        let mut text = "\u{feff}".to_owned() + &line(header) + &line(labels);
        for (code, values) in rows {
            let mut row = vec![(*code).to_owned(), format!("Place {code}, somewhere")];
            row.extend(expand(&|cell, ending| match ending {
                "" => values.iter().find(|(own, _)| *own == cell).map_or("0", |(_, value)| *value).to_owned(),
                "M" => "12".into(),
                "MA" => "*****".into(),
                _ => "null".into(),
            }));
            text += &line(row);
        }
        text
    }
}

fn folder(files: &[(&str, String)]) -> TempDir {
    let folder = TempDir::new().unwrap();
    files.iter().for_each(|(name, text)| fs::write(folder.path().join(name), text).unwrap());
    folder
}

/// Returns the rows of a CSV file, by column.
fn rows(text: &str) -> Vec<HashMap<String, String>> {
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let header: Vec<String> = reader.headers().unwrap().iter().map(String::from).collect();
    let row = |record: csv::StringRecord| header.iter().cloned().zip(record.iter().map(String::from)).collect();
    reader.records().map(|record| row(record.unwrap())).collect()
}

fn people(row: &HashMap<String, String>) -> Vec<f64> {
    CLASSES.iter().map(|class| row[&format!("n_{class}")].parse().unwrap()).collect()
}

fn close(found: &[f64], expected: &[f64]) {
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(expected) {
        assert!((found - expected).abs() < 1e-9, "{found} is not {expected}");
    }
}

fn import(folder: &Path, args: &[&str]) -> Vec<HashMap<String, String>> {
    rows(&run(folder, &[&["tables", "import"], args, &["-o", "-", "-q"]].concat()))
}

/// A county whose combinations and Some Other Race are allocated by hand: white 500 + 20, black 200 + 10, AIAN 20 + 2,
/// Asian or Pacific Islander 60 + 10 + 4 + 3 + 1 + 2, two or more races 92 - 42, which is 882 people; 18 of Some Other
/// Race alone are spread over them.
const COUNTY: &[(usize, &str)] = &[
    (1, "1000"),
    (2, "100"),
    (3, "900"),
    (4, "808"),
    (5, "500"),
    (6, "200"),
    (7, "20"),
    (8, "60"),
    (9, "10"),
    (10, "18"),
    (11, "92"),
    (17, "20"),
    (21, "10"),
    (24, "2"),
    (25, "4"),
    (26, "3"),
    (27, "1"),
    (48, "2"),
];

#[test]
fn some_other_race_is_allocated_or_counted_as_other() {
    for table in [P2, P4, P11] {
        let folder = folder(&[("counties.csv", table.file(&[("0500000US37063", COUNTY)]))]);
        let found = import(folder.path(), &["counties.csv"]);
        assert_eq!((found.len(), found[0]["county_fips"].as_str()), (1, "37063"));
        let spread = 900.0 / 882.0;
        let expected = [520.0 * spread, 210.0 * spread, 100.0, 80.0 * spread, 22.0 * spread, 50.0 * spread];
        close(&people(&found[0]), &expected);
        assert!((people(&found[0]).iter().sum::<f64>() - 1000.0).abs() < 1e-9);
        let found = import(folder.path(), &["counties.csv", "--other-race", "other"]);
        assert_eq!(people(&found[0]), [500.0, 200.0, 100.0, 70.0, 20.0, 110.0]);
        assert!(found[0]["source"].starts_with(&format!("{}, 2020 Census", table.code)), "{found:?}");
        assert!(found[0]["source"].ends_with("Some Other Race in other"), "{found:?}");
    }
}

/// Published counts of the tract 06059011718 in P5.
#[test]
fn p5_has_no_combinations() {
    let tract: &[(usize, &str)] = &[
        (1, "3291"),
        (2, "2530"),
        (3, "1862"),
        (4, "42"),
        (5, "1"),
        (6, "471"),
        (7, "4"),
        (8, "7"),
        (9, "143"),
        (10, "761"),
        (11, "159"),
        (13, "13"),
        (14, "13"),
        (16, "188"),
        (17, "388"),
    ];
    let folder = folder(&[("tract.csv", P5.file(&[("1400000US06059011718", tract)]))]);
    let found = import(folder.path(), &["tract.csv"]);
    assert_eq!(found[0]["tract"], "06059011718");
    let spread = 2530.0 / 2523.0;
    close(&people(&found[0]), &[1862.0 * spread, 42.0 * spread, 761.0, 475.0 * spread, spread, 143.0 * spread]);
    let output = apportion(folder.path(), &["tables", "import", "tract.csv", "-o", "tracts.parquet"]);
    let said = text(&output.stderr);
    assert!(said.contains("P5, 2020 Census, Demographic and Housing Characteristics: residents of all ages"), "{said}");
    assert!(said.contains("This table does not list a race together with Some Other Race"), "{said}");
    let checked = json(folder.path(), &["tables", "check", "tracts.parquet", "--json"]);
    assert_eq!(checked["level"], "tract");
    close(&[checked["people"].as_f64().unwrap()], &[3291.0]);
}

#[test]
fn estimates_have_margins_of_error_and_annotations() {
    let one: &[(usize, &str)] =
        &[(1, "100"), (2, "60"), (3, "30"), (4, "10"), (5, "1"), (6, "5"), (7, "2"), (8, "4"), (9, "8"), (12, "40")];
    let without: &[(usize, &str)] = &[(1, "-"), (3, "(X)")];
    let coded: &[(usize, &str)] = &[(1, "-666666666")];
    let rows = [("860Z200US27701", one), ("8600000US27601", without), ("8600000US27602", coded)];
    let folder = folder(&[("zctas.csv", B03002.file(&rows))]);
    let found = import(folder.path(), &["zctas.csv", "--other-race", "other"]);
    assert_eq!((found.len(), found[0]["zcta"].as_str()), (1, "27701"));
    assert_eq!(people(&found[0]), [30.0, 10.0, 40.0, 7.0, 1.0, 12.0]);
    let result = json(folder.path(), &["tables", "import", "zctas.csv", "-o", "out.csv", "--json", "-q"]);
    assert_eq!(
        result["remarks"][0],
        "rows without a published count were left out: 2; larger places are used for them"
    );
    assert_eq!((&result["people"], &result["level"], &result["places"]), (&100.0.into(), &"zcta".into(), &1.into()));
}

#[test]
fn blocks_are_added_up_and_larger_places_are_left_out() {
    let some: &[(usize, &str)] = &[(1, "7"), (2, "3"), (5, "4")];
    let other: &[(usize, &str)] = &[(1, "5"), (5, "1"), (10, "4")];
    let rows = [
        ("0100000US", some),
        ("0400000US37", some),
        ("1000000US370010201001000", some),
        ("1000000US370010201001001", other),
        ("1000000US370010201002000", some),
    ];
    let folder = folder(&[("blocks.csv", P11.file(&rows)), ("states.csv", P11.file(&rows[..2]))]);
    let found = import(folder.path(), &["blocks.csv"]);
    let keys: Vec<&str> = found.iter().map(|row| row["block_group"].as_str()).collect();
    assert_eq!(keys, ["370010201001", "370010201002"]);
    // Some Other Race is spread over the people of the block group, not of the block.
    close(&people(&found[0]), &[9.0, 0.0, 3.0, 0.0, 0.0, 0.0]);
    let result = json(folder.path(), &["tables", "import", "blocks.csv", "-o", "out.csv", "--json", "-q"]);
    assert_eq!(
        result["remarks"],
        serde_json::json!([
            "3 blocks were added up to 2 block groups",
            "rows of places larger than a block group were left out: 2; import them apart if you need them"
        ])
    );
    assert_eq!(import(folder.path(), &["states.csv"])[0]["state_fips"], "37");
}

/// Every level that is written is read again, as what it is.
#[test]
fn imported_tables_are_recognized() {
    let some: &[(usize, &str)] = &[(1, "7"), (2, "3"), (5, "4")];
    for (code, level) in [
        ("1500000US370010201001", "block group"),
        ("1400000US37001020100", "tract"),
        ("0500000US37001", "county"),
        ("860Z200US27701", "zcta"),
        ("0400000US37", "state"),
    ] {
        let folder = folder(&[("in.csv", P11.file(&[(code, some)]))]);
        for out in ["out.csv", "out.parquet"] {
            run(folder.path(), &["tables", "import", "in.csv", "-o", out, "-q"]);
            let checked = json(folder.path(), &["tables", "check", out, "--json"]);
            assert_eq!((&checked["level"], &checked["numbers"]), (&level.into(), &"people".into()), "{code}");
            assert_eq!(checked["classes"], serde_json::json!(CLASSES));
        }
    }
}

/// Adults of North Carolina in 2020: the real counts of 100 counties, in two files of the layout of P4.
#[test]
fn real_counties_are_read_and_used() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/nc_county_race.csv");
    let Ok(published) = fs::read_to_string(path) else {
        eprintln!("skipped: there is no ../shared/data");
        return;
    };
    let published: Vec<_> = rows(&published).into_iter().filter(|row| row["year"] == "2020").collect();
    assert_eq!(published.len(), 100);
    let codes: Vec<String> = published.iter().map(|row| format!("0500000US{}", row["county_fips"])).collect();
    // The source has Asian with Pacific Islander, and Some Other Race with two or more races.
    let cells = [(1, "total"), (2, "hispanic"), (5, "white"), (6, "black"), (7, "aian"), (8, "asian"), (11, "other")];
    let values: Vec<Vec<(usize, &str)>> = published
        .iter()
        .map(|row| cells.iter().map(|(cell, class)| (*cell, row[&format!("vap_{class}")].as_str())).collect())
        .collect();
    let lines: Vec<(&str, &[(usize, &str)])> =
        codes.iter().map(String::as_str).zip(values.iter().map(Vec::as_slice)).collect();
    let folder = folder(&[
        ("a.csv", P4.file(&lines[..60])),
        ("b.csv", P4.file(&lines[60..])),
        ("people.csv", "surname,county_fips\nSMITH,37063\nGARCIA,37183\n".into()),
    ]);
    let found = import(folder.path(), &["a.csv", "b.csv", "--other-race", "other"]);
    for (found, published) in found.iter().zip(&published) {
        assert_eq!(found["county_fips"], published["county_fips"]);
        for class in CLASSES {
            assert_eq!(found[&format!("n_{class}")], published[&format!("vap_{class}")], "{class}");
        }
    }
    let result = json(folder.path(), &["tables", "import", "a.csv", "b.csv", "-o", "nc.parquet", "--json", "-q"]);
    assert_eq!((&result["people"], &result["places"]), (&8_155_099.0.into(), &100.into()));
    let scored = rows(&run(folder.path(), &["predict", "people.csv", "--geography", "nc.parquet", "-o", "-", "-q"]));
    assert!(scored.iter().all(|row| row["place_used"] == "county"), "{scored:?}");
}

#[test]
fn wrong_and_incomplete_files_are_refused_with_the_next_step() {
    let county: &[(usize, &str)] = &[(1, "7"), (2, "3"), (5, "4")];
    let good = P11.file(&[("0500000US37063", county), ("0500000US37183", county)]);
    let line_of = |number: usize| good.lines().take(number).map(|line| line.to_owned() + "\n").collect::<String>();
    let tables = "use P2 or P4 of the 2020 redistricting data (P.L. 94-171), P5 or P11 of the 2020 Demographic and Housing \
                  Characteristics (DHC), or B03002 of the American Community Survey";
    let download =
        "on data.census.gov, choose Download Table Data (ZIP) and use the file whose name ends in -Data.csv, unchanged";
    let again = "the file was changed or is damaged: download it again";
    let sums: &[(usize, &str)] = &[(1, "7"), (2, "3"), (5, "5")];
    let many: &[(usize, &str)] = &[(1, "7"), (2, "3"), (5, "1"), (11, "3"), (17, "4")];
    let one = |values| P11.file(&[("0500000US37063", values)]);
    for (name, file, expected) in [
        ("labels first", good.split_once('\n').unwrap().1.to_owned(), format!("its first line has no column GEO_ID; {download}")),
        (
            "as shown",
            "\"Label (Grouping)\",\"Durham County, North Carolina\"\n\"Total:\",\"7\"\n".to_owned(),
            format!("this is the table as the website shows it, with places as columns; {download}"),
        ),
        (
            "header only",
            line_of(2),
            "it has a header but no rows of places, so it may be cut off; download it again".to_owned(),
        ),
        (
            "missing column",
            good.replace("\"P11_048N\"", "\"P11_048X\""),
            format!("its table P11 has no column P11_048N, so it was cut, or it is another table called P11; {tables}"),
        ),
        (
            "group quarters",
            Table { cells: 10, ..P5 }.file(&[("0500000US37063", &[(1, "7"), (3, "7")])]),
            format!("its table P5 has no column P5_017N, so it was cut, or it is another table called P5; {tables}"),
        ),
        (
            "other table",
            "\"GEO_ID\",\"NAME\",\"P1_001N\",\n\"0500000US37063\",\"Durham\",\"7\",\n".to_owned(),
            format!("table P1 cannot be imported; {tables}"),
        ),
        (
            "other labels",
            good.replace("!!White alone", "!!Urban"),
            format!(
                "row 1, column \"P11_005N\": its label is \" !!Total:!!Not Hispanic or Latino:!!Urba\"… (41 characters), not \"White alone\", so \
                 this is another table called P11; {tables}"
            ),
        ),
        (
            "sum",
            one(sums),
            format!("row 2, column \"P11_001N\": \"0500000US37063\" has 7 people, but its parts sum to 8; {again}"),
        ),
        (
            "combinations",
            one(many),
            format!("row 2, column \"P11_011N\": \"0500000US37063\" has 3 people, but its parts sum to 4; {again}"),
        ),
        (
            "not a number",
            one(&[(1, "seven")]),
            "row 2, column \"P11_001N\": \"seven\" is not a number of people; download the file again".to_owned(),
        ),
        (
            "city",
            P11.file(&[("1600000US3719000", county)]),
            "row 2, column \"GEO_ID\": \"1600000US3719000\" is not the code of a block, block group, tract, county, ZCTA or state, \
             such as 0500000US37063; download one of these levels"
                .to_owned(),
        ),
        (
            "twice",
            P11.file(&[("0500000US37063", county), ("0500000US37063", county)]),
            "row 3, column \"GEO_ID\": this place is also in row 2 of this or another file; keep one of them".to_owned(),
        ),
    ] {
        let folder = folder(&[("in.csv", file)]);
        let said = refused(folder.path(), &["tables", "import", "in.csv", "-o", "out.csv"]);
        assert_eq!(said, format!("in.csv: {expected}"), "{name}");
        assert!(!folder.path().join("out.csv").exists(), "{name}");
    }
}

/// A file that is cut off anywhere in its last row is refused.
#[test]
fn files_that_are_cut_short_are_refused() {
    let county: &[(usize, &str)] = &[(1, "7000"), (2, "3000"), (5, "4000")];
    let good = P5.file(&[("0500000US37063", county), ("0500000US37183", &[(1, "20"), (3, "20")])]);
    let last = good.trim_end().rfind('\n').unwrap() + 1;
    let bad = P5.file(&[("0500000US37063", &[(1, "20"), (3, "20")]), ("0500000US37183", &[(1, "20"), (3, "20")])]);
    for cut in [last + 3, last + 17, last + 60, bad.len() - 20, bad.len() - 3] {
        let folder = folder(&[("in.csv", bad[..cut].to_owned())]);
        let said = refused(folder.path(), &["tables", "import", "in.csv", "-o", "out.csv"]);
        assert!(said.starts_with("in.csv: "), "{cut}: {said}");
    }
}

#[test]
fn tables_are_not_mixed_and_inputs_not_overwritten() {
    let county: &[(usize, &str)] = &[(1, "7"), (2, "3"), (5, "4")];
    let folder = folder(&[
        ("a.csv", P11.file(&[("0500000US37063", county)])),
        ("b.csv", P4.file(&[("0500000US37183", county)])),
    ]);
    assert_eq!(
        refused(folder.path(), &["tables", "import", "a.csv", "b.csv", "-o", "out.csv"]),
        "b.csv: it is table P4, but the files before it are P11; import them apart"
    );
    let said = refused(folder.path(), &["tables", "import", "a.csv", "-o", "a.csv", "--force"]);
    assert!(said.starts_with("a.csv: this is an input, and inputs are never overwritten"), "{said}");
}
