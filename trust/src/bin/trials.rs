//! `trials`: campaigns of damaged files, random problems and simulated estimates. Deterministic for a seed; exits with 1 if a trial fails.
#![allow(clippy::print_stdout, clippy::print_stderr)] // its results

use std::error::Error;
use std::process::ExitCode;
use std::time::Instant;

use apportion_trust::trials::plan::Plan;
use apportion_trust::trials::{Report, child, files, problems};
use apportion_trust::{corpus, estimators, samples};

const USAGE: &str = "\
usage: trials files --count 100000 --seed 1              damaged files of all formats, in child processes
       trials solver --small 1000000 --large 1000 --seed 1   random problems against independent oracles
       trials replay all|TARGET --mutations 20 --seed 1      every stored input, and mutations of each
       trials repeat files|small|large --seed 1 --trial 123 [--save FILE]   one trial again, with its panic
       trials try TARGET FILE                                 one file
       trials samples                                         writes the valid files of the corpora
       trials estimators --files 2000 --birdie-files 2000 --results FILE.json   bias and coverage of the estimators
files, solver and replay take --results FILE.json, too";

/// The maximum number of failures printed; all are counted.
const SHOWN: usize = 40;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match run(&words) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error}\n{USAGE}");
            ExitCode::from(2)
        }
    }
}

/// Returns the value of an option, or its default.
fn option(words: &[String], name: &str, default: u64) -> Result<u64, Box<dyn Error>> {
    let Some(place) = words.iter().position(|word| word == name) else { return Ok(default) };
    let value = words.get(place + 1).ok_or_else(|| format!("{name} needs a number"))?;
    Ok(value.parse().map_err(|_| format!("{name}: {value} is not a number"))?)
}

fn text(words: &[String], name: &str) -> Option<String> {
    words.iter().position(|word| word == name).and_then(|place| words.get(place + 1)).cloned()
}

/// Runs a command; returns whether there were no failures.
fn run(words: &[String]) -> Result<bool, Box<dyn Error>> {
    let command = words.first().map(String::as_str).unwrap_or_default();
    let seed = option(words, "--seed", 1)?;
    let begun = Instant::now();
    match command {
        "files" => {
            let count = option(words, "--count", 100_000)?;
            let child = ["files-range", "--seed", &seed.to_string(), "--range"].map(str::to_owned);
            show(&files::run(&Plan::files(seed), count, &child)?.refuse_vacuous(), "files", words, begun)
        }
        "replay" => {
            let (plan, child) = replay(words, seed)?;
            let count = plan.len().unwrap_or(0);
            show(&files::run(&plan, count, &child)?.refuse_vacuous(), "replay", words, begun)
        }
        "files-range" | "replay-range" => {
            let plan = if command == "files-range" { Plan::files(seed) } else { replay(words, seed)?.0 };
            let start = option(words, "--range", 0)?;
            let end = words.last().and_then(|word| word.parse().ok()).unwrap_or(start);
            child::run(&plan, start..end)?;
            Ok(true)
        }
        "solver" => {
            let mut report = problems::run("small", option(words, "--small", 1_000_000)?, seed);
            report.add(problems::run("large", option(words, "--large", 1_000)?, seed));
            show(&report.refuse_vacuous(), "solver", words, begun)
        }
        "repeat" => repeat(words, seed),
        "estimators" => {
            let (files, birdie_files) = (option(words, "--files", 2000)?, option(words, "--birdie-files", 2000)?);
            let results = estimators::run(files, birdie_files, |case| eprintln!("{case}"))?;
            let path = text(words, "--results").ok_or("--results FILE.json is required")?;
            std::fs::write(path, format!("{results:#}\n"))?;
            println!("simulated in {:.0} s", begun.elapsed().as_secs_f64());
            Ok(true)
        }
        "try" => {
            let (Some(target), Some(path)) =
                (words.get(1).and_then(|name| apportion_trust::target(name)), words.get(2))
            else {
                return Err("try needs a target and a file".into());
            };
            println!("{:?}", (target.run)(&std::fs::read(path)?));
            Ok(true)
        }
        "samples" => {
            for (name, bytes) in samples::all()? {
                let path = corpus::folder().join("corpus").join(name);
                std::fs::create_dir_all(path.parent().unwrap_or(&path))?;
                std::fs::write(path, bytes)?;
            }
            Ok(true)
        }
        _ => Err("unknown command".into()),
    }
}

/// Returns the plan of a replay, and the arguments with which a child process runs a range of it.
fn replay(words: &[String], seed: u64) -> Result<(Plan, Vec<String>), Box<dyn Error>> {
    let target = words.get(1).cloned().unwrap_or_else(|| "all".into());
    let mutations = option(words, "--mutations", 20)?;
    let plan = Plan::replay(&target, mutations, seed);
    if plan.is_empty() {
        return Err(format!("there is no input of the target {target}").into());
    }
    let (mutations, seed) = (mutations.to_string(), seed.to_string());
    let child = ["replay-range", &target, "--mutations", &mutations, "--seed", &seed, "--range"].map(str::to_owned);
    Ok((plan, child.to_vec()))
}

/// Repeats one trial.
fn repeat(words: &[String], seed: u64) -> Result<bool, Box<dyn Error>> {
    let number = option(words, "--trial", 0)?;
    let kind = words.get(1).map(String::as_str).unwrap_or_default();
    if problems::KINDS.contains(&kind) {
        println!("{:?}", problems::one(kind, seed, number));
        return Ok(true);
    }
    let plan =
        if kind == "files" { Plan::files(seed) } else { Plan::replay(kind, option(words, "--mutations", 20)?, seed) };
    let trial = plan.trial(number).ok_or("no such trial")?;
    println!("{} from {}: {} bytes", trial.format, trial.base, trial.bytes.len());
    if let Some(path) = text(words, "--save") {
        std::fs::write(path, &trial.bytes)?;
    }
    println!("{:?}", child::one(&trial));
    Ok(true)
}

/// Prints the report as a line of JSON, and the failures; returns whether there were no failures. With `--results
/// FILE`, the report is also written to that file, under the name of the campaign.
fn show(report: &Report, campaign: &str, words: &[String], begun: Instant) -> Result<bool, Box<dyn Error>> {
    let seed = option(words, "--seed", 1)?;
    for failure in report.failures.iter().take(SHOWN) {
        let shown: String = failure.problem.chars().take(600).collect();
        eprintln!("failure: {campaign}, seed {seed}, trial {}: {}: {shown}", failure.trial, failure.kind);
    }
    let json = report.json(campaign, seed, begun.elapsed().as_secs_f64());
    println!("{json}");
    if let Some(path) = text(words, "--results") {
        let old = std::fs::read_to_string(&path).ok().and_then(|old| serde_json::from_str(&old).ok());
        let mut all: serde_json::Map<String, serde_json::Value> = old.unwrap_or_default();
        all.insert(campaign.to_owned(), json);
        std::fs::write(path, format!("{}\n", serde_json::to_string_pretty(&all)?))?;
    }
    Ok(report.failures.is_empty())
}
