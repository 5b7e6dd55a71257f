//! Collects what a report is made of while labellings are computed: each is looked at once, and then forgotten.

use anyhow::Result;
use apportion::audit::{
    Crosstab, GroupTotals, LabelSummary, PopulationTotals, calibration_in_tenths, posterior_coverage,
};
use apportion::rule::{Joint, JointRule, Learned};
use apportion::{Balance, Classes, Frontier, Match, Reference, Rule, Scores, Settings, UNCODED};
use apportion_report::{self as report, Groups, Labelling, LearnedStop, Proof, Provenance, Study, Trade};
use rayon::prelude::*;

use super::ReportArgs;
use super::sample::SampleRows;
use crate::estimates::Estimating;
use crate::options::Grouping;
use crate::outcome::{Given, Outcome};

/// Points of a frontier that a report shows.
const STOPS: usize = 200;

/// The weights of accuracy at which a model learns: from argmax over the paper's, every second of them, to match.
const LEARNED_GAMMAS: [f64; 12] = [1.0, 0.98, 0.96, 0.94, 0.92, 0.90, 0.88, 0.86, 0.84, 0.82, 0.80, 0.0];

/// Rows that what it learned is tried on: enough for a line, and a small part of the work on many rows.
const LEARNED_ROWS: usize = 100_000;

/// What a labelling is in a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// What the report is about.
    Subject,
    /// What it is set against: labels whose counts are right.
    Remedy,
    /// Another one.
    Beside,
}

/// Labellings of one table, looked at.
pub(crate) struct Gallery<'a> {
    scores: &'a Scores<'a>,
    focus: usize,
    word: String,
    backdrop: &'a PopulationTotals,
    /// The frontier to the posterior; none of nobody.
    frontier: Option<&'a Frontier>,
    sample: Option<SampleRows>,
    labellings: Vec<Labelling>,
    subject: usize,
    remedy: Option<usize>,
    learned: Vec<LearnedStop>,
    estimating: Option<Estimating<'a>>,
}

impl<'a> Gallery<'a> {
    /// Also compares an outcome between the classes of each labelling.
    pub(crate) fn with_outcome(mut self, estimating: Option<Estimating<'a>>) -> Gallery<'a> {
        self.estimating = estimating;
        self
    }

    pub(crate) fn new(
        scores: &'a Scores<'a>,
        backdrop: &'a PopulationTotals,
        frontier: Option<&'a Frontier>,
        args: &ReportArgs,
        groups: Grouping<'_>,
        seed: u64,
    ) -> Result<Gallery<'a>> {
        let classes = scores.classes();
        let by_size = largest_first(backdrop, classes);
        let focus = args.focus_class(classes)?.or(by_size.first().copied()).unwrap_or(0);
        let corners = args.corners(classes)?.or_else(|| Some([*by_size.first()?, *by_size.get(1)?]));
        let corners = corners.filter(|_| classes.len() > 2);
        Ok(Gallery {
            scores,
            focus,
            word: word(groups.columns),
            backdrop,
            frontier,
            sample: corners.map(|corners| SampleRows::choose(scores, corners, seed)).transpose()?,
            labellings: Vec::new(),
            subject: 0,
            remedy: None,
            learned: Vec::new(),
            estimating: None,
        })
    }

    /// Takes a labelling in.
    pub(crate) fn hang(&mut self, place: Place, outcome: &Outcome, given: &Given, crossing: &Crosstab) -> Result<()> {
        match place {
            Place::Subject => self.subject = self.labellings.len(),
            Place::Remedy => self.remedy = Some(self.labellings.len()),
            Place::Beside => {}
        }
        if let Some(sample) = &mut self.sample {
            sample.look(given, self.scores.classes());
        }
        if let Some(estimating) = &mut self.estimating {
            estimating.look(&outcome.name, given)?;
        }
        let glance = &outcome.glance;
        let uncoded = glance.people - glance.labeled;
        let has_truth = self.backdrop.whole.truth.is_some();
        let in_groups = |groups| (0..groups).map(|group| crossing.labels_in(group)).collect();
        self.labellings.push(Labelling {
            name: outcome.name.clone(),
            counts: glance.counts.clone(),
            uncoded,
            confusion: has_truth.then(|| crossing.confusion()),
            in_groups: self.scores.groups().map_or_else(Vec::new, |_| in_groups(crossing.groups())),
            accuracy: glance.accuracy,
            expected_accuracy: glance.expected_accuracy,
            fidelity_to_posterior: glance.fidelity_to_posterior,
            fidelity_to_truth: glance.fidelity_to_truth,
            fidelity_in_groups: self.backdrop.fidelity_in_groups(crossing),
            // Where truth is known, the confusion says it.
            coverage: if uncoded > 0 && !has_truth { Some(self.coverage(given)?) } else { None },
            below_frontier: self.frontier.and_then(|frontier| frontier.frontier_gap(glance)),
            proof: outcome.joint.as_ref().map(proof),
            draws: if outcome.draws.len() > 1 { outcome.draws.clone() } else { Vec::new() },
        });
        Ok(())
    }

    /// The part of each class's scores that lies on people with a label.
    fn coverage(&self, given: &Given) -> Result<Vec<Option<f64>>> {
        let (scores, all, k) = (self.scores, &self.backdrop.whole, self.scores.classes().len());
        Ok(match given {
            Given::People(allotment) => posterior_coverage(scores, all, |row| allotment.row(row)[..k].iter().sum())?,
            Given::Labels(draws) => posterior_coverage(scores, all, |row| match draws[0].values()[row] {
                UNCODED => 0,
                _ => scores.counts().map_or(1, |counts| counts[row]),
            })?,
        })
    }

    /// Takes in labels that nobody has looked at yet.
    pub(crate) fn show(&mut self, place: Place, name: &str, given: &Given, joint: Option<Joint>) -> Result<()> {
        let outcome = Outcome::new(name, self.scores, given, joint)?;
        let crossing = given.crossing(self.scores)?;
        self.hang(place, &outcome, given, &crossing)
    }

    /// Labels by a rule, and takes that in.
    pub(crate) fn label_by(&mut self, name: &str, place: Place, rule: &Rule, settings: &Settings) -> Result<()> {
        let (given, _, joint) = Given::by(rule, self.scores, settings, 1)?;
        self.show(place, name, &given, joint)
    }

    /// Lets a model learn from balance at one γ after another, and tries it on rows drawn by the seed. Nothing where it
    /// cannot: where rows stand for several people, or there are none.
    pub(crate) fn learn(&mut self, settings: &Settings) -> Result<()> {
        if self.scores.counts().is_none() && self.scores.rows() > 0 {
            let sample = apportion::rule::Sample::draw(self.scores, LEARNED_ROWS, settings.seed)?;
            let (some, all) = (sample.scores()?, self.scores.people());
            let stops = LEARNED_GAMMAS.into_par_iter().map(|gamma| learned(&some, all, gamma, settings));
            self.learned = stops.collect::<apportion::Result<_>>()?;
        }
        Ok(())
    }

    /// Walks the frontier to the truth, and puts all together.
    pub(crate) fn study(self, settings: &Settings, provenance: Provenance) -> Result<Study> {
        let has_truth = self.backdrop.whole.truth.is_some();
        let judged =
            || if has_truth { calibration_in_tenths(self.scores) } else { Ok(vec![None; self.scores.classes().len()]) };
        let (calibration, trades) = rayon::join(judged, || trades(self.scores, self.backdrop, self.frontier, settings));
        let classes = self.scores.classes().names().to_vec();
        let k = classes.len();
        Ok(Study {
            focus: self.focus,
            rows: self.scores.rows() as u64,
            whole: backdrop(&self.backdrop.whole, k),
            groups: self.scores.groups().map(|groups| Groups {
                word: self.word.clone(),
                names: groups.names.to_vec(),
                backdrops: self.backdrop.groups.iter().map(|crowd| backdrop(crowd, k)).collect(),
            }),
            trades: trades?,
            learned: self.learned,
            labellings: self.labellings,
            subject: self.subject,
            remedy: self.remedy,
            calibration: calibration?,
            sample: self.sample.map(SampleRows::finish).filter(|sample| !sample.points.is_empty()),
            outcomes: self.estimating.map(|estimating| estimating.finish(settings)).transpose()?,
            shapes: None,
            provenance,
            classes,
        })
    }
}

/// The classes, those with the most scores first.
fn largest_first(backdrop: &PopulationTotals, classes: &Classes) -> Vec<usize> {
    let shares = backdrop.whole.posterior.clone().unwrap_or_else(|| vec![0.0; classes.len()]);
    let mut order: Vec<usize> = (0..shares.len()).collect();
    order.sort_by(|&a, &b| shares[b].total_cmp(&shares[a]));
    order
}

/// What one group is called: the column's name, where that is a word that everybody knows.
fn word(columns: &[String]) -> String {
    const KNOWN: [&str; 9] = ["county", "state", "precinct", "district", "region", "tract", "city", "town", "province"];
    let name = columns.last().map(|name| name.to_lowercase()).unwrap_or_default();
    if KNOWN.contains(&name.as_str()) { name } else { "group".into() }
}

fn backdrop(crowd: &GroupTotals, classes: usize) -> report::Backdrop {
    report::Backdrop {
        people: crowd.people,
        posterior: crowd.posterior.clone().unwrap_or_else(|| vec![0.0; classes]),
        truth: crowd.truth.clone(),
        posterior_with_truth: crowd.posterior_with_truth.clone(),
    }
}

fn proof(joint: &Joint) -> Proof {
    Proof {
        primal: joint.certificate.primal.to_string(),
        dual: joint.certificate.dual.to_string(),
        gap: joint.certificate.gap(),
        tied_rows: joint.tied_rows,
    }
}

/// What a support vector machine gives that learned from balance, as in the paper's fig:pareto-NC: on some rows, told as of all.
fn learned(scores: &Scores<'_>, all: u64, gamma: f64, settings: &Settings) -> apportion::Result<LearnedStop> {
    let balance = Balance::new(gamma, Match::overall(Reference::Posterior));
    let labels = Rule::Learned(Learned::new(JointRule::Balance(balance))).label(scores, settings)?.labels;
    let LabelSummary { counts, expected_accuracy, people, .. } = LabelSummary::of(scores, &labels)?;
    Ok(LearnedStop { gamma, people, counts: as_of_all(&counts, people, all), expected_accuracy })
}

/// Counts of some people, told as of all: what is left by rounding goes to the largest class.
fn as_of_all(counts: &[u64], people: u64, all: u64) -> Vec<u64> {
    let scaled = |&count: &u64| (u128::from(count) * u128::from(all) / u128::from(people.max(1))) as u64;
    let mut counts: Vec<u64> = counts.iter().map(scaled).collect();
    let left = all - counts.iter().sum::<u64>();
    if let Some(largest) = counts.iter_mut().max() {
        *largest += left;
    }
    counts
}

/// The frontier to the posterior and, where it is known, to the truth.
fn trades(
    scores: &Scores<'_>,
    backdrop: &PopulationTotals,
    posterior: Option<&Frontier>,
    settings: &Settings,
) -> Result<Vec<Trade>> {
    let shown = |reference, frontier: &Frontier| {
        let thinned = frontier.thinned(STOPS);
        Trade { reference, points: thinned.points, of: frontier.len(), error: thinned.error }
    };
    let mut trades: Vec<Trade> = posterior.map(|frontier| shown("posterior", frontier)).into_iter().collect();
    if backdrop.whole.truth.is_some() {
        trades.push(shown("truth", &Frontier::of(&Match::overall(Reference::Truth), scores, settings)?));
    }
    Ok(trades)
}
