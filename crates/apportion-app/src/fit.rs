//! Fits a rule to a table and saves the decision.

use std::path::Path;

use apportion::decision::{FitInfo, Fitted, GroupPrices};
use apportion::rule::Joint;
use apportion::text::{Message, Setting};
use apportion::{Decision, Rule, Scores};
use apportion_io::{refuse_overwrite, write_atomically};
use serde::{Deserialize, Serialize};

use crate::decision_file::SavedDecision;
use crate::estimated_reference::EstimatedReference;
use crate::label::{self, Measured};
use crate::labels::{Assignment, RuleResult};
use crate::protect::refuse_overwriting;
use crate::provenance::{InputHashes, Provenance, ProvenanceSettings, Recorded};
use crate::rule::RuleSettings;
use crate::settings::{Job, check};
use crate::table::TableSettings;
use crate::{Context, Error, Result, lost_classes};

/// The rule to fit, and the output for the decision.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Request {
    /// The table.
    #[serde(flatten)]
    pub table: TableSettings,
    /// The rule.
    #[serde(flatten)]
    pub rule: RuleSettings,
    /// The output file for the decision; if `-` or empty, no file is written.
    pub output: String,
    /// Whether to replace an existing file.
    pub force: bool,
    /// Whether and where provenance is written.
    #[serde(flatten)]
    pub provenance: ProvenanceSettings,
    /// Whether to compute the counts of argmax as well, for comparison.
    #[serde(skip)]
    pub with_argmax: bool,
}

/// A fitted decision.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct Response {
    /// The decision and its provenance.
    #[serde(flatten)]
    pub saved: SavedDecision,
    /// The labels of the rows to which it was fitted.
    #[serde(skip)]
    pub measured: Measured,
}

/// Fits a rule.
///
/// # Errors
/// If the settings, the files or the scores are invalid.
pub fn run(request: &Request, context: &Context) -> Result<Response> {
    context.install(|| fit(request, context))
}

/// Returns the prices for all rows, for rows of groups that a decision does not have; `None` if the rule has none.
fn overall_prices(rule: &Rule, scores: &Scores<'_>, settings: &TableSettings) -> Result<Option<GroupPrices>> {
    let Some(rule) = rule.without_groups() else { return Ok(None) };
    let (_, overall, _) = Assignment::of_rule(&rule, scores, &settings.settings(), 1)?;
    Ok(match overall.fitted() {
        Fitted::Prices(prices) if prices.len() == 1 => prices.first().cloned(),
        _ => None,
    })
}

/// Adds overall prices to a decision by group. If they could not be computed, sends a warning and returns the reason.
fn with_overall_prices(
    decision: Decision,
    prices: Result<Option<GroupPrices>>,
    context: &Context,
) -> Result<(Decision, Option<String>)> {
    match prices {
        Ok(Some(prices)) => Ok((decision.with_overall(&prices)?, None)),
        Ok(None) => Ok((decision, None)),
        Err(error @ (Error::Io(apportion_io::Error::Cancelled) | Error::Core(apportion::Error::Cancelled))) => {
            Err(error)
        }
        Err(error) => {
            let reason = error.message().to_string();
            let problem = format!("the prices for all rows could not be computed ({reason}), so `apply` cannot use ");
            context.warn(Message::from(problem) + Setting::UnknownGroups.with("overall"));
            Ok((decision, Some(reason)))
        }
    }
}

fn fit(request: &Request, context: &Context) -> Result<Response> {
    check(Job::Fit, request)?;
    let Request { table: settings, rule, output, force, provenance, .. } = request;
    settings.check()?;
    rule.check(!settings.by.is_empty(), settings.truth.is_some())?;
    if rule.draws() > 1 {
        let problem = ": a decision makes one draw; for several, use `label`";
        return Err(Error::settings(Message::from(Setting::Draws) + problem));
    }
    let path = Path::new(output);
    let is_file = !matches!(output.as_str(), "" | "-");
    let input = settings.source.open(context)?;
    if is_file {
        refuse_overwriting(path, Some(&input), &rule.side_inputs())?;
        refuse_overwrite(path, Some(&input), *force)?;
    }
    let groups = rule.groups(settings);
    let wants_provenance = !settings.source.is_in_memory() && provenance.is_wanted(true);
    let extra = if wants_provenance { rule.extra_files()? } else { Vec::new() };
    provenance.check(&[&input], &extra, path, *force)?;
    let hashes = wants_provenance.then(|| InputHashes::start(&input, "scores", extra));
    let table = settings.read(&input, groups, context, |_| {})?;
    let scores = table.scores()?;
    let estimated = rule.estimated_reference(&table, &scores, settings, context)?;
    let core_rule = rule.rule(&table, settings, estimated.as_ref(), context)?;

    let working = context.working("fitting");
    let solved = Assignment::of_rule(&core_rule, &scores, &settings.settings(), 1);
    let (assignment, decision, joint) = solved.map_err(|error| table.locate(error))?;
    let tied = joint.as_ref().map_or(0, |joint| joint.tied_rows);
    let result = RuleResult::new(rule.rule.name(), &scores, &assignment, joint)?.with_targets(&core_rule, &scores)?;
    let argmax = request.with_argmax.then(|| RuleResult::of_argmax(&scores)).transpose()?;
    let prices = if decision.groups().is_some() { overall_prices(&core_rule, &scores, settings) } else { Ok(None) };
    let (decision, no_overall) = with_overall_prices(decision, prices, context)?;
    drop(working);

    let (counts, sums) = (result.summary.counts(), result.summary.posterior_sums());
    let by_group = !groups.columns.is_empty();
    let decision = decision.with_fit_info(FitInfo {
        rule: Some(rule.rule.name().to_owned()),
        reference: rule.rule.has_reference().then(|| rule.reference_name().to_owned()),
        scores: table.score_columns().to_vec(),
        groups: groups.columns.to_vec(),
        people: scores.people(),
        tied,
        sample: result.sample.map(|sample| sample.rows),
        expected_shares: rule.expected_shares(&counts, &sums, result.targets.as_deref(), by_group),
        single_members: result.joint.as_ref().map_or_else(Vec::new, Joint::single_members),
        no_overall,
    });
    let collected = match hashes {
        Some(hashes) => {
            let mut recorded = Recorded::default();
            settings.record_table(&table, &mut recorded);
            rule.record(&mut recorded);
            let files = hashes.finish(Some(&table.file_rows()))?;
            let mut provenance = Provenance::new("fit", context, recorded, files);
            provenance.reference_shares = estimated.as_ref().map(EstimatedReference::shares);
            Some(provenance.with_result(&result, table.group_names()))
        }
        None => None,
    };
    let saved = SavedDecision { decision, provenance: collected };
    if is_file {
        let json = serde_json::to_string_pretty(&saved).map_err(|error| Error::data(error.to_string()))?;
        write_atomically(path, format!("{json}\n").as_bytes())?;
    }
    provenance.write(saved.provenance.as_ref())?;
    let measured = Measured::new(&table, result, argmax, label::Aim::of(rule));
    lost_classes::warnings(&measured, rule, settings).into_iter().for_each(|warning| context.warn(warning));
    Ok(Response { saved, measured })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::sync::{Arc, Mutex};

    use apportion::decision::UnknownGroups;
    use apportion::{Classes, Groups, Match, Matrix, Reference, Settings};

    use super::*;
    use crate::{Notice, unknown_groups};

    fn by_group() -> Decision {
        let classes = Classes::new(["a", "b"]).unwrap();
        let names = ["x".to_owned()];
        let scores = Scores::new(&classes, Matrix::RowsF64(&[0.9, 0.1, 0.4, 0.6])).unwrap();
        let scores = scores.with_groups(Groups { codes: &[0, 0], names: &names }).unwrap();
        Rule::Match(Match::by_group(Reference::Posterior)).fit(&scores, &Settings::default()).unwrap()
    }

    #[test]
    fn a_decision_by_group_needs_no_overall_prices() {
        let warnings = Arc::new(Mutex::new(Vec::new()));
        let kept = warnings.clone();
        let notices = Arc::new(move |notice: Notice| kept.lock().unwrap().push(notice));
        let context = Context { notices, ..Context::default() };
        let failed = Err(Error::data("the disk is full"));
        let (decision, no_overall) = with_overall_prices(by_group(), failed, &context).unwrap();
        assert_eq!(no_overall.as_deref(), Some("the disk is full"));
        assert!(
            matches!(&warnings.lock().unwrap()[..], [Notice::Warning(said)] if said.to_string().contains("disk is full"))
        );
        // The reason is saved, and `apply` gives it.
        let decision = decision.with_fit_info(FitInfo { no_overall, ..FitInfo::default() });
        let saved: Decision = serde_json::from_str(&serde_json::to_string(&decision).unwrap()).unwrap();
        let refused = unknown_groups::with_policy(saved.clone(), UnknownGroups::Overall).unwrap_err();
        let message = refused.message().to_string();
        assert!(message.contains("could not be computed") && message.contains("the disk is full"), "{message}");
        assert!(unknown_groups::with_policy(saved, UnknownGroups::Unlabeled).is_ok());
    }
}
