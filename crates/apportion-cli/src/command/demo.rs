//! `apportion demo`: all of it, on people who do not exist.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use apportion_bisg::census::{CLASSES, NC_VOTER_SHARES};
use apportion_io::write_atomically;
use clap::{Args, Parser};

use crate::Program;
use crate::text;
use crate::values;

/// Options of `demo`.
#[derive(Args)]
#[command(after_help = "\
Examples:
  apportion demo
  apportion demo --rows 1000000 --folder /tmp/demo
  apportion demo --report demo.html")]
pub(crate) struct DemoArgs {
    /// How many people.
    #[arg(long, default_value_t = 100_000, value_parser = clap::value_parser!(u64).range(1..=1 << 40))]
    rows: u64,
    /// Where the files go.
    #[arg(long, default_value = "apportion-demo")]
    folder: PathBuf,
    /// Where the page goes that shows it all (.html, or .md for Markdown); report.html in that folder where it is not given.
    #[arg(long, value_name = "FILE.html|FILE.md", value_parser = values::report)]
    report: Option<PathBuf>,
    /// Writes every chart of the page into a folder: its numbers (.csv), and its specification for Plotly (.json).
    #[arg(long, value_name = "DIR")]
    figures: Option<PathBuf>,
    /// Replaces what an earlier demonstration wrote there.
    #[arg(long)]
    force: bool,
}

pub(crate) fn run(args: &DemoArgs) -> Result<()> {
    if args.folder.exists() && !args.force {
        bail!("{}: it exists already; name another with --folder, or allow it with --force", args.folder.display());
    }
    std::fs::create_dir_all(&args.folder).with_context(|| args.folder.display().to_string())?;
    let path = |name: &str| args.folder.join(name).display().to_string();
    let (people, margin, rows) = (path("people.parquet"), path("margin.csv"), args.rows.to_string());
    let (voters, labelled) = (path("voters.parquet"), path("labelled.parquet"));
    let (counties, report) =
        (path("counties.topojson"), args.report.as_ref().map(|report| report.display().to_string()));
    let (report, figures) = (report.unwrap_or_else(|| path("report.html")), args.figures.as_ref());
    let figures: Vec<String> =
        figures.map_or_else(Vec::new, |folder| vec!["--figures".into(), folder.display().to_string()]);
    write_atomically(Path::new(&counties), apportion_bisg::census::NC_COUNTIES_TOPOJSON.as_bytes())?;
    write_atomically(Path::new(&margin), voter_shares().as_bytes())?;
    let mut compare = vec!["compare", &voters, "--truth", "race", "--by", "county", "--geometry", &counties];
    compare.extend(["--report", &report].into_iter().chain(figures.iter().map(String::as_str)));
    compare.push("--quiet");
    compare.extend(args.force.then_some("--force"));
    let mut predict = vec!["predict", &people, "-o", &voters, "--model", "voter", "--margin", &margin];
    predict.extend(["--within", "NC", "--force"]);
    let steps: [(&str, Vec<&str>); 6] = [
        (
            "A voter file of people who do not exist: their names, and which of North Carolina's counties they live in.",
            vec!["simulate", "voters", "--no-scores", "--rows", &rows, "-o", &people, "--force"],
        ),
        ("Scores from names and places. The Census is inside; the margin says who is registered.", predict),
        (
            "Every rule side by side. Argmax is the most accurate, and its counts are off; match has them right.",
            compare,
        ),
        ("Labels whose counts are right, at the least cost.", vec!["label", &voters, "-o", &labelled, "--force"]),
        (
            "How far they are off, against the scores and against the truth.",
            vec!["audit", &labelled, "--label", "label", "--truth", "race", "--by", "county", "--quiet"],
        ),
        ("And the whole trade between the two, of which five points.", vec!["frontier", &voters, "--points", "5"]),
    ];
    for (words, command) in steps {
        let shown = command.iter().filter(|word| **word != "--force").copied().collect::<Vec<_>>().join(" ");
        text::print(format!("\n# {words}\n$ apportion {shown}"))?;
        let line: Vec<String> = std::iter::once("apportion").chain(command).map(String::from).collect();
        Program::parse_from(&line).command.run(&line)?;
    }
    text::print_text(format!("\n# All of it to look at, in any browser: {report}"))
}

/// The shares of the classes among the voters, as a margin.
fn voter_shares() -> String {
    let rows = CLASSES.iter().zip(NC_VOTER_SHARES).map(|(class, share)| format!("{class},{share}\n"));
    std::iter::once("class,share\n".to_owned()).chain(rows).collect()
}
