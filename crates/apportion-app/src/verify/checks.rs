//! Checks after the pass: counts, targets, optimality and provenance. Each is verified, or not checked for a stated
//! reason.

use std::collections::BTreeMap;
use std::path::Path;

use apportion::text::{Message, Setting};
use apportion::verify::{AllowedCounts, Unit, Verified, nearer, rounded_to_first};
use apportion::{Certificate, Classes, Penalty, Reference};
use apportion_io::{Input, MemoryTable, RowReader};

use super::expected::Expected;
use super::faults::{fault_message, with_hint};
use super::pass::Pass;
use super::settings::{Kind, LabelSettings};
use super::stop::{Checked, differs};
use super::{NotChecked, Response};
use crate::provenance::{Provenance, SavedCertificate, sha256};
use crate::{Context, Error, Result, text};

/// The findings so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Findings {
    /// How the labels were made, and the source of this information.
    asked: Option<String>,
    checks: Vec<String>,
    not_checked: Vec<(String, Message)>,
    remarks: Vec<String>,
    counts: Option<Vec<u64>>,
    targets: Option<Vec<u64>>,
    certificate: Option<Certificate>,
}

/// The data on which the checks are based.
pub(super) struct Facts<'a> {
    pub(super) settings: &'a LabelSettings,
    /// Whether some of the settings differ from the provenance.
    pub(super) has_given_settings: bool,
    pub(super) provenance: Option<&'a Provenance>,
    pub(super) kind: Kind,
    pub(super) classes: &'a Classes,
    pub(super) pass: &'a Pass<'a>,
    pub(super) output: &'a RowReader<'a>,
    /// The values of the columns that define each group.
    pub(super) groups: Vec<Vec<String>>,
    pub(super) input: &'a Input,
    pub(super) output_name: &'a str,
    /// Shares in memory, instead of the reference file.
    pub(super) reference_table: Option<&'a MemoryTable>,
    /// The reference, if it is estimated from the scores.
    pub(super) estimated: Result<Option<Reference>>,
}

impl Findings {
    /// Checks everything that can be checked, up to the first difference.
    pub(super) fn check(&mut self, facts: &Facts<'_>) -> Checked<()> {
        self.asked = asked(facts);
        self.report_rows(facts);
        check_all_files(facts)?;
        check_reference(facts)?;
        let expected = match facts.kind {
            Kind::Joint => match self.expected(facts) {
                Ok(expected) => Some(expected),
                Err(why) => {
                    self.skip("the targets", why);
                    None
                }
            },
            Kind::Decided | Kind::Unknown => None,
        };
        let verified = self.check_groups(facts, expected.as_ref())?;
        self.check_decision(facts)?;
        self.check_provenance(facts, &verified)?;
        self.check_files(facts)
    }

    /// Returns the expected labels of a joint rule, or why they are unknown.
    fn expected(&mut self, facts: &Facts<'_>) -> std::result::Result<Expected, Message> {
        let estimated = facts.estimated.as_ref().map_err(Error::message)?;
        let expected = Expected::new(facts.settings, facts.classes, facts.reference_table, estimated.clone());
        let expected = expected.map_err(|error| error.message())?;
        if estimated.is_some() {
            self.checks.push("the reference was estimated again from the scores".into());
        }
        Ok(expected)
    }

    fn skip(&mut self, what: &str, why: impl Into<Message>) {
        self.not_checked.push((what.into(), why.into()));
    }

    fn report_rows(&mut self, facts: &Facts<'_>) {
        let (pass, columns) = (facts.pass, &facts.pass.columns);
        let kept = text::counted(columns.kept.len() as u64, "column", "columns");
        self.checks
            .push(format!("{}, each once, in order, with {kept} unchanged", text::counted(pass.rows, "row", "rows")));
        if pass.excluded > 0 {
            let rows = text::counted(pass.excluded, "excluded row has", "excluded rows have");
            self.checks.push(format!("{rows} no label"));
        }
        if !columns.people.is_empty() {
            self.checks.push("in every row, the n_ columns sum to the number of people".into());
            return;
        }
        match columns.labels.iter().all(|(_, score)| score.is_some()) {
            true => self.checks.push("every label is a class or Uncoded, with the correct score".into()),
            false => {
                self.checks.push("every label is a class or Uncoded".into());
                self.skip("the scores of the labels", "the output has no score column");
            }
        }
    }

    /// Checks counts and optimality, group by group.
    fn check_groups(
        &mut self,
        facts: &Facts<'_>,
        expected: Option<&Expected>,
    ) -> Checked<Vec<(Verified, Option<AllowedCounts>)>> {
        let (verifier, k) = (&facts.pass.verifier, facts.classes.len());
        let is_optimal = facts.pass.has_prices || facts.kind != Kind::Decided;
        let groups = verifier.groups().max(1);
        let (mut all, mut units) = (Vec::with_capacity(groups), Vec::new());
        for group in 0..groups {
            let name = facts.pass.group_names.get(group).map(String::as_str);
            let allowed = match expected {
                Some(expected) => {
                    let weights = expected.weights(verifier, group, name, k)?;
                    let people = verifier.people(group);
                    if expected.is_nested {
                        let counts = verifier.verify(group, None).counts;
                        units.push(Unit { people, weights, counts });
                        None
                    } else {
                        Some(expected.allowed(weights, facts.classes, people)?)
                    }
                }
                None => None,
            };
            let verified = verifier.verify(group, allowed.as_ref());
            if let Some(fault) = verified.fault.as_ref().filter(|_| is_optimal) {
                return Err(differs(fault_message(fault, facts, name)));
            }
            all.push((verified, allowed));
        }
        self.add_up(&all, k);
        let places = if facts.pass.group_names.is_empty() {
            "overall".to_owned()
        } else {
            format!("in each of {}", text::counted(groups as u64, "group", "groups"))
        };
        match expected {
            Some(expected) if expected.is_nested => self.check_nested(facts, expected, &units)?,
            Some(_) => self.checks.push(format!("the counts meet their targets {places}")),
            None if facts.kind == Kind::Unknown => {
                let why = Message::from("the rule is unknown; provide a file with ");
                let why = why + Setting::Provenance + ", or options such as " + Setting::Rule.with("match");
                self.skip("the targets", why);
            }
            None => {}
        }
        if !is_optimal {
            self.skip("optimality", "this rule does not optimize");
        } else if verifier.has_pairs() {
            let all_counts = expected.is_some_and(|expected| !expected.is_nested && !expected.is_bounded_only());
            let what = if all_counts { "for these options" } else { "with these counts" };
            self.checks.push(format!("the labels are optimal {what}, {places} (the primal and dual values are equal)"));
        } else {
            match facts.pass.has_prices {
                true => self.checks.push(format!(
                    "the labels are optimal with these counts, {places} (the primal and dual values are equal at the prices of \
                     the decision)"
                )),
                false => {
                    self.skip("optimality", Message::from("the computation needs more memory than ") + Setting::Memory);
                }
            }
        }
        if expected.is_some_and(Expected::is_bounded_only) {
            self.skip("the bound of the l2 penalty", "it is not exact; only the counts were checked");
        }
        if facts.pass.has_prices {
            self.checks.push("every label is the best one by the fitted rule (the prices of the decision)".into());
        }
        Ok(all)
    }

    fn add_up(&mut self, all: &[(Verified, Option<AllowedCounts>)], k: usize) {
        let mut counts = vec![0; k];
        let mut targets = all.iter().all(|(_, allowed)| allowed.is_some()).then(|| vec![0; k]);
        let mut certificate = Some(Certificate { primal: 0, dual: 0 });
        for (verified, allowed) in all {
            counts.iter_mut().zip(&verified.counts).for_each(|(sum, count)| *sum += count);
            if let (Some(targets), Some(allowed)) = (&mut targets, allowed) {
                let own = allowed.targets_at(&verified.counts);
                targets.iter_mut().zip(own).for_each(|(sum, target)| *sum += target);
            }
            certificate = certificate.zip(verified.certificate).map(|(sum, own)| Certificate {
                primal: sum.primal + own.primal - verified.cost,
                dual: sum.dual + own.dual - verified.cost,
            });
        }
        (self.counts, self.targets, self.certificate) = (Some(counts), targets, certificate);
    }

    /// Checks the totals of the largest units, and the counts of smaller units within them.
    fn check_nested(&mut self, facts: &Facts<'_>, expected: &Expected, smallest: &[Unit]) -> Checked<()> {
        let mut units: Vec<(Vec<String>, Unit)> = facts.groups.iter().cloned().zip(smallest.iter().cloned()).collect();
        loop {
            let mut larger: BTreeMap<Vec<String>, Vec<Unit>> = BTreeMap::new();
            for (values, unit) in units {
                larger.entry(values[..values.len().saturating_sub(1)].to_vec()).or_default().push(unit);
            }
            for (values, members) in &larger {
                if let Some(classes) = nearer(members) {
                    let names = classes
                        .iter()
                        .map(|&class| facts.classes.names()[class].as_str())
                        .collect::<Vec<_>>()
                        .join(", ");
                    return Err(differs(format!(
                        "{}: the counts of its groups could be closer to their references with the same totals ({names})",
                        unit_name(values)
                    )));
                }
            }
            let is_last = larger.keys().all(|values| values.len() <= 1);
            let whole = |(values, members): (Vec<String>, Vec<Unit>)| {
                (values, Unit::together(members.iter(), expected.is_shares()))
            };
            units = larger.into_iter().map(whole).collect();
            if is_last {
                break;
            }
        }
        for (values, unit) in &units {
            let targets = rounded_to_first(&unit.weights, unit.people);
            if let Some(class) = (0..targets.len()).find(|&class| targets[class] != unit.counts[class]) {
                let (name, found, target) = (&facts.classes.names()[class], unit.counts[class], targets[class]);
                return Err(differs(format!(
                    "{}: {} {name:?}, but the target is {}",
                    unit_name(values),
                    text::counted(found, "person is", "people are"),
                    text::count(target)
                )));
            }
        }
        self.targets = self.counts.clone();
        self.checks.push(
            "the totals of the largest groups meet their targets, and smaller groups are as close to theirs as possible".into(),
        );
        Ok(())
    }

    fn check_decision(&mut self, facts: &Facts<'_>) -> Checked<()> {
        if let Some(difference) = &facts.pass.decision_difference {
            return Err(differs(with_hint(difference.clone(), facts, Setting::Id)));
        }
        match (facts.pass.decision, &facts.pass.applier, facts.kind) {
            (Some(_), Some(_), _) => {
                self.checks.push("every label agrees with the decision, including ties".into());
            }
            (Some(_), None, _) => self.skip("how people of tied rows were split", "the decision does not contain it"),
            (None, _, Kind::Decided) => {
                let why = Message::from("the decision is unknown; provide it with ") + Setting::Decision;
                self.skip("the labels themselves", why);
            }
            (None, _, Kind::Joint | Kind::Unknown) => {}
        }
        Ok(())
    }

    /// Compares the provenance with the computed results.
    fn check_provenance(&mut self, facts: &Facts<'_>, all: &[(Verified, Option<AllowedCounts>)]) -> Checked<()> {
        let Some(own) = facts.provenance else {
            self.skip("the inputs' SHA-256", "there is no provenance");
            return Ok(());
        };
        let pass = facts.pass;
        let mut compared = Vec::new();
        compared.extend(own.rows.map(|_| "rows"));
        if let Some(rows) = own.rows.filter(|&rows| rows != pass.rows) {
            return Err(differs(format!(
                "the provenance says {}, but there are {}",
                text::counted(rows, "row", "rows"),
                text::count(pass.rows)
            )));
        }
        if let (Some(said), Some(found)) = (&own.counts, &self.counts) {
            compare_counts(facts, "labels", said, found)?;
            compared.push("counts");
        }
        if let (Some(said), Some(found)) = (own.targets.as_ref(), &self.targets) {
            compare_counts(facts, "in the target", &said.overall, found)?;
            compared.push("targets");
            for (group, (verified, allowed)) in all.iter().enumerate() {
                let (Some(name), Some(allowed)) = (pass.group_names.get(group), allowed) else { continue };
                let target = allowed.targets_at(&verified.counts);
                if let Some(said) = said.groups.get(name).filter(|said| **said != target) {
                    return Err(differs(format!(
                        "group {name:?}: the targets are {said:?} in the provenance, but {target:?} here"
                    )));
                }
            }
        }
        if let (Some(said), Some(found)) = (&own.certificate, self.certificate.filter(|_| facts.kind == Kind::Joint)) {
            compared.push("certificate");
            let is_bound = said.primal != said.dual;
            // Penalties are sums of floating-point numbers; without a penalty, both sides are integers.
            let settings = facts.settings;
            let penalty = settings.recorded.gamma.and_then(|_| settings.penalty().ok());
            let tolerance = match penalty {
                None => 0,
                Some(Penalty::L2) => (1 << 20) + (found.primal.abs() >> 40),
                Some(Penalty::L1 | Penalty::L2Squared | Penalty::Kl) => {
                    2 * all.len() as i128 + (found.primal.abs() >> 44)
                }
            };
            let near = |said: &str, found: i128| said.parse().is_ok_and(|said: i128| (said - found).abs() <= tolerance);
            if !near(&said.primal, found.primal) || !is_bound && !near(&said.dual, found.dual) {
                return Err(differs(format!(
                    "the primal and dual values are {} and {} in the provenance, but {} and {} here",
                    said.primal, said.dual, found.primal, found.dual
                )));
            }
        }
        if let Some((last, others)) = compared.split_last() {
            let others = others.join(", ");
            let listed = if others.is_empty() { (*last).to_owned() } else { format!("{others} and {last}") };
            self.checks.push(format!("{listed} agree with the provenance"));
        }
        Ok(())
    }

    /// Compares the SHA-256 of the inputs. The rows have already been found to be equal.
    fn check_files(&mut self, facts: &Facts<'_>) -> Checked<()> {
        let Some(own) = facts.provenance else { return Ok(()) };
        let recorded: Vec<_> = own.inputs.iter().filter(|input| input.role == "scores").collect();
        let mut same = recorded.len() == facts.input.names().len();
        if (0..facts.input.names().len()).any(|file| facts.input.memory_table(file).is_some()) {
            self.skip("the inputs' SHA-256", "the scores are in memory");
            return Ok(());
        }
        let files = if same { &recorded[..] } else { &[] };
        for (file, recorded) in files.iter().enumerate() {
            let path = facts.input.path(file);
            let found = sha256(path).map_err(|error| apportion_io::Error::io(path, &error))?;
            if recorded.sha256.as_ref() != Some(&found) {
                same = false;
                self.remarks.push(format!(
                    "{}: its SHA-256 differs from the provenance, but its rows are those of the output",
                    facts.input.name(file).display()
                ));
            }
        }
        if same {
            self.checks.push("the SHA-256 of the scores agrees with the provenance".into());
        } else if recorded.len() != facts.input.names().len() {
            self.skip("the inputs' SHA-256", "the number of files differs from the provenance");
        }
        Ok(())
    }

    /// Returns the findings, with the difference that ended the checks, if any.
    pub(super) fn into_response(self, difference: Option<&Message>, context: &Context) -> Response {
        let certificate = self.certificate.map(|own| SavedCertificate {
            primal: own.primal.to_string(),
            dual: own.dual.to_string(),
            gap: own.gap(),
        });
        let not_checked = self.not_checked.into_iter();
        let not_checked = not_checked.map(|(what, why)| NotChecked { what, why: context.render(&why) });
        Response {
            verified: difference.is_none(),
            difference: difference.map(|message| context.render(message)),
            asked: self.asked,
            checks: self.checks,
            not_checked: not_checked.collect(),
            remarks: self.remarks,
            counts: self.counts,
            targets: self.targets,
            certificate,
        }
    }
}

/// Compares recorded counts with those found.
fn compare_counts(facts: &Facts<'_>, what: &str, recorded: &[u64], found: &[u64]) -> Checked<()> {
    let differing = (0..found.len()).find(|&class| recorded.get(class) != Some(&found[class]));
    let Some(class) = differing else { return Ok(()) };
    let (name, found) = (&facts.classes.names()[class], text::count(found[class]));
    let recorded = recorded.get(class).map_or_else(|| "nothing".into(), |&recorded| text::count(recorded));
    Err(differs(format!("{name:?}: the provenance says {recorded} {what}, but there are {found}")))
}

fn unit_name(values: &[String]) -> String {
    if values.is_empty() { "overall".into() } else { format!("group {:?}", values.join(" / ")) }
}

/// Refuses a part of the files that were labeled together, because counts and targets refer to all of them.
fn check_all_files(facts: &Facts<'_>) -> Checked<()> {
    let inputs = facts.provenance.map_or(&[][..], |own| &own.inputs);
    let recorded = inputs.iter().filter(|input| input.role == "scores").count();
    let is_part = facts.provenance.and_then(|own| own.rows).is_some_and(|rows| rows > facts.pass.rows);
    let named = facts.input.names().len();
    if is_part && named < recorded {
        return Err(differs(format!(
            "{recorded} files were labeled together, but only {named} of them {}; verify all outputs against all inputs",
            if named == 1 { "is named" } else { "are named" }
        )));
    }
    Ok(())
}

/// Refuses a reference or training shares that differ from the provenance, because the targets would differ.
fn check_reference(facts: &Facts<'_>) -> Checked<()> {
    let inputs = facts.provenance.map_or(&[][..], |own| &own.inputs);
    let own = &facts.settings.recorded;
    let reference = own.reference.as_ref().filter(|_| facts.reference_table.is_none());
    for (role, name) in [("reference", reference), ("training shares", own.training_shares.as_ref())] {
        let recorded = inputs.iter().find(|input| input.role == role && Some(&input.name) == name);
        let Some((name, expected)) = recorded.and_then(|own| Some((&own.name, own.sha256.as_ref()?))) else { continue };
        if sha256(Path::new(name)).is_ok_and(|found| found != *expected) {
            let verb = if role == "reference" { "has" } else { "have" };
            return Err(differs(format!(
                "{name}: the {role} {verb} changed since the labels were made (its SHA-256 differs from the provenance)"
            )));
        }
    }
    Ok(())
}

/// Returns how the labels were made, or what is assumed if the output does not say it.
fn asked(facts: &Facts<'_>) -> Option<String> {
    let settings = &facts.settings.recorded;
    let Some(rule) = &settings.rule else { return facts.provenance.is_none().then(|| assumed(facts)) };
    let mut parts = vec![format!("rule {rule}")];
    parts.extend(settings.reference.as_ref().map(|reference| format!("reference {reference}")));
    parts.extend(settings.training_shares.as_ref().map(|shares| format!("training shares {shares}")));
    parts.extend(settings.gamma.map(|gamma| format!("gamma {gamma}")));
    parts.extend(settings.penalty.as_ref().map(|penalty| format!("penalty {penalty}")));
    parts.extend(settings.coverage.map(|coverage| format!("coverage {coverage}")));
    for (name, columns) in [("by", &settings.by), ("nested", &settings.nested)] {
        if !columns.is_empty() {
            parts.push(format!("{name} {}", columns.join(", ")));
        }
    }
    let from = match (facts.provenance.is_some(), facts.has_given_settings) {
        (true, false) => "the provenance",
        (true, true) => "the provenance and the options given",
        (false, _) => "the options given",
    };
    let made = format!("{} (from {from})", parts.join(", "));
    Some(if facts.provenance.is_some() { made } else { format!("{}; {made}", assumed(facts)) })
}

/// Returns what is assumed about an output without provenance.
fn assumed(facts: &Facts<'_>) -> String {
    let (settings, columns) = (&facts.settings.recorded, &facts.pass.columns);
    let labels = match columns.labels.first() {
        Some((label, _)) => format!("the labels are in column {label:?}"),
        None => "the people of each class are in the n_ columns".into(),
    };
    let rows = match &settings.id {
        Some(id) => format!("column {id:?} identifies the rows"),
        None => "row numbers identify the rows".into(),
    };
    let groups =
        if facts.settings.groups().is_empty() { "all rows were labeled together" } else { "groups are as given" };
    let rule = if settings.rule.is_some() { "" } else { ", the rule is unknown" };
    let output = facts.output_name;
    format!("{output} does not say how it was labeled; assumed: {labels}, {rows}, {groups}{rule}")
}
