//! The rules on simulated voters, in place of the commercial file, which is not public; in the layout of the paper's
//! tables.

use apportion::audit::Section;
use apportion::rule::Thresholds;
use apportion::simulate::{VoterOptions, VoterTables, Voters};
use apportion::{Balance, Classes, Groups, Label, Match, Matrix, Reference, Result, Rule, Scores, Settings, seed};
use apportion_bisg::census::{CLASSES, NC_VOTER_SHARES, counties, surnames};
use rayon::prelude::*;

use crate::all_rules::learned;
use crate::information::GAMMAS;
use crate::plan::Plan;
use crate::variants::{Variant, variants};

/// Separates the seeds of voter files from those of datasets.
const FILES: u64 = 0x7061_7065_0000_0001;

/// The share of voters whom the vendor left unlabeled; tab:table-dropuncoded excludes them.
const UNCODED_SHARE: f64 = 205_683.0 / (205_683.0 + 6_168_953.0);

/// The power to which scores are raised to imitate the vendor's overconfident scores: like these, they overcount the
/// largest class.
const SHARPEN: f64 = 1.5;

/// How the simulated voters for a table were made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Made {
    /// Scores with the shares of voters, as in the paper's BISG: calibrated.
    Calibrated,
    /// Scores with the shares of all residents: they undercount the largest class, as the paper's raked scores do.
    CensusPrior,
    /// Overconfident scores: they overcount the largest class, as the vendor's do.
    Overconfident,
    /// Overconfident scores without the least certain rows, as many as the vendor left unlabeled.
    WithoutUncoded,
}

impl Made {
    /// All variants.
    pub const ALL: [Made; 4] = [Made::Calibrated, Made::CensusPrior, Made::Overconfident, Made::WithoutUncoded];

    /// Returns a description.
    pub fn words(self) -> &'static str {
        match self {
            Made::Calibrated => "simulated voters of North Carolina, calibrated scores",
            Made::CensusPrior => "simulated voters of North Carolina, scores with the shares of all residents",
            Made::Overconfident => "simulated voters of North Carolina, overconfident scores",
            Made::WithoutUncoded => {
                "simulated voters of North Carolina, overconfident scores, without the rows with the least information"
            }
        }
    }

    fn options(self, seed: u64) -> VoterOptions {
        let plain = VoterOptions { seed, margin: Some(NC_VOTER_SHARES.to_vec()), ..VoterOptions::default() };
        match self {
            Made::Calibrated => plain,
            Made::CensusPrior => VoterOptions { prior_shift: 1.0, ..plain },
            Made::Overconfident | Made::WithoutUncoded => VoterOptions { sharpen: SHARPEN, ..plain },
        }
    }
}

/// The results of the rules on a file of simulated voters.
#[derive(Clone, Debug)]
pub struct VoterFile {
    /// How the file was made.
    pub made: Made,
    /// The number of voters.
    pub voters: u64,
    /// The results of each rule, by name.
    pub outcomes: Vec<(&'static str, Outcome)>,
    /// The results of balance and of the rule learned from it, at each of [`GAMMAS`].
    pub trades: Vec<Trade>,
    /// The results of further rules.
    pub variants: Vec<Variant>,
}

/// The results at one γ: solved exactly over all rows, and learned from a batch.
#[derive(Clone, Copy, Debug)]
pub struct Trade {
    /// The weight of accuracy.
    pub gamma: f64,
    /// The results of balance.
    pub exact: Outcome,
    /// The results of a support vector machine trained on the labels of balance.
    pub learned: Outcome,
}

/// The results of a rule: the columns of the paper's tables.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outcome {
    /// The share of labeled voters.
    pub coverage: f64,
    /// The accuracy among labeled voters.
    pub accuracy: f64,
    /// −Σ |share − truth|.
    pub fidelity_to_truth: f64,
    /// −Σ |share − posterior|.
    pub fidelity_to_posterior: f64,
}

/// Returns the rules of the paper's tables, by their names in `published.csv`.
pub fn rules() -> Vec<(&'static str, Rule)> {
    let posterior = || Match::overall(Reference::Posterior);
    vec![
        ("threshold 0.8", Rule::Threshold(Thresholds::at(0.8))),
        ("balance γ 0.9", Rule::Balance(Balance::new(0.9, posterior()))),
        ("argmax", Rule::Argmax),
        ("match", Rule::Match(posterior())),
        ("learned", learned(0.0)),
        ("match by county", Rule::Match(Match::by_group(Reference::Posterior))),
        ("thompson", Rule::Thompson),
        ("top-2", Rule::TopK(2)),
        ("match to truth", Rule::Match(Match::overall(Reference::Truth))),
        ("match to truth by county", Rule::Match(Match::by_group(Reference::Truth))),
    ]
}

impl VoterFile {
    /// Simulates the voters and labels them with every rule.
    pub fn of(plan: &Plan, made: Made) -> Result<VoterFile> {
        let people = |people: &[u64; 6]| people.map(|count| count as f64).to_vec();
        let tables = VoterTables {
            counties: counties().iter().map(|county| people(&county.people)).collect(),
            surnames: surnames().iter().map(|surname| people(&surname.people)).collect(),
        };
        let seed = seed::hash(plan.seed, 0, FILES);
        let mut rows = made_up(&Voters::new(&tables, &made.options(seed))?, plan.voters);
        if made == Made::WithoutUncoded {
            drop_unsure(&mut rows, (plan.voters as f64 * UNCODED_SHARE).round() as usize);
        }
        let classes = Classes::new(CLASSES)?;
        let names: Vec<String> = counties().iter().map(|county| county.name.to_owned()).collect();
        let codes: Vec<u32> = rows.iter().map(|row| row.county).collect();
        let truth: Vec<Label> = rows.iter().map(|row| row.truth).collect();
        let values: Vec<f64> = rows.iter().flat_map(|row| row.scores).collect();
        let scores = Scores::new(&classes, Matrix::RowsF64(&values))?
            .with_truth(&truth)?
            .with_groups(Groups { codes: &codes, names: &names })?;
        let settings = Settings { seed, ..Settings::default() };
        let outcome = |(name, rule): (&'static str, Rule)| Ok((name, Outcome::of(&rule, &scores, &settings)?));
        let trade = |gamma: f64| {
            let exact = Rule::Balance(Balance::new(gamma, Match::overall(Reference::Posterior)));
            let [exact, learned] = [exact, learned(gamma)].map(|rule| Outcome::of(&rule, &scores, &settings));
            Ok(Trade { gamma, exact: exact?, learned: learned? })
        };
        let outcomes = rules().into_iter().map(outcome).collect::<Result<_>>()?;
        let trades = GAMMAS.into_par_iter().map(trade).collect::<Result<_>>()?;
        let variants = variants(&scores, &settings)?;
        Ok(VoterFile { made, voters: rows.len() as u64, outcomes, trades, variants })
    }

    /// Returns the results of a rule.
    pub fn outcome(&self, rule: &str) -> Option<&Outcome> {
        self.outcomes.iter().find(|(name, _)| *name == rule).map(|(_, outcome)| outcome)
    }
}

struct Row {
    county: u32,
    truth: Label,
    scores: [f64; CLASSES.len()],
}

fn made_up(voters: &Voters, rows: u64) -> Vec<Row> {
    let row = |index| {
        let voter = voters.person(index);
        let mut scores = [0.0; CLASSES.len()];
        voters.scores(&voter, &mut scores);
        Row { county: voter.county, truth: voter.truth, scores }
    };
    (0..rows).into_par_iter().map(row).collect()
}

/// Removes the rows with the smallest maximum scores; the others keep their order.
fn drop_unsure(rows: &mut Vec<Row>, number: usize) {
    let largest = |row: &Row| row.scores.iter().copied().fold(0.0, f64::max);
    let mut order: Vec<usize> = (0..rows.len()).collect();
    order.sort_by(|&a, &b| largest(&rows[a]).total_cmp(&largest(&rows[b])));
    let mut kept = vec![true; rows.len()];
    order[..number].iter().for_each(|&row| kept[row] = false);
    let mut kept = kept.into_iter();
    rows.retain(|_| kept.next().unwrap_or(true));
}

impl Outcome {
    pub(crate) fn of(rule: &Rule, scores: &Scores<'_>, settings: &Settings) -> Result<Outcome> {
        Ok(Outcome::from(&Section::summary(scores, &rule.label(scores, settings)?.labels)?))
    }
}

impl From<&Section> for Outcome {
    fn from(summary: &Section) -> Outcome {
        Outcome {
            coverage: summary.labeled as f64 / summary.people as f64,
            accuracy: summary.accuracy.unwrap_or_default(),
            fidelity_to_truth: summary.fidelity_to_truth().unwrap_or_default(),
            fidelity_to_posterior: summary.fidelity_to_posterior().unwrap_or_default(),
        }
    }
}
