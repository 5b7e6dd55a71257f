//! Messages and exit codes for mistakes in the command line.
#![allow(clippy::unwrap_used)] // also in helpers

mod common;

use std::fs;
use std::path::Path;

use common::{apportion, misused, names_in, refused, run, text};
use tempfile::TempDir;

const TABLE: &str =
    "id,p_white,p_black,p_other,race,county\n1,.6,.3,.1,White,A\n2,.3,.6,.1,Black,A\n3,.5,.4,.1,black,B\n";

fn folder() -> TempDir {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("t.csv"), TABLE).unwrap();
    folder
}

fn split(line: &str) -> Vec<&str> {
    line.split_whitespace().collect()
}

/// Runs commands that must fail because of the data, and compares their messages.
fn refuses(folder: &Path, cases: &[(&str, &str)]) {
    let before = names_in(folder);
    for (line, expected) in cases {
        assert_eq!(&refused(folder, &split(line)), expected, "{line}");
        assert_eq!(names_in(folder), before, "{line}");
    }
}

#[test]
fn a_misspelt_word_is_guessed() {
    let folder = folder();
    refuses(
        folder.path(),
        &[
            (
                "label t.csv -o o.csv --by conuty",
                "--by: there is no column \"conuty\" (did you mean \"county\"?); the columns are id, p_white, p_black, p_other, \
                 race, county",
            ),
            (
                "label t.csv -o o.csv --scores white,p_black,p_other",
                "--scores: there is no column \"white\" (did you mean \"p_white\"?); the columns are id, p_white, p_black, \
                 p_other, race, county",
            ),
            (
                "label t.csv -o o.csv --rule threshold --at 0.8,blakc=0.5",
                "--at: unknown class \"blakc\"; the classes are white, black, other (did you mean \"black\"?)",
            ),
            (
                "label t.csv -o o.csv --at-least Black=1",
                "--at-least: unknown class \"Black\"; the classes are white, black, other (did you mean \"black\"?)",
            ),
            (
                "audit t.csv --label race --label-map White=white,Black=black --focus wite",
                "--focus: unknown class \"wite\"; the classes are white, black, other (did you mean \"white\"?)",
            ),
            // There is no suggestion if no name is similar.
            (
                "audit t.csv --label race --label-map White=white,Black=black --focus purple",
                "--focus: unknown class \"purple\"; the classes are white, black, other",
            ),
        ],
    );
    assert_eq!(
        misused(folder.path(), &split("label t.csv -o o.csv --reference postrior")),
        "invalid value 'postrior' for '--reference <posterior|truth|uniform|em|pacc|FILE>': it must be posterior, truth, \
         uniform, em, pacc or a file (did you mean \"posterior\"?); there is no such file"
    );
}

#[test]
fn values_of_the_truth_are_explained() {
    let folder = folder();
    refuses(
        folder.path(),
        &[
            (
                "label t.csv -o o.csv --truth race",
                "--truth: unknown classes in column \"race\": \"White\" (1 row), \"Black\" (1 row); the classes are white, black, other; \
                 map them with --truth-map VALUE=CLASS (such as --truth-map White=white,Black=black), or treat them as missing \
                 with --truth-exclude VALUE",
            ),
            (
                "audit t.csv --label race",
                "--label: unknown classes in column \"race\": \"White\" (1 row), \"Black\" (1 row); the classes are white, \
                 black, other; map them with --label-map VALUE=CLASS (such as --label-map White=white,Black=black), or treat \
                 them as unlabeled with --uncoded VALUE",
            ),
            // Unknown classes are also refused if the value is not in the file.
            (
                "label t.csv -o o.csv --truth race --truth-map X=unknown",
                "--truth-map X=unknown: unknown class \"unknown\"; the classes are white, black, other",
            ),
            (
                "label t.csv -o o.csv --truth race --truth-map W=White",
                "--truth-map W=White: unknown class \"White\" (did you mean \"white\"?); the classes are white, black, \
                 other",
            ),
        ],
    );
    // The suggested command works.
    run(folder.path(), &split("label t.csv -o o.csv --truth race --truth-map White=white,Black=black -q"));
}

/// An error in the command line ends with 2, an error in the data with 1.
#[test]
fn wrong_values_end_with_2() {
    let folder = folder();
    let before = names_in(folder.path());
    for (options, expected) in [
        (
            "--rule threshold --at much",
            "invalid value 'much' for '--at <T[,CLASS=T]>': \"much\" is not a number: write 0.8, or",
        ),
        (
            "--rule threshold --at 0.8,black=8",
            "invalid value 'black=8' for '--at <T[,CLASS=T]>': it must be from 0 to 1",
        ),
        ("--rule threshold --at 0.8,0.5", "--at: several thresholds for all classes; name the classes of the others"),
        ("--rule balance --gamma 2", "invalid value '2' for '--gamma <0|0.001…1>': it must be 0, or from 0.001 to 1"),
        ("--coverage 70", "invalid value '70' for '--coverage <SHARE>': it must be from 0 to 1"),
        ("--at-least black", "invalid value 'black' for '--at-least <CLASS=N|P%>': it must be CLASS=N or CLASS=P%"),
        ("--at-most black=x", "invalid value 'black=x' for '--at-most <CLASS=N|P%>': \"x\" is neither a whole number"),
        ("--rule top-k --k 0", "invalid value '0' for '--k <K>': it must be from 1 to 255"),
        (
            "--truth race --truth-map White",
            "invalid value 'White' for '--truth-map <VALUE=CLASS,…>': \"White\" is neither VALUE=CLASS nor a built-in map",
        ),
        ("--delimiter ab", "invalid value 'ab' for '--delimiter <CHAR>': it must be one character, or tab"),
        ("--rule match --gamma 0.5", "--gamma requires --rule balance"),
        ("--rule argmax --coverage 0.5", "--coverage requires --rule match or --rule balance"),
        ("--rule matsch", "invalid value 'matsch' for '--rule <RULE>'"),
        ("--only-label", "--only-label writes the ID and the label; name the ID column with --id"),
        ("-o - --json", "the argument '--output <OUT>' cannot be used multiple times"),
    ] {
        let line = format!("label t.csv -o o.csv {options}");
        let found = misused(folder.path(), &split(&line));
        assert!(found.starts_with(expected), "{line}: {found}");
    }
    for (line, expected) in [
        (
            "compare t.csv --label race --uncoded Uncoded=drop",
            "--uncoded Uncoded=drop: only `audit` drops or fills unlabeled rows; use --uncoded Uncoded=keep",
        ),
        (
            "audit t.csv --label race --uncoded Uncoded=dorp",
            "invalid value 'Uncoded=dorp' for '--uncoded <VALUE[,VALUE][=keep|drop|argmax]>': \"dorp\" is not one of argmax, drop and keep \
             (did you mean \"drop\"?)",
        ),
        (
            "audit t.csv --label race --label-map White",
            "invalid value 'White' for '--label-map <VALUE=CLASS,…>': \"White\" is neither VALUE=CLASS nor a built-in map",
        ),
        ("label t.csv -o - --json", "-o - and --json both write to standard output; choose one"),
        ("compare t.csv --batch 0", "invalid value '0' for '--batch <ROWS>'"),
        ("frontier t.csv --gamma 0.5", "unexpected argument '--gamma' found"),
        ("label t.csv -o o.csv --tolerance 0.1", "--tolerance: match hits its targets exactly"),
        (
            "label t.csv -o o.csv --margin 0.1",
            "invalid value '0.1' for '--margin <VALUE>': it has been renamed to --tolerance",
        ),
        (
            "fit t.csv -o o.json --rule learned --batch 9",
            "invalid value '9' for '--batch <VALUE>': it has been renamed to --train-rows",
        ),
        ("simulate voters --rows 5 --sharpen -1 -o o.csv", "unexpected argument '-1' found"),
        (
            "simulate voters --rows 5 --sharpen=-1 -o o.csv",
            "invalid value '-1' for '--sharpen <POWER>': it must be 0 or more",
        ),
    ] {
        let found = misused(folder.path(), &split(line));
        assert!(found.starts_with(expected), "{line}: {found}");
    }
    assert_eq!(names_in(folder.path()), before);
    let found = refused(folder.path(), &split("label t.csv -o o.csv --reference nowhere.csv"));
    assert_eq!(found, "--reference nowhere.csv: nowhere.csv: no such file; check the path");
}

#[test]
fn similar_options_and_commands_are_suggested() {
    let folder = folder();
    for (line, tip) in [
        ("label t.csv -o o.csv --by-county", "a similar argument exists: '--by', as in '--by county'"),
        ("audit t.csv --truth_race", "a similar argument exists: '--truth', as in '--truth race'"),
        ("label t.csv -o o.csv --truth-exlude x", "a similar argument exists: '--truth-exclude'"),
        ("lable t.csv", "a similar subcommand exists: 'label'"),
        ("simulate voter", "a similar subcommand exists: 'voters'"),
    ] {
        let output = apportion(folder.path(), &split(line));
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{line}: {said}");
        assert!(said.contains(&format!("tip: {tip}\n")), "{line}: {said}");
    }
}

#[test]
fn what_is_no_table_in_a_folder_is_passed_over() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    fs::create_dir_all(folder.join("parts/_temporary")).unwrap();
    let write = |name: &str, content: &str| fs::write(folder.join("parts").join(name), content).unwrap();
    write("part-0.csv", TABLE);
    write("part-1.txt", &TABLE.replace(',', "\t"));
    write("readme.txt", "These rows were made on a Tuesday, with care.\n");
    let output = apportion(folder, &split("label parts -o one.csv"));
    assert!(text(&output.stderr).starts_with("skipped (not a table): parts/_temporary, parts/readme.txt\n"));
    for name in ["NOTES.md", "_SUCCESS", ".part-0.csv.crc", "part-0.csv.crc", ".hidden.csv"] {
        write(name, "");
    }
    let output = apportion(folder, &split("label parts -o all.csv"));
    let said = text(&output.stderr);
    assert!(output.status.success(), "{said}");
    let expected = "skipped (not a table): parts/.hidden.csv, parts/.part-0.csv.crc, parts/NOTES.md, parts/_SUCCESS, \
                    parts/_temporary and 2 more\n";
    assert!(said.starts_with(expected), "{said}");
    assert_eq!(fs::read_to_string(folder.join("all.csv")).unwrap().lines().count(), 7);
    // -q suppresses the note, and a file that is given explicitly is read.
    assert_eq!(text(&apportion(folder, &split("label parts -o quiet.csv -q")).stderr), "");
    let found = refused(folder, &split("label parts/readme.txt -o o.csv"));
    assert!(found.starts_with("parts/readme.txt: no score columns were recognized"), "{found}");
}

#[cfg(unix)]
#[test]
fn a_named_pipe_in_a_folder_is_passed_over() {
    let folder = folder();
    fs::create_dir(folder.path().join("parts")).unwrap();
    fs::write(folder.path().join("parts/part-0.csv"), TABLE).unwrap();
    let made = std::process::Command::new("mkfifo").arg(folder.path().join("parts/part-1.csv")).status();
    assert!(made.unwrap().success());
    let output = apportion(folder.path(), &split("label parts -o all.csv"));
    let said = text(&output.stderr);
    assert!(said.starts_with("skipped (not a table): parts/part-1.csv\n"), "{said}");
}

#[test]
fn outputs_do_not_go_where_the_next_run_looks_for_inputs() {
    let folder = folder();
    let folder = folder.path();
    fs::create_dir_all(folder.join("parts/north")).unwrap();
    fs::write(folder.join("parts/north/part-0.csv"), TABLE).unwrap();
    for output in ["parts/labels/", "parts/north/labels.csv", "./parts/../parts/new/labels/", "parts/labels.parquet"] {
        let found = refused(folder, &["label", "parts", "-o", output]);
        let expected =
            "it is inside the input folder parts, so the next run would read it as an input; choose another output";
        assert!(found.contains(expected), "{output}: {found}");
    }
    // Hidden folders are not read. If the input is a single file, other files in its folder are not read.
    run(folder, &split("label parts -o parts/_labels/ -q"));
    run(folder, &split("label parts/north/part-0.csv -o parts/north/labels.csv -q"));
}

#[test]
fn a_name_that_is_free_is_proposed() {
    let folder = folder();
    let folder = folder.path();
    run(folder, &split("label t.csv -o once.csv -q"));
    let found = refused(folder, &split("label once.csv -o twice.csv"));
    assert_eq!(found, "the input already has a column \"label\"; name the new one with --as label_2");
    run(folder, &split("label once.csv -o twice.csv --as label_2 -q"));
    let found = refused(folder, &split("label twice.csv -o thrice.csv"));
    assert_eq!(found, "the input already has a column \"label\"; name the new one with --as label_3");

    fs::write(folder.join("cells.csv"), "p_white,p_black,n_white,people\n.5,.5,1,2\n").unwrap();
    let found = refused(folder, &split("label cells.csv -o o.csv --count people"));
    assert!(found.starts_with("the input already has a column \"n_white\"; rename it"), "{found}");
}

#[test]
fn a_decision_for_other_classes_says_which_and_how_to_rename() {
    let folder = folder();
    let folder = folder.path();
    run(folder, &split("fit t.csv -o d.json -q"));
    let write = |name: &str, header: &str| {
        let rows = TABLE.split_once('\n').unwrap().1;
        fs::write(folder.join(name), format!("{header},race,county\n{rows}")).unwrap();
    };
    write("order.csv", "id,p_black,p_white,p_other");
    write("names.csv", "id,p_caucasian,p_black,p_rest");
    fs::write(folder.join("two.csv"), "p_white,p_black\n.5,.5\n").unwrap();
    refuses(
        folder,
        &[
            (
                "apply names.csv --decision d.json -o o.csv",
                "d.json: the table does not have \"white\", \"other\", and the decision does not have \"caucasian\", \"rest\"; if \
                 they are the same, rename the classes of the table (caucasian, black, rest) with --classes white,black,other \
                 (and put the columns in that order with --scores)",
            ),
            (
                "apply two.csv --decision d.json -o o.csv",
                "d.json: the table does not have \"other\"; choose the columns with --scores, or fit a decision to this table",
            ),
        ],
    );
    // A decision finds its columns by name, in any order.
    run(folder, &split("apply order.csv --decision d.json -o order.out.csv -q"));
    run(folder, &split("apply names.csv --decision d.json -o names.out.csv --classes white,black,other -q"));
}
