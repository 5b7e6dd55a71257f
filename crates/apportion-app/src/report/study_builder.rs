//! Collects the input of a report while labels are computed: each labeling is summed once and need not be kept.

use apportion::audit::{AuditOptions, GroupMeasures, GroupTotals, Measures, Section, Tally};
use apportion::rule::{Joint, JointRule, Learned, RuleKind};
use apportion::{Balance, Frontier, Match, Reference, Rule, Scores, Settings};
use apportion_report::{Groups, LabelKind, LabelSet, LearnedStop, Provenance, Study, Trade, TradeReference};
use rayon::prelude::*;

use super::ReportSettings;
use super::changes::ChangesBuilder;
use crate::disparity::DisparityBuilder;
use crate::labels::{Assignment, RuleResult};
use crate::table::Grouping;
use crate::{Context, Result};

/// The number of frontier points in a report.
const STOPS: usize = 200;

/// The weights of accuracy at which a model is trained: from argmax to match, with every second value of the paper.
const LEARNED_GAMMAS: [f64; 12] = [1.0, 0.98, 0.96, 0.94, 0.92, 0.90, 0.88, 0.86, 0.84, 0.82, 0.80, 0.0];

/// The number of rows on which the model is evaluated: enough for a line at low cost.
const LEARNED_ROWS: usize = 100_000;

/// The role of labels in a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The labels that are the subject of the report.
    Subject,
    /// Labels with correct counts, with which the subject is compared.
    Corrected,
    /// Other labels.
    Other,
}

/// Builds the study of a report from the labelings of one table.
pub struct StudyBuilder<'a> {
    scores: &'a Scores<'a>,
    /// The focus class, if one was given.
    focus: Option<usize>,
    /// The word for one group.
    word: String,
    /// The frontier with respect to the posterior; `None` without people.
    frontier: Option<&'a Frontier>,
    /// The data that do not depend on labels; known once labels have been added.
    population: Option<Population>,
    changes: ChangesBuilder,
    label_sets: Vec<LabelSet>,
    subject: usize,
    corrected: Option<usize>,
    /// All figures of the subject.
    audit: Option<Section>,
    learned: Vec<LearnedStop>,
    disparity: Option<DisparityBuilder<'a>>,
}

/// The people of a table, without labels.
#[derive(Default)]
struct Population {
    whole: GroupTotals,
    groups: Vec<GroupTotals>,
    focus: usize,
}

impl<'a> StudyBuilder<'a> {
    /// Returns a builder without labels.
    ///
    /// # Errors
    /// If the focus class is unknown.
    pub fn new(
        scores: &'a Scores<'a>,
        frontier: Option<&'a Frontier>,
        report: &ReportSettings,
        groups: Grouping<'_>,
    ) -> Result<StudyBuilder<'a>> {
        Ok(StudyBuilder {
            scores,
            focus: report.focus_class(scores.classes())?,
            word: word(groups.columns),
            frontier,
            population: None,
            changes: ChangesBuilder::default(),
            label_sets: Vec::new(),
            subject: 0,
            corrected: None,
            audit: None,
            learned: Vec::new(),
            disparity: None,
        })
    }

    /// Also compares an outcome between the classes of each labeling.
    pub fn with_outcome(mut self, disparity: Option<DisparityBuilder<'a>>) -> StudyBuilder<'a> {
        self.disparity = disparity;
        self
    }

    /// Uses figures of the subject that have already been computed.
    pub fn with_audit(mut self, audit: Section) -> StudyBuilder<'a> {
        self.audit = Some(audit);
        self
    }

    /// Returns the figures to sum for labels before they are added.
    pub fn options(&self, role: Role) -> AuditOptions {
        let measures = match role {
            Role::Subject if self.audit.is_none() => Measures { intervals: false, ..Measures::ALL },
            Role::Subject | Role::Corrected | Role::Other => Measures::SUMMARY,
        };
        AuditOptions { measures, group_measures: GroupMeasures::Each(Measures::SUMMARY), ..AuditOptions::default() }
    }

    /// Adds labels with their sums.
    pub fn add(
        &mut self,
        role: Role,
        kind: LabelKind,
        result: &RuleResult,
        assignment: &Assignment,
        tally: &Tally,
    ) -> Result<()> {
        self.count_people(tally);
        self.add_changes(role, kind, assignment)?;
        match role {
            Role::Subject => self.subject = self.label_sets.len(),
            Role::Corrected => self.corrected = Some(self.label_sets.len()),
            Role::Other => {}
        }
        if role == Role::Subject && self.audit.is_none() {
            self.audit = Some(tally.overall());
        }
        if let Some(disparity) = &mut self.disparity {
            disparity.add(&result.name, kind, assignment)?;
        }
        let summary = &result.summary;
        let uncoded = summary.people - summary.labeled;
        let coverage = || summary.classes.iter().map(|class| class.posterior_coverage).collect();
        self.label_sets.push(LabelSet {
            name: result.name.clone(),
            kind,
            counts: summary.counts(),
            label_scores: summary.classes.iter().map(|class| class.label_scores).collect(),
            uncoded,
            confusion: summary.confusion.as_ref().map(|confusion| confusion.people.clone()),
            in_groups: (0..tally.groups()).map(|group| tally.labels(Some(group))).collect(),
            in_groups_with_truth: match summary.confusion {
                Some(_) => (0..tally.groups()).map(|group| tally.labels_with_truth(Some(group))).collect(),
                None => Vec::new(),
            },
            accuracy: summary.accuracy,
            expected_accuracy: summary.expected_accuracy,
            fidelity_to_posterior: summary.fidelity_to_posterior(),
            fidelity_to_truth: summary.fidelity_to_truth(),
            fidelity_in_groups: tally.fidelity_in_groups(),
            // If truth is known, the confusion matrix shows it.
            coverage: (uncoded > 0 && summary.confusion.is_none()).then(coverage),
            frontier_gap: self.frontier.and_then(|frontier| frontier.frontier_gap(summary)),
            certificate: result.joint.as_ref().map(|joint| joint.certificate),
            tied_rows: result.joint.as_ref().map_or(0, |joint| joint.tied_rows),
            draws: if result.draws.len() > 1 { result.draws.clone() } else { Vec::new() },
        });
        Ok(())
    }

    /// Adds labels that have not been summed yet.
    pub fn add_labels(
        &mut self,
        role: Role,
        kind: LabelKind,
        name: &str,
        assignment: &Assignment,
        joint: Option<Joint>,
    ) -> Result<()> {
        let tally = assignment.tally(self.scores, &self.options(role))?;
        let result = RuleResult::of_tally(name, &tally, assignment, joint);
        self.add(role, kind, &result, assignment, &tally)
    }

    /// Labels by a rule and adds the labels.
    pub fn add_rule(&mut self, role: Role, name: &str, rule: &Rule, settings: &Settings) -> Result<()> {
        let (assignment, _, joint) = Assignment::of_rule(rule, self.scores, settings, 1)?;
        self.add_labels(role, LabelKind::Rule(rule.kind()), name, &assignment, joint)
    }

    /// Trains a model on balance at several γ and evaluates it on rows drawn by the seed. Does nothing if rows
    /// represent several people, or if there are no rows.
    pub fn learn(&mut self, settings: &Settings) -> Result<()> {
        if self.scores.counts().is_none() && self.scores.rows() > 0 {
            let sample = apportion::rule::Sample::draw(self.scores, LEARNED_ROWS, settings.seed)?;
            let (some, all) = (sample.scores()?, self.scores.people());
            let stops = LEARNED_GAMMAS.into_par_iter().map(|gamma| learned(&some, all, gamma, settings));
            self.learned = stops.collect::<apportion::Result<_>>()?;
        }
        Ok(())
    }

    /// Returns the study.
    pub fn study(
        self,
        settings: &Settings,
        truth_given: bool,
        provenance: Provenance,
        context: &Context,
    ) -> Result<Study> {
        let Population { whole, groups: totals, focus } = self.population.unwrap_or_default();
        let audit = self.audit;
        let classes = self.scores.classes().names().to_vec();
        let calibration = match &audit {
            Some(audit) => audit.classes.iter().map(|class| class.calibration.clone()).collect(),
            None => vec![None; classes.len()],
        };
        let name = |name: &String| if name.trim().is_empty() { "(none)".to_owned() } else { name.clone() };
        let groups = |groups: apportion::Groups<'_>| {
            let names = groups.names.iter().map(name).collect();
            Groups { word: self.word, names, totals }
        };
        Ok(Study {
            focus,
            rows: self.scores.rows() as u64,
            groups: self.scores.groups().map(groups),
            trade: self.frontier.map(trade),
            whole,
            truth_given,
            learned: self.learned,
            label_sets: self.label_sets,
            subject: self.subject,
            corrected: self.corrected,
            calibration,
            audit,
            changes: self.changes.finish(),
            outcomes: self.disparity.map(|disparity| disparity.finish(settings, context)).transpose()?,
            shapes: None,
            provenance,
            title: None,
            date: None,
            classes,
            name_setting: context.name_setting,
        })
    }

    /// Stores the data that do not depend on labels, when the first labels are added.
    fn count_people(&mut self, tally: &Tally) {
        if self.population.is_none() {
            let whole = tally.totals(None);
            let focus = self.focus.unwrap_or_else(|| largest(&whole, self.scores.classes().len()));
            let groups = (0..tally.groups()).map(|group| tally.totals(Some(group))).collect();
            self.population = Some(Population { whole, groups, focus });
        }
    }

    /// Compares argmax with the subject or, if argmax is the subject, with the corrected labels.
    fn add_changes(&mut self, role: Role, kind: LabelKind, assignment: &Assignment) -> Result<()> {
        let (index, argmax) = (self.label_sets.len(), LabelKind::Rule(RuleKind::Argmax));
        let is_subject = |label_set: &LabelSet| label_set.kind == argmax;
        match role {
            _ if kind == argmax => self.changes.add_before(index, assignment, self.scores),
            Role::Subject => self.changes.add_after(index, assignment, self.scores),
            Role::Corrected if self.label_sets.get(self.subject).is_some_and(is_subject) => {
                self.changes.add_after(index, assignment, self.scores)
            }
            Role::Corrected | Role::Other => Ok(()),
        }
    }
}

/// Returns the class with the largest mean score; the first of equals.
fn largest(whole: &GroupTotals, classes: usize) -> usize {
    let mut best = 0;
    for class in 1..classes {
        if whole.posterior_share(class) > whole.posterior_share(best) {
            best = class;
        }
    }
    best
}

/// Returns the word for one group: the name of the column if it is a common word.
fn word(columns: &[String]) -> String {
    const KNOWN: [&str; 9] = ["county", "state", "precinct", "district", "region", "tract", "city", "town", "province"];
    let name = columns.last().map(|name| name.to_lowercase()).unwrap_or_default();
    if KNOWN.contains(&name.as_str()) { name } else { "group".into() }
}

/// Returns the result of a support vector machine trained on balance, as in the paper's fig:pareto-NC: evaluated on a
/// sample of rows, and scaled to all people.
fn learned(scores: &Scores<'_>, all: u64, gamma: f64, settings: &Settings) -> apportion::Result<LearnedStop> {
    let balance = Balance::new(gamma, Match::overall(Reference::Posterior));
    let labels = Rule::Learned(Learned::new(JointRule::Balance(balance))).label(scores, settings)?.labels;
    let summary = Section::summary(scores, &labels)?;
    let counts = as_of_all(&summary.counts(), summary.people, all);
    Ok(LearnedStop { gamma, people: summary.people, counts, expected_accuracy: summary.expected_accuracy })
}

/// Scales the counts of a sample to all people; the remainder goes to the largest class.
fn as_of_all(counts: &[u64], people: u64, all: u64) -> Vec<u64> {
    let scaled = |&count: &u64| (u128::from(count) * u128::from(all) / u128::from(people.max(1))) as u64;
    let mut counts: Vec<u64> = counts.iter().map(scaled).collect();
    let left = all - counts.iter().sum::<u64>();
    if let Some(largest) = counts.iter_mut().max() {
        *largest += left;
    }
    counts
}

/// Returns the points of the frontier that a report shows.
fn trade(frontier: &Frontier) -> Trade {
    let thinned = frontier.thinned(STOPS);
    Trade { reference: TradeReference::Posterior, points: thinned.points, of: frontier.len(), error: thinned.error }
}
