//! The program from a user's perspective: files in every format give the same labels, and each error gives one message.
#![allow(clippy::unwrap_used, clippy::print_stderr)] // also in helpers

mod common;

use std::fs;
use std::path::{Path, PathBuf};

use assert_cmd::Command;
use common::{apportion, json, refused, run, text};
use tempfile::TempDir;

/// Returns the first column and the column `label` of a CSV file, sorted.
fn labels(path: &Path) -> Vec<(String, String)> {
    let text = fs::read_to_string(path).unwrap();
    let mut lines = text.lines();
    let place = lines.next().unwrap().split(',').position(|name| name == "label").unwrap();
    let mut labels: Vec<(String, String)> = lines
        .map(|line| {
            let cells: Vec<&str> = line.split(',').collect();
            (cells[0].to_owned(), cells[place].to_owned())
        })
        .collect();
    labels.sort();
    labels
}

fn voters(folder: &Path, rows: u32) {
    run(folder, &["simulate", "voters", "--rows", &rows.to_string(), "--seed", "5", "-o", "voters.csv", "-q"]);
}

fn shared(name: &str) -> Option<PathBuf> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data").join(name);
    if !path.exists() {
        assert!(std::env::var_os("CI").is_none(), "{name} is not beside the checkout");
        eprintln!("skipped: {name} is not beside the checkout");
    }
    path.exists().then_some(path)
}

#[test]
fn the_voters_of_north_carolina_have_the_known_objective() {
    let Some(path) = shared("nc_synth_100k.parquet") else { return };
    let folder = TempDir::new().unwrap();
    let found = json(folder.path(), &["label", path.to_str().unwrap(), "-o", "out.parquet", "--json", "-q"]);
    assert!((found["objective"].as_f64().unwrap() - 78236.0170387).abs() < 1e-6, "{found}");
    assert_eq!(found["certificate"]["gap"], 0.0);
    assert_eq!(found["counts"], found["targets"]);
    let audit = json(folder.path(), &["audit", "out.parquet", "--label", "label", "--truth", "race", "--json", "-q"]);
    assert_eq!(audit["counts"], found["counts"]);
    assert!((audit["expected_accuracy"].as_f64().unwrap() - 0.782360170387).abs() < 1e-9);
}

#[test]
fn every_format_gives_the_same_labels() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    voters(folder, 3000);
    let options = ["--id", "id", "--seed", "3"];
    let with = |input: &str, output: &str, more: &[&str]| {
        run(folder, &[&["label", input, "-o", output, "-q"], &options[..], more].concat());
    };
    with("voters.csv", "expected.csv", &[]);
    let expected = labels(&folder.join("expected.csv"));
    assert_eq!(expected.len(), 3000);

    // Converts the file to every format and back.
    let mut from = "voters.csv".to_owned();
    for ending in ["tsv", "csv.gz", "csv.zst", "parquet", "arrow", "csv"] {
        let to = format!("copy.{ending}");
        with(&from, &to, &["--as", &format!("through_{}", ending.replace('.', "_"))]);
        from = to;
    }
    with("copy.csv", "again.csv", &["--threads", "1"]);
    assert_eq!(labels(&folder.join("again.csv")), expected);
    with("voters.csv", "two.csv", &["--threads", "2"]);
    assert_eq!(labels(&folder.join("two.csv")), expected);

    // In another order, and as several files of a partitioned folder.
    let text = fs::read_to_string(folder.join("voters.csv")).unwrap();
    let (header, rows) = text.split_once('\n').unwrap();
    let mut rows: Vec<&str> = rows.lines().collect();
    rows.reverse();
    fs::create_dir_all(folder.join("parts/state=NC")).unwrap();
    fs::write(folder.join("parts/state=NC/a.csv"), format!("{header}\n{}\n", rows[..1000].join("\n"))).unwrap();
    fs::write(folder.join("parts/state=NC/b.csv"), format!("{header}\n{}\n", rows[1000..].join("\n"))).unwrap();
    with("parts", "joined.csv", &[]);
    assert_eq!(labels(&folder.join("joined.csv")), expected);
    assert!(fs::read_to_string(folder.join("joined.csv")).unwrap().lines().next().unwrap().contains(",state,label"));
    with("parts/*/*.csv", "out/", &[]);
    assert_eq!(fs::read_to_string(folder.join("out/state=NC/a.csv")).unwrap().lines().count(), 1001);

    // From standard input to standard output.
    let mut command = Command::cargo_bin("apportion").unwrap();
    command.args(["label", "-", "-o", "-", "-q", "--id", "id", "--seed", "3"]).write_stdin(text.clone());
    fs::write(folder.join("piped.csv"), command.output().unwrap().stdout).unwrap();
    assert_eq!(labels(&folder.join("piped.csv")), expected);

    // UTF-16 with tabs, as North Carolina publishes its file.
    let mut bytes = vec![0xff, 0xfe];
    text.replace(',', "\t").encode_utf16().for_each(|unit| bytes.extend(unit.to_le_bytes()));
    fs::write(folder.join("wide.txt"), bytes).unwrap();
    with("wide.txt", "narrow.csv", &[]);
    assert_eq!(labels(&folder.join("narrow.csv")), expected);
}

#[test]
fn every_rule_runs() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    voters(folder, 2000);
    let rules = [
        "--rule argmax",
        "--rule threshold --at 0.8,black=0.5",
        "--rule thompson --draws 3",
        "--rule top-k --k 2",
        "--rule match --by county",
        "--rule match --reference uniform",
        "--rule match --reference truth --truth race",
        "--rule match --coverage 0.7",
        "--rule match --at-least black=30%,other=50 --at-most white=60%",
        "--rule balance --gamma 0.9 --penalty l1",
        "--rule balance --gamma 0.9 --penalty l2",
        "--rule balance --gamma 0.9 --penalty l2-squared --by county",
        "--rule balance --gamma 0.9 --penalty kl",
        "--rule balance --gamma 1 --tolerance 0.01",
        "--rule match --from-sample 500",
        "--rule balance --from-sample 500 --coverage 0.9",
        "--rule match --from-sample 500 --reference uniform --at-least black=20%",
        "--rule learned",
        "--rule learned --learner logistic --train-rows 500 --reference uniform",
        "--rule learned --learner forest --train-rows 500",
        "--rule learned --gamma 0.95",
    ];
    for (place, rule) in rules.into_iter().enumerate() {
        let output = format!("out{place}.csv");
        let args: Vec<&str> = ["label", "voters.csv", "-o", &output].into_iter().chain(rule.split(' ')).collect();
        run(folder, &args);
        assert_eq!(fs::read_to_string(folder.join(&output)).unwrap().lines().count(), 2001, "{rule}");
    }
    let draws = fs::read_to_string(folder.join("out2.csv")).unwrap();
    let header = draws.lines().next().unwrap();
    assert!(header.ends_with("label_1,label_1_score,label_2,label_2_score,label_3,label_3_score"), "{header}");

    let compared = run(folder, &["compare", "voters.csv", "--truth", "race", "--by", "county", "-q"]);
    assert_eq!(compared.lines().count(), 11, "{compared}");
    let batched = run(folder, &["compare", "voters.csv", "--batch", "100", "-q"]);
    assert!(
        batched.contains("match in batches") && batched.contains("batches of 100 rows: the objective is"),
        "{batched}"
    );
    fs::write(folder.join("two.csv"), "p_a,p_b\n0.9,0.1\n0.2,0.8\n").unwrap();
    let batched = run(folder, &["compare", "two.csv", "--batch", "1", "-q"]);
    assert!(
        batched.contains("in 2 batches of 1 row: the objective is the same, and the counts are the same"),
        "{batched}"
    );
    let frontier = run(folder, &["frontier", "voters.csv", "-q", "--points", "9"]);
    assert!(frontier.starts_with("from_gamma,to_gamma,accuracy,fidelity,n_white"), "{frontier}");
}

#[test]
fn a_decision_is_saved_and_applied() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    voters(folder, 2000);
    run(folder, &["label", "voters.csv", "-o", "labeled.csv", "--by", "county", "-q"]);
    run(folder, &["fit", "voters.csv", "-o", "decision.json", "--by", "county", "-q"]);
    run(folder, &["apply", "voters.csv", "--decision", "decision.json", "-o", "applied.csv", "--by", "county", "-q"]);
    assert_eq!(labels(&folder.join("applied.csv")), labels(&folder.join("labeled.csv")));
}

#[test]
fn a_model_is_saved_applied_and_exported() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    voters(folder, 3000);
    for learner in ["svm", "logistic", "forest"] {
        let rule = ["--id", "id", "--rule", "learned", "--learner", learner, "--train-rows", "1000"];
        let (decision, labeled, applied) =
            (format!("{learner}.json"), format!("{learner}.csv"), format!("{learner}-applied.csv"));
        let labeled_json =
            json(folder, &[&["label", "voters.csv", "-o", &labeled, "-q", "--json"], &rule[..]].concat());
        assert_eq!(labeled_json["model"]["learner"], learner);
        assert_eq!(labeled_json["sample"], 1000);
        assert_eq!(labeled_json["targets"].as_array().unwrap().len(), 6);
        run(folder, &[&["fit", "voters.csv", "-o", &decision, "-q"], &rule[..]].concat());
        let apply =
            ["apply", "voters.csv", "--decision", &decision, "--id", "id", "--batch-rows", "7", "-o", &applied, "-q"];
        run(folder, &apply);
        assert_eq!(labels(&folder.join(&applied)), labels(&folder.join(&labeled)), "{learner}");
    }
    assert!(run(folder, &["export", "svm.json", "--sql", "duckdb", "-q"]).contains("by a trained model"));
    assert!(refused(folder, &["export", "forest.json", "--sql", "duckdb"]).contains("a linear learner such as svm"));
}

#[test]
fn what_a_sample_cannot_tell_is_refused() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    voters(folder, 300);
    let refused = |rule: &str| {
        let args =
            ["label", "voters.csv", "-o", "out.csv", "-q"].into_iter().chain(rule.split(' ')).collect::<Vec<_>>();
        text(&apportion(folder, &args).stderr)
    };
    assert!(refused("--rule learned --by county").contains("use --rule match --by"));
    assert!(refused("--from-sample 10 --by county").contains("cannot be used with"));
    assert!(refused("--from-sample 10 --at-least black=5").contains("give shares, such as 20%"));
    assert!(refused("--rule learned --from-sample 10").contains("--from-sample requires --rule match"));
    assert!(refused("--learner svm").contains("--learner requires --rule learned"));
    assert!(refused("--rule learned --coverage 0.5").contains("--coverage requires"));
    assert!(refused("--rule learned --count birth_year").contains("error: "));
}

/// Applies a decision to the rows it was fitted to, to similar rows, and to different rows.
#[test]
fn drift_is_warned_of() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    voters(folder, 20_000);
    run(folder, &["simulate", "voters", "--rows", "20000", "--seed", "6", "-o", "like.csv", "-q"]);
    // Removes every second row that is probably white.
    let all = fs::read_to_string(folder.join("like.csv")).unwrap();
    let place = all.lines().next().unwrap().split(',').position(|name| name == "p_white").unwrap();
    let white = |line: &str| line.split(',').nth(place).unwrap().parse().is_ok_and(|score: f64| score > 0.8);
    let kept = all.lines().enumerate().filter(|(row, line)| row % 2 == 0 || !white(line));
    fs::write(folder.join("unlike.csv"), kept.map(|(_, line)| format!("{line}\n")).collect::<String>()).unwrap();
    for rule in [
        "--rule match",
        "--rule match --by county",
        "--rule match --reference uniform",
        "--from-sample 5000",
        "--rule balance --gamma 0.95",
    ] {
        let fit = ["fit", "voters.csv", "-o", "decision.json", "--force", "-q"].into_iter().chain(rule.split(' '));
        run(folder, &fit.collect::<Vec<_>>());
        for (file, warned) in [("voters.csv", false), ("like.csv", false), ("unlike.csv", true)] {
            // Balance does not fix counts, and counts within counties drift less.
            if file == "unlike.csv" && (rule.contains("balance") || rule.contains("county")) {
                continue;
            }
            let apply = ["apply", file, "--decision", "decision.json", "-o", "out.csv", "--force", "--json"];
            let output = apportion(folder, &apply);
            let said = text(&output.stderr);
            assert_eq!(said.contains("warning: the counts have drifted"), warned, "{rule}, {file}: {said}");
            assert_eq!(said.contains("fit again"), warned, "{said}");
            let printed: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
            assert_eq!(printed["drift"]["beyond"], warned, "{printed}");
            // The warning names every class that deviates by more than chance explains.
            let numbers = |key: &str| printed["drift"][key].as_array().unwrap().clone();
            for (class, (off, chance)) in numbers("people").iter().zip(numbers("explained")).enumerate() {
                let (class, found) = (printed["classes"][class].as_str().unwrap(), &printed["counts"][class]);
                let named =
                    said.contains(&format!("{class} {} instead of", apportion::text::count(found.as_u64().unwrap())));
                assert_eq!(named, off.as_f64().unwrap().abs() > chance.as_f64().unwrap(), "{class}: {said}");
            }
            // The audit of the output reports the same warning and numbers.
            let audit = ["audit", "out.csv", "--label", "label", "--decision", "decision.json", "-q"];
            let found = run(folder, &audit);
            let warning = said.lines().find(|line| line.starts_with("warning")).unwrap_or("no drift in the totals: ");
            assert!(found.contains(warning), "{rule}, {file}: {found}");
            let found = run(folder, &[&audit[..], &["--json"]].concat());
            let found: serde_json::Value = serde_json::from_str(&found).unwrap();
            assert_eq!(found["drift"], printed["drift"], "{rule}, {file}");
        }
    }
    run(folder, &["fit", "voters.csv", "-o", "decision.json", "--force", "-q", "--rule", "argmax"]);
    let found = run(folder, &["audit", "out.csv", "--label", "label", "--decision", "decision.json", "-q"]);
    assert!(found.contains("has no target counts"), "{found}");
}

/// Theorems 1 and 2 on the user's file: the bias of argmax, and the distance of each rule from the frontier.
#[test]
fn what_rules_give_away_is_said() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    voters(folder, 3000);
    let parsed = |args: &[&str]| serde_json::from_str::<serde_json::Value>(&run(folder, args)).unwrap();
    let compared = parsed(&["compare", "voters.csv", "--json", "-q"]);
    let rule = |name: &str| compared.as_array().unwrap().iter().find(|rule| rule["rule"] == name).unwrap().clone();
    let below = |name: &str| rule(name)["frontier_gap"].as_f64().unwrap();
    assert_eq!((below("argmax"), below("match")), (0.0, 0.0));
    assert!(below("learned") > 0.0 && below("learned") < 0.005 && below("top-2") > 0.03);
    assert!(rule("threshold 0.8")["frontier_gap"].is_null());
    assert_eq!(rule("learned")["sample"], 3000, "all, where there are no more");

    run(folder, &["label", "voters.csv", "--rule", "thompson", "-o", "drawn.csv", "-q"]);
    let audit = ["audit", "drawn.csv", "--label", "label", "-q"];
    let found = parsed(&[&audit[..], &["--json"]].concat());
    assert_eq!(found["frontier_gap"], rule("thompson")["frontier_gap"]);
    let bias = found["argmax_bias"]["bias"].as_f64().unwrap();
    assert!(bias > 0.0 && bias <= found["mae"].as_f64().unwrap() && found["argmax_bias"]["class"] == "white");
    let said = run(folder, &audit);
    let words = format!("{:.2} points below the frontier: other labels", 100.0 * below("thompson"));
    assert!(said.contains(&words) && said.contains("Theorem 1"), "{said}");
    run(folder, &["label", "voters.csv", "-o", "matched.csv", "-q"]);
    assert!(run(folder, &["audit", "matched.csv", "--label", "label", "-q"]).contains("on the frontier"));
    // With unlabeled rows, the frontier is not reported unless the rows are filled or dropped.
    run(folder, &["label", "voters.csv", "--rule", "threshold", "-o", "some.csv", "-q"]);
    let some = |policy: &str| run(folder, &["audit", "some.csv", "--label", "label", "--uncoded", policy, "-q"]);
    assert!(!some("Uncoded=keep").contains("frontier"));
    assert!(some("Uncoded=argmax").contains("on the frontier") && some("Uncoded=drop").contains("frontier"));
}

/// An audit shows its results in text and in JSON.
#[test]
fn an_audit_shows_what_it_computes() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    voters(folder, 600);
    run(folder, &["label", "voters.csv", "--rule", "threshold", "--at", "0.6", "-o", "some.csv", "-q"]);
    let audit =
        ["audit", "some.csv", "--label", "label", "--truth", "race", "--by", "county", "--bootstrap", "20", "-q"];
    let said = run(folder, &audit);
    for words in [
        "(95% interval ",
        "% of labels are the argmax class",
        "people; quartiles of their largest score: ",
        "mean scores of unlabeled people: white ",
        "class     miscalibration  discretization  calibration error  Kuiper  correlation  precision  recall",
        "95% intervals (bootstrap):",
        "fidelity to the posterior within groups",
    ] {
        assert!(said.contains(words), "{words}\n{said}");
    }
    let found = serde_json::from_str::<serde_json::Value>(&run(folder, &[&audit[..], &["--json"]].concat())).unwrap();
    let uncoded = found["uncoded"].as_u64().unwrap();
    assert!(uncoded > 0 && uncoded == found["uncoded_rows"]["people"] && 600 - uncoded == found["labeled"]);
    assert_eq!(found["calibration"][0]["kuiper"], found["kuiper"][0]);
    let (share, interval) = (found["shares"][0].as_f64().unwrap(), &found["intervals"]["share"][0]);
    assert!(interval["low"].as_f64().unwrap() < share && share < interval["high"].as_f64().unwrap());
    assert!(found["groups"][0]["kuiper"].is_array() && found["groups"][0]["intervals"].is_null());
}

/// The library tests the content of the SQL, and `make test-sql` tests it in databases.
#[test]
fn a_decision_is_exported_as_sql() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    voters(folder, 500);
    run(folder, &["fit", "voters.csv", "-o", "decision.json", "--by", "county", "-q"]);
    let printed = run(folder, &["export", "decision.json", "--sql", "duckdb", "--by", "county"]);
    assert!(printed.starts_with("-- ") && printed.contains("\"p_white\" ") && printed.ends_with("END\n"), "{printed}");
    let export = |more: &[&'static str]| [&["export", "decision.json", "--sql", "spark"], more].concat();
    run(folder, &export(&["--by", "county", "--table", "t", "-o", "label.sql", "-q"]));
    let written = fs::read_to_string(folder.join("label.sql")).unwrap();
    assert!(
        written.contains("\nFROM (SELECT * FROM t) AS apportion_rows\nLEFT JOIN apportion_prices ON "),
        "{written}"
    );

    let by_county = ["--by", "county", "-o", "label.sql"];
    assert!(refused(folder, &export(&by_county)).contains("label.sql: already exists"));
    assert!(run(folder, &export(&[])).contains("COALESCE(CAST(`county` AS STRING)"));
    assert!(refused(folder, &export(&["--by", "state,county"])).contains("the decision was fitted by 1: county;"));
    assert!(refused(folder, &export(&["--by", "county", "--scores", "a,b"])).starts_with("--scores: 2 columns for 6"));
    run(folder, &["fit", "voters.csv", "-o", "drawn.json", "--rule", "thompson", "-q"]);
    assert!(refused(folder, &["export", "drawn.json", "--sql", "sqlite"]).contains("use `apply`"));
}

#[test]
fn cells_are_split_into_people() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    fs::write(folder.join("cells.csv"), "cell,p_white,p_black,people\na,0.7,0.3,10\nb,0.5,0.5,4\n").unwrap();
    run(folder, &["label", "cells.csv", "-o", "out.csv", "--count", "people", "-q"]);
    let out = fs::read_to_string(folder.join("out.csv")).unwrap();
    let cells: Vec<Vec<&str>> = out.lines().map(|line| line.split(',').collect()).collect();
    assert_eq!(cells[0].join(","), "cell,p_white,p_black,people,n_white,n_black,n_uncoded");
    let of = |line: usize, place: usize| -> u64 { cells[line][place].parse().unwrap() };
    assert_eq!((of(1, 4) + of(2, 4), of(1, 5) + of(2, 5)), (9, 5));
    assert_eq!((of(1, 4) + of(1, 5), of(2, 4) + of(2, 5)), (10, 4));
}

#[test]
fn tables_of_other_tools_are_understood() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    for (name, table, counts) in [
        (
            "wru",
            "pred.whi,pred.bla,pred.his,pred.asi,pred.oth\n.6,.3,.05,.03,.02\n.5,.4,.05,.03,.02\n",
            [1, 1, 0, 0, 0],
        ),
        ("zrp", "AAPI,AIAN,BLACK,HISPANIC,WHITE,race_proxy\n.1,.1,.1,.2,.5,W\n.1,.1,.4,.1,.3,B\n", [0, 0, 1, 0, 1]),
    ] {
        fs::write(folder.join("t.csv"), table).unwrap();
        let found = json(folder, &["label", "t.csv", "-o", "o.csv", "--force", "--json", "-q"]);
        assert_eq!(found["counts"], serde_json::json!(counts), "{name}");
    }
    // Percentages, with shares that the Census suppresses.
    let census = "name,pctwhite,pctblack,pctapi,pctaian,pct2prace,pcthispanic\nX,70,20,(S),(S),5,3\nY,10,80,2,2,3,3\n";
    fs::write(folder.join("census.csv"), census).unwrap();
    let output = apportion(folder, &["label", "census.csv", "-o", "c.csv", "--rule", "argmax"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("ethnicolr (Census)"));
    assert!(text(&output.stderr).contains("percentages, divided by 100"));
}

#[test]
fn whatever_is_wrong_gets_one_message_and_no_output() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    let good = "id,p_white,p_black,race\n1,0.6,0.4,white\n2,0.3,0.7,black\n";
    let write = |name: &str, bytes: &[u8]| fs::write(folder.join(name), bytes).unwrap();
    write("good.csv", good.as_bytes());
    write("nan.csv", b"id,p_white,p_black\n1,0.6,0.4\n2,,0.7\n");
    write("text.csv", b"id,p_white,p_black\n1,0.6,0.4\n2,much,0.7\n");
    write("sum.csv", b"id,p_white,p_black\n1,0.6,0.4\n2,0.6,0.7\n");
    write("ragged.csv", b"id,p_white,p_black\n1,0.6,0.4\n2,0.3\n");
    write("empty.csv", b"");
    write("header.csv", b"id,p_white,p_black\n");
    write("twice.csv", b"id,p_white,p_white\n1,0.6,0.4\n");
    write("none.csv", b"id,a,b\n1,0.6,0.4\n");
    write("latin.csv", b"id,p_white,p_black,name\n1,0.6,0.4,Mu\xf1oz\n");
    write("cut.csv.gz", &packed(good)[..20]);
    run(folder, &["label", "good.csv", "-o", "good.parquet", "-q"]);
    let whole = fs::read(folder.join("good.parquet")).unwrap();
    write("cut.parquet", &whole[..whole.len() / 2]);

    for (args, message) in [
        (
            "nan.csv",
            "nan.csv: row 2, column \"p_white\": the score is missing; add it, or skip rows with missing scores with --skip-missing",
        ),
        ("text.csv", "text.csv: row 2, column \"p_white\": \"much\" is not a number"),
        ("sum.csv", "sum.csv: row 2: the scores sum to 1.2999"),
        ("ragged.csv", "ragged.csv: line 3 has 2 fields, expected 3; fix or quote that line"),
        ("empty.csv", "empty.csv: the file is empty"),
        ("header.csv", "header.csv: it has a header but no rows"),
        ("twice.csv", "twice.csv: two columns are named \"p_white\"; rename one of them"),
        (
            "none.csv",
            "none.csv: no score columns were recognized among id, a, b; name them with --scores, or compute scores from names and places with `predict` first",
        ),
        ("latin.csv --encoding utf8", "latin.csv: line 2, column 4: not valid UTF-8"),
        ("cut.csv.gz", "cut.csv.gz: it cannot be decompressed"),
        ("cut.parquet", "cut.parquet: it is not a valid Parquet file"),
        ("missing.csv", "missing.csv: no such file; check the path"),
        (
            "good.csv --scores p_white,p_red",
            "--scores: there is no column \"p_red\"; the columns are id, p_white, p_black",
        ),
        ("good.csv --reference nowhere.csv", "--reference nowhere.csv: nowhere.csv: no such file"),
        (
            "good.csv --reference truth",
            "the reference truth needs a true class, which the table does not have; add it with --truth",
        ),
    ] {
        let args: Vec<&str> = ["label"].into_iter().chain(args.split(' ')).chain(["-o", "out.csv"]).collect();
        let found = refused(folder, &args);
        assert!(found.starts_with(message), "{args:?}: {found}");
        assert!(!folder.join("out.csv").exists(), "{args:?}");
    }
    // No temporary files are left behind.
    let left: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(left.iter().all(|name| !name.to_str().unwrap().starts_with('.')), "{left:?}");

    let found = refused(folder, &["label", "good.csv", "-o", "good.csv"]);
    assert_eq!(found, "good.csv: this is an input, and inputs are never overwritten; choose another output");
    let found = refused(folder, &["label", "good.csv", "-o", "good.parquet"]);
    assert!(found.contains("already exists"), "{found}");
    run(folder, &["label", "good.csv", "-o", "good.parquet", "--force"]);
    run(folder, &["label", "latin.csv", "-o", "latin.parquet", "--encoding", "latin1"]);
}

fn packed(text: &str) -> Vec<u8> {
    use std::io::Write;
    let mut writer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    writer.write_all(text.as_bytes()).unwrap();
    writer.finish().unwrap()
}

/// An interruption leaves no files behind; finished files have the default permissions.
#[cfg(unix)]
#[test]
fn an_interruption_leaves_nothing_behind() {
    use std::os::unix::fs::PermissionsExt;
    let folder = TempDir::new().unwrap();
    let program = assert_cmd::cargo::cargo_bin("apportion");
    let args = ["simulate", "voters", "--rows", "100000000", "-o", "voters.csv"];
    let mut running = std::process::Command::new(program).current_dir(folder.path()).args(args).spawn().unwrap();
    let files = || fs::read_dir(folder.path()).unwrap().count();
    while files() == 0 {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    std::process::Command::new("kill").args(["-INT", &running.id().to_string()]).status().unwrap();
    assert_eq!(running.wait().unwrap().code(), Some(130));
    assert_eq!(files(), 0);

    run(folder.path(), &["simulate", "voters", "--rows", "10", "-o", "few.csv", "-q"]);
    let mode = fs::metadata(folder.path().join("few.csv")).unwrap().permissions().mode();
    fs::write(folder.path().join("other"), "").unwrap();
    assert_eq!(mode, fs::metadata(folder.path().join("other")).unwrap().permissions().mode());
}

#[test]
fn the_command_line_is_checked() {
    let folder = TempDir::new().unwrap();
    for args in [&["label"][..], &["label", "x.csv", "-o", "y.csv", "--rule", "magic"], &["nothing"]] {
        assert_eq!(apportion(folder.path(), args).status.code(), Some(2), "{args:?}");
    }
    let help = apportion(folder.path(), &[]);
    assert!(text(&help.stderr).contains("apportion label scores.parquet -o labels.parquet"));
}

#[test]
fn classes_of_made_up_voters_can_be_merged() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    let args = ["simulate", "voters", "--rows", "2000", "-o", "five.csv", "-q", "--merge", "aian=other"];
    run(folder, &args);
    let found = json(folder, &["label", "five.csv", "-o", "out.csv", "--truth", "race", "--json", "-q"]);
    assert_eq!(found["classes"], serde_json::json!(["white", "black", "hispanic", "asian", "other"]));
    let merge = |pairs: &'static str| [&args[..7], &["--force", "--merge", pairs]].concat();
    for (pairs, problem) in [
        ("aian", "is not VALUE=CLASS"),
        ("aian=x", "is not CLASS=CLASS"),
        ("asian=aian,aian=other", "is merged into a class"),
    ] {
        assert!(common::misused(folder, &merge(pairs)).contains(problem), "{pairs}");
    }
}

/// A decision has its own seed.
#[test]
fn apply_has_no_seed() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    voters(folder, 100);
    run(folder, &["fit", "voters.csv", "-o", "decision.json", "-q"]);
    let apply = ["apply", "voters.csv", "--decision", "decision.json", "-o", "out.csv", "-q"];
    assert!(!run(folder, &["apply", "--help"]).contains("--seed"));
    let output = apportion(folder, &[&apply[..], &["--seed", "3"]].concat());
    assert_eq!(output.status.code(), Some(2), "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("'--seed'"), "{}", text(&output.stderr));
    run(folder, &apply);
}

#[test]
fn one_key_is_singular() {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("names.csv"), "firstname,n_white,n_black\nANNA,30,70\n").unwrap();
    let checked = run(folder.path(), &["tables", "check", "names.csv", "--of", "first-names"]);
    assert!(checked.contains("1 key (firstname)"), "{checked}");
}
