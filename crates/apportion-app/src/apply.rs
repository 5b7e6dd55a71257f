//! Labels a table with a saved decision.

use std::path::PathBuf;

use apportion::decision::UnknownGroups;
use apportion::text::Setting;
use serde::{Deserialize, Serialize};

use crate::label::{Aim, Measured, Response};
use crate::labels::{Assignment, RuleResult};
use crate::output::OutputSettings;
use crate::protect::SideInput;
use crate::provenance::{ExtraFile, InputHashes, Provenance, Recorded};
use crate::settings::{Job, check};
use crate::table::TableSettings;
use crate::{Context, Result, decision_file, unknown_groups};

/// The table to label, the decision, and the output.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Request {
    /// The table.
    #[serde(flatten)]
    pub table: TableSettings,
    /// The file with the decision.
    pub decision: PathBuf,
    /// The decision as JSON, instead of the file.
    #[serde(skip)]
    pub decision_json: Option<String>,
    /// What to do with rows whose group is not in the decision.
    pub unknown_groups: UnknownGroups,
    /// The output of the labels.
    #[serde(flatten)]
    pub output: OutputSettings,
    /// Whether to compute the counts of argmax as well, for comparison.
    #[serde(skip)]
    pub with_argmax: bool,
}

/// Labels a table.
///
/// # Errors
/// If the settings, the files or the scores are invalid.
pub fn run(request: &Request, context: &Context) -> Result<Response> {
    context.install(|| apply(request, context))
}

fn apply(request: &Request, context: &Context) -> Result<Response> {
    check(Job::Apply, request)?;
    let Request { table: settings, decision: path, output, .. } = request;
    settings.check()?;
    let decision = decision_file::read(path, request.decision_json.as_deref())?;
    let input = settings.source.open(context)?;
    // A decision in memory is not a file, even if a file has the same name.
    let file = Some(path).filter(|_| request.decision_json.is_none());
    let side: Vec<SideInput> = file.map(|path| SideInput::new(Setting::Decision, path)).into_iter().collect();
    output.check(settings, &input, &side)?;
    let mut settings = decision_file::with_scores_of(&decision, settings, &input)?;
    if settings.by.is_empty() {
        settings.by = decision.fit_info().map_or_else(Vec::new, |fit| fit.groups.clone());
    }
    let extra = |path: &PathBuf| ExtraFile { path: path.clone(), what: "the decision", rows: None };
    let extra: Vec<ExtraFile> = file.map(extra).into_iter().collect();
    output.provenance.check(&[&input], &extra, output.path(), output.force)?;
    let wants_provenance = output.wants_provenance(&settings, &input);
    let hashes = wants_provenance.then(|| InputHashes::start(&input, "scores", extra));
    let table = settings.read(&input, settings.groups(), context, |_| {})?;
    output.check_names(&input, &table, 1)?;
    let scores = table.scores()?;
    decision_file::check_classes(path.display(), decision.classes().names(), table.classes().names())?;

    unknown_groups::check(&decision, &scores, request.unknown_groups, context)?;
    let decision = unknown_groups::with_policy(decision, request.unknown_groups)?;

    let working = context.working("labeling");
    let assignment = Assignment::of_decision(&decision, &scores).map_err(|error| table.locate(error))?;
    let mut result = RuleResult::new("apply", &scores, &assignment, None)?;
    result.drift = decision.drift(&scores, &result.summary)?;
    let argmax = request.with_argmax.then(|| RuleResult::of_argmax(&scores)).transpose()?;
    drop(working);

    let provenance = match hashes {
        Some(hashes) => {
            let mut recorded = Recorded::default();
            settings.record_table(&table, &mut recorded);
            output.record(&table, &mut recorded);
            recorded.seed = Some(decision.seed());
            recorded.unknown_groups = unknown_groups::recorded(request.unknown_groups);
            let files = hashes.finish(Some(&table.file_rows()))?;
            let mut provenance = Provenance::new("apply", context, recorded, files);
            provenance.rows = Some(table.row_mask().total() as u64);
            Some(provenance.with_result(&result, None).with_decision(&decision)?)
        }
        None => None,
    };
    let paths = output.write(&settings, &input, &table, &assignment, provenance.as_ref())?;
    let contract = result.contract(table.classes(), decision.seed(), Some(&decision));
    let labels = if settings.source.is_in_memory() { assignment.columns(&table) } else { Vec::new() };
    let measured = Measured::new(&table, result, argmax, Aim::Scores);
    Ok(Response {
        contract,
        reference_shares: None,
        reference_interval: None,
        provenance,
        paths,
        labels,
        groups: Vec::new(),
        decision,
        measured,
        report: None,
    })
}
