//! Corrects scores with known truth: writes all input rows in order, with calibrated scores in the score columns.

use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

use apportion::calibrate::{Calibration, CrossFit, Method, Quality};
use apportion::text::{Message, Setting};
use apportion::verify::GRID;
use apportion::{Label, Matrix, Scaling, Scores, UNCODED};
use apportion_io::{
    Input, Output, PlainColumn, PlainValues, Table, refuse_nested_columns, refuse_overwrite, write_atomically,
    write_replacing_columns,
};
use serde::{Deserialize, Serialize};

use crate::protect::{SideInput, refuse_overwriting, refuse_overwriting_outputs, refuse_unsafe_formats};
use crate::provenance::{
    ExtraFile, InputHashes, Provenance, ProvenanceSettings, Recorded, holds_metadata, refuse_missing_folder,
};
use crate::settings::{Job, check};
use crate::table::TableSettings;
use crate::{Context, Error, Result, text};

/// The rows whose scores are corrected at a time.
const BATCH: usize = 1 << 14;

/// The table to correct, the calibration, and the output.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Request {
    /// The table.
    #[serde(flatten)]
    pub table: TableSettings,
    /// The method of a new calibration; logistic if not set.
    pub method: Option<Method>,
    /// The file with a saved calibration, instead of a new one.
    pub calibration: Option<PathBuf>,
    /// The calibration as JSON, instead of the file.
    #[serde(skip)]
    pub calibration_json: Option<String>,
    /// The output file, a directory with one file per input, or `-` for CSV on standard output. Scores of a table in
    /// memory are returned instead.
    pub output: Option<String>,
    /// The file for the calibration.
    pub save: Option<PathBuf>,
    /// Whether to replace existing files.
    pub force: bool,
    /// Whether CSV and TSV text that a spreadsheet could run as a formula gets an apostrophe.
    pub safe_csv: bool,
    /// Whether and where provenance is written.
    #[serde(flatten)]
    pub provenance: ProvenanceSettings,
}

/// A calibration, and the quality of the scores before and after it.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct Response {
    /// The version of the program.
    pub apportion: String,
    /// The method.
    pub method: Method,
    /// The names of the classes. Other lists are in this order.
    pub classes: Vec<String>,
    /// The number of people.
    pub people: u64,
    /// The mean score of each class before the calibration, over all people; null if there are no people.
    pub posterior_before: Option<Vec<f64>>,
    /// The mean score of each class after the calibration, over all people; null if there are no people.
    pub posterior_after: Option<Vec<f64>>,
    /// The number of folds, if the calibration was fitted to these rows: each row with known truth was corrected by a
    /// model that was fitted without its fold.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub folds: Option<usize>,
    /// The quality of the scores before the calibration, if truth is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<Quality>,
    /// The quality of the scores after the calibration, if truth is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<Quality>,
    /// The number of people in groups without known truth in the fit, if the calibration is by group. They are corrected
    /// by the calibration of all rows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub without_group: Option<u64>,
    /// The calibration, fitted to all rows with known truth, or as saved.
    pub calibration: Calibration,
    /// The provenance of the scores, for Parquet and Arrow outputs or if requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provenance: Option<Provenance>,
    /// The files that were written; empty for standard output and for a table in memory.
    #[serde(skip)]
    pub paths: Vec<PathBuf>,
    /// The new score columns of a table in memory.
    #[serde(skip)]
    pub scores: Vec<PlainColumn>,
}

/// Corrects scores.
///
/// # Errors
/// If the settings, the files, the scores or the truth are invalid.
pub fn run(request: &Request, context: &Context) -> Result<Response> {
    check(Job::Calibrate, request)?;
    request.check()?;
    context.install(|| calibrate(request, context))
}

fn calibrate(request: &Request, context: &Context) -> Result<Response> {
    let saved = request.saved()?;
    let input = request.table.source.open(context)?;
    let mut output = match request.table.source.is_in_memory() {
        true => None,
        false => Some(request.checked_output(&input)?),
    };
    request.check_save(&input)?;
    let settings = match &saved {
        Some(saved) => with_scores_of(saved, &request.table, &input)?,
        None => request.table.clone(),
    };
    let extra: Vec<ExtraFile> = request.side_inputs().into_iter().map(extra_file).collect();
    request.provenance.check(&[&input], &extra, request.output_path(), request.force)?;
    let hashes = request.wants_provenance(&input).then(|| InputHashes::start(&input, "scores", extra));
    let table = settings.read(&input, settings.groups(), context, |_| {})?;
    let scores = table.scores()?;
    if let Some(saved) = &saved {
        check_classes(&request.calibration_name(), saved, table.classes().names())?;
    }
    settings.refuse_empty_truth(&scores)?;

    let working = context.working("calibrating");
    let corrector = match saved {
        Some(saved) => Corrector::Saved(saved),
        None => {
            let seed = settings.settings().seed;
            let fit = match settings.by.is_empty() {
                true => CrossFit::fit(&scores, request.method.unwrap_or_default(), seed),
                false => CrossFit::fit_by_group(&scores, seed),
            };
            Corrector::Fitted(fit.map_err(|error| table.locate(error))?)
        }
    };
    let before = Quality::of(&scores).map_err(|error| table.locate(error))?;
    let after = quality_after(&corrector, &scores).map_err(|error| table.locate(error))?;
    drop(working);
    let calibration = corrector.overall().clone();
    let calibration = match &corrector {
        Corrector::Fitted(_) => {
            calibration.with_score_columns(table.score_columns().to_vec()).with_group_columns(settings.by.clone())
        }
        Corrector::Saved(_) => calibration,
    };
    let without_group = without_group(&calibration, &scores, context);

    let provenance = match hashes {
        Some(hashes) => {
            let mut recorded = Recorded { method: Some(calibration.method().name().into()), ..Recorded::default() };
            settings.record_table(&table, &mut recorded);
            let files = hashes.finish(Some(&table.file_rows()))?;
            let mut provenance = Provenance::new("calibrate", context, recorded, files);
            provenance.rows = Some(table.row_mask().total() as u64);
            Some(provenance)
        }
        None => None,
    };
    let mut writer = Writer::new(&table, &scores, &corrector);
    let (mut paths, mut columns) = (Vec::new(), Vec::new());
    match &mut output {
        None => columns = writer.columns(0, table.row_mask().total())?,
        Some(output) => {
            output.metadata = provenance.as_ref().map(Provenance::metadata).transpose()?.unwrap_or_default();
            let (layout, rows) = (writer.columns(0, 0)?, Some(table.row_mask().total()));
            paths =
                write_replacing_columns(&input, output, &layout, rows, &mut |first, rows| writer.columns(first, rows))?;
        }
    }
    let posterior = |sums: &[i128]| {
        let people = scores.people();
        let mean = |&sum: &i128| GRID.total(sum) / people as f64;
        (people > 0).then(|| sums.iter().map(mean).collect())
    };
    let (posterior_before, posterior_after) = (posterior(&writer.before), posterior(&writer.after));
    if let Some(path) = &request.save {
        let json = serde_json::to_string_pretty(&calibration).map_err(|error| Error::data(error.to_string()))?;
        write_atomically(path, format!("{json}\n").as_bytes())?;
    }
    request.provenance.write(provenance.as_ref())?;
    let folds = match &corrector {
        Corrector::Fitted(fit) => Some(fit.folds()),
        Corrector::Saved(_) => None,
    };
    Ok(Response {
        apportion: env!("CARGO_PKG_VERSION").into(),
        method: calibration.method(),
        classes: table.classes().names().to_vec(),
        people: scores.people(),
        posterior_before,
        posterior_after,
        folds,
        before,
        after,
        without_group,
        calibration,
        provenance,
        paths,
        scores: columns,
    })
}

/// Returns the number of people in groups that a calibration by group does not have, and sends a note; `None` if it is
/// not by group.
fn without_group(calibration: &Calibration, scores: &Scores<'_>, context: &Context) -> Option<u64> {
    let (own, groups) = (calibration.groups()?, scores.groups()?);
    let is_unknown: Vec<bool> = groups.names.iter().map(|name| !own.intercepts.contains_key(name)).collect();
    let rows = (0..scores.rows()).filter(|&row| is_unknown[groups.codes[row] as usize]);
    let people: u64 = rows.map(|row| scores.counts().map_or(1, |counts| counts[row])).sum();
    if people > 0 {
        let unknown = is_unknown.iter().filter(|unknown| **unknown).count() as u64;
        let (people, groups) = (text::counted(people, "person", "people"), text::counted(unknown, "group", "groups"));
        let is = if unknown == 1 { "is" } else { "are" };
        context.note(format!(
            "{people} in {groups} without known truth in the fit {is} corrected by the calibration of all rows"
        ));
    }
    Some(people)
}

/// A calibration that corrects the rows of a table.
enum Corrector {
    /// Fitted to the same rows.
    Fitted(CrossFit),
    /// Saved earlier.
    Saved(Calibration),
}

impl Corrector {
    fn overall(&self) -> &Calibration {
        match self {
            Corrector::Fitted(fit) => fit.overall(),
            Corrector::Saved(calibration) => calibration,
        }
    }

    fn apply_rows(&self, scores: &Scores<'_>, rows: Range<usize>) -> apportion::Result<Vec<f64>> {
        match self {
            Corrector::Fitted(fit) => fit.apply_rows(scores, rows),
            Corrector::Saved(calibration) => calibration.apply_rows(scores, rows),
        }
    }
}

/// Measures the corrected scores of the people with known truth.
fn quality_after(corrector: &Corrector, scores: &Scores<'_>) -> apportion::Result<Option<Quality>> {
    let Some(truth) = scores.truth() else { return Ok(None) };
    let k = scores.classes().len();
    let (mut values, mut known, mut counts): (Vec<f64>, Vec<Label>, Vec<u64>) = Default::default();
    for start in (0..scores.rows()).step_by(BATCH) {
        let rows = start..scores.rows().min(start + BATCH);
        let corrected = corrector.apply_rows(scores, rows.clone())?;
        for (row, corrected) in rows.zip(corrected.chunks_exact(k)).filter(|(row, _)| truth[*row] != UNCODED) {
            values.extend_from_slice(corrected);
            known.push(truth[row]);
            counts.push(scores.counts().map_or(1, |counts| counts[row]));
        }
    }
    let after = Scores::new(scores.classes(), Matrix::RowsF64(&values))?;
    Quality::of(&after.with_truth(&known)?.with_counts(&counts)?)
}

/// Corrects the rows of an input in order, and sums the scores.
struct Writer<'a> {
    table: &'a Table,
    scores: &'a Scores<'a>,
    corrector: &'a Corrector,
    /// The number of table rows that were corrected.
    done: usize,
    before: Vec<i128>,
    after: Vec<i128>,
}

impl<'a> Writer<'a> {
    fn new(table: &'a Table, scores: &'a Scores<'a>, corrector: &'a Corrector) -> Writer<'a> {
        let zeros = vec![0; scores.classes().len()];
        Writer { table, scores, corrector, done: 0, before: zeros.clone(), after: zeros }
    }

    /// Returns the new score columns of the next input rows, which start at row `first`. Excluded rows have no scores.
    fn columns(&mut self, first: usize, rows: usize) -> apportion_io::Result<Vec<PlainColumn>> {
        let mask = self.table.row_mask();
        let kept: Vec<bool> = (first..first + rows).map(|row| mask.contains(row)).collect();
        let own = self.done..self.done + kept.iter().filter(|kept| **kept).count();
        self.done = own.end;
        let values = self.correct(own).map_err(|error| self.table.locate(error))?;
        let k = self.scores.classes().len();
        let unit = if self.table.scaling() == Scaling::Percent { 100.0 } else { 1.0 };
        let is_complete = mask.total() == mask.count();
        let mut columns = Vec::with_capacity(k);
        for (class, name) in self.table.score_columns().iter().enumerate() {
            let mut column = values.iter().skip(class).step_by(k).map(|value| value * unit);
            let values = match is_complete {
                true => PlainValues::Double(column.collect()),
                false => PlainValues::OptionalDouble(
                    kept.iter().map(|&kept| if kept { column.next() } else { None }).collect(),
                ),
            };
            columns.push(PlainColumn::new(name, values));
        }
        Ok(columns)
    }

    /// Returns the corrected scores of some table rows, row by row.
    fn correct(&mut self, rows: Range<usize>) -> apportion::Result<Vec<f64>> {
        let (scores, k) = (self.scores, self.scores.classes().len());
        let people = |row: usize| i128::from(scores.counts().map_or(1, |counts| counts[row]));
        scores.read_rows(rows.clone(), |row, units| {
            self.before.iter_mut().zip(units.iter()).for_each(|(sum, &units)| *sum += people(row) * i128::from(units));
            Ok(())
        })?;
        let values = self.corrector.apply_rows(scores, rows.clone())?;
        for (row, values) in rows.zip(values.chunks_exact(k)) {
            for (sum, &value) in self.after.iter_mut().zip(values) {
                *sum += people(row) * i128::from(GRID.round(value));
            }
        }
        Ok(values)
    }
}

fn extra_file(file: SideInput) -> ExtraFile {
    ExtraFile { path: file.path, what: "the calibration", rows: None }
}

impl Request {
    /// Refuses settings that cannot be combined.
    fn check(&self) -> Result<()> {
        self.table.check()?;
        if !self.table.by.is_empty() && self.method.is_some_and(|method| method != Method::Logistic) {
            let problem = Message::from(Setting::By) + " requires " + Setting::Method.with(Method::Logistic.name());
            return Err(Error::settings(problem));
        }
        let reveals =
            |column: &&String| Some(*column) == self.table.truth.as_ref() || Some(*column) == self.table.id.as_ref();
        if let Some(column) = self.table.by.iter().find(reveals) {
            let problem = format!(": {column} is also the true class or the ID; name a column of groups of people");
            return Err(Error::settings(Message::from(Setting::By) + problem));
        }
        if !self.has_saved() {
            if self.table.truth.is_none() {
                let problem = " is required: name the column of the true class, or use a saved calibration with ";
                return Err(Error::settings(Message::from(Setting::Truth) + problem + Setting::Calibration));
            }
            return Ok(());
        }
        let given = [
            (self.method.is_some(), Setting::Method),
            (self.save.is_some(), Setting::Save),
            (self.table.seed.is_some(), Setting::Seed),
        ];
        match given.into_iter().find(|(given, _)| *given) {
            Some((_, setting)) => {
                let both = Message::from(setting) + " cannot be used with " + Setting::Calibration;
                Err(Error::settings(both + ", which is already fitted; leave one of them out"))
            }
            None => Ok(()),
        }
    }

    fn has_saved(&self) -> bool {
        self.calibration.is_some() || self.calibration_json.is_some()
    }

    /// Returns the name of the saved calibration, for messages.
    fn calibration_name(&self) -> String {
        self.calibration.as_ref().map_or_else(|| "calibration".into(), |path| path.display().to_string())
    }

    /// Reads the saved calibration, if one is given.
    fn saved(&self) -> Result<Option<Calibration>> {
        let name = self.calibration_name();
        let json = match (&self.calibration_json, &self.calibration) {
            (Some(json), _) => json.clone(),
            (None, Some(path)) => fs::read_to_string(path).map_err(|error| {
                let fix = "use a file written by `apportion calibrate` with ";
                Error::data(Message::from(format!("{name}: cannot be read ({error}); {fix}")) + Setting::Save)
            })?,
            (None, None) => return Ok(None),
        };
        let read = serde_json::from_str(&json).map_err(|error| {
            let problem: String = error.to_string().chars().take(200).collect();
            let fix = "make one with `apportion calibrate` and ";
            Error::data(Message::from(format!("{name}: not a valid calibration ({problem}); {fix}")) + Setting::Save)
        })?;
        Ok(Some(read))
    }

    fn output_path(&self) -> &Path {
        Path::new(self.output.as_deref().unwrap_or("-"))
    }

    /// Returns the files that are read in addition to the table.
    fn side_inputs(&self) -> Vec<SideInput> {
        let file = self.calibration.iter().filter(|_| self.calibration_json.is_none());
        file.map(|path| SideInput::new(Setting::Calibration, path)).collect()
    }

    /// Returns the output after checking that it can be written.
    fn checked_output(&self, input: &Input) -> Result<Output> {
        let Some(path) = self.output.clone().filter(|path| !path.is_empty()) else {
            return Err(Error::settings(Message::from(Setting::Output) + " is required: name a file for the scores"));
        };
        refuse_unsafe_formats(self.safe_csv, &path)?;
        refuse_overwriting_outputs(&path, input, &self.side_inputs())?;
        let output = Output { path, force: self.force, safe_csv: self.safe_csv, ..Output::default() };
        output.check(Some(input))?;
        refuse_nested_columns(input, &output)?;
        Ok(output)
    }

    /// Refuses a file for the calibration that must not or cannot be written.
    fn check_save(&self, input: &Input) -> Result<()> {
        let Some(path) = &self.save else { return Ok(()) };
        if !path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("json")) {
            return Err(Error::settings(Message::from(Setting::Save) + ": the name of the file must end in .json"));
        }
        if self.provenance.provenance.as_ref() == Some(path) {
            let both = Message::from(Setting::Save) + " and " + Setting::Provenance;
            return Err(Error::settings(both + " name the same file; choose different files"));
        }
        refuse_overwriting(path, Some(input), &[])?;
        refuse_overwrite(path, Some(input), self.force)?;
        refuse_missing_folder(path)
    }

    fn wants_provenance(&self, input: &Input) -> bool {
        let output = self.output.as_deref().unwrap_or("-");
        let is_folder = output.ends_with('/') || Path::new(output).is_dir();
        let holds_it =
            holds_metadata(output) || is_folder && input.names().any(|name| holds_metadata(&name.to_string_lossy()));
        !self.table.source.is_in_memory() && self.provenance.is_wanted(holds_it)
    }
}

/// Returns the settings of a table, with the score columns of the calibration if the input has them and the settings do
/// not give any, and with its group columns.
fn with_scores_of(calibration: &Calibration, settings: &TableSettings, input: &Input) -> Result<TableSettings> {
    let mut settings = settings.clone();
    let (columns, known) = (calibration.score_columns(), input.columns(0)?);
    if settings.scores.is_empty() && !columns.is_empty() && columns.iter().all(|name| known.contains(name)) {
        settings.scores = columns.to_vec();
        if settings.classes.is_empty() {
            settings.classes = calibration.classes().names().to_vec();
        }
    }
    match calibration.groups() {
        Some(groups) if settings.by.is_empty() => settings.by.clone_from(&groups.columns),
        None if !settings.by.is_empty() => {
            let problem = ": the calibration is not by group; leave it out, or make a calibration by group";
            return Err(Error::settings(Message::from(Setting::By) + problem));
        }
        Some(_) | None => {}
    }
    Ok(settings)
}

/// Refuses a table whose classes differ from those of the calibration.
fn check_classes(name: &str, calibration: &Calibration, found: &[String]) -> Result<()> {
    let fitted = calibration.classes().names();
    if fitted == found {
        return Ok(());
    }
    let problem =
        format!("{name}: it is for the classes {}, but the table has {}; ", fitted.join(", "), found.join(", "));
    let fix = Message::from(problem) + "choose the same columns with " + Setting::Scores;
    Err(Error::Data(fix + ", in this order, and name their classes with " + Setting::Classes.with(fitted.join(","))))
}

impl Response {
    /// Returns the response as text.
    pub fn text(&self) -> String {
        let people = text::counted(self.calibration.people(), "person", "people");
        let how = match self.folds {
            Some(folds) => format!(", each corrected by a model fitted without its fold (one of {folds})"),
            None => String::new(),
        };
        let by = match self.calibration.groups() {
            Some(groups) => {
                let columns = match &groups.columns[..] {
                    [] => String::new(),
                    columns => format!(" by {}", columns.join(", ")),
                };
                let number = text::counted(groups.intercepts.len() as u64, "group", "groups");
                format!("{columns} with intercepts of {number} (standard deviation {:.2})", groups.deviation)
            }
            None => String::new(),
        };
        let fitted = format!("{} calibration{by}, fitted to {people} with known truth{how}", self.method.name());
        let percent = |share: f64| format!("{:.1}%", 100.0 * share);
        let (Some(before), Some(after)) = (&self.before, &self.after) else {
            let (Some(before), Some(after)) = (&self.posterior_before, &self.posterior_after) else { return fitted };
            let rows = self.classes.iter().zip(before.iter().zip(after));
            let rows: Vec<Vec<String>> =
                rows.map(|(class, (before, after))| vec![class.clone(), percent(*before), percent(*after)]).collect();
            return format!("{fitted}\n\n{}", text::columns(&["class", "mean before", "mean after"], &rows));
        };
        let points = |share: f64| text::signed(Some(100.0 * share), 1, "");
        let mut rows = Vec::new();
        for (before, after) in before.classes.iter().zip(&after.classes) {
            let row = vec![
                before.class.clone(),
                percent(before.truth_share),
                percent(before.mean_score),
                percent(after.mean_score),
                percent(before.expected_error),
                percent(after.expected_error),
                percent(before.kuiper),
                percent(after.kuiper),
                points(before.argmax_bias),
                points(after.argmax_bias),
            ];
            rows.push(row);
        }
        let header = ["class", "truth", "mean", "after", "error", "after", "Kuiper", "after", "argmax bias", "after"];
        let table = text::columns(&header, &rows);
        let losses = format!(
            "log loss {:.4} before, {:.4} after; Brier score {:.4} before, {:.4} after; argmax accuracy {} before, {} after",
            before.log_loss,
            after.log_loss,
            before.brier,
            after.brier,
            percent(before.argmax_accuracy),
            percent(after.argmax_accuracy)
        );
        format!(
            "{fitted}\n\n{table}\n\n{losses}\n\n\"error\" is the expected calibration error, with ten bins. All figures are \
             for people with known truth."
        )
    }
}
