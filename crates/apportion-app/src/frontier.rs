//! Lists all optimal trade-offs between accuracy and fidelity.

use std::path::PathBuf;

use apportion::audit::Interval;
use apportion::rule::{Point, Thinned};
use apportion::text::{Message, Setting};
use apportion::{Frontier, Match};
use apportion_io::MemoryTable;
use apportion_report::{Document, Trade, TradeReference};
use serde::{Deserialize, Serialize};

use crate::estimated_reference::{EstimatedReference, TrainingShares};
use crate::protect::SideInput;
use crate::results::{CsvTable, ResultsFile};
use crate::settings::{Job, check};
use crate::table::TableSettings;
use crate::{Context, Result, reference, text};

/// The table and the reference of a frontier, and the number of points to return.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Request {
    /// The table.
    #[serde(flatten)]
    pub table: TableSettings,
    /// `posterior` (the default), `truth`, `uniform`, `em`, `pacc`, or a file of shares.
    pub reference: Option<String>,
    /// Shares in memory, instead of the file; `reference` may be empty.
    #[serde(skip)]
    pub reference_table: Option<MemoryTable>,
    /// The training shares of the reference `em`.
    #[serde(flatten)]
    pub training: TrainingShares,
    /// The approximate number of points, evenly spaced; all points if not set.
    pub points: Option<u64>,
    /// A file for the points, `.csv` or `.json`.
    pub output: Option<PathBuf>,
    /// Whether to replace the file if it exists.
    pub force: bool,
}

impl Request {
    /// Returns the reference by its name or path.
    pub fn reference_name(&self) -> &str {
        reference::name(self.reference.as_deref(), self.reference_table.as_ref())
    }

    fn side_inputs(&self) -> Vec<SideInput> {
        let name = self.reference_name();
        let is_file = reference::is_file(name) && self.reference_table.is_none();
        let own = is_file.then(|| SideInput::new(Setting::Reference, name));
        own.into_iter().chain(self.training.side_inputs()).collect()
    }
}

/// The optimal trade-offs between accuracy and fidelity.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct Response {
    /// The names of the classes.
    pub classes: Vec<String>,
    /// The largest error in accuracy from linear interpolation between two points; 0 if no points are omitted.
    pub error: f64,
    /// The points, from argmax to match.
    pub points: Vec<Point>,
    /// The share of each class in the reference, if it was estimated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reference_shares: Option<Vec<f64>>,
    /// The 95% interval of each share of the reference, if it was estimated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reference_interval: Option<Vec<Interval>>,
    /// The number of points before some were omitted.
    #[serde(skip)]
    pub all: usize,
    /// The reference at the end of the frontier.
    #[serde(skip)]
    pub reference: TradeReference,
}

impl Response {
    /// Returns the points as CSV, without a final line break.
    pub fn text(&self) -> Message {
        self.table().text().trim_end().into()
    }

    /// Returns the points as a table.
    fn table(&self) -> CsvTable {
        let figures = ["from_gamma", "to_gamma", "accuracy", "fidelity"].map(str::to_owned);
        let mut table = CsvTable::new(figures.into_iter().chain(self.classes.iter().map(|class| format!("n_{class}"))));
        for Point { from_gamma, to_gamma, counts, accuracy, fidelity } in &self.points {
            let figures = [from_gamma, to_gamma, accuracy, fidelity].map(f64::to_string);
            table.push(figures.into_iter().chain(counts.iter().map(u64::to_string)));
        }
        table
    }

    /// Returns a sentence with the number of points and their error, which the job also sends as a note.
    pub fn summary(&self) -> Message {
        let points = text::counted(self.all as u64, "point", "points");
        format!(
            "{points} in total; interpolating between those shown, the error in accuracy is at most {:.1e}",
            self.error
        )
        .into()
    }

    /// Returns the frontier as a report with one chart.
    pub fn document(&self) -> Document {
        let trade = Trade { reference: self.reference, points: self.points.clone(), of: self.all, error: self.error };
        trade.document(&self.classes)
    }
}

/// Computes the frontier of a table.
///
/// # Errors
/// If the settings, the files or the scores are invalid.
pub fn run(request: &Request, context: &Context) -> Result<Response> {
    context.install(|| frontier(request, context))
}

fn frontier(request: &Request, context: &Context) -> Result<Response> {
    check(Job::Frontier, request)?;
    let settings = &request.table;
    settings.check()?;
    reference::check_table(request.reference.as_deref(), request.reference_table.as_ref())?;
    let by = (!settings.by.is_empty()).then_some(Setting::By);
    request.training.check(request.reference_name(), by, settings.truth.is_some())?;
    let input = settings.source.open(context)?;
    let results = ResultsFile::prepare(request.output.as_deref(), &input, &request.side_inputs(), request.force)?;
    let table = settings.read(&input, settings.groups(), context, |_| {})?;
    let scores = table.scores()?;
    let (name, given) = (request.reference_name(), request.reference_table.as_ref());
    let estimated = request.training.estimate(name, &table, &scores, settings.settings().seed, context)?;
    let reference = match &estimated {
        Some(estimated) => estimated.estimate.reference(),
        None => reference::read(name, given, table.classes(), &settings.by, context)?,
    };
    let aim = Match { by_group: !settings.by.is_empty(), ..Match::overall(reference) };
    let working = context.working("computing the frontier");
    let frontier = Frontier::of(&aim, &scores, &settings.settings()).map_err(|error| table.locate(error))?;
    drop(working);
    let Thinned { points, error } = match request.points {
        Some(points) => frontier.thinned(usize::try_from(points).unwrap_or(usize::MAX)),
        None => Thinned { points: frontier.points().collect(), error: 0.0 },
    };
    let is_posterior = name == "posterior";
    let reference = if is_posterior { TradeReference::Posterior } else { TradeReference::Other };
    let classes = table.classes().names().to_vec();
    let response = Response {
        classes,
        error,
        points,
        reference_shares: estimated.as_ref().map(EstimatedReference::shares),
        reference_interval: estimated.as_ref().map(EstimatedReference::intervals),
        all: frontier.len(),
        reference,
    };
    context.note(response.summary());
    if let Some(results) = results {
        results.write(|| response.table(), &response)?;
    }
    Ok(response)
}
