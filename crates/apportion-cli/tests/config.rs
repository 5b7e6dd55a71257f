//! Options from a file that `--config` names: for all commands or for one, below those of the command line.
#![allow(clippy::unwrap_used)] // also in helpers

mod common;

use std::fs;
use std::path::Path;

use common::{apportion, json, misused, refused, run, text};
use tempfile::TempDir;

const CONFIG: &str = "\
# for all commands
by = \"county\"
truth = \"race\"
id = \"id\"

[label]
rule = \"balance\"
gamma = 0.95
at-least = { black = \"5%\" }

[audit]
label = \"label\"
uncoded = [\"Uncoded\", \"Unknown\"]

[disparity]
outcome = \"race\"
outcome-value = \"white\"
";

/// The SHA-256 of the file, by `sha256sum`.
const SHA256: &str = "efc8dc62f364e99a35de35b7a594e71c170ce316286d515419a7931771b2744d";

fn voters() -> TempDir {
    let folder = TempDir::new().unwrap();
    run(folder.path(), &["simulate", "voters", "--rows", "300", "--seed", "5", "-o", "voters.csv", "-q"]);
    fs::write(folder.path().join("study.toml"), CONFIG).unwrap();
    folder
}

fn words(line: &str) -> Vec<&str> {
    line.split(' ').collect()
}

/// Returns the JSON of a label command without its provenance, which differs in the command.
fn labeled(folder: &Path, options: &str) -> serde_json::Value {
    let mut found =
        json(folder, &words(format!("label voters.csv -o out.parquet --force --json -q {options}").trim_end()));
    found.as_object_mut().unwrap().remove("provenance").unwrap();
    found
}

#[test]
fn options_of_the_file_are_those_of_the_command_line() {
    let folder = voters();
    let folder = folder.path();
    let all = "--by county --truth race --id id --rule balance --gamma 0.95 --at-least black=5%";
    assert_eq!(labeled(folder, "--config study.toml"), labeled(folder, all));
    // The command line overrides the file.
    let other = all.replace("0.95", "0.9").replace("--by county", "--by race");
    assert_eq!(labeled(folder, "--config study.toml --gamma 0.9 --by race"), labeled(folder, &other));
    // Required options can be in the file.
    let with = run(folder, &words("disparity voters.csv --config study.toml -q"));
    let without = "disparity voters.csv --by county --truth race --id id --outcome race --outcome-value white -q";
    assert_eq!(with, run(folder, &words(without)));
    assert_eq!(misused(folder, &words("disparity voters.csv -q")).lines().count(), 1);
}

#[test]
fn a_flag_of_all_commands_is_unset_for_one() {
    let folder = voters();
    let folder = folder.path();
    let rows = "p_a,p_b\n0.9,0.1\n,0.5\n0.2,0.8\n";
    fs::write(folder.join("some.csv"), rows).unwrap();
    let line = words("label some.csv -o out.csv --force -q --config flags.toml");
    for (config, is_skipped) in [
        ("skip-missing = true", true),
        ("skip-missing = false", false),
        ("skip-missing = true\n[label]\nskip-missing = false", false),
        ("skip-missing = false\n[label]\nskip-missing = true", true),
        ("skip-missing = true\n[audit]\nskip-missing = false", true),
    ] {
        fs::write(folder.join("flags.toml"), config).unwrap();
        let output = apportion(folder, &line);
        assert_eq!(output.status.success(), is_skipped, "{config}: {}", text(&output.stderr));
    }
    // The command line sets a flag that the file unsets.
    fs::write(folder.join("flags.toml"), "[label]\nskip-missing = false").unwrap();
    run(folder, &[&line[..], &["--skip-missing"]].concat());
}

#[test]
fn no_file_is_read_unless_it_is_named() {
    let folder = voters();
    let folder = folder.path();
    let before = labeled(folder, "");
    for name in ["apportion.toml", "config.toml", ".apportion.toml", "label.toml"] {
        fs::write(folder.join(name), CONFIG).unwrap();
    }
    assert_eq!(labeled(folder, ""), before);
}

#[test]
fn the_file_is_in_the_provenance() {
    let folder = voters();
    let folder = folder.path();
    run(folder, &words("label voters.csv -o out.parquet --config study.toml -q"));
    let provenance = json(folder, &["provenance", "out.parquet", "--json"]);
    let file = provenance["inputs"].as_array().unwrap().iter().find(|file| file["role"] == "config").unwrap();
    assert_eq!((&file["name"], &file["sha256"]), (&"study.toml".into(), &SHA256.into()));
    assert_eq!(provenance["options"]["gamma"], 0.95);
    run(folder, &words("verify out.parquet --against voters.csv -q"));
}

#[test]
fn what_is_wrong_in_the_file_is_named() {
    let folder = voters();
    let folder = folder.path();
    let label = words("label voters.csv -o out.csv --config wrong.toml -q");
    for (content, expected) in [
        ("bye = \"county\"", "wrong.toml: there is no option \"bye\" (did you mean \"by\"?)"),
        ("[lable]\nby = \"county\"", "wrong.toml: there is no option \"lable\" (did you mean \"label\"?)"),
        ("[label]\noutcome = \"x\"", "wrong.toml: there is no option \"outcome\" of label"),
        ("[audit]\nbootstrap = \"many\"", "wrong.toml: --bootstrap: \"many\" is not a whole number"),
        ("gamma = 2", "wrong.toml: --gamma: it must be 0, or from 0.001 to 1"),
        ("only-label = \"yes\"", "wrong.toml: --only-label: write only-label = true or only-label = false"),
        ("skip_missing = true", "wrong.toml: there is no option \"skip_missing\" (did you mean \"skip-missing\"?)"),
        (
            "[label]\nat_least = \"a=1\"",
            "wrong.toml: there is no option \"at_least\" of label (did you mean \"at-least\"?)",
        ),
        ("inputs = \"a.csv\"", "wrong.toml: --inputs belongs on the command line; remove it from the file"),
        ("quiet = true", "wrong.toml: --quiet belongs on the command line; remove it from the file"),
        ("rule = \"match\"\ngamma = 0.5", "--gamma requires --rule balance"),
    ] {
        fs::write(folder.join("wrong.toml"), content).unwrap();
        let message = misused(folder, &label);
        assert!(message.starts_with(expected), "{content}: {message}");
    }
    fs::write(folder.join("wrong.toml"), "by = \"county\"\nrule match").unwrap();
    let message = refused(folder, &label);
    assert!(message.starts_with("wrong.toml: line 2: it is not TOML"), "{message}");
    let message = refused(folder, &words("label voters.csv -o out.csv --config nowhere.toml -q"));
    assert!(message.starts_with("nowhere.toml: it cannot be read"), "{message}");
    // Help needs no file.
    let output = apportion(folder, &["label", "--help"]);
    assert!(text(&output.stdout).contains("--config <FILE.toml>"));
}
