//! The job `verify`: checks an output of `label` or `apply` against its scores, independently of the code that made it.
//! It shares only the grid with the solver.
//!
//! `settings` and `expected` determine how labels were made and their expected counts, `columns` finds the columns,
//! `pass` reads scores and output together, and `checks` evaluates the results.

mod checks;
mod columns;
mod expected;
mod faults;
mod pass;
mod settings;
mod stop;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use apportion::Decision;
use apportion::text::{Message, Setting, counted};
use apportion::verify::Verifier;
use apportion_io::{Input, MemoryTable, NoProgress, RowReader, TableStream};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use self::checks::{Facts, Findings};
use self::columns::Columns;
use self::pass::{Pass, located};
use self::settings::{Kind, LabelSettings};
use self::stop::{Checked, Stop, differs};
use crate::decision_file::{self, check_classes};
use crate::input::{Encoding, Source};
use crate::provenance::{Provenance, Recorded, SavedCertificate, find, holds_metadata};
use crate::rule::RuleSettings;
use crate::settings::{self as declared, Job};
use crate::table::TableSettings;
use crate::{Context, Error, Result, memory, unknown_groups};

/// The output to verify.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Request {
    /// The output of `label` or `apply`.
    pub inputs: Source,
    /// The scores from which the labels were made.
    pub against: Source,
    /// How the labels were made, if the output has no provenance or it does not apply.
    pub settings: Recorded,
    /// The ids of the settings in `settings` that replace those of the provenance.
    pub given: BTreeSet<Setting>,
    /// Shares in memory, instead of the reference file.
    #[serde(skip)]
    pub reference_table: Option<MemoryTable>,
    /// The decision with the prices of the labels; if not set, the decision of the provenance.
    pub decision: Option<PathBuf>,
    /// The decision as JSON, instead of the file.
    #[serde(skip)]
    pub decision_json: Option<String>,
    /// The provenance, if the output does not contain it.
    pub provenance: Option<PathBuf>,
    /// The label column; if not set, the column of the provenance, or `label`.
    pub label: Option<String>,
    /// The memory to use, in bytes; a quarter of the machine's memory if not set.
    pub memory: Option<u64>,
}

/// The settings of the job by id.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Values {
    #[serde(flatten)]
    table: TableSettings,
    #[serde(flatten)]
    rule: RuleSettings,
    output: Vec<String>,
    against: Vec<String>,
    decision: Option<PathBuf>,
    provenance: Option<PathBuf>,
    label: Option<String>,
    unknown_groups: Option<String>,
}

impl Request {
    /// Converts values by setting id to a request, after checking them.
    ///
    /// # Errors
    /// If a setting is unknown, has the wrong type, is out of range, or belongs to another rule.
    pub fn from_values(values: Map<String, Value>) -> Result<Request> {
        let is_given = |setting: &Setting| values.get(setting.id()).is_some_and(|value| !value.is_null());
        let given: BTreeSet<Setting> = Setting::ALL.iter().copied().filter(is_given).collect();
        let values: Values = declared::from_values(Job::Verify, values)?;
        let mut settings = Recorded::default();
        values.table.record(&mut settings);
        values.rule.record(&mut settings);
        settings.unknown_groups = values.unknown_groups;
        let (source, memory) = (values.table.source, values.table.memory);
        Ok(Request {
            // Outputs are UTF-8 text with the default separator, and never workbooks.
            inputs: Source {
                inputs: values.output,
                encoding: Encoding::Utf8,
                delimiter: None,
                sheet: None,
                ..source.clone()
            },
            against: Source { inputs: values.against, ..source },
            settings,
            given,
            decision: values.decision,
            provenance: values.provenance,
            label: values.label,
            memory,
            ..Request::default()
        })
    }
}

impl Response {
    /// Returns the checks as lines of text.
    pub fn lines(&self) -> Vec<String> {
        let asked = self.asked.iter().map(|line| format!("options: {line}"));
        let checks = self.checks.iter().map(|line| format!("verified: {line}"));
        let remarks = self.remarks.iter().map(|line| format!("note: {line}"));
        let not_checked = self.not_checked.iter();
        let not_checked = not_checked.map(|own| format!("not checked: {}, because {}", own.what, own.why));
        asked.chain(checks).chain(remarks).chain(not_checked).collect()
    }
}

/// The checks of an output, up to the first difference.
#[derive(Clone, Debug, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct Response {
    /// Whether all checks that could be made passed.
    pub verified: bool,
    /// The first difference, with settings in the style of the front end; null if all checks passed.
    pub difference: Option<String>,
    /// How the labels were made, and the source of this information.
    pub asked: Option<String>,
    /// The checks that passed, one sentence each.
    pub checks: Vec<String>,
    /// The checks that could not be made.
    pub not_checked: Vec<NotChecked>,
    /// Other remarks, such as a different SHA-256 of the same rows.
    pub remarks: Vec<String>,
    /// The number of people with each label, computed from the output; null if it is unknown.
    pub counts: Option<Vec<u64>>,
    /// The target of each class, computed from the scores; null if it is unknown.
    pub targets: Option<Vec<u64>>,
    /// The certificate, computed from the scores and the labels; null if it was not computed.
    pub certificate: Option<SavedCertificate>,
}

/// A check that could not be made.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct NotChecked {
    /// The subject of the check.
    pub what: String,
    /// The reason, with settings in the style of the front end.
    pub why: String,
}

/// Verifies an output. A difference is a result, not an error.
///
/// # Errors
/// If a file cannot be read, or the settings are invalid.
pub fn run(request: &Request, context: &Context) -> Result<Response> {
    let mut findings = Findings::default();
    match context.install(|| Ok(verify(request, context, &mut findings)))? {
        Ok(()) => Ok(findings.into_response(None, context)),
        Err(Stop::Difference(difference)) => Ok(findings.into_response(Some(&difference), context)),
        Err(Stop::Error(error)) => Err(error),
    }
}

fn verify(request: &Request, context: &Context, findings: &mut Findings) -> Checked<()> {
    // Progress is reported for the scores, and notes for the output.
    let output = request.inputs.open(&Context { progress: Arc::new(NoProgress), ..context.clone() })?;
    let provenance = read_provenance(request, &output)?;
    if provenance.as_ref().is_some_and(|own| own.job == "predict") {
        let path = output.name(0).display();
        let problem = "it contains scores of `predict`, not labels; name an output of `label` or `apply`";
        return Err(Error::data(format!("{path}: {problem}")).into());
    }
    let settings = LabelSettings::resolve(request, provenance.as_ref())?;
    let against = request.against.with_recorded(&settings.recorded);
    let input = against.open(&Context { notices: Arc::new(|_| {}), ..context.clone() })?;
    let decision = read_decision(request, provenance.as_ref())?;
    let table_options = settings.table_options(request, decision.as_ref(), &input)?;
    let identical = input.identical_columns(&output);
    let mut stream = TableStream::new(&input, &table_options, identical.clone())?;
    let classes = stream.classes().clone();
    let job = provenance.as_ref().map(|own| own.job.as_str());
    let rows = provenance.as_ref().and_then(|own| own.rows).unwrap_or(u64::MAX);
    let kind = settings.kind(job, rows);
    let decision = match decision {
        None if kind == Kind::Decided => settings.simple_decision(&classes)?,
        decision => decision,
    };
    let unknown = unknown_groups::from_recorded(settings.recorded.unknown_groups.as_deref())?;
    let decision = decision.map(|decision| unknown_groups::with_policy(decision, unknown)).transpose()?;
    if let Some(decision) = &decision {
        check_classes("the decision", decision.classes().names(), classes.names())?;
        if provenance.is_some() {
            expected::check_decision(&settings, decision)?;
        }
    }
    let mut columns = Columns::find(request, &settings.recorded, &classes, &input, &output)?;
    columns.compared.retain(|name| !identical.contains(name));
    // A decision does not determine how the people of tied rows are distributed.
    let has_split_ties = kind == Kind::Joint && !columns.people.is_empty();
    let memory = request.memory.unwrap_or_else(memory::default);
    let verifier = Verifier::new(classes.len()).with_memory((memory / 2) as usize);
    let mut pass = Pass::new(columns, decision.as_ref(), verifier, !settings.groups().is_empty(), unknown)?;
    if has_split_ties {
        pass.applier = None;
    }
    let mut reader = RowReader::new(&output, pass.columns.of_output());
    while let Some(batch) = stream.next_batch()? {
        pass.check_batch(&batch, &mut reader, &stream)?;
    }
    if reader.next_rows(1)?.is_some() {
        let place = located(&reader, pass.rows);
        let problem = format!("the input has no such row; it ends after {}", counted(pass.rows, "row", "rows"));
        return Err(differs(format!("{place}: {problem}")));
    }
    let estimated = match kind {
        Kind::Joint => settings.estimated_reference(&table_options, &input),
        Kind::Decided | Kind::Unknown => Ok(None),
    };
    findings.check(&Facts {
        settings: &settings,
        has_given_settings: provenance.as_ref().is_none_or(|own| own.options != settings.recorded),
        provenance: provenance.as_ref(),
        kind,
        classes: &classes,
        pass: &pass,
        output: &reader,
        groups: (0..stream.group_count()).map(|group| stream.group(group).1.to_vec()).collect(),
        input: &input,
        output_name: &output.name(0).display().to_string(),
        reference_table: request.reference_table.as_ref(),
        estimated,
    })
}

/// Returns the provenance of the output, if there is one.
fn read_provenance(request: &Request, output: &Input) -> Result<Option<Provenance>> {
    if let Some(path) = &request.provenance {
        return match find(path)? {
            Some(found) => Ok(Some(found.provenance)),
            None => {
                let setting = Message::from(Setting::Provenance.with(path.display().to_string()));
                let fix = Message::from("name a file written by ") + Setting::Provenance;
                Err(Error::Data(setting + ": it contains no provenance; " + fix))
            }
        };
    }
    if output.memory_table(0).is_some() || !holds_metadata(&output.name(0).to_string_lossy()) {
        return Ok(None);
    }
    Ok(find(output.path(0))?.map(|found| found.provenance))
}

/// Returns the decision of the request, or else of the provenance.
fn read_decision(request: &Request, provenance: Option<&Provenance>) -> Result<Option<Decision>> {
    if request.decision.is_some() || request.decision_json.is_some() {
        let path = request.decision.clone().unwrap_or_else(|| "the decision".into());
        return decision_file::read(&path, request.decision_json.as_deref()).map(Some);
    }
    let Some(saved) = provenance.and_then(|own| own.decision.clone()) else { return Ok(None) };
    let decision = serde_json::from_value(saved);
    decision.map(Some).map_err(|error| Error::data(format!("the decision in the provenance: {error}")))
}
