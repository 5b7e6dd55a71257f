//! The job `demo`: a demonstration on simulated people. It writes the files that the demonstration needs, and returns
//! the steps, which a front end shows and runs.

use std::fs;
use std::path::{Path, PathBuf};

use apportion::text::{Message, Setting};
use apportion_bisg::census::{CLASSES, NC_COUNTIES_TOPOJSON, NC_VOTER_SHARES};
use apportion_io::write_atomically;
use serde::{Deserialize, Serialize};

use crate::{Context, Error, Result};

/// The size of the demonstration, and the folder for its files.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Request {
    /// The number of people.
    pub rows: u64,
    /// The folder for the files.
    pub folder: PathBuf,
    /// The page with the results; `report.html` in the folder if not set.
    pub report: Option<PathBuf>,
    /// A folder for the charts of the page.
    pub figures: Option<PathBuf>,
    /// Whether to replace the files of an earlier demonstration.
    pub force: bool,
}

impl Default for Request {
    fn default() -> Request {
        Request { rows: 100_000, folder: "apportion-demo".into(), report: None, figures: None, force: false }
    }
}

/// The file with the labels of the demonstration, which a spreadsheet can open.
const LABELED: &str = "labeled.csv";

/// The steps of a demonstration.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct Response {
    /// The steps, in order.
    pub steps: Vec<Step>,
    /// The report that the steps write.
    pub report: PathBuf,
    /// The file with the labels of all people.
    pub labeled: PathBuf,
}

/// A job to run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct Step {
    /// The purpose of the step.
    pub title: String,
    /// The name of the job, including what it simulates: `simulate voters`.
    pub job: String,
    /// The files to read.
    pub inputs: Vec<String>,
    /// The settings by id, in order, each with its value or null.
    #[cfg_attr(feature = "schema", schemars(with = "Vec<(String, Option<String>)>"))]
    pub settings: Vec<(Setting, Option<String>)>,
}

impl Step {
    pub(crate) fn new(title: &str, job: &str, inputs: &[&str]) -> Step {
        let inputs = inputs.iter().map(|input| (*input).to_owned()).collect();
        Step { title: title.into(), job: job.into(), inputs, settings: Vec::new() }
    }

    pub(crate) fn with(mut self, setting: Setting, value: impl Into<String>) -> Step {
        self.settings.push((setting, Some(value.into())));
        self
    }

    /// Adds a setting that names a column, if there is one.
    pub(crate) fn with_column(self, setting: Setting, column: Option<&str>) -> Step {
        match column {
            Some(column) => self.with(setting, column),
            None => self,
        }
    }

    fn set(mut self, setting: Setting) -> Step {
        self.settings.push((setting, None));
        self
    }
}

/// Writes the files of the demonstration, and returns its steps.
///
/// # Errors
/// If the folder exists, or cannot be written.
pub fn run(request: &Request, _: &Context) -> Result<Response> {
    if !cfg!(feature = "files") {
        return Err(Error::data("the demonstration uses files, but this build of apportion does not support files"));
    }
    let folder = &request.folder;
    if folder.exists() && !request.force {
        let problem = format!("{}: already exists; choose another folder with ", folder.display());
        let fix = Message::from(problem) + Setting::Folder + ", or replace its files with " + Setting::Force;
        return Err(Error::Data(fix));
    }
    fs::create_dir_all(folder).map_err(|error| apportion_io::Error::io(folder, &error))?;
    let (counties, margin) = (folder.join("counties.topojson"), folder.join("margin.csv"));
    write_atomically(&counties, NC_COUNTIES_TOPOJSON.as_bytes())?;
    write_atomically(&margin, voter_shares().as_bytes())?;
    let report = request.report.clone().unwrap_or_else(|| folder.join("report.html"));
    let labeled = folder.join(LABELED);
    Ok(Response { steps: steps(request, &counties, &margin, &report), report, labeled })
}

fn steps(request: &Request, counties: &Path, margin: &Path, report: &Path) -> Vec<Step> {
    let text = |path: &Path| path.display().to_string();
    let file = |name: &str| text(&request.folder.join(name));
    let (people, voters) = (file("people.parquet"), file("voters.parquet"));
    let (statewide, labeled) = (file("statewide.parquet"), file(LABELED));
    let simulate = Step::new(
        "A simulated voter file: names, and places in North Carolina. These people do not exist.",
        "simulate voters",
        &[],
    )
    .set(Setting::NoScores)
    .with(Setting::Rows, request.rows.to_string())
    .with(Setting::Output, &people)
    .set(Setting::Force);
    let predict = Step::new(
        "Scores from names and block groups by built-in Census tables. The margin has the shares of registered voters.",
        "predict",
        &[&people],
    )
    .with(Setting::Output, &voters)
    .with(Setting::Model, "voter")
    .with(Setting::FirstName, "first_name")
    .with(Setting::Margin, text(margin))
    .with(Setting::Within, "NC")
    .set(Setting::Force);
    let mut compare = Step::new(
        "All rules side by side, and a report. Argmax has the highest expected accuracy, but wrong counts.",
        "compare",
        &[&voters],
    )
    .with(Setting::Truth, "race")
    .with(Setting::By, "county")
    .with(Setting::Geometry, text(counties))
    .with(Setting::Report, text(report));
    if let Some(figures) = &request.figures {
        compare = compare.with(Setting::Figures, text(figures));
    }
    compare = compare.set(Setting::Quiet);
    if request.force {
        compare = compare.set(Setting::Force);
    }
    let label_state = Step::new("Labels whose counts are right for the whole state.", "label", &[&voters])
        .with(Setting::Output, &statewide)
        .set(Setting::Force);
    let audit_state =
        audit("The audit: the counts are right for the state, but not in each county. See the last table.", &statewide);
    let label_counties = Step::new("Labels whose counts are right in each county.", "label", &[&voters])
        .with(Setting::Output, &labeled)
        .with(Setting::By, "county")
        .set(Setting::Force);
    let audit_counties = audit(
        "The audit: each county's counts are within one person of the scores. The cost is some accuracy.",
        &labeled,
    );
    let frontier = Step::new("The tradeoff between accuracy and counts, at five points.", "frontier", &[&voters])
        .with(Setting::Points, "5");
    vec![simulate, predict, compare, label_state, audit_state, label_counties, audit_counties, frontier]
}

/// Returns a step that compares labels with scores and truth, overall and by county.
fn audit(title: &str, labeled: &str) -> Step {
    Step::new(title, "audit", &[labeled])
        .with(Setting::Label, "label")
        .with(Setting::Truth, "race")
        .with(Setting::By, "county")
        .set(Setting::Quiet)
}

/// Returns the class shares of the voters, as a margin.
fn voter_shares() -> String {
    let mut rows = String::from("class,share\n");
    for (class, share) in CLASSES.iter().zip(NC_VOTER_SHARES) {
        rows += &format!("{class},{share}\n");
    }
    rows
}
