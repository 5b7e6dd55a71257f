//! `apportion predict` and `apportion tables`: scores from the built-in Census tables and from tables of the user.
#![allow(clippy::print_stderr, clippy::unwrap_used)] // also in helpers

mod common;

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use common::{apportion, json, misused, names_in, refused, run, text};
use proptest::prelude::*;
use tempfile::TempDir;

const PEOPLE: &str = "\
id,first_name,surname,county_fips,zip
1,Maria,García,37063,27701
2,John,Smith Jr,1001,36003
3,QXZ,QXZQXZ,99999,00000
4,,,37063,601
5,DeShawn,Washington,,27601
6,Li,Nguyen-Smith,37183,27601
7,X,NULL,37183,
8,Ann,NA,37183,27601
9,Ann,😀,37183,27601
10,Ann,Decline to State,37183,27601
";

fn folder() -> TempDir {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("people.csv"), PEOPLE).unwrap();
    folder
}

fn split(line: &str) -> Vec<&str> {
    line.split_whitespace().collect()
}

/// Returns the rows of a CSV file, by column.
fn rows(text: &str) -> Vec<HashMap<String, String>> {
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let header: Vec<String> = reader.headers().unwrap().iter().map(String::from).collect();
    let row = |record: csv::StringRecord| header.iter().cloned().zip(record.iter().map(String::from)).collect();
    reader.records().map(|record| row(record.unwrap())).collect()
}

fn scores(row: &HashMap<String, String>, classes: &[&str]) -> Vec<f64> {
    classes.iter().map(|class| row[&format!("p_{class}")].parse().unwrap()).collect()
}

const CLASSES: [&str; 6] = ["white", "black", "hispanic", "asian", "aian", "other"];

#[test]
fn people_become_scores_with_no_table_at_all() {
    let folder = folder();
    let found = rows(&run(folder.path(), &split("predict people.csv -o - -q --model bisg")));
    assert_eq!(found.len(), 10);
    for (place, row) in found.iter().enumerate() {
        assert_eq!(row["id"], (place + 1).to_string());
        let sum: f64 = scores(row, &CLASSES).iter().sum();
        assert!((sum - 1.0).abs() < 1e-12, "{row:?}");
    }
    let how = |id: usize| {
        let row = &found[id - 1];
        (row["surname_match"].as_str(), row["place_used"].as_str(), row["dropped"].as_str())
    };
    assert_eq!(how(1), ("cleaned", "zcta", ""));
    assert_eq!(how(2), ("cleaned", "zcta", ""));
    assert_eq!(how(3), ("none", "nation", "")); // a place in no table, and a name on no list: ALL OTHER NAMES
    assert_eq!(how(4), ("none", "zcta", "surname")); // a ZIP code without its leading zeros
    assert_eq!(how(5), ("exact", "zcta", ""));
    assert_eq!(how(6), ("both parts", "zcta", ""));
    assert_eq!(how(7).1, "county");
    assert_eq!(how(9), ("none", "zcta", "surname"));
    assert_eq!(how(10), ("none", "zcta", "surname"));
    assert!(scores(&found[0], &CLASSES)[2] > 0.9);
}

#[test]
fn zeros_that_codes_had_lost_are_put_back_and_told() {
    let folder = folder();
    let output = apportion(folder.path(), &split("predict people.csv -o out.csv"));
    assert!(text(&output.stderr).contains("2 place codes were too short; leading zeros were added"));
    let found = json(folder.path(), &split("predict people.csv -o again.csv --json -q --model bisg"));
    assert_eq!((&found["repaired_codes"], &found["people"]), (&2.into(), &10.into()));
    assert_eq!(found["surname_match"]["cleaned"], 2);
    assert_eq!(found["place_used"]["nation"], 1);
    assert_eq!(found["dropped"]["surname"].as_u64(), Some(3)); // rows 4, 9 and 10 have no surname
    // Codes as floating-point numbers, as pandas writes them.
    fs::write(folder.path().join("floats.csv"), "surname,zip\nGARCIA,601.0\nGARCIA,00601\n").unwrap();
    let found = rows(&run(folder.path(), &split("predict floats.csv -o - -q")));
    assert_eq!(found[0]["p_white"], found[1]["p_white"]);
    assert_eq!(found[0]["place_used"], "zcta");
}

/// ZIP codes as numbers, and surnames as dictionaries, with missing values.
#[test]
fn columns_of_any_type_are_read() {
    use arrow_array::types::Int8Type;
    use arrow_array::{ArrayRef, DictionaryArray, Float64Array, Int32Array, RecordBatch, StringArray};
    use std::sync::Arc;
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    let names = vec![Some("García"), None, Some("García"), Some("Smith")];
    let coded: DictionaryArray<Int8Type> = names.iter().copied().collect();
    let of = |name: &str, surname: ArrayRef, zip: ArrayRef| {
        let batch = RecordBatch::try_from_iter([("surname", surname), ("zip", zip)]).unwrap();
        let file = fs::File::create(folder.join(name)).unwrap();
        let mut writer = parquet::arrow::ArrowWriter::try_new(file, batch.schema(), None).unwrap();
        writer.write(&batch).unwrap();
        writer.close().unwrap();
        let found = rows(&run(folder, &["predict", name, "-o", "-", "-q"]));
        found.iter().map(|row| (scores(row, &CLASSES), row["surname_match"].clone())).collect::<Vec<_>>()
    };
    let texts = Arc::new(StringArray::from(names.clone()));
    let zips = StringArray::from(vec![Some("00601"), Some("27601"), None, Some("02127")]);
    let plain = of("texts.parquet", texts.clone(), Arc::new(zips));
    let integers = Int32Array::from(vec![Some(601), Some(27601), None, Some(2127)]);
    let floats = Float64Array::from(vec![Some(601.0), Some(27601.0), None, Some(2127.0)]);
    assert_eq!(of("integers.parquet", Arc::new(coded), Arc::new(integers)), plain);
    assert_eq!(of("floats.parquet", texts, Arc::new(floats)), plain);
    assert_eq!(plain.iter().map(|(_, how)| how.as_str()).collect::<Vec<_>>(), ["cleaned", "none", "cleaned", "exact"]);
}

#[test]
fn places_that_are_in_no_table_are_warned_of() {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("people.csv"), "surname,county_fips\nSmith,Durham\nSmith,Wake\nSmith,37063\n")
        .unwrap();
    let said = text(&apportion(folder.path(), &split("predict people.csv -o out.csv")).stderr);
    let expected =
        "the places of 2 of 3 people are not in any table, so larger areas are used; check the place columns";
    assert!(said.contains(&format!("warning: {expected}")), "{said}");
}

const ADVICE: &str = ". Voters, borrowers and patients usually have other class shares; if you know theirs, give them with --margin \
                      FILE and --model voter or rake\n";

#[test]
fn the_population_of_the_scores_is_named() {
    let folder = folder();
    let folder = folder.path();
    fs::write(
        folder.join("margin.csv"),
        "class,share\nwhite,.7\nblack,.2\nhispanic,.04\nasian,.03\naian,.02\nother,.01\n",
    )
    .unwrap();
    fs::write(
        folder.join("own.csv"),
        "county_fips,n_white,n_black,n_hispanic,n_asian,n_aian,n_other\n37063,9,9,9,9,9,9\n",
    )
    .unwrap();
    let adults = "adults, Census 2020 (name lists: surnames, Census 2020";
    let voters = "surnames of registered voters";
    for (options, expected, advice) in [
        ("--county county_fips --model bisg", format!("{adults}; {voters})"), ADVICE),
        ("--names census --model bisg", format!("{adults})"), ADVICE),
        ("--names census", format!("{adults}; first names, Census 2020)"), ADVICE),
        ("", format!("{adults}; {voters}; first names, Census 2020; first names of registered voters)"), ADVICE),
        (
            "--vintage 2010 --names census --model bisg",
            "residents, Census 2010; residents of all ages, Census 2010 (name lists: surnames, Census 2010)".into(),
            ADVICE,
        ),
        (
            "--geography none --surnames surnames-2010 --model bisg --names census",
            "surnames, Census 2010".into(),
            ADVICE,
        ),
        (
            "--model bifsg --geography own.csv --names census",
            "the people of own.csv (name lists: surnames, Census 2020; first names, Census 2020)".into(),
            ADVICE,
        ),
        (
            "--model voter --margin margin.csv --within NC",
            format!("people with the class shares of margin.csv; tables: {adults}; {voters})"),
            "\n",
        ),
        (
            "--model rake --margin margin.csv --county county_fips",
            format!("people with the class shares of margin.csv; tables: {adults}; {voters})"),
            "\n",
        ),
    ] {
        let line = format!("predict people.csv -o out.csv --force --json {options}");
        let output = apportion(folder, &split(&line));
        let told = text(&output.stderr);
        assert!(told.contains(&format!("\nthe scores describe {expected}{advice}")), "{told}");
        let found: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(found["population"], expected);
    }
}

#[test]
fn columns_that_are_not_used_are_named_with_the_reason() {
    let folder = folder();
    let folder = folder.path();
    let heading = "surname,first_name,zip,tract,county_fips,state_house";
    fs::write(folder.join("all.csv"), format!("{heading}\nSmith,Ann,27701,37063000101,37063,31\n")).unwrap();
    let tract = "\"tract\" is not used as given: it is looked up as counties; to use tracts, give a table of them with --geography FILE";
    let first = "\"first_name\" is not used: --model bifsg uses first names";
    let house = "\"state_house\" is not used: the places are in other columns";
    let needs_people = "needs people by class, which the table of ZIP codes of 2010 does not have; use --vintage 2020";
    let zip = format!("\"zip\" is not used: --within {needs_people}");
    let told = |options: &str| {
        let line = format!("predict all.csv -o out.csv --force --vintage 2010 {options}");
        text(&apportion(folder, &split(&line)).stderr)
    };
    let lines = |told: &str, count: usize| told.lines().take(count).map(String::from).collect::<Vec<_>>();
    let places = "tract in \"tract\", zcta in \"zip\", county in \"county_fips\"";
    let expected =
        [format!("all.csv: BISG; surname in \"surname\", {places}"), first.into(), house.into(), tract.into()];
    assert_eq!(lines(&told("--model bisg"), 4), expected);
    // A column that is not used is not in the first line.
    let expected = [
        "all.csv: BISG, within NC; surname in \"surname\", tract in \"tract\", county in \"county_fips\"",
        first,
        house,
        tract,
        &zip,
    ];
    assert_eq!(lines(&told("--within NC --model bisg"), 5), expected);
    let expected = "all.csv: BIFSG; surname in \"surname\", first name in \"first_name\", county in \"county_fips\"";
    let unnamed = "is not used: only the columns of places that are named are used";
    let found = lines(&told("--model bifsg --county county_fips"), 4);
    assert_eq!(found[..3], [expected.into(), format!("\"zip\" {unnamed}"), format!("\"tract\" {unnamed}")]);
    let found = told("--model fbisg --sweeps 2 --burn-in 1");
    assert!(found.contains(&format!("\"zip\" is not used: --model fbisg {needs_people}")), "{found}");
    let line = "predict all.csv -o out.csv --force --json -q --within NC --vintage 2010 --model bisg";
    let found = json(folder, &split(line));
    let columns = [("first_name", None), ("state_house", None), ("tract", Some("county")), ("zip", None)];
    let unused = found["unused"].as_array().unwrap();
    for (column, (name, used_as)) in unused.iter().zip(columns) {
        assert_eq!((&column["column"], &column["used_as"]), (&name.into(), &used_as.into()));
    }
    assert_eq!((unused.len(), unused[0]["reason"].as_str()), (4, Some("--model bifsg uses first names")));
    assert!(found["columns"].get("zcta").is_none(), "{}", found["columns"]);
    // The tables of 2020 have all of these places.
    let found = json(folder, &split("predict all.csv -o out.csv --force --json -q --within NC"));
    assert_eq!((found["unused"].as_array().unwrap().len(), &found["unused"][0]["column"]), (1, &"state_house".into()));
    assert_eq!((&found["place_used"]["tract"], &found["model"]), (&1.into(), &"bifsg".into()));
}

#[test]
fn a_state_in_place_of_a_column_is_explained() {
    let folder = folder();
    let fix = |state: &str| format!(". If all people live in this state, use --within {state}");
    for (options, state) in [("--state NC", "NC"), ("--county nc", "nc"), ("--state 37", "37")] {
        let found = refused(folder.path(), &split(&format!("predict people.csv -o out.csv {options}")));
        assert!(found.contains("there is no column") && found.ends_with(&fix(state)), "{found}");
    }
    let found = refused(folder.path(), &split("predict people.csv -o out.csv --state region"));
    assert!(!found.contains("--within"), "{found}");
}

/// Counties by name, in parts, without zeros, and by tract, all become codes of five digits.
#[test]
fn counties_are_written_as_codes() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    let counties = |people: &str, options: &str| {
        fs::write(folder.join("people.csv"), people).unwrap();
        let found = rows(&run(folder, &split(&format!("predict people.csv -o - -q {options}"))));
        found.iter().map(|row| row.get("county_fips").cloned()).collect::<Vec<_>>()
    };
    let code = |code: &str| Some(code.to_owned());
    let people =
        "surname,state,county\nSmith,NC,wake\nSmith,nc,Wake County\nSmith,NC,183\nSmith,NC,Nowhere\nSmith,AL,1\n";
    assert_eq!(counties(people, ""), [code("37183"), code("37183"), code("37183"), code(""), code("01001")]);
    assert_eq!(counties("surname,tract\nSmith,1001020100\n", ""), [code("01001")]);
    // The place of the scores may be another one.
    assert_eq!(counties("surname,zip,state,county\nSmith,27701,NC,Durham\n", ""), [code("37063")]);
    // A column of that name is kept as it is.
    assert_eq!(counties("surname,county_fips\nSmith,1001\n", ""), [code("1001")]);
    for people in ["surname,zip\nSmith,27701\n", "surname,state\nSmith,NC\n"] {
        assert_eq!(counties(people, ""), [None], "{people}");
    }
}

#[test]
fn first_names_make_bifsg() {
    let folder = folder();
    let found = rows(&run(folder.path(), &split("predict people.csv -o - -q --model bifsg")));
    assert_eq!((found[0]["first_name_match"].as_str(), found[3]["dropped"].as_str()), ("exact", "surname+first name"));
    let without = rows(&run(folder.path(), &split("predict people.csv -o - -q --model bisg")));
    // The first name De Shawn adds information; without a first name, the scores equal those of BISG.
    assert!(scores(&found[4], &CLASSES)[1] > scores(&without[4], &CLASSES)[1]);
    assert_eq!(scores(&found[3], &CLASSES), scores(&without[3], &CLASSES));
}

#[test]
fn scores_go_through_a_pipe_to_labels() {
    let folder = folder();
    let made = apportion(folder.path(), &split("predict people.csv -o - -q"));
    let mut label = assert_cmd::Command::cargo_bin("apportion").unwrap();
    let labeled = label.current_dir(folder.path()).args(["label", "-", "-o", "-", "-q"]).write_stdin(made.stdout);
    let found = rows(&text(&labeled.output().unwrap().stdout));
    assert_eq!((found.len(), found[0]["label"].as_str()), (10, "hispanic"));
}

/// A person's scores do not depend on other rows, order, batches, threads or file format.
#[test]
fn scores_never_depend_on_the_rest_of_the_file() {
    let folder = folder();
    let folder = folder.path();
    let mut lines: Vec<&str> = PEOPLE.lines().collect();
    let whole = rows(&run(folder, &split("predict people.csv -o - -q --model bifsg")));
    lines[1..].reverse();
    fs::write(folder.join("reversed.csv"), lines.join("\n")).unwrap();
    let mut reversed =
        rows(&run(folder, &split("predict reversed.csv -o - -q --model bifsg --batch-rows 3 --threads 1")));
    reversed.reverse();
    assert_eq!(whole, reversed);
    for (place, row) in whole.iter().enumerate().step_by(4) {
        let line = PEOPLE.lines().nth(place + 1).unwrap();
        fs::write(folder.join("one.csv"), format!("{}\n{line}\n", PEOPLE.lines().next().unwrap())).unwrap();
        assert_eq!(&rows(&run(folder, &split("predict one.csv -o - -q --model bifsg")))[0], row);
    }
    run(folder, &split("predict people.csv -o first.parquet -q"));
    run(folder, &split("predict first.parquet -o second.parquet -q --prefix again_ --threads 2"));
    let found = rows(&run(folder, &split("predict second.parquet -o - -q --prefix third_")));
    for row in found {
        for name in ["white", "other"] {
            assert_eq!(row[&format!("p_{name}")], row[&format!("again_{name}")]);
            assert_eq!(row[&format!("p_{name}")], row[&format!("third_{name}")]);
        }
        assert_eq!(row["surname_match"], row["again_surname_match"]);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]
    /// With bisg, bifsg and voter, a person's scores are the same for any selection, order and batches of people.
    #[test]
    fn whoever_else_is_in_the_file_a_persons_scores_are_the_same(
        picked in prop::collection::vec(0usize..10, 1..14), batch in 1usize..9, threads in 1usize..3, model in 0usize..3,
    ) {
        let folder = folder();
        let folder = folder.path();
        let margin = "class,share\nwhite,.7\nblack,.22\nhispanic,.03\nasian,.015\naian,.01\nother,.025\n";
        fs::write(folder.join("margin.csv"), margin).unwrap();
        let model = ["bisg", "bifsg", "voter --margin margin.csv --within NC"][model];
        let whole = rows(&run(folder, &split(&format!("predict people.csv -o - -q --model {model}"))));
        let lines: Vec<&str> = PEOPLE.lines().collect();
        let some = std::iter::once(lines[0]).chain(picked.iter().map(|&row| lines[row + 1])).collect::<Vec<_>>().join("\n");
        fs::write(folder.join("some.csv"), some).unwrap();
        let line = format!("predict some.csv -o - -q --batch-rows {batch} --threads {threads} --model {model}");
        let found = rows(&run(folder, &split(&line)));
        prop_assert_eq!(found.len(), picked.len());
        for (found, &row) in found.iter().zip(&picked) {
            prop_assert_eq!(found, &whole[row]);
        }
    }
}

/// The Census Bureau's own file, with suppressed shares, and the surname NULL.
const RAW: &str = "\
name,rank,count,prop100k,cum_prop100k,pctwhite,pctblack,pctapi,pctaian,pct2prace,pcthispanic
SMITH,1,2442977,828.19,828.19,70.9,23.11,0.5,0.89,2.19,2.4
NULL,5049,6990,2.37,0,93.58,2.09,0.56,0.43,1.35,1.98
AAB,150000,114,0.04,0,87.97,(S),(S),0,6.77,(S)
ALL OTHER NAMES,0,29312001,9936.97,9936.97,66.65,8.53,7.97,0.86,2.32,13.67
";

#[test]
fn the_census_bureaus_own_file_is_read() {
    let folder = folder();
    let folder = folder.path();
    fs::write(folder.join("Names_2010Census.csv"), RAW).unwrap();
    fs::write(folder.join("three.csv"), "surname\nNULL\nAAB\nQXZQXZ\n").unwrap();
    let line = "predict three.csv -o - -q --surnames Names_2010Census.csv --geography none";
    let found = rows(&run(folder, &split(line)));
    let classes = ["white", "black", "api", "aian", "2prace", "hispanic"];
    let close = |row: usize, expected: [f64; 6]| {
        let sum: f64 = expected.iter().sum();
        for (own, share) in scores(&found[row], &classes).iter().zip(expected) {
            assert!((own - share / sum).abs() < 1e-12, "{found:?}");
        }
    };
    close(0, [93.58, 2.09, 0.56, 0.43, 1.35, 1.98]);
    let part = (100.0 - 87.97 - 6.77) / 3.0; // suppressed shares are equal parts of the remainder
    close(1, [87.97, part, part, 0.0, 6.77, part]);
    close(2, [66.65, 8.53, 7.97, 0.86, 2.32, 13.67]);
    // Classes with different names are not merged automatically; the message suggests how to merge them.
    let found = refused(folder, &split("predict people.csv -o o.csv --surnames Names_2010Census.csv"));
    assert!(found.ends_with("if they are the same, map them with --crosswalk asian=api,other=2prace"), "{found}");
    let line = "predict people.csv -o - -q --surnames Names_2010Census.csv --crosswalk api=asian,2prace=other --county county_fips";
    assert_eq!(rows(&run(folder, &split(line)))[1]["surname_match"], "cleaned");
    let checked = run(folder, &split("tables check Names_2010Census.csv --of surnames"));
    assert!(
        checked.contains("4 keys (name), shares of the classes, with counts")
            && checked.ends_with("no problems found\n"),
        "{checked}"
    );
}

#[test]
fn classes_are_merged_where_a_user_says_so() {
    let folder = folder();
    let line = "predict people.csv -o - -q --model bisg --zcta zip --crosswalk aian=other,asian=other --classes black,white,hispanic,other";
    let merged = rows(&run(folder.path(), &split(line)));
    assert!(!merged[0].contains_key("p_asian"));
    let header = run(folder.path(), &split(line));
    assert!(
        header.starts_with("id,first_name,surname,county_fips,zip,p_black,p_white,p_hispanic,p_other,surname_match")
    );
    let found = refused(folder.path(), &split("predict people.csv -o o.csv --crosswalk aian=other --vintage 2010"));
    assert!(found.starts_with("zctas-2010: it contains P(key | class), which cannot be added up"), "{found}");
    let found = misused(folder.path(), &split("predict people.csv -o o.csv --crosswalk asain=other"));
    assert_eq!(found, "--crosswalk: no table has a class \"asain\" (did you mean \"asian\"?)");
}

#[test]
fn places_of_a_users_own_go_by_their_names() {
    let folder = folder();
    let folder = folder.path();
    fs::write(folder.join("precincts.csv"), "precinct,n_white,n_black\nA 1,10,90\nB 2,90,10\n").unwrap();
    fs::write(folder.join("names.csv"), "surname,n_white,n_black\nSMITH,50,50\nJONES,30,10\n").unwrap();
    fs::write(folder.join("voters.csv"), "surname,precinct\nSmith,A 1\nJones,B 2\nSmith,C 3\n").unwrap();
    let line = "predict voters.csv -o - -q --surnames names.csv --geography precincts.csv --place precinct";
    let found = rows(&run(folder, &split(line)));
    let used: Vec<&str> = found.iter().map(|row| row["place_used"].as_str()).collect();
    assert_eq!(used, ["place", "place", "all places"]);
    // P(s|r) of Smith is 50/80 and 50/60; the precinct has 10 and 90 people.
    let (white, black) = (10.0 * 50.0 / 80.0, 90.0 * 50.0 / 60.0);
    assert!((scores(&found[0], &["white"])[0] - white / (white + black)).abs() < 1e-12);
}

/// Invalid tables and missing columns give one message with file, row and the next step, and no output.
#[test]
fn unsound_tables_are_refused() {
    let folder = folder();
    let folder = folder.path();
    let write = |name: &str, text: &str| fs::write(folder.join(name), text).unwrap();
    write("negative.csv", "surname,n_white,n_black\nA,1,2\nB,1,-2\n");
    write("twice.csv", "surname,n_white,n_black\nSMITH,1,2\nsmith,1,2\n");
    write("words.csv", "surname,n_white,n_black\nA,1,many\n");
    write("small.csv", "surname,p_white,p_black\nA,0.1,0.2\nB,0.3,0.1\n");
    let mut off = "surname,p_white,p_black\nA,0.1,0.2\n".to_owned();
    off.extend((0..20).map(|row| format!("N{row},0.4,0.6\n")));
    write("off.csv", &off);
    write("none.csv", "surname,red,green\nA,1,2\n");
    write("two.csv", "county_fips,n_white,n_black,vap_white,vap_black\n37063,1,2,1,2\n");
    write("codes.csv", "county_fips,n_white,n_black\nDurham,1,2\n");
    let before = names_in(folder);
    for (line, expected) in [
        (
            "--surnames negative.csv --geography none",
            "negative.csv: row 2: a number is negative; correct it, or leave out the row",
        ),
        ("--surnames twice.csv --geography none", "twice.csv: row 2: the name is repeated; keep one row"),
        (
            "--surnames words.csv --geography none",
            "words.csv: row 1, column \"n_black\": \"many\" is not a number; correct it",
        ),
        (
            "--surnames small.csv --geography none",
            "small.csv: neither its rows nor its columns sum to 1, and its numbers are not counts of people; use people by class \
             (n_CLASS), P(class | key) or P(key | class)",
        ),
        (
            "--surnames off.csv --geography none",
            "off.csv: row 1: its classes sum to 0.30000000000000004, but those of other rows sum to 1; correct it",
        ),
        (
            "--surnames none.csv --geography none",
            "none.csv: no class columns, such as n_white or pctwhite, were recognized among surname, red, green; \
             rename them, or name the classes with --classes",
        ),
        (
            "--geography two.csv",
            "two.csv: there are several sets of number columns, n_* and vap_*; choose one with --numbers 'n_*'",
        ),
        (
            "--geography codes.csv",
            "codes.csv: row 1, column \"county_fips\": it is not a county code; correct it, or leave out the row",
        ),
        (
            "--surname sirname",
            "people.csv: --surname: there is no column \"sirname\" (did you mean \"surname\"?); the columns are id, first_name, \
             surname, county_fips, zip",
        ),
        (
            "--surnames nonames",
            "--surnames: there is no file and no built-in table \"nonames\"; `apportion tables` lists the built-in tables",
        ),
    ] {
        let args: Vec<&str> = split("predict people.csv -o o.csv").into_iter().chain(split(line)).collect();
        assert_eq!(refused(folder, &args), expected, "{line}");
        assert_eq!(names_in(folder), before, "{line}");
    }
    write("bare.csv", "surname\nSMITH\n");
    assert!(
        refused(folder, &split("predict bare.csv -o o.csv"))
            .contains("or compute scores from names alone with --geography none")
    );
    write("scored.csv", "surname,county_fips,p_white\nSMITH,37063,1\n");
    let found = refused(folder, &split("predict scored.csv -o o.csv"));
    assert!(found.contains("it already has a column \"p_white\""), "{found}");
    assert!(misused(folder, &split("predict people.csv -o o.csv --model voter")).contains("--margin"));
    assert!(misused(folder, &split("predict people.csv -o - --json")).contains("choose one"));
}

#[test]
fn voters_of_a_state_have_the_shares_that_were_given() {
    let folder = folder();
    let folder = folder.path();
    fs::write(folder.join("margin.csv"), "white,black,hispanic,asian,aian,other\n.7,.22,.03,.015,.01,.025\n").unwrap();
    let line = "predict people.csv -o o.csv --model voter --margin margin.csv --county county_fips";
    let found = refused(folder, &split(line));
    assert!(found.ends_with("choose the state with --within, such as --within NC"), "{found}");
    // All adults of North Carolina without a surname: the scores have the given shares.
    let counties = run(folder, &split("tables export counties-2020 -o -"));
    let all = rows(&counties).into_iter().filter(|row| row["state"] == "NC");
    let mut people = "surname,county_fips\n".to_owned();
    for row in all {
        let total: f64 = CLASSES.map(|class| row[&format!("n_{class}")].parse::<f64>().unwrap()).iter().sum();
        let lines = (total / 2000.0).round() as usize;
        people.extend((0..lines).map(|_| format!("Unknown,{}\n", row["county_fips"])));
    }
    fs::write(folder.join("nc.csv"), people).unwrap();
    let line = "predict nc.csv -o v.csv --model voter --margin margin.csv --within NC --json -q";
    let found = json(folder, &split(line));
    let posterior: Vec<f64> =
        found["posterior"].as_array().unwrap().iter().map(|share| share.as_f64().unwrap()).collect();
    assert!((posterior[1] - 0.22).abs() < 0.005 && (posterior[0] - 0.70).abs() < 0.005, "{posterior:?}");
}

/// Creates a fictional state with two counties and 600 voters.
fn state(folder: &Path) {
    let counties =
        "county_fips,n_white,n_black,n_hispanic,n_asian,n_aian,n_other\n37001,50,40,5,3,1,1\n37003,80,5,10,3,1,1\n";
    fs::write(folder.join("counties.csv"), counties).unwrap();
    let names = ["Smith", "Washington", "Garcia", "Nguyen", "Qxzqxz", "Jones-Garcia"];
    let line = |row: usize| format!("{},{}\n", names[row % 6], [37001, 37003][row / 7 % 2]);
    fs::write(folder.join("voters.csv"), format!("surname,county_fips\n{}", (0..600).map(line).collect::<String>()))
        .unwrap();
    fs::write(
        folder.join("margin.csv"),
        "class,share\nwhite,0.5\nblack,0.3\nhispanic,0.1\nasian,0.05\naian,0.02\nother,0.03\n",
    )
    .unwrap();
}

#[test]
fn raking_meets_its_margin_and_says_where_it_cannot() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    state(folder);
    let line =
        "predict voters.csv -o raked.csv --model rake --margin margin.csv --geography counties.csv -q --force --json";
    let found = json(folder, &split(line));
    let posterior: Vec<f64> =
        found["posterior"].as_array().unwrap().iter().map(|share| share.as_f64().unwrap()).collect();
    for (own, share) in posterior.iter().zip([0.5, 0.3, 0.1, 0.05, 0.02, 0.03]) {
        assert!((own - share).abs() < 1e-9, "{posterior:?}");
    }
    assert!(found["passes"].as_u64().unwrap() < 20);
    let first = fs::read_to_string(folder.join("raked.csv")).unwrap();
    run(folder, &split(&format!("{line} --batch-rows 17 --threads 1")));
    assert_eq!(fs::read_to_string(folder.join("raked.csv")).unwrap(), first);

    fs::write(folder.join("names.csv"), "surname,n_white,n_black,n_hispanic\nSMITH,70,30,0\nWASHINGTON,10,90,0\n")
        .unwrap();
    fs::write(folder.join("few.csv"), "surname\nSmith\nWashington\n").unwrap();
    fs::write(folder.join("three.csv"), "white,black,hispanic\n.4,.4,.2\n").unwrap();
    let found = refused(
        folder,
        &split("predict few.csv -o o.csv --model rake --margin three.csv --surnames names.csv --geography none"),
    );
    assert!(found.starts_with("the margin has a share of 0.2 for \"hispanic\""), "{found}");
    fs::write(folder.join("names.csv"), "surname,n_white,n_black,n_hispanic\nSMITH,70,0,0\nWASHINGTON,0,90,9\n")
        .unwrap();
    let found = refused(
        folder,
        &split("predict few.csv -o o.csv --model rake --margin three.csv --surnames names.csv --geography none"),
    );
    assert!(found.starts_with("--margin: not converged after") && found.contains("white 0.5"), "{found}");
    assert!(!folder.join("o.csv").exists());
}

/// Returns the number of people of each class by a column, as a margin.
fn margin_of(found: &[HashMap<String, String>], column: &str, class: impl Fn(usize) -> usize) -> String {
    let mut counts: std::collections::BTreeMap<&str, [u32; 6]> = std::collections::BTreeMap::new();
    for (place, row) in found.iter().enumerate() {
        counts.entry(&row[column]).or_default()[class(place)] += 1;
    }
    let line =
        |(key, counts): (&&str, &[u32; 6])| format!("{key},{}\n", counts.map(|count| count.to_string()).join(","));
    let header = format!("{column},{}\n", CLASSES.map(|class| format!("n_{class}")).join(","));
    std::iter::once(header).chain(counts.iter().map(line)).collect()
}

#[test]
fn raking_goes_three_ways_where_margins_by_surname_and_place_are_known() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    state(folder);
    let voters = fs::read_to_string(folder.join("voters.csv")).unwrap();
    let people = rows(&voters);
    // Any classes work, as long as both margins are computed from them.
    let class = |place: usize| place * 7 % 11 % 6;
    fs::write(folder.join("by_surname.csv"), margin_of(&people, "surname", class)).unwrap();
    fs::write(folder.join("by_county.csv"), margin_of(&people, "county_fips", class)).unwrap();
    let line = "predict voters.csv -o raked.csv --model rake --surname-margin by_surname.csv --place-margin by_county.csv \
                --geography counties.csv --force";
    let found = json(folder, &split(&format!("{line} --json -q")));
    assert!(found["off"].as_f64().unwrap() <= 1e-9 && found["rounds"].as_u64().unwrap() > 1, "{found}");
    let first = fs::read_to_string(folder.join("raked.csv")).unwrap();
    let raked = rows(&first);
    for column in ["surname", "county_fips"] {
        let keys: std::collections::BTreeSet<&String> = people.iter().map(|row| &row[column]).collect();
        for (key, which) in keys.into_iter().flat_map(|key| (0..6).map(move |which| (key, which))) {
            let of = || (0..people.len()).filter(|&place| &people[place][column] == key);
            let wanted = of().filter(|&place| class(place) == which).count() as f64;
            let own: f64 = of().map(|place| scores(&raked[place], &CLASSES)[which]).sum();
            assert!((own - wanted).abs() < 1e-6, "{column} {key} {which}: {own} {wanted}");
        }
    }
    raked.iter().for_each(|row| assert!((scores(row, &CLASSES).iter().sum::<f64>() - 1.0).abs() < 1e-12));
    run(folder, &split(&format!("{line} --batch-rows 17 --threads 1 -q")));
    assert_eq!(fs::read_to_string(folder.join("raked.csv")).unwrap(), first);

    // One margin alone converges; two contradictory margins do not.
    let told = apportion(
        folder,
        &split("predict voters.csv -o o.csv --model rake --place-margin by_county.csv --geography counties.csv"),
    );
    assert!(text(&told.stderr).contains("600 people in by_county.csv; raked in"), "{}", text(&told.stderr));
    fs::remove_file(folder.join("o.csv")).unwrap();
    fs::write(folder.join("by_county.csv"), margin_of(&people, "county_fips", |place| place % 6)).unwrap();
    let found = refused(folder, &split(&line.replace("raked.csv", "o.csv")));
    assert!(
        found.contains("not converged after") && found.contains(", row ") && found.contains("--tolerance"),
        "{found}"
    );
    assert!(!folder.join("o.csv").exists());
    for (line, wanted) in [
        ("--model rake", "--model rake needs target shares: use --margin, or --surname-margin and --place-margin"),
        (
            "--model rake --margin margin.csv --place-margin by_county.csv",
            "--margin: the margins by surname and place already determine",
        ),
        ("--place-margin by_county.csv", "--surname-margin and --place-margin require --model rake"),
    ] {
        let found = misused(folder, &split(&format!("predict voters.csv -o o.csv --geography counties.csv {line}")));
        assert!(found.contains(wanted), "{found}");
    }
}

#[test]
fn fbisg_draws_the_same_by_any_number_of_threads() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    state(folder);
    let line = "predict voters.csv -o - --model fbisg --geography counties.csv -q --burn-in 50 --sweeps 200";
    let one = run(folder, &split(&format!("{line} --threads 1")));
    assert_eq!(one, run(folder, &split(&format!("{line} --threads 2 --batch-rows 50"))));
    assert_ne!(one, run(folder, &split(&format!("{line} --seed 1"))));
    let bisg = rows(&run(folder, &split("predict voters.csv -o - --geography counties.csv -q")));
    let (mut ours, mut plain) = (0.0, 0.0);
    for (drawn, bisg) in rows(&one).iter().zip(&bisg) {
        let drawn = scores(drawn, &CLASSES);
        assert!((drawn.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        assert!(drawn.iter().all(|score| *score > 0.0));
        (ours, plain) = (ours + drawn[3], plain + scores(bisg, &CLASSES)[3]);
    }
    // A sixth of the people are called Nguyen, compared with 3% in the Census; fBISG learns this from the people.
    assert!(ours > plain, "{ours} {plain}");
    let found = refused(folder, &split("predict voters.csv -o o.csv --model fbisg --geography none"));
    assert!(found.starts_with("fBISG needs the number of people by place and class"), "{found}");
}

/// Returns the scores of a file with one row.
fn scored(folder: &Path, people: &str, options: &str) -> HashMap<String, String> {
    fs::write(folder.join("one.csv"), people).unwrap();
    rows(&run(folder, &split(&format!("predict one.csv -o - -q {options}")))).remove(0)
}

/// Codes of parts are appended to the code of the larger place. If no table has a code, the next larger place is used.
#[test]
fn places_are_found_as_files_write_them() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    let durham = scored(folder, "surname,county_fips\nWashington,37063\n", "");
    let north_carolina = scored(folder, "surname,state\nWashington,NC\n", "");
    for (people, options) in [
        ("surname,state,county_code\nWashington,NC,63\n", ""),
        ("surname,state_fips,county_code\nWashington,37,063\n", ""),
        ("surname,county_code\nWashington,63\n", "--within NC"),
        ("surname,state,county\nWashington,NC,DURHAM\n", ""),
        ("surname,county_desc\nWashington,Durham County\n", "--within NC"),
        ("surname,county_fips,tract,state\nWashington,37063,999900,NC\n", ""),
        ("surname,tract,county_fips\nWashington,99999999999,37063\n", ""),
        ("surname,state,county,tract\nWashington,37,63,999901\n", ""),
        ("surname,state,county,tract\nWashington,NC,Durham,999900\n", ""),
    ] {
        let found = scored(folder, people, options);
        assert_eq!((&found["p_black"], &found["place_used"]), (&durham["p_black"], &"county".into()), "{people}");
    }
    for people in [
        "surname,county_fips,state\nWashington,99999,NC\n",
        "surname,state,county\nWashington,NC,Nowhere\n",
        "surname,county_fips,state\nWashington,,nc\n",
    ] {
        let found = scored(folder, people, "");
        assert_eq!(
            (&found["p_black"], &found["place_used"]),
            (&north_carolina["p_black"], &"state".into()),
            "{people}"
        );
    }
    fs::write(folder.join("named.csv"), "surname,zip,county\nWashington,27701,Durham\n").unwrap();
    let told = text(&apportion(folder, &split("predict named.csv -o o.csv")).stderr);
    let expected = "\"county\" is not used: county names require a state; use --state COL or --within NC\n";
    assert!(told.contains(expected), "{told}");
    let told = |people: &str| {
        fs::write(folder.join("all.csv"), people).unwrap();
        text(&apportion(folder, &split("predict all.csv -o o.csv --force")).stderr)
    };
    let found = told("surname,state,county\nSmith,NC,Nowhere\n");
    assert!(
        found.contains("warning: the places of 1 of 1 people are not in any table, so larger areas are used"),
        "{found}"
    );
    assert!(!told("surname,state\nSmith,NC\n").contains("warning"));
    let found = told("surname,state\nQxzqxz,NC\n12345,NC\n");
    assert!(
        found.contains("warning: the surnames of 2 of 2 people are not in the table; check the surname column"),
        "{found}"
    );
    assert!(told("surname,state\n").contains("all.csv: it has a header but no rows; check how it was made"));
    // Place names ignore case.
    fs::write(
        folder.join("precincts.csv"),
        "precinct,n_white,n_black,n_hispanic,n_asian,n_aian,n_other\nEast,9,90,1,1,1,1\n",
    )
    .unwrap();
    let found = scored(folder, "surname,precinct\nSmith,EAST\n", "--place precinct --geography precincts.csv");
    assert_eq!(found["place_used"], "place");
}

/// The ZIP codes of 2010 have no people by class, so models that need them are refused; those of 2020 are limited to a state
/// by their first three digits.
#[test]
fn one_state_is_never_the_nation() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    fs::write(folder.join("people.csv"), "surname,zip\nGarcia,27701\n").unwrap();
    let zctas = "zcta5,n_white,n_black,n_hispanic,n_asian,n_aian,n_other\n27701,9,9,9,9,9,9\n90210,90,1,1,1,1,1\n";
    fs::write(folder.join("zctas.csv"), zctas).unwrap();
    fs::write(
        folder.join("margin.csv"),
        "class,share\nwhite,.7\nblack,.2\nhispanic,.03\nasian,.03\naian,.02\nother,.02\n",
    )
    .unwrap();
    let found = refused(folder, &split("predict people.csv -o o.csv --vintage 2010 --within NC"));
    assert!(found.starts_with("--within: the ZIP code table of 2010 has no people by class"), "{found}");
    let found = refused(folder, &split("predict people.csv -o o.csv --vintage 2010 --model fbisg"));
    assert!(found.starts_with("--model fbisg: it needs the number of people by place and class"), "{found}");
    let line = "predict people.csv -o o.csv --model voter --margin margin.csv --within NC --geography zctas.csv";
    let found = json(folder, &split(&format!("{line} --json -q")));
    // The area of another state is not counted.
    assert_eq!(found["in_tables"][0].as_f64().map(|share| (share * 6.0).round()), Some(1.0), "{found}");
    run(folder, &split(&format!("{line},counties-2020 -q --force")));
    // A class with a positive margin must have people in the tables.
    fs::write(
        folder.join("counties.csv"),
        "county_fips,n_white,n_black,n_hispanic,n_asian,n_aian,n_other\n37063,9,9,9,9,0,9\n",
    )
    .unwrap();
    fs::write(folder.join("people.csv"), "surname,county_fips\nGarcia,37063\n").unwrap();
    let line = "predict people.csv -o p.csv --model voter --margin margin.csv --geography counties.csv";
    let found = refused(folder, &split(line));
    assert!(found.starts_with("--margin: \"aian\" has a share in the margin"), "{found}");
    fs::write(
        folder.join("margin.csv"),
        "class,share\nwhite,.7\nblack,.2\nhispanic,.02\nasian,.02\naian,.01\nother,.01\n",
    )
    .unwrap();
    let found = refused(folder, &split(line));
    assert!(found.contains("its shares sum to 0.9600; they must sum to 1"), "{found}");
    for (shares, wanted) in [
        (".9,.9,.1,.1,.1,.1", "its shares sum to 2.2000; they must sum to 1"),
        (".7,NaN,.3,0,0,0", "\"NaN\" is not a number"),
    ] {
        fs::write(folder.join("margin.csv"), format!("white,black,hispanic,asian,aian,other\n{shares}\n")).unwrap();
        let found = refused(folder, &split(line));
        assert!(found.contains(wanted), "{found}");
    }
}

#[test]
fn options_of_another_model_are_refused() {
    let folder = folder();
    for (options, wanted) in [
        ("--margin margin.csv", "--margin requires --model voter or --model rake"),
        ("--seed 3", "--seed requires --model fbisg"),
        ("--sweeps 3 --model rake --margin m.csv", "--sweeps requires --model fbisg"),
        ("--tolerance 0.1", "--tolerance requires --surname-margin or --place-margin"),
        ("--as-published", "--as-published requires --model voter"),
    ] {
        let found = misused(folder.path(), &split(&format!("predict people.csv -o o.csv {options}")));
        assert!(found.contains(wanted), "{found}");
    }
}

/// Text after a comma in a name, placeholders for missing first names, and particles are handled.
#[test]
fn names_are_found_as_files_write_them() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    let one = |name: &str| scored(folder, &format!("surname,county_fips\n\"{name}\",37063\n"), "--vintage 2010");
    for (name, same) in [("Garcia, Maria L", "GARCIA"), ("Van Buren-Smith", "Vanburen-Smith"), ("null", "NULL")] {
        assert_eq!(one(name)["p_white"], one(same)["p_white"], "{name}");
    }
    assert_eq!(
        (&one("NULL")["surname_match"], &one("Garcia, Maria")["surname_match"]),
        (&"exact".into(), &"cleaned".into())
    );
    let first =
        |name: &str| scored(folder, &format!("surname,first_name,county_fips\nSmith,{name},37183\n"), "--model bifsg");
    for name in ["NULL", "none", "N/A"] {
        assert_eq!(
            (&first(name)["p_black"], &first(name)["dropped"]),
            (&first("")["p_black"], &"first name".into()),
            "{name}"
        );
    }
    // Other unknown first names use the row for all other names.
    assert_eq!((&first("Jhonnq")["dropped"], &first("Jhonnq")["first_name_match"]), (&String::new(), &"none".into()));
}

/// fBISG reports the place whose counts it used, and table rows without numbers do not change the scores of others.
#[test]
fn fbisg_says_where_it_drew() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    let found = scored(
        folder,
        "surname,zip,county_fips\nSmith,27701,37063\n",
        "--model fbisg --geography counties-2010,zctas-2010",
    );
    assert_eq!(found["place_used"], "county");
    state(folder);
    fs::write(folder.join("names.csv"), "surname,n_white,n_black\nSMITH,70,30\nGARCIA,9,1\nNGUYEN,1,9\n").unwrap();
    fs::write(folder.join("more.csv"), "surname,n_white,n_black\nSMITH,70,30\nGARCIA,9,1\nNGUYEN,1,9\nEMPTY,,\n")
        .unwrap();
    fs::write(folder.join("two.csv"), "county_fips,n_white,n_black\n37001,5,5\n37003,8,2\n").unwrap();
    let line = "predict voters.csv -o - --model fbisg --geography two.csv -q --burn-in 20 --sweeps 50 --surnames";
    assert_eq!(run(folder, &split(&format!("{line} names.csv"))), run(folder, &split(&format!("{line} more.csv"))));
}

/// Voters simulated from the Census tables get the same scores from the built-in tables if their name is common. Rare
/// names have their own row in the built-in tables. The simulation has no people with unlisted names, so the row for them is
/// left out.
#[test]
fn made_up_voters_are_scored_from_their_names() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    run(folder, &split("simulate voters --rows 4000 --seed 3 -o made.csv -q"));
    run(folder, &split("simulate voters --rows 4000 --seed 3 -o people.csv -q --no-scores"));
    let shares =
        CLASSES.iter().zip(apportion_bisg::census::NC_VOTER_SHARES).map(|(class, share)| format!("{class},{share}\n"));
    fs::write(folder.join("margin.csv"), format!("class,share\n{}", shares.collect::<String>())).unwrap();
    let listed = run(folder, &split("tables export surnames-2020 -o -"));
    let listed: Vec<&str> = listed.lines().filter(|line| !line.starts_with("ALL OTHER NAMES")).collect();
    fs::write(folder.join("listed.csv"), listed.join("\n")).unwrap();
    let tables = "--surnames listed.csv --geography counties-2010";
    let line = format!("predict people.csv -o found.csv -q --model voter --margin margin.csv --within NC {tables}");
    run(folder, &split(&line));
    let [made, people, found] =
        ["made.csv", "people.csv", "found.csv"].map(|name| rows(&fs::read_to_string(folder.join(name)).unwrap()));
    assert_eq!((made.len(), people.len(), found.len()), (4000, 4000, 4000));
    let common: std::collections::HashSet<&str> =
        apportion_bisg::census::surnames().iter().map(|name| name.name).collect();
    let (mut rare, mut off, mut truth) = (0, 0.0f64, [0.0; 6]);
    for ((made, person), found) in made.iter().zip(&people).zip(&found) {
        assert!(person.keys().all(|name| !name.starts_with("p_")) && found["surname_match"] == "exact", "{found:?}");
        assert!(["id", "county", "surname", "race"].iter().all(|name| made[*name] == found[*name]));
        let ours = scores(found, &CLASSES);
        let drawn = CLASSES.iter().position(|class| *class == found["race"]).unwrap();
        ours.iter().enumerate().for_each(|(class, score)| truth[class] += score - f64::from(u8::from(class == drawn)));
        if common.contains(found["surname"].as_str()) {
            off = ours.iter().zip(scores(made, &CLASSES)).map(|(a, b)| (a - b).abs()).fold(off, f64::max);
        } else {
            rare += 1;
        }
    }
    // The Census publishes hundredths of a percent, which the simulation converts to whole people.
    assert!(off < 0.01 && (500..900).contains(&rare), "{off} {rare}");
    // Sums of scores equal the true counts within four standard deviations, which are at most √4000 · 0.5.
    assert!(truth.iter().all(|off| off.abs() < 4.0 * 32.0), "{truth:?}");
}

#[test]
fn tables_inside_the_program_are_listed_told_of_and_written() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    let list = run(folder, &["tables"]);
    assert_eq!(list, run(folder, &["tables", "list"]));
    let names = ["surnames-2020", "surnames-2010", "first-names-2020", "counties-2010", "zctas-2010", "counties-2020"];
    for name in names.into_iter().chain(["zctas-2020", "states-2020"]) {
        assert!(list.contains(name));
        let shown = run(folder, &["tables", "show", name]);
        assert!(shown.contains("sha256") && shown.contains("  hispanic  Hispanic or Latino of any race"), "{shown}");
        run(folder, &["tables", "export", name, "-o", &format!("{name}.parquet")]);
        let of = if name.contains("first") {
            "first-names"
        } else if name.contains("surname") {
            "surnames"
        } else {
            "places"
        };
        let checked = json(folder, &["tables", "check", &format!("{name}.parquet"), "--of", of, "--json"]);
        assert_eq!(checked["classes"].as_array().unwrap().len(), 6);
    }
    // Exported tables give bitwise equal scores.
    fs::write(folder.join("people.csv"), PEOPLE).unwrap();
    let inside = run(folder, &split("predict people.csv -o - -q --model bifsg --names census"));
    let line = "predict people.csv -o - -q --model bifsg --surnames surnames-2020.parquet --first-names first-names-2020.parquet \
                --geography counties-2020.parquet,zctas-2020.parquet";
    assert_eq!(run(folder, &split(line)), inside);
    assert!(misused(folder, &split("tables show surnames-2000")).contains("did you mean"));
    let shown = run(folder, &split("tables show counties-2020"));
    assert!(shown.contains("hispanic"), "{shown}");
    assert_eq!(run(folder, &split("tables describe counties-2020")), shown);
}

/// Returns the path of a data file outside the repository.
fn shared(name: &str) -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data").join(name);
    if !path.exists() {
        assert!(std::env::var_os("CI").is_none(), "{name} is not beside the checkout");
        eprintln!("skipped: {name} is not beside the checkout");
    }
    path.exists().then(|| path.canonicalize().unwrap())
}

/// The synthetic voters of the shared tool have the scores that the tool's tables give: voters of 2020 by county, which
/// are the adults of the Census times one factor per class, and the Census surnames of 2010.
#[test]
fn scores_of_the_synthetic_state_are_found_again() {
    let (Some(voters), Some(counties), Some(surnames)) =
        (shared("nc_synth_100k.parquet"), shared("nc_county_race.csv"), shared("census_surname_counts_2010.parquet"))
    else {
        return;
    };
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    let margin = [0.72608, 0.21680, 0.02285, 0.01045, 0.00880, 0.01502];
    let all: Vec<_> =
        rows(&fs::read_to_string(counties).unwrap()).into_iter().filter(|row| row["year"] == "2020").collect();
    let adults =
        |row: &HashMap<String, String>| CLASSES.map(|class| row[&format!("vap_{class}")].parse::<f64>().unwrap());
    let mut sums = [0.0; 6];
    all.iter().for_each(|row| sums.iter_mut().zip(adults(row)).for_each(|(sum, people)| *sum += people));
    let mut table = "county_fips,n_white,n_black,n_hispanic,n_asian,n_aian,n_other\n".to_owned();
    for row in &all {
        let people = adults(row);
        let weights = (0..6).map(|class| (1e9 * people[class] / sums[class] * margin[class]).to_string());
        table.push_str(&format!("{},{}\n", row["county_fips"], weights.collect::<Vec<_>>().join(",")));
    }
    fs::write(folder.join("voters_by_county.csv"), table).unwrap();
    let line = [
        "predict",
        voters.to_str().unwrap(),
        "-o",
        "again.parquet",
        "-q",
        "--prefix",
        "again_",
        "--json",
        "--county",
        "county_fips",
        "--geography",
        "voters_by_county.csv",
        "--surnames",
        surnames.to_str().unwrap(),
    ];
    let found = json(folder, &line);
    // Rare names have a row in the table, under its name for all other names.
    assert_eq!(found["surname_match"]["exact"], 100_000);

    let reader = parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder::try_new(
        fs::File::open(folder.join("again.parquet")).unwrap(),
    );
    let (mut seen, mut bins) = (0, vec![[0.0f64; 10]; 6]);
    for batch in reader.unwrap().build().unwrap() {
        let batch = batch.unwrap();
        let column = |name: String| {
            use arrow_array::cast::AsArray;
            batch.column_by_name(&name).unwrap().as_primitive::<arrow_array::types::Float64Type>().clone()
        };
        let race = arrow_cast::cast(batch.column_by_name("race").unwrap(), &arrow_schema::DataType::Utf8).unwrap();
        for (class, name) in CLASSES.iter().enumerate() {
            let (theirs, ours) = (column(format!("p_{name}")), column(format!("again_{name}")));
            for row in 0..batch.num_rows() {
                use arrow_array::cast::AsArray;
                assert!((theirs.value(row) - ours.value(row)).abs() < 1e-9);
                let truth = f64::from(u8::from(race.as_string::<i32>().value(row) == *name));
                let bin = ((ours.value(row) * 10.0) as usize).min(9);
                bins[class][bin] += ours.value(row) - truth;
            }
        }
        seen += batch.num_rows();
    }
    assert_eq!(seen, 100_000);
    // Sampling error alone gives about 0.002 for this number of people; bench-predict measures 4.2 million.
    for (class, bins) in CLASSES.iter().zip(bins) {
        let error: f64 = bins.iter().map(|bin| bin.abs()).sum::<f64>() / seen as f64;
        assert!(error < 0.004, "{class}: {error}");
    }
}
