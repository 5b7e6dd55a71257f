//! Reads a file of people, and computes scores, labels by county, a comparison of rules and a report.
#![allow(clippy::print_stdout)] // An example shows its results.
use apportion_app::input::Source;
use apportion_app::simulate::{Population, Voters};
use apportion_app::{Context, compare, label, predict, simulate};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = tempfile::tempdir()?;
    let path = |name: &str| folder.path().join(name).display().to_string();
    let context = Context::default();

    let mut people = simulate::Request { rows: Some(5000), output: Some(path("people.csv")), ..Default::default() };
    people.population = Population::Voters(Voters { no_scores: true, ..Default::default() });
    simulate::run(&people, &context)?;

    let mut scores = predict::Request { source: Source::files([path("people.csv")]), ..Default::default() };
    scores.output = Some(path("scores.parquet"));
    let scored = predict::run(&scores, &context)?;
    println!("{} people scored, classes {}", scored.people, scored.classes.join(", "));

    let mut labels = label::Request::default();
    labels.table.source = Source::files([path("scores.parquet")]);
    labels.table.by = vec!["county".into()];
    labels.output.output = path("labels.parquet");
    let labeled = label::run(&labels, &context)?;
    println!("counts by class {:?}, targets {:?}", labeled.contract.counts, labeled.contract.targets);

    let mut rules = compare::Request { table: labels.table.clone(), ..Default::default() };
    rules.table.truth = Some("race".into());
    rules.report.report = Some(path("report.html").into());
    let compared = compare::run(&rules, &context)?;
    println!("{}", compared.text());
    println!("the report has {} bytes", std::fs::metadata(path("report.html"))?.len());
    Ok(())
}
