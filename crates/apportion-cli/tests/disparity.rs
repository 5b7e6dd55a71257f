//! `apportion disparity`: its numbers, compared with formulas applied to the file's rows; its error messages; and its
//! section of the report.
#![allow(clippy::unwrap_used, clippy::needless_range_loop)] // also in helpers; classes are numbers here

mod common;

use std::fs;
use std::path::Path;

use apportion::seed;
use common::{json, misused, names_in, refused, run};
use serde_json::Value;
use tempfile::TempDir;

const CLASSES: [&str; 6] = ["white", "black", "hispanic", "asian", "aian", "other"];

/// Creates voters with a turnout that depends on their race, a party and a price; a tenth of the values is missing.
fn voters(rows: usize) -> TempDir {
    let folder = TempDir::new().unwrap();
    let (path, count) = (folder.path(), rows.to_string());
    run(path, &["simulate", "voters", "--rows", &count, "--seed", "5", "-o", "made.csv", "-q"]);
    let table = fs::read_to_string(path.join("made.csv")).unwrap();
    let race = table.lines().next().unwrap().split(',').position(|name| name == "race").unwrap();
    let line = |(row, line): (usize, &str)| {
        let chance = |salt: u64| seed::hash(1, row as u64, salt) as f64 / u64::MAX as f64;
        let rate = if line.split(',').nth(race) == Some("white") { 0.7 } else { 0.4 };
        let missing = |salt: u64, value: String| if chance(salt) < 0.1 { String::new() } else { value };
        match row {
            0 => format!("{},voted,party,price\n", line.replace("party,voted", "simulated_party,simulated_voted")),
            _ => format!(
                "{line},{},{},{}\n",
                missing(1, u8::from(chance(2) < rate).to_string()),
                missing(3, ["D", "R", "I"][(chance(4) * 3.0) as usize].into()),
                missing(5, format!("{:.2}", 100.0 + 900.0 * rate * chance(6))),
            ),
        }
    };
    fs::write(path.join("voters.csv"), table.lines().enumerate().map(line).collect::<String>()).unwrap();
    fs::remove_file(path.join("made.csv")).unwrap();
    folder
}

struct Row {
    race: String,
    scores: Vec<f64>,
    voted: Option<f64>,
    price: Option<f64>,
}

fn rows(folder: &Path) -> Vec<Row> {
    let mut reader = csv::Reader::from_path(folder.join("voters.csv")).unwrap();
    let names = reader.headers().unwrap().clone();
    let place = |name: &str| names.iter().position(|own| own == name).unwrap();
    let row = |record: csv::StringRecord| Row {
        race: record[place("race")].to_owned(),
        scores: CLASSES.iter().map(|class| record[place(&format!("p_{class}"))].parse().unwrap()).collect(),
        voted: record[place("voted")].parse().ok(),
        price: record[place("price")].parse().ok(),
    };
    reader.records().map(|record| row(record.unwrap())).collect()
}

/// Returns the result of an estimator for a class.
fn figure<'a>(result: &'a Value, estimator: &str, class: usize) -> &'a Value {
    let all = result["estimators"].as_array().unwrap();
    let own = all.iter().find(|own| own["name"] == estimator).unwrap_or_else(|| panic!("{estimator}"));
    &own["values"][0]["classes"][class]
}

fn near(found: &Value, expected: f64) {
    let found = found.as_f64().unwrap();
    assert!((found - expected).abs() < 1e-9 * expected.abs().max(1.0), "{found} and not {expected}");
}

#[test]
fn the_numbers_are_those_of_the_formulas() {
    let folder = voters(4000);
    let rows = rows(folder.path());
    for outcome in ["voted", "price"] {
        let line = ["disparity", "voters.csv", "--outcome", outcome, "--truth", "race", "--small-cells", "show"];
        let result = json(folder.path(), &[&line[..], &["--json", "-q"]].concat());
        let value = |row: &Row| if outcome == "voted" { row.voted } else { row.price };
        let known: Vec<(&Row, f64)> = rows.iter().filter_map(|row| Some((row, value(row)?))).collect();
        assert_eq!(result["rows"].as_u64().unwrap(), known.len() as u64);
        assert_eq!(result["without_outcome"]["rows"].as_u64().unwrap(), (rows.len() - known.len()) as u64);
        assert_eq!(result["against"], "white");
        let mean = |weight: &dyn Fn(&Row) -> f64| {
            let all: f64 = known.iter().map(|(row, _)| weight(row)).sum();
            let mean = known.iter().map(|(row, y)| weight(row) * y).sum::<f64>() / all;
            let squares: f64 = known.iter().map(|(row, y)| (weight(row) / all * (y - mean)).powi(2)).sum();
            (mean, squares.sqrt())
        };
        let is = |own: bool| f64::from(u8::from(own));
        let argmax = |row: &Row| (0..6).rev().max_by(|&a, &b| row.scores[a].total_cmp(&row.scores[b])).unwrap();
        let white = mean(&|row| row.scores[0]).0;
        for class in 0..6 {
            for (estimator, (mean, error)) in [
                ("weighted", mean(&|row| row.scores[class])),
                ("truth", mean(&|row| is(row.race == CLASSES[class]))),
                ("argmax", mean(&|row| is(argmax(row) == class))),
            ] {
                let own = figure(&result, estimator, class);
                // A class may have no labels.
                if !mean.is_finite() {
                    assert_eq!(own["estimate"], Value::Null);
                    continue;
                }
                near(&own["estimate"], mean);
                near(&own["error"], error);
                if estimator == "argmax" && own["bias"].is_object() {
                    let bias = |part: &str| own["bias"][part].as_f64().unwrap();
                    near(&own["bias"]["bias"], bias("from_false_positives") + bias("from_false_negatives"));
                    near(&own["bias"]["bias"], mean - figure(&result, "truth", class)["estimate"].as_f64().unwrap());
                }
            }
            let gap = &figure(&result, "weighted", class)["gap"];
            if class > 0 {
                near(&gap["difference"], mean(&|row| row.scores[class]).0 - white);
            } else {
                assert_eq!(*gap, Value::Null);
            }
        }
        let names: Vec<&str> =
            result["estimators"].as_array().unwrap().iter().map(|own| own["name"].as_str().unwrap()).collect();
        let expected = ["truth", "argmax", "threshold 0.8", "match", "weighted", "imputed", "linear", "BIRDiE"];
        assert_eq!(names, expected);
        assert_eq!(result["estimators"][4]["values"][0]["pairs"].as_array().unwrap().len(), 15);
    }
}

/// Solves a system of linear equations by elimination with pivoting.
fn solve(mut rows: Vec<Vec<f64>>) -> Vec<f64> {
    let size = rows.len();
    for column in 0..size {
        let best = (column..size).max_by(|&a, &b| rows[a][column].abs().total_cmp(&rows[b][column].abs())).unwrap();
        rows.swap(column, best);
        let from = rows[column].clone();
        for row in (0..size).filter(|&row| row != column) {
            let times = rows[row][column] / from[column];
            rows[row].iter_mut().zip(&from).for_each(|(own, other)| *own -= times * other);
        }
    }
    (0..size).map(|row| rows[row][size] / rows[row][row]).collect()
}

#[test]
fn linear_estimates_solve_the_normal_equations() {
    let folder = voters(4000);
    let known: Vec<(Row, f64)> =
        rows(folder.path()).into_iter().filter_map(|row| row.voted.map(|voted| (row, voted))).collect();
    let sum = |of: &dyn Fn(&Row, f64) -> f64| known.iter().map(|(row, voted)| of(row, *voted)).sum::<f64>();
    let equation = |a: usize| {
        let mut row: Vec<f64> = (0..6).map(|b| sum(&|row, _| row.scores[a] * row.scores[b])).collect();
        row.push(sum(&|row, voted| row.scores[a] * voted));
        row
    };
    let expected = solve((0..6).map(equation).collect());
    let line = ["disparity", "voters.csv", "--outcome", "voted", "--small-cells", "show", "-q"];
    let result = json(folder.path(), &[&line[..], &["--json"]].concat());
    for (class, expected) in expected.iter().enumerate() {
        let own = figure(&result, "linear", class);
        // Scores are rounded to a grid of 2^-40.
        assert!((own["estimate"].as_f64().unwrap() - expected).abs() < 1e-7, "{own} and not {expected}");
        let at = |name: &str| own["interval"][name].as_f64().unwrap();
        let half = 1.959_963_984_540_054 * own["error"].as_f64().unwrap();
        assert!((at("high") - expected - half).abs() < 1e-7 && (at("low") - expected + half).abs() < 1e-7, "{own}");
    }
    // Turnout depends on race alone, so linear is near the truth.
    assert!((expected[0] - 0.7).abs() < 0.04 && (expected[1] - 0.4).abs() < 0.08, "{expected:?}");
    let outside: Vec<&str> =
        (0..6).filter(|&class| !(0.0..=1.0).contains(&expected[class])).map(|class| CLASSES[class]).collect();
    let remark = format!("Linear estimates of shares are outside 0 to 100% for {}: ", outside.join(", "));
    assert_eq!(run(folder.path(), &line).contains(&remark), !outside.is_empty(), "{outside:?}");
}

#[test]
fn linear_estimates_that_cannot_be_computed_are_explained() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    let row = |row: usize| {
        let q = (row * 37 % 100) as f64 / 100.0;
        format!("{q},{},{},0,{}\n", (1.0 - q) / 4.0, (1.0 - q) * 0.75, u8::from(row * 53 % 97 < 40))
    };
    let text = format!("p_a,p_b,p_c,p_d,y\n{}", (0..400).map(row).collect::<String>());
    fs::write(path.join("four.csv"), &text).unwrap();
    let line = ["disparity", "four.csv", "--outcome", "y", "-q"];
    let result = json(path, &[&line[..], &["--json"]].concat());
    assert!(figure(&result, "linear", 0)["estimate"].is_number());
    for class in 1..4 {
        let own = figure(&result, "linear", class);
        for name in ["estimate", "error", "interval", "gap"] {
            assert_eq!(own[name], Value::Null, "{name}");
        }
    }
    let text = run(path, &line);
    assert!(text.contains("There are no linear estimates for b, c: their scores are proportional"), "{text}");
    assert!(!text.contains("NaN") && !text.contains("inf"), "{text}");
    // With more than 32 classes, the regression is left out.
    let names: Vec<String> = (0..33).map(|class| format!("p_c{class}")).collect();
    let row = |row: usize| {
        let scores: Vec<String> = (0..33).map(|class| u8::from(class == row % 33).to_string()).collect();
        format!("{},{}\n", scores.join(","), row % 2)
    };
    fs::write(path.join("many.csv"), format!("{},y\n{}", names.join(","), (0..330).map(row).collect::<String>()))
        .unwrap();
    let text = run(path, &["disparity", "many.csv", "--outcome", "y", "-q"]);
    assert!(text.contains("The linear estimator supports up to 32 classes and is left out."), "{text}");
    assert!(!text.contains("\nlinear "), "{text}");
}

#[test]
fn neither_order_nor_batches_nor_threads_can_be_seen() {
    let folder = voters(1500);
    let path = folder.path();
    let text = fs::read_to_string(path.join("voters.csv")).unwrap();
    let (head, rows) = text.split_once('\n').unwrap();
    let turned: Vec<&str> = rows.lines().rev().collect();
    fs::write(path.join("turned.csv"), format!("{head}\n{}\n", turned.join("\n"))).unwrap();
    for more in [
        &["--outcome", "voted", "--cells", "county"][..],
        &["--outcome", "party", "--by", "county", "--pooling", "none"],
        &["--outcome", "party", "--by", "county"],
        &["--outcome", "price"],
    ] {
        let line =
            |file: &'static str| [&["disparity", file, "--id", "id", "--json", "-q", "--seed", "3"][..], more].concat();
        let one = run(path, &line("voters.csv"));
        assert_eq!(run(path, &line("turned.csv")), one);
        let small = [&line("turned.csv")[..], &["--batch-rows", "97", "--threads", "1", "--memory", "64K"]].concat();
        assert_eq!(run(path, &small), one);
    }
}

#[test]
fn outcomes_are_understood() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    let table = "p_a,p_b,n,word,flag,two,amount,other\n\
                 0.9,0.1,2,yes,true,D,3.5,1\n0.2,0.8,1,no,false,R,,0\n0.4,0.6,3,NO,TRUE,D,\"1,5\",1\n0.7,0.3,1,,false,R,2,NA\n";
    fs::write(path.join("t.csv"), table).unwrap();
    let of = |more: &[&str]| {
        let line = [&["disparity", "t.csv", "--small-cells", "show", "--json", "-q"][..], more].concat();
        let result = json(path, &line);
        let all =
            result["estimators"].as_array().unwrap().iter().find(|own| own["name"] == "weighted").unwrap().clone();
        let first = all["values"][0]["classes"][0]["estimate"].as_f64().unwrap();
        (result["values"].clone(), result["people"].as_u64().unwrap(), first)
    };
    let (values, people, rate) = of(&["--outcome", "word"]);
    assert_eq!((values, people), (serde_json::json!(["yes"]), 3));
    assert!((rate - 0.9 / 1.5).abs() < 1e-9);
    assert!((of(&["--outcome", "flag"]).2 - 1.3 / 2.2).abs() < 1e-9);
    assert!((of(&["--outcome", "other"]).2 - 1.3 / 1.5).abs() < 1e-9);
    assert_eq!(of(&["--outcome", "two"]).0, serde_json::json!(["D", "R"]));
    assert_eq!(of(&["--outcome", "two", "--outcome-value", "R"]).0, serde_json::json!(["R"]));
    let (values, _, mean) = of(&["--outcome", "amount"]);
    assert_eq!(values, serde_json::json!([]));
    assert!((mean - (0.9 * 3.5 + 0.4 * 1.5 + 0.7 * 2.0) / 2.0).abs() < 1e-9);
    let (_, people, rate) = of(&["--outcome", "word", "--count", "n"]);
    assert!(people == 6 && (rate - 1.8 / (1.8 + 0.2 + 1.2)).abs() < 1e-9);
}

#[test]
fn birdie_pools_small_groups() {
    let folder = voters(1500);
    let line = |more: &[&'static str]| {
        let line = ["disparity", "voters.csv", "--outcome", "voted", "--json", "-q"];
        json(folder.path(), &[&line[..], more].concat())
    };
    let has = |result: &Value, words: &str| {
        result["remarks"].as_array().unwrap().iter().any(|remark| remark.as_str().unwrap().contains(words))
    };
    let few = "The scores identify few people per group of these classes, on average (the sum of squared scores): ";
    let pooled = line(&["--by", "county"]);
    assert_eq!(pooled["birdie"]["pooling"], "partial");
    assert_eq!(pooled["birdie"]["replicates"], 50);
    assert!(pooled["birdie"]["groups"].as_u64().unwrap() > 50);
    assert!(has(&pooled, few) && has(&pooled, "pools the groups of such classes partially"), "{}", pooled["remarks"]);
    assert!(figure(&pooled, "BIRDiE", 0)["interval"].is_object());
    // The same settings, named.
    assert_eq!(line(&["--by", "county", "--pooling", "partial"]), pooled);
    let own = line(&["--by", "county", "--pooling", "none", "--no-bootstrap"]);
    assert_eq!(own["birdie"]["pooling"], "none");
    assert!(has(&own, few) && has(&own, "use --pooling partial"), "{}", own["remarks"]);
    assert_eq!((&own["birdie"]["replicates"], &figure(&own, "BIRDiE", 0)["interval"]), (&0.into(), &Value::Null));
    assert!(figure(&own, "BIRDiE", 0)["estimate"].is_number());
    // Separate groups are closer to the weighted estimate.
    let of = |result: &Value, name: &str| figure(result, name, 1)["estimate"].as_f64().unwrap();
    let away = |result: &Value| (of(result, "BIRDiE") - of(result, "weighted")).abs();
    assert!(away(&own) < away(&pooled), "{} {}", away(&own), away(&pooled));
    let overall = line(&[]);
    assert_eq!((&overall["birdie"]["pooling"], &overall["birdie"]["groups"]), (&"none".into(), &1.into()));
    assert!(!has(&overall, "few people per group"), "{}", overall["remarks"]);
    // Each class is pooled or not. The scores identify many white voters of each party.
    let large =
        json(folder.path(), &["disparity", "voters.csv", "--outcome", "voted", "--json", "-q", "--by", "party"]);
    let pooled: Vec<&str> =
        large["birdie"]["pooled"].as_array().unwrap().iter().map(|own| own.as_str().unwrap()).collect();
    assert!(!pooled.contains(&"white") && pooled.contains(&"aian"), "{pooled:?}");
    // Columns that would determine the results are refused.
    for (more, said) in [
        (["--by", "voted"], "--by: voted is also the outcome"),
        (["--cells", "voted"], "--cells: voted is also the outcome"),
        (["--covariates", "race"], "--covariates: race is also the true class"),
        (["--prediction", "voted"], "--prediction: voted is also the outcome"),
        (["--weight", "voted"], "--weight: voted is also the outcome"),
    ] {
        let base = ["disparity", "voters.csv", "--outcome", "voted", "--truth", "race"];
        let message = misused(folder.path(), &[&base[..], &more[..]].concat());
        assert!(message.starts_with(said), "{message}");
    }
    let all = ["disparity", "voters.csv", "--outcome", "voted", "--truth", "race", "--only-with-truth"];
    let message = misused(folder.path(), &[&all[..], &["--write-scores", "o.csv"]].concat());
    assert!(message.starts_with("--write-scores writes all rows"), "{message}");
    let message = misused(folder.path(), &["compare", "voters.csv", "--pooling", "partial"]);
    assert!(message.starts_with("--pooling needs --outcome"), "{message}");
}

#[test]
fn ratios_divide_by_the_highest_rate_or_the_baseline() {
    let folder = voters(3000);
    let path = folder.path();
    let line = ["disparity", "voters.csv", "--outcome", "voted", "--favorable", "1", "--truth", "race", "-q"];
    let result = json(path, &[&line[..], &["--json"]].concat());
    for estimator in ["truth", "argmax", "weighted", "BIRDiE"] {
        let of = |class: usize, name: &str| figure(&result, estimator, class)[name].as_f64();
        // White people have the highest rate, and are divided by.
        assert_eq!(figure(&result, estimator, 0)["ratio"], Value::Null, "{estimator}");
        let own = &figure(&result, estimator, 1)["ratio"];
        let (rate, best) = (of(1, "estimate").unwrap(), of(0, "estimate").unwrap());
        assert_eq!(own["baseline"], "white", "{estimator}");
        near(&own["ratio"], rate / best);
        assert_eq!(own["below_four_fifths"], rate / best < 0.8);
        // The delta method, with the covariance from the error of the gap.
        let (a, b) = (of(1, "error").unwrap(), of(0, "error").unwrap());
        let gap = figure(&result, estimator, 1)["gap"]["error"].as_f64().unwrap();
        let variance = (a / rate).powi(2) + (b / best).powi(2) - (a * a + b * b - gap * gap) / (rate * best);
        near(&own["interval"]["low"], (rate / best).ln().exp() * (-1.959_963_984_540_054 * variance.sqrt()).exp());
    }
    let text = run(path, &line);
    assert!(text.contains("\nratio of rates ") && text.contains("The four-fifths line is 0.8"), "{text}");
    let other = json(path, &[&line[..], &["--json", "--baseline", "black"]].concat());
    let (rate, black) = (figure(&other, "weighted", 0), figure(&other, "weighted", 1));
    near(&rate["ratio"]["ratio"], rate["estimate"].as_f64().unwrap() / black["estimate"].as_f64().unwrap());
    assert_eq!(black["ratio"], Value::Null);
    let misuse = |line: &str| misused(path, &line.split(' ').collect::<Vec<_>>());
    assert!(
        misuse("disparity voters.csv --outcome voted --baseline white").starts_with("--baseline needs --favorable")
    );
    let both = misuse("disparity voters.csv --outcome party --favorable D --outcome-value R");
    assert_eq!(both, "--favorable and --outcome-value name different values; leave one of them out");
    let unknown =
        refused(path, &["disparity", "voters.csv", "--outcome", "voted", "--favorable", "1", "--baseline", "x"]);
    assert!(unknown.contains("unknown class \"x\""), "{unknown}");
}

/// Estimates from fewer than 5 people are hidden everywhere, or nowhere.
#[test]
fn small_cells_are_hidden_in_every_output() {
    let folder = voters(300);
    let path = folder.path();
    let line = ["disparity", "voters.csv", "--outcome", "voted", "--truth", "race", "-q", "-o", "d.csv", "--force"];
    let of = |more: &[&'static str]| {
        let result = json(path, &[&line[..], &["--json"], more].concat());
        let text = run(path, &[&line[..], more].concat());
        let mut reader = csv::Reader::from_path(path.join("d.csv")).unwrap();
        let rows: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
        (result, text, rows)
    };
    let (hidden, text, rows) = of(&[]);
    let (shown, all, every) = of(&["--small-cells", "show"]);
    assert_eq!((&hidden["small_cells"], &shown["small_cells"]), (&"hide".into(), &"show".into()));
    let mut found = 0;
    for (row, other) in rows.iter().zip(&every) {
        let class = CLASSES.iter().position(|class| *class == &row[3]).unwrap();
        let (own, full) = (figure(&hidden, &row[0], class), figure(&shown, &row[0], class));
        let is_small = full["effective_n"].as_f64().is_some_and(|people| people < 4.999);
        assert_eq!((own["hidden"].as_bool().unwrap(), &row[14] == "true"), (is_small, is_small), "{row:?}");
        assert!(!full["hidden"].as_bool().unwrap() && &other[14] == "false");
        if is_small {
            for name in ["estimate", "error", "interval", "effective_n"] {
                assert_eq!(own[name], Value::Null, "{name}");
            }
            assert!(own["gap"]["difference"].is_null() && own["gap"]["hidden"] == true && own["bias"].is_null());
            assert!(row.iter().skip(4).take(5).chain(row.iter().skip(10).take(4)).all(str::is_empty), "{row:?}");
            assert!(!other[4].is_empty());
            found += 1;
        }
    }
    assert!(found > 2, "{found}");
    let pairs = hidden["estimators"][0]["values"][0]["pairs"].as_array().unwrap();
    assert!(pairs.iter().any(|pair| pair["hidden"] == true) && pairs.iter().any(|pair| pair["hidden"] == false));
    assert!(pairs.iter().all(|pair| pair["hidden"] == pair["difference"].is_null()));
    let hint = "–: hidden, because the effective sample size is below 5; use --small-cells show to show such estimates";
    assert!(text.contains(hint) && !all.contains(hint), "{text}");
}

#[test]
fn what_cannot_be_compared_is_refused() {
    let folder = voters(300);
    let path = folder.path();
    fs::write(path.join("bad.csv"), "p_a,p_b,y,z\n0.5,0.5,1,\n0.5,0.5,inf,\n").unwrap();
    let before = names_in(path);
    let refuse = |line: &str| refused(path, &line.split(' ').collect::<Vec<_>>());
    let misuse = |line: &str| misused(path, &line.split(' ').collect::<Vec<_>>());
    assert!(
        refuse("disparity voters.csv --outcome votd")
            .starts_with("--outcome: there is no column \"votd\" (did you mean \"voted\"?)")
    );
    assert_eq!(
        refuse("disparity bad.csv --outcome y"),
        "bad.csv: row 2, column \"y\": the outcome is infinite; correct it, or leave it empty"
    );
    assert_eq!(
        refuse("disparity bad.csv --outcome z"),
        "--outcome: column \"z\": it is empty in every row; name another column"
    );
    let text = refuse("disparity voters.csv --outcome surname");
    assert!(text.contains("is neither a number nor a category; name another column"), "{text}");
    let value = refuse("disparity voters.csv --outcome party --outcome-value d");
    assert!(value.starts_with("--outcome-value: column \"party\": no row has the value \"d\""), "{value}");
    assert!(refuse("disparity voters.csv --outcome voted --cells id").contains("people are alone in their cell"));
    assert!(
        misuse("disparity voters.csv --outcome price --cells county").starts_with("--cells: bounds require a rate")
    );
    assert!(refuse("disparity voters.csv --outcome voted --against whit").contains("unknown class \"whit\""));
    assert!(misuse("compare voters.csv --outcome voted").starts_with("--outcome: it is for --report"));
    assert_eq!(names_in(path), before);
}

#[test]
fn reports_show_what_is_printed() {
    let folder = voters(3000);
    let path = folder.path();
    let line = ["--outcome", "voted", "--truth", "race", "--cells", "county", "-q"];
    let result = json(
        path,
        &[&["disparity", "voters.csv", "--json", "--report", "d.md", "--figures", "figures"], &line[..]].concat(),
    );
    let page = fs::read_to_string(path.join("d.md")).unwrap();
    let sentence = result["sentence"].as_str().unwrap();
    assert!(page.contains("\n## Outcomes\n") && page.contains(sentence), "{sentence}");
    assert!(
        sentence.starts_with("By argmax labels, the rate of voted is ") && sentence.contains("the truth"),
        "{sentence}"
    );
    for words in [
        "Bounds: limits of the rate",
        "why the means of labels are biased",
        "gap to white, points",
        "| BIRDiE |",
        "column voted",
    ] {
        assert!(page.contains(words), "{words}");
    }
    let mut reader = csv::Reader::from_path(path.join("figures/outcomes.csv")).unwrap();
    let mut found = 0;
    for record in reader.records().map(Result::unwrap) {
        let class = CLASSES.iter().position(|class| *class == &record[3]).unwrap();
        let own = figure(&result, &record[0], class);
        // The report and the JSON omit estimates based on very few people.
        if let Ok(estimate) = record[4].parse::<f64>() {
            near(&own["estimate"], estimate);
            found += 1;
        }
    }
    assert!(found > 25, "{found}");
    // The section is the same in a comparison of rules and in an audit of existing labels.
    run(path, &[&["compare", "voters.csv", "--report", "c.md"], &line[..]].concat());
    run(path, &["label", "voters.csv", "-o", "labeled.csv", "--rule", "argmax", "-q"]);
    run(path, &[&["audit", "labeled.csv", "--label", "label", "--report", "a.md"], &line[..]].concat());
    let compared = fs::read_to_string(path.join("c.md")).unwrap();
    assert!(compared.contains(sentence) && compared.contains("| top-2 |"));
    let audited = fs::read_to_string(path.join("a.md")).unwrap();
    assert!(audited.contains(&sentence.replace("argmax labels", "your labels")) && audited.contains("\n## Outcomes\n"));
    // Without an outcome, the report does not have this section.
    run(path, &["compare", "voters.csv", "--report", "none.md", "-q"]);
    assert!(!fs::read_to_string(path.join("none.md")).unwrap().contains("## Outcomes"));
}

#[test]
fn each_class_is_compared_with_everyone_else() {
    let folder = voters(3000);
    let rows = rows(folder.path());
    let line =
        ["disparity", "voters.csv", "--outcome", "voted", "--truth", "race", "--small-cells", "show", "--json", "-q"];
    let result = json(folder.path(), &line);
    let known: Vec<(&Row, f64)> = rows.iter().filter_map(|row| Some((row, row.voted?))).collect();
    let mean =
        |of: &dyn Fn(&Row, f64) -> f64| known.iter().map(|(row, y)| of(row, *y)).sum::<f64>() / known.len() as f64;
    for class in 0..6 {
        let own = &result["brackets"][class];
        assert_eq!(
            (&own["class"], &own["value"], &own["hidden"]),
            (&CLASSES[class].into(), &"1".into(), &false.into())
        );
        let r = |row: &Row| f64::from(u8::from(row.race == CLASSES[class]));
        let (share, outcome, members) = (mean(&|row, _| row.scores[class]), mean(&|_, y| y), mean(&|row, _| r(row)));
        let q = |row: &Row| row.scores[class] - share;
        let covariance = mean(&|row, y| q(row) * (y - outcome));
        let (variance, class_variance) = (mean(&|row, _| q(row).powi(2)), share * (1.0 - share));
        near(&own["weighted"]["estimate"], covariance / class_variance);
        near(&own["linear"]["estimate"], covariance / variance);
        let with_class = mean(&|row, _| q(row) * (r(row) - members));
        let of_truth = mean(&|row, y| (y - outcome) * (r(row) - members));
        let truth_variance = members * (1.0 - members);
        near(&own["covariances"]["truth"]["estimate"], of_truth / truth_variance);
        near(&own["covariances"]["given_score"]["estimate"], of_truth - covariance * with_class / variance);
        near(&own["covariances"]["given_class"]["estimate"], covariance - of_truth * with_class / truth_variance);
        let violation = &own["sensitivity"]["linear"];
        near(&violation["covariance"], covariance);
        let largest =
            (mean(&|_, y| (y - outcome).powi(2)) * variance * (class_variance - variance) / class_variance).sqrt();
        near(&violation["share"], covariance.abs() / largest);
        assert_eq!(own["sensitivity"]["limit"], "variances");
    }
    let cells = [&line[..], &["--cells", "county"]].concat();
    let result = json(folder.path(), &cells);
    for class in 0..6 {
        let interval = |name: &str| figure(&result, name, class)["interval"].clone();
        let (bounds, wide) = (interval("bounds"), interval("bounds 95%"));
        assert!(wide["low"].as_f64() <= bounds["low"].as_f64() && bounds["high"].as_f64() <= wide["high"].as_f64());
        assert_eq!(result["brackets"][class]["sensitivity"]["limit"], "cells");
    }
}

#[test]
fn error_rates_are_those_of_the_formulas() {
    let folder = voters(2000);
    let path = folder.path();
    let table = fs::read_to_string(path.join("voters.csv")).unwrap();
    let predicted = |row: usize| seed::hash(2, row as u64, 9).is_multiple_of(3);
    let line = |(row, line): (usize, &str)| match row {
        0 => format!("{line},predicted\n"),
        _ if row % 13 == 0 => format!("{line},\n"),
        _ => format!("{line},{}\n", if predicted(row) { "yes" } else { "no" }),
    };
    fs::write(path.join("voters.csv"), table.lines().enumerate().map(line).collect::<String>()).unwrap();
    let rows = rows(path);
    let line = ["disparity", "voters.csv", "--outcome", "voted", "--prediction", "predicted", "--truth", "race", "-q"];
    let result = json(path, &[&line[..], &["--small-cells", "show", "--json"]].concat());
    let rates = &result["error_rates"];
    assert_eq!(rates["prediction"], "predicted");
    for (rate, outcome) in [("true_positive", 1.0), ("false_positive", 0.0)] {
        let among: Vec<(&Row, f64)> = (0..rows.len())
            .filter(|row| rows[*row].voted == Some(outcome) && (row + 1) % 13 != 0)
            .map(|row| (&rows[row], f64::from(u8::from(predicted(row + 1)))))
            .collect();
        assert_eq!(rates[rate]["people"], among.len());
        for class in 0..6 {
            let mean = |weight: &dyn Fn(&Row) -> f64| {
                among.iter().map(|(row, y)| weight(row) * y).sum::<f64>()
                    / among.iter().map(|(row, _)| weight(row)).sum::<f64>()
            };
            near(&figure(&rates[rate], "weighted", class)["estimate"], mean(&|row| row.scores[class]));
            let truth = mean(&|row| f64::from(u8::from(row.race == CLASSES[class])));
            near(&figure(&rates[rate], "truth", class)["estimate"], truth);
        }
        let names: Vec<&str> =
            rates[rate]["estimators"].as_array().unwrap().iter().map(|own| own["name"].as_str().unwrap()).collect();
        assert_eq!(names, ["truth", "argmax", "threshold 0.8", "match", "weighted", "imputed"]);
    }
    let other = refused(path, &["disparity", "voters.csv", "--outcome", "voted", "--prediction", "party"]);
    assert!(other.contains("--prediction: column \"party\" has other values than 0 and 1"), "{other}");
    let number = misused(path, &["disparity", "voters.csv", "--outcome", "price", "--prediction", "predicted"]);
    assert!(number.contains("--prediction needs an outcome of 0 and 1"), "{number}");
}
