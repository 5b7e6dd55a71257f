//! What the pass shows: counts, targets, optimality and provenance, each named as verified, or as not checked and why.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::Result;
use apportion::verify::{AllowedCounts, Fault, Unit, Verified, nearer, rounded_to_first};
use apportion::{Certificate, Classes};
use apportion_io::Input;
use serde_json::{Value, json};

use super::asked::{Kind, Request};
use super::pass::Pass;
use super::rows::OutRows;
use super::{Difference, differs};
use crate::message;
use crate::text;
use apportion_app::provenance::{Provenance, Recorded, sha256};

/// What was found so far.
#[derive(Default)]
pub(super) struct Findings {
    /// How the labels were made, and how that is known.
    asked: Option<String>,
    verified: Vec<String>,
    not_checked: Vec<(String, String)>,
    remarks: Vec<String>,
    counts: Option<Vec<u64>>,
    targets: Option<Vec<u64>>,
    certificate: Option<Certificate>,
}

/// What the checks go by.
pub(super) struct Facts<'a> {
    pub(super) options: &'a Recorded,
    /// Whether some of the options were given on the command line.
    pub(super) has_options: bool,
    pub(super) provenance: Option<&'a Provenance>,
    pub(super) kind: Kind,
    pub(super) classes: &'a Classes,
    pub(super) pass: &'a Pass<'a>,
    pub(super) rows: &'a OutRows<'a>,
    /// The values of the columns that each group is made of.
    pub(super) groups: Vec<Vec<String>>,
    pub(super) input: &'a Input,
}

impl Findings {
    /// Checks all that can be checked; ends at the first difference.
    pub(super) fn check(&mut self, facts: &Facts<'_>) -> Result<()> {
        self.asked = asked(facts);
        self.tell_rows(facts);
        check_all_files(facts)?;
        check_reference(facts)?;
        let request = match facts.kind {
            Kind::Joint => match Request::new(facts.options, facts.classes) {
                Ok(request) => Some(request),
                Err(error) => {
                    self.leave("the targets", &message::sentence(&error));
                    None
                }
            },
            _ => None,
        };
        let verified = self.check_groups(facts, request.as_ref())?;
        self.check_decision(facts)?;
        self.check_provenance(facts, &verified)?;
        self.check_files(facts)
    }

    fn leave(&mut self, what: &str, why: &str) {
        self.not_checked.push((what.into(), why.into()));
    }

    fn tell_rows(&mut self, facts: &Facts<'_>) {
        let (pass, columns) = (facts.pass, &facts.pass.columns);
        let kept = text::counted(columns.kept.len() as u64, "column", "columns");
        self.verified.push(format!("{} rows, each once, in order and unchanged in {kept}", text::count(pass.rows)));
        if pass.left_out > 0 {
            self.verified.push(format!("{} rows were left out, and have no label", text::count(pass.left_out)));
        }
        if !columns.people.is_empty() {
            self.verified.push("the n_ columns of every row sum to its people".into());
            return;
        }
        match columns.labels.iter().all(|(_, score)| score.is_some()) {
            true => self.verified.push("every label is a class or Uncoded, and has its own score beside it".into()),
            false => {
                self.verified.push("every label is a class or Uncoded".into());
                self.leave("the scores of the labels", "the output has no column of them");
            }
        }
    }

    /// Counts and optimality, group by group.
    fn check_groups(
        &mut self,
        facts: &Facts<'_>,
        request: Option<&Request>,
    ) -> Result<Vec<(Verified, Option<AllowedCounts>)>> {
        let (verifier, k) = (&facts.pass.verifier, facts.classes.len());
        let is_optimal = facts.pass.is_priced || facts.kind != Kind::Decided;
        let groups = verifier.groups().max(1);
        let (mut all, mut units) = (Vec::with_capacity(groups), Vec::new());
        for group in 0..groups {
            let name = facts.pass.group_names.get(group).map(String::as_str);
            let allowed = match request {
                Some(request) => {
                    let weights = request.weights(verifier, group, name, k)?;
                    let people = verifier.people(group);
                    if request.nested {
                        let counts = verifier.verify(group, None).counts;
                        units.push(Unit { people, weights, counts });
                        None
                    } else {
                        Some(request.allowed(weights, facts.classes, people)?)
                    }
                }
                None => None,
            };
            let verified = verifier.verify(group, allowed.as_ref());
            if let Some(fault) = verified.fault.as_ref().filter(|_| is_optimal) {
                let hint = if facts.provenance.is_none() { HINT } else { "" };
                return Err(differs(fault_text(fault, facts, name) + hint));
            }
            all.push((verified, allowed));
        }
        self.add_up(&all, k);
        let places = if facts.pass.group_names.is_empty() {
            "overall".to_owned()
        } else {
            format!("in each of {}", text::counted(groups as u64, "group", "groups"))
        };
        match request {
            Some(request) if request.nested => self.check_nested(facts, request, &units)?,
            Some(_) => self.verified.push(format!("the counts are those that the options allow, {places}")),
            None if facts.kind == Kind::Unknown => self.leave(
                "the targets",
                "it is not known how the labels were made; name a file of --provenance, or options such as --rule match",
            ),
            None => {}
        }
        if !is_optimal {
            self.leave("optimality", "the rule promises none");
        } else if verifier.has_pairs() {
            let all_counts = request.is_some_and(|request| !request.nested && !request.is_bounded_only());
            let what = if all_counts { "for what was asked" } else { "for their own counts" };
            self.verified.push(format!("no other labels are better {what}, {places}: primal = dual"));
        } else {
            let why = "the costs of moves do not fit into --memory";
            match facts.pass.is_priced {
                true => self.verified.push(format!("no other labels are better for their own counts, {places}: primal = dual at the prices of the decision")),
                false => self.leave("optimality", why),
            }
        }
        if request.is_some_and(Request::is_bounded_only) {
            self.leave("the bound of the l2 penalty", "it is not an equality; counts are checked as they are");
        }
        if facts.pass.is_priced {
            self.verified.push("every label is the best at the prices of the decision".into());
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

    /// Totals of the largest units, and the counts of smaller ones within them.
    fn check_nested(&mut self, facts: &Facts<'_>, request: &Request, smallest: &[Unit]) -> Result<()> {
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
                        "{}: the counts of its groups could be nearer to their own references with the same totals ({names})",
                        unit_name(values)
                    )));
                }
            }
            let is_last = larger.keys().all(|values| values.len() <= 1);
            let whole = |(values, members): (Vec<String>, Vec<Unit>)| {
                (values, Unit::together(members.iter(), request.is_shares()))
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
                    "{}: {found} people are {name:?}, and the target is {target}",
                    unit_name(values)
                )));
            }
        }
        self.targets = self.counts.clone();
        self.verified.push(
            "the totals of the largest units are their targets, and groups are as near to theirs as that allows".into(),
        );
        Ok(())
    }

    fn check_decision(&mut self, facts: &Facts<'_>) -> Result<()> {
        if let Some(difference) = &facts.pass.undecided {
            return Err(difference.clone().into());
        }
        match (facts.pass.decision, &facts.pass.applier, facts.kind) {
            (Some(_), Some(_), _) => {
                self.verified.push("every label is the one that the decision gives, ties included".into());
            }
            (Some(_), None, _) => self.leave("how tied people of a row were shared out", "a decision does not hold it"),
            (None, _, Kind::Decided) => {
                self.leave("the labels themselves", "their decision is not known; name it with --decision");
            }
            (None, ..) => {}
        }
        Ok(())
    }

    /// Holds the provenance against what was computed.
    fn check_provenance(&mut self, facts: &Facts<'_>, all: &[(Verified, Option<AllowedCounts>)]) -> Result<()> {
        let Some(own) = facts.provenance else {
            self.leave("the inputs' SHA-256", "there is no provenance");
            return Ok(());
        };
        let pass = facts.pass;
        if let Some(rows) = own.rows.filter(|&rows| rows != pass.rows) {
            return Err(differs(format!("the provenance says {rows} rows, and there are {}", pass.rows)));
        }
        if let (Some(said), Some(found)) = (&own.counts, &self.counts) {
            self.hold(facts, "labels", said, found)?;
        }
        if let (Some(said), Some(found)) = (own.targets.as_ref(), &self.targets) {
            let found = found.clone();
            self.hold(facts, "as target", &said.overall, &found)?;
            for (group, (verified, allowed)) in all.iter().enumerate() {
                let (Some(name), Some(allowed)) = (pass.group_names.get(group), allowed) else { continue };
                let target = allowed.targets_at(&verified.counts);
                if let Some(said) = said.groups.get(name).filter(|said| **said != target) {
                    return Err(differs(format!(
                        "group {name:?}: the provenance says that the targets are {said:?}, and they are {target:?}"
                    )));
                }
            }
        }
        if let (Some(said), Some(found)) = (&own.certificate, self.certificate.filter(|_| facts.kind == Kind::Joint)) {
            let is_bound = said.primal != said.dual;
            // Penalties are sums of floating-point numbers; without one both sides are whole numbers.
            let slack = match (facts.options.gamma, facts.options.penalty.as_deref()) {
                (None, _) => 0,
                (_, Some("l2")) => (1 << 20) + (found.primal.abs() >> 40),
                _ => 2 * all.len() as i128 + (found.primal.abs() >> 44),
            };
            let near = |said: &str, found: i128| said.parse().is_ok_and(|said: i128| (said - found).abs() <= slack);
            if !near(&said.primal, found.primal) || !is_bound && !near(&said.dual, found.dual) {
                return Err(differs(format!(
                    "the provenance says that primal and dual are {} and {}, and they are {} and {}",
                    said.primal, said.dual, found.primal, found.dual
                )));
            }
        }
        self.verified.push("rows, counts, targets and certificate are those of the provenance".into());
        Ok(())
    }

    fn hold(&self, facts: &Facts<'_>, what: &str, said: &[u64], found: &[u64]) -> Result<()> {
        let differ = (0..found.len()).find(|&class| said.get(class) != Some(&found[class]));
        let Some(class) = differ else { return Ok(()) };
        let (name, found) = (&facts.classes.names()[class], found[class]);
        let said = said.get(class).map_or_else(|| "nothing".into(), |&said| text::count(said));
        Err(differs(format!("{name:?}: the provenance says {said} {what}, and there are {}", text::count(found))))
    }

    /// Compares the SHA-256 of the inputs. The rows were found to be the same already.
    fn check_files(&mut self, facts: &Facts<'_>) -> Result<()> {
        let Some(own) = facts.provenance else { return Ok(()) };
        let recorded: Vec<_> = own.inputs.iter().filter(|input| input.role == "scores").collect();
        let mut same = recorded.len() == facts.input.names().len();
        let files = if same { &recorded[..] } else { &[] };
        for (file, recorded) in files.iter().enumerate() {
            let found = sha256(facts.input.path(file))?;
            if recorded.sha256.as_ref() != Some(&found) {
                same = false;
                self.remarks.push(format!(
                    "{}: its SHA-256 is not that of the provenance, but its rows are those of the output",
                    facts.input.name(file).display()
                ));
            }
        }
        if same {
            self.verified.push("the SHA-256 of the scores is that of the provenance".into());
        } else if recorded.len() != facts.input.names().len() {
            self.leave("the inputs' SHA-256", "there are more or fewer files than in the provenance");
        }
        Ok(())
    }

    /// As lines of text.
    pub(super) fn lines(&self) -> Vec<String> {
        let verified = self.verified.iter().map(|line| format!("verified: {line}"));
        let remarks = self.remarks.iter().map(|line| format!("remark: {line}"));
        let not = self.not_checked.iter().map(|(what, why)| format!("not checked: {what}, because {why}"));
        let asked = self.asked.iter().map(|line| format!("asked for: {line}"));
        asked.chain(verified).chain(remarks).chain(not).collect()
    }

    pub(super) fn json(&self, difference: Option<&Difference>) -> Value {
        let not = |(what, why): &(String, String)| json!({ "what": what, "why": why });
        json!({
            "verified": difference.is_none(),
            "difference": difference.map(|difference| &difference.0),
            "asked": self.asked,
            "checks": self.verified,
            "not_checked": self.not_checked.iter().map(not).collect::<Vec<_>>(),
            "remarks": self.remarks,
            "counts": self.counts,
            "targets": self.targets,
            "certificate": self.certificate.map(|own| json!({
                "primal": own.primal.to_string(), "dual": own.dual.to_string(), "gap": own.gap(),
            })),
        })
    }
}

fn unit_name(values: &[String]) -> String {
    if values.is_empty() { "overall".into() } else { format!("unit {:?}", values.join(" / ")) }
}

/// Refuses some of the files whose rows were labeled together: counts and targets are those of all.
fn check_all_files(facts: &Facts<'_>) -> Result<()> {
    let inputs = facts.provenance.map_or(&[][..], |own| &own.inputs);
    let recorded = inputs.iter().filter(|input| input.role == "scores").count();
    let is_part = facts.provenance.and_then(|own| own.rows).is_some_and(|rows| rows > facts.pass.rows);
    let named = facts.input.names().len();
    if is_part && named < recorded {
        return Err(differs(format!(
            "the rows of {recorded} files were labeled together, and {named} of them {}; verify all outputs against all inputs",
            if named == 1 { "is named" } else { "are named" }
        )));
    }
    Ok(())
}

/// Refuses a reference that is not the one of the provenance: its targets would be others.
fn check_reference(facts: &Facts<'_>) -> Result<()> {
    let inputs = facts.provenance.map_or(&[][..], |own| &own.inputs);
    let recorded =
        inputs.iter().find(|input| input.role == "reference" && Some(&input.name) == facts.options.reference.as_ref());
    let Some((name, expected)) = recorded.and_then(|own| Some((&own.name, own.sha256.as_ref()?))) else {
        return Ok(());
    };
    match sha256(Path::new(name)) {
        Ok(found) if found != *expected => Err(differs(format!(
            "{name}: the reference has changed since the labels were made (its SHA-256 is not that of the provenance)"
        ))),
        _ => Ok(()),
    }
}

/// How the labels were made, as far as it is known.
fn asked(facts: &Facts<'_>) -> Option<String> {
    let options = facts.options;
    let mut parts = vec![format!("rule {}", options.rule.as_ref()?)];
    parts.extend(options.reference.as_ref().map(|reference| format!("reference {reference}")));
    parts.extend(options.gamma.map(|gamma| format!("gamma {gamma}")));
    parts.extend(options.penalty.as_ref().map(|penalty| format!("penalty {penalty}")));
    parts.extend(options.coverage.map(|coverage| format!("coverage {coverage}")));
    for (name, columns) in [("by", &options.by), ("nested", &options.nested)] {
        if !columns.is_empty() {
            parts.push(format!("{name} {}", columns.join(", ")));
        }
    }
    let from = match (facts.provenance.is_some(), facts.has_options) {
        (true, false) => "the provenance",
        (true, true) => "the provenance and the options given",
        (false, _) => "the options given",
    };
    Some(format!("{} (from {from})", parts.join(", ")))
}

/// What to do if labels are not optimal overall, and it is not known how they were made.
const HINT: &str = ". If the labels were made with other options, such as --by or --coverage, give the same here, or name the file of \
                    --provenance";

/// What is wrong, in words.
fn fault_text(fault: &Fault, facts: &Facts<'_>, group: Option<&str>) -> String {
    let name = |class: usize| facts.classes.names().get(class).map_or("Uncoded", String::as_str);
    let place = group.map_or_else(String::new, |group| format!("group {group:?}: "));
    let row = |row: u64| {
        let (path, number) = facts.rows.locate(row);
        format!("{}: row {number}", path.display())
    };
    match fault {
        Fault::Uncoded { found, expected } => format!(
            "{place}{} people have no label, and {} should have none",
            text::count(*found),
            text::count(*expected)
        ),
        Fault::Count { class, found, least, most } => {
            let expected = if least == most {
                text::count(*least)
            } else {
                format!("{} to {}", text::count(*least), text::count(*most))
            };
            format!("{place}{} people are {:?}, and the target is {expected}", text::count(*found), name(*class))
        }
        Fault::Exchange { moves, gain } => {
            let gain = apportion::verify::GRID.total(*gain);
            let moved = |own: &apportion::verify::Move| {
                format!("{} from {:?} to {:?}", row(own.row), name(own.from), name(own.to))
            };
            let moves = moves.iter().map(moved).collect::<Vec<_>>().join("; ");
            format!("{place}other labels are better by {gain:.3e}: change {moves}")
        }
        Fault::Price { row: number, label, better, .. } => format!(
            "{place}{}: the label is {:?}, but at the prices of the decision {:?} is better",
            row(*number),
            name(*label),
            name(*better)
        ),
    }
}
