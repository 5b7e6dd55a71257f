//! `verify` accepts the program's output in every format and for every rule, and otherwise reports the first error;
//! `provenance` shows how an output was made.
#![allow(clippy::unwrap_used)] // also in helpers

mod common;

use std::fs;
use std::path::Path;

use common::{apportion, json, misused, refused, run, text};
use tempfile::TempDir;

fn voters() -> TempDir {
    let folder = TempDir::new().unwrap();
    run(folder.path(), &["simulate", "voters", "--rows", "600", "--seed", "5", "-o", "voters.csv", "-q"]);
    folder
}

fn words(line: &str) -> Vec<&str> {
    line.split(' ').filter(|word| !word.is_empty()).collect()
}

/// Labels voters and verifies the output. Returns the checks.
fn labeled_and_verified(folder: &Path, input: &str, output: &str, options: &str) -> String {
    let _ = fs::remove_file(folder.join(output));
    run(folder, &words(&format!("label {input} -o {output} -q {options}")));
    verified(folder, output, input, "")
}

fn verified(folder: &Path, output: &str, input: &str, options: &str) -> String {
    let found = apportion(folder, &words(&format!("verify {output} --against {input} -q {options}")));
    let said = format!("{}{}", text(&found.stdout), text(&found.stderr));
    assert!(found.status.success(), "{output} {options}: {said}");
    said
}

/// Changes cells in one row of a CSV file, counted from 1; `change` gets the column name and the value.
fn change(folder: &Path, from: &str, to: &str, row: usize, change: impl Fn(&str, &str) -> Option<String>) {
    let mut reader = csv::Reader::from_path(folder.join(from)).unwrap();
    let header = reader.headers().unwrap().clone();
    let mut writer = csv::Writer::from_path(folder.join(to)).unwrap();
    writer.write_record(&header).unwrap();
    for (place, record) in reader.records().enumerate() {
        let record = record.unwrap();
        let cell = |(name, cell): (&str, &str)| match place + 1 == row {
            true => change(name, cell).unwrap_or_else(|| cell.to_owned()),
            false => cell.to_owned(),
        };
        writer.write_record(header.iter().zip(&record).map(cell).collect::<Vec<_>>()).unwrap();
    }
    writer.flush().unwrap();
}

/// Changes the lines of a file; rows are counted from 1.
fn change_lines(folder: &Path, from: &str, to: &str, change: impl Fn(&mut Vec<String>)) {
    let mut lines: Vec<String> = fs::read_to_string(folder.join(from)).unwrap().lines().map(String::from).collect();
    change(&mut lines);
    fs::write(folder.join(to), lines.join("\n") + "\n").unwrap();
}

#[test]
fn every_rule_and_option_is_verified() {
    let folder = voters();
    let path = folder.path();
    fs::write(
        path.join("shares.csv"),
        "class,share\nwhite,0.6\nblack,0.2\nhispanic,0.1\nasian,0.05\naian,0.02\nother,0.03\n",
    )
    .unwrap();
    for options in [
        "",
        "--id id",
        "--by county",
        "--nested race,county",
        "--nested county",
        "--reference uniform",
        "--reference truth --truth race",
        "--reference shares.csv",
        "--coverage 0.7",
        "--coverage 0.7 --by county",
        "--at-least black=200 --at-most white=40%",
        "--rule balance",
        "--rule balance --gamma 0.5 --penalty l2-squared --by county",
        "--rule balance --gamma 0.8 --penalty kl",
        "--rule balance --gamma 0.8 --penalty l2",
        "--rule balance --gamma 1 --tolerance 0.01",
        "--rule balance --gamma 1",
        "--rule balance --gamma 0",
        "--rule argmax",
        "--rule threshold --at 0.8,black=0.5",
        "--rule thompson --seed 3",
        "--rule thompson --draws 3 --id id",
        "--rule top-k --k 2",
        "--from-sample 100",
        "--from-sample 10000",
        "--rule learned --train-rows 300",
        "--normalize --seed 9",
        "--only-label --id id",
    ] {
        let said = labeled_and_verified(path, "voters.csv", "out.parquet", options);
        assert!(said.contains("verified: 600 rows, each once, in order, with"), "{options}: {said}");
        let joint = !["argmax", "threshold", "thompson", "top-k", "learned"].iter().any(|rule| options.contains(rule));
        let is_argmax = options == "--rule balance --gamma 1";
        assert_eq!(said.contains("the labels are optimal"), joint && !is_argmax, "{options}: {said}");
        if !options.contains("--only-label") {
            assert!(said.contains("with the correct score"), "{options}: {said}");
        }
        let decided = said.contains("every label agrees with the decision");
        assert!(decided, "{options}: {said}");
        assert!(said.contains("the SHA-256 of the scores agrees with the provenance"), "{options}: {said}");
        // The same with provenance in a separate file.
        run(path, &words(&format!("label voters.csv -o side.csv -q {options} --provenance side.json")));
        verified(path, "side.csv", "voters.csv", "--provenance side.json");
        fs::remove_file(path.join("side.json")).unwrap();
        fs::remove_file(path.join("side.csv")).unwrap();
    }
}

#[test]
fn formats_are_verified_in_all_combinations() {
    let folder = voters();
    let path = folder.path();
    run(path, &words("label voters.csv -o voters.parquet --as first -q"));
    run(path, &words("label voters.csv -o voters.arrow --as first -q"));
    run(path, &words("label voters.csv -o typed.csv --as first -q"));
    for input in ["typed.csv", "voters.parquet", "voters.arrow"] {
        for output in ["out.csv", "out.tsv.gz", "out.parquet", "out.arrow"] {
            let _ = fs::remove_file(path.join("p.json"));
            let _ = fs::remove_file(path.join(output));
            run(path, &words(&format!("label {input} -o {output} -q --by county --provenance p.json")));
            for against in ["typed.csv", "voters.parquet", "voters.arrow"] {
                let said = verified(path, output, against, "--provenance p.json");
                let same = said.contains("the SHA-256 of the scores agrees with the provenance");
                assert_eq!(same, against == input, "{input} {output} {against}: {said}");
                assert_eq!(said.contains("note: "), !same, "{said}");
            }
        }
    }
}

#[test]
fn rows_that_stand_for_several_people_and_rows_left_out_are_verified() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    let mut table = String::from("id,p_a,p_b,p_c,n\n");
    for row in 0..60 {
        let (a, b) = (f64::from(row % 7) / 10.0, f64::from(row % 4) / 10.0);
        table += &format!("r{row},{a},{b},{},{}\n", 1.0 - a - b, row % 5);
    }
    fs::write(path.join("cells.csv"), &table).unwrap();
    for options in ["--count n", "--count n --rule argmax", "--count n --rule thompson", "--count n --coverage 0.5"] {
        let said = labeled_and_verified(path, "cells.csv", "out.parquet", options);
        assert!(said.contains("in every row, the n_ columns sum to the number of people"), "{options}: {said}");
    }
    run(path, &words("label cells.csv -o cells_out.csv --count n -q"));
    let first = fs::read_to_string(path.join("cells_out.csv")).unwrap();
    assert!(first.starts_with("id,p_a,p_b,p_c,n,n_a,n_b,n_c,n_uncoded"));
    change(path, "cells_out.csv", "bad.csv", 3, |name, _| (name == "n_a").then(|| "7".into()));
    let problem = refused(path, &words("verify bad.csv --against cells.csv --count n --rule match -q"));
    assert!(problem.starts_with("bad.csv: row 3: the n_ columns sum to"), "{problem}");

    let missing = table.replace("r7,0,0.3,0.7,2", "r7,,,,2").replace("r20,0.6,0,0.4,0", "r20,,,,0");
    fs::write(path.join("missing.csv"), missing).unwrap();
    let said = labeled_and_verified(path, "missing.csv", "out.parquet", "--skip-missing");
    assert!(said.contains("2 excluded rows have no label"), "{said}");
    labeled_and_verified(path, "missing.csv", "out.parquet", "--skip-missing --rule thompson");
}

#[test]
fn the_first_difference_is_named() {
    let folder = voters();
    let path = folder.path();
    run(path, &words("label voters.csv -o good.csv --id id -q --provenance p.json"));
    let verify =
        |output: &str| refused(path, &words(&format!("verify {output} --against voters.csv -q --provenance p.json")));
    let alone = |output: &str| refused(path, &words(&format!("verify {output} --against voters.csv -q --rule match")));
    let lines = fs::read_to_string(path.join("good.csv")).unwrap();
    let header: Vec<&str> = lines.lines().next().unwrap().split(',').collect();
    let place = |name: &str| header.iter().position(|column| *column == name).unwrap();
    let cell = |row: usize, name: &str| lines.lines().nth(row).unwrap().split(',').nth(place(name)).unwrap().to_owned();
    let other = |row: usize| if cell(row, "label") == "white" { "black" } else { "white" };

    // A changed label, without and with its score.
    change(path, "good.csv", "bad.csv", 10, |name, _| (name == "label").then(|| other(10).into()));
    assert!(
        verify("bad.csv").starts_with("bad.csv: row 10, column \"label_score\": the value is"),
        "{}",
        verify("bad.csv")
    );
    change(path, "good.csv", "bad.csv", 10, |name, _| match name {
        "label" => Some(other(10).into()),
        "label_score" => Some(cell(10, &format!("p_{}", other(10)))),
        _ => None,
    });
    assert!(alone("bad.csv").contains("people are"), "{}", alone("bad.csv"));
    assert!(verify("bad.csv").contains("the target is"), "{}", verify("bad.csv"));
    change(path, "good.csv", "bad.csv", 10, |name, _| (name == "label").then(|| "purple".into()));
    assert_eq!(verify("bad.csv"), "bad.csv: row 10, column \"label\": unknown class");

    // Two labels are swapped, with their scores: the counts are correct, but the sum of scores is not optimal.
    let rows = 1..=600;
    let white =
        rows.clone().find(|&row| cell(row, "label") == "white" && cell(row, "p_white").parse::<f64>().unwrap() > 0.8);
    let black =
        rows.clone().find(|&row| cell(row, "label") == "black" && cell(row, "p_black").parse::<f64>().unwrap() > 0.6);
    let (white, black) = (white.unwrap(), black.unwrap());
    change(path, "good.csv", "half.csv", white, |name, _| match name {
        "label" => Some("black".into()),
        "label_score" => Some(cell(white, "p_black")),
        _ => None,
    });
    change(path, "half.csv", "bad.csv", black, |name, _| match name {
        "label" => Some("white".into()),
        "label_score" => Some(cell(black, "p_white")),
        _ => None,
    });
    let problem = alone("bad.csv");
    assert!(problem.starts_with("the labels are not optimal: these changes keep the counts "), "{problem}");

    // Rows that are missing, duplicated, or in another order.
    change_lines(path, "good.csv", "bad.csv", |lines| drop(lines.remove(5)));
    assert_eq!(verify("bad.csv"), "bad.csv: row 5: row 5 of the input is missing here");
    change_lines(path, "good.csv", "bad.csv", |lines| drop(lines.pop()));
    assert_eq!(verify("bad.csv"), "the output ends after 599 rows; row 600 of the input is not in it");
    change_lines(path, "good.csv", "bad.csv", |lines| lines.insert(6, lines[5].clone()));
    assert_eq!(verify("bad.csv"), "bad.csv: row 6: the previous row is repeated");
    change_lines(path, "good.csv", "bad.csv", |lines| lines.push(lines[600].clone()));
    assert_eq!(verify("bad.csv"), "bad.csv: row 601: the input has no such row; it ends after 600 rows");
    change_lines(path, "good.csv", "bad.csv", |lines| lines.swap(7, 90));
    assert!(
        verify("bad.csv").starts_with("bad.csv: row 7: the rows are in a different order, or the ID was changed"),
        "{}",
        verify("bad.csv")
    );

    // A changed cell, and a changed score.
    change(path, "good.csv", "bad.csv", 33, |name, _| (name == "county").then(|| "Elsewhere".into()));
    assert!(
        verify("bad.csv")
            .starts_with("bad.csv: row 33, column \"county\": the value is \"Elsewhere\", but the input has ")
    );
    change(path, "good.csv", "bad.csv", 33, |name, cell| (name == "p_white").then(|| format!("{cell}1")));
    assert!(verify("bad.csv").starts_with("bad.csv: row 33, column \"p_white\": "), "{}", verify("bad.csv"));
    verified(path, "good.csv", "voters.csv", "--provenance p.json");
}

#[test]
fn wrong_prices_and_wrong_provenance_are_found() {
    let folder = voters();
    let path = folder.path();
    run(path, &words("label voters.csv -o good.csv -q --provenance p.json"));
    run(path, &words("fit voters.csv -o decision.json -q"));
    let said = verified(path, "good.csv", "voters.csv", "--decision decision.json --rule match");
    assert!(said.contains("every label is the best one by the fitted rule"), "{said}");
    let read = |name: &str| -> serde_json::Value {
        serde_json::from_str(&fs::read_to_string(path.join(name)).unwrap()).unwrap()
    };
    let write = |name: &str, value: &serde_json::Value| fs::write(path.join(name), value.to_string()).unwrap();

    let mut decision = read("decision.json");
    assert_eq!(decision["provenance"]["job"], "fit");
    let price = decision["rule"]["prices"][0]["prices"][1].as_f64().unwrap();
    decision["rule"]["prices"][0]["prices"][1] = (price + 0.25).into();
    write("wrong.json", &decision);
    let problem = refused(path, &words("verify good.csv --against voters.csv --decision wrong.json --rule match -q"));
    assert!(problem.contains("but at the prices of the decision \"black\" is better"), "{problem}");

    let mut provenance = read("p.json");
    let target = provenance["targets"]["overall"][0].as_u64().unwrap();
    provenance["targets"]["overall"][0] = (target + 1).into();
    write("wrong.json", &provenance);
    let problem = refused(path, &words("verify good.csv --against voters.csv --provenance wrong.json -q"));
    assert!(problem.contains("in the target, but there are"), "{problem}");
    let mut provenance = read("p.json");
    provenance["certificate"]["primal"] = "12".into();
    write("wrong.json", &provenance);
    let problem = refused(path, &words("verify good.csv --against voters.csv --provenance wrong.json -q"));
    assert!(problem.starts_with("the primal and dual values are 12 and "), "{problem}");
}

#[test]
fn what_cannot_be_checked_is_named() {
    let folder = voters();
    let path = folder.path();
    run(path, &words("label voters.csv -o good.csv -q"));
    let said = verified(path, "good.csv", "voters.csv", "");
    assert!(said.contains("not checked: the targets, because the rule is unknown"), "{said}");
    assert!(said.contains("the labels are optimal with these counts"), "{said}");
    let found = json(path, &words("verify good.csv --against voters.csv -q --json --rule match"));
    assert_eq!((&found["verified"], &found["difference"]), (&true.into(), &serde_json::Value::Null));
    assert_eq!(found["certificate"]["primal"], found["certificate"]["dual"]);
    let problem = apportion(path, &words("verify good.csv --against voters.csv -q --json --reference uniform"));
    let found: serde_json::Value = serde_json::from_str(&text(&problem.stdout)).unwrap();
    assert_eq!((problem.status.code(), &found["verified"]), (Some(1), &false.into()));
    assert!(found["difference"].as_str().unwrap().contains("the target is"), "{found}");
}

#[test]
fn provenance_says_where_an_output_comes_from() {
    let folder = voters();
    let path = folder.path();
    let sha = text(&std::process::Command::new("sha256sum").arg(path.join("voters.csv")).output().unwrap().stdout);
    let sha = sha.split(' ').next().unwrap();
    for output in ["out.parquet", "out.arrow"] {
        run(path, &words(&format!("label voters.csv -o {output} --by county -q")));
        let own = json(path, &["provenance", output, "--json"]);
        assert_eq!((&own["provenance"], &own["job"], &own["rows"]), (&2.into(), &"label".into(), &600.into()));
        assert_eq!(own["command"], format!("apportion label voters.csv -o {output} --by county -q"));
        assert_eq!((own["inputs"][0]["sha256"].as_str(), &own["inputs"][0]["rows"]), (Some(sha), &600.into()));
        assert_eq!((&own["options"]["rule"], &own["options"]["by"][0]), (&"match".into(), &"county".into()));
        assert_eq!(own["certificate"]["primal"], own["certificate"]["dual"]);
        assert!(own["decision"]["rule"]["prices"].as_array().unwrap().len() > 3);
        assert!(run(path, &["provenance", output]).contains("proved optimal"));
        // An output made from this output names it as an input.
        run(path, &words(&format!("label {output} -o again-{output} --as again -q")));
        assert_eq!(json(path, &["provenance", &format!("again-{output}"), "--json"])["inputs"][0]["name"], output);
        run(path, &words(&format!("label voters.csv -o none-{output} --no-provenance -q")));
        assert!(refused(path, &["provenance", &format!("none-{output}")]).contains("it contains no provenance"));
    }
    run(path, &words("fit out.parquet -o decision.json -q"));
    assert_eq!(json(path, &["provenance", "decision.json", "--json"])["job"], "fit");
    run(path, &words("apply voters.csv --decision decision.json -o applied.parquet -q"));
    let own = json(path, &["provenance", "applied.parquet", "--json"]);
    assert_eq!((&own["inputs"][1]["role"], &own["inputs"][1]["name"]), (&"decision".into(), &"decision.json".into()));
    verified(path, "applied.parquet", "voters.csv", "");
    run(path, &words("predict voters.csv -o scores.parquet --prefix bisg_ --county county_fips -q"));
    let own = json(path, &["provenance", "scores.parquet", "--json"]);
    assert!(own["tables"][0].as_str().unwrap().starts_with("surnames-2020"), "{own}");
    // Provenance never overwrites an input.
    fs::hard_link(path.join("voters.csv"), path.join("voters.json")).unwrap();
    let problem = refused(path, &words("label voters.csv -o new.csv --provenance voters.json --force -q"));
    assert!(problem.contains("inputs are never overwritten"), "{problem}");
    let problem = misused(path, &words("fit voters.csv -o new.json --provenance ./new.json -q"));
    assert!(problem.contains("name the same file"), "{problem}");
    assert!(
        refused(path, &words("label voters.csv -o new.csv --provenance decision.json -q")).contains("already exists")
    );
}

#[test]
fn a_reference_that_has_changed_is_named() {
    let folder = voters();
    let path = folder.path();
    let shares = "class,share\nwhite,0.6\nblack,0.2\nhispanic,0.1\nasian,0.05\naian,0.03\nother,0.02\n";
    fs::write(path.join("shares.csv"), shares).unwrap();
    labeled_and_verified(path, "voters.csv", "out.parquet", "--reference shares.csv");
    fs::write(path.join("shares.csv"), shares.replace("0.6", "0.5").replace("0.2", "0.3")).unwrap();
    let found = refused(path, &words("verify out.parquet --against voters.csv -q"));
    assert!(found.starts_with("shares.csv: the reference has changed since the labels were made"), "{found}");
}

#[test]
fn one_of_several_files_is_not_enough() {
    let folder = voters();
    let path = folder.path();
    fs::create_dir(path.join("data")).unwrap();
    for (name, rows) in [("a", "300"), ("b", "200")] {
        run(path, &["simulate", "voters", "--rows", rows, "-o", &format!("data/{name}.parquet"), "-q"]);
    }
    run(path, &words("label data -o out/ -q"));
    verified(path, "out", "data", "");
    let found = refused(path, &words("verify out/a.parquet --against data/a.parquet -q"));
    let expected = "2 files were labeled together, but only 1 of them is named";
    assert!(found.starts_with(expected), "{found}");
}

/// Settings for reading the input are recorded, so that they need not be repeated.
#[test]
fn the_sheet_the_delimiter_and_the_encoding_are_recorded() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    // Both files would be read differently without the options.
    fs::write(path.join("bars.csv"), "id;name|p_a|p_b\n1;x|0.9|0.1\n2;y|0.3|0.7\n").unwrap();
    fs::write(path.join("old.csv"), b"id,name,p_a,p_b\n1,Ren\xe9e,0.9,0.1\n2,caf\xc3\xa9,0.3,0.7\n").unwrap();
    for (input, options) in [("bars.csv", "--delimiter |"), ("old.csv", "--encoding windows-1252")] {
        let said = labeled_and_verified(path, input, "out.parquet", options);
        assert!(said.contains("the SHA-256 of the scores agrees with the provenance"), "{said}");
        verified(path, "out.parquet", input, options);
        let recorded = json(path, &["provenance", "out.parquet", "--json"]);
        let (option, value) = options.trim_start_matches('-').split_once(' ').unwrap();
        assert_eq!(recorded["options"][option], value);
    }
    let book = concat!(env!("CARGO_MANIFEST_DIR"), "/../apportion-io/tests/people.xlsx");
    fs::copy(book, path.join("people.xlsx")).unwrap();
    labeled_and_verified(path, "people.xlsx", "out.parquet", "--sheet Scores");
    assert_eq!(json(path, &["provenance", "out.parquet", "--json"])["options"]["sheet"], "Scores");
}

/// A CSV file does not say how it was labeled, and `apply` has no targets.
#[test]
fn what_is_unknown_is_said() {
    let folder = voters();
    let path = folder.path();
    let said = labeled_and_verified(path, "voters.csv", "out.csv", "");
    let first = said.lines().next().unwrap();
    assert_eq!(
        first,
        "options: out.csv does not say how it was labeled; assumed: the labels are in column \"label\", row numbers \
         identify the rows, all rows were labeled together, the rule is unknown"
    );
    let given = verified(path, "out.csv", "voters.csv", "--rule match --id id");
    let first = given.lines().next().unwrap();
    assert!(first.starts_with("options: out.csv does not say how it was labeled; assumed: "), "{first}");
    assert!(first.contains("column \"id\" identifies the rows") && first.contains("; rule match"), "{first}");
    assert!(first.ends_with("(from the options given)") && !first.contains("unknown"), "{first}");
    run(path, &words("fit voters.csv -o decision.json -q"));
    run(path, &words("apply voters.csv --decision decision.json -o applied.parquet -q"));
    let said = verified(path, "applied.parquet", "voters.csv", "");
    assert!(said.contains("verified: rows and counts agree with the provenance"), "{said}");
    assert!(!said.contains("targets") && !said.contains("does not say"), "{said}");
    let said = labeled_and_verified(path, "voters.csv", "out.parquet", "");
    assert!(said.contains("verified: rows, counts, targets and certificate agree with the provenance"), "{said}");
}
