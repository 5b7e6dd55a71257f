//! The rules on voters, in the layout of the paper's tables. Simulated voters take the place of the commercial file,
//! which is not public.

use apportion::audit::{Audit, AuditOptions, Calibration, Measures, Section};
use apportion::rule::Thresholds;
use apportion::simulate::VoterOptions;
use apportion::{Balance, Classes, Labels, Match, Reference, Result, Rule, Scores, Settings};
use apportion_bisg::census::{CLASSES, NC_VOTER_SHARES};
use rayon::prelude::*;

use crate::all_rules::learned;
use crate::counties::{CountyShares, MAPPED};
use crate::information::GAMMAS;
use crate::people::People;
use crate::variants::{Variant, variants};

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

    /// Returns a description of the voters and scores of the public file that replace these.
    pub(crate) fn public_words(self) -> &'static str {
        match self {
            Made::Calibrated => "voters of the public file, BISG",
            Made::CensusPrior => "voters of the public file, raking",
            Made::Overconfident | Made::WithoutUncoded => "voters of the public file",
        }
    }

    pub(crate) fn options(self, seed: u64) -> VoterOptions {
        let plain = VoterOptions { seed, margin: Some(NC_VOTER_SHARES.to_vec()), ..VoterOptions::default() };
        match self {
            Made::Calibrated => plain,
            Made::CensusPrior => VoterOptions { prior_shift: 1.0, ..plain },
            Made::Overconfident | Made::WithoutUncoded => VoterOptions { sharpen: SHARPEN, ..plain },
        }
    }
}

/// The results of the rules on a file of voters.
#[derive(Clone, Debug)]
pub struct VoterFile {
    /// How the file was made or, if it is public, the table that it is used for.
    pub made: Made,
    /// Whether the voters are those of the public file.
    pub is_public: bool,
    /// The number of voters.
    pub voters: u64,
    /// The results of each rule, by name.
    pub outcomes: Vec<(&'static str, Outcome)>,
    /// The number of voters of each class, by the labels of each rule.
    pub counts: Vec<(&'static str, Vec<u64>)>,
    /// The number of voters of each true class.
    pub truth: Vec<u64>,
    /// The sum of the scores of each class.
    pub posterior: Vec<f64>,
    /// The calibration of the scores of each class.
    pub calibration: Vec<Calibration>,
    /// The shares of the first class in each county, with voters and in the order of the counties.
    pub counties: Vec<CountyShares>,
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
    /// Labels people with every rule.
    pub(crate) fn of(made: Made, people: &People, is_public: bool, settings: &Settings) -> Result<VoterFile> {
        let classes = Classes::new(CLASSES)?;
        let scores = people.scores(&classes)?;
        let labeled: Vec<(&'static str, Labels)> = rules()
            .into_iter()
            .map(|(name, rule)| Ok((name, rule.label(&scores, settings)?.labels)))
            .collect::<Result<_>>()?;
        let summaries: Vec<(&'static str, Section)> = labeled
            .iter()
            .map(|(name, labels)| Ok((*name, Section::summary(&scores, labels)?)))
            .collect::<Result<_>>()?;
        let trade = |gamma: f64| {
            let exact = Rule::Balance(Balance::new(gamma, Match::overall(Reference::Posterior)));
            let [exact, learned] = [exact, learned(gamma)].map(|rule| Outcome::of(&rule, &scores, settings));
            Ok(Trade { gamma, exact: exact?, learned: learned? })
        };
        // Truth, posterior and calibration are the same for all rules.
        let measures = Measures { calibration: true, ..Measures::SUMMARY };
        let calibrated = Audit::of(&scores, &labeled[0].1, &AuditOptions { measures, ..AuditOptions::summary() })?;
        let all = calibrated.overall;
        let mapped = labeled.iter().filter(|(name, _)| MAPPED.contains(name));
        let by_county = mapped
            .map(|(name, labels)| Ok((*name, Audit::of(&scores, labels, &AuditOptions::summary_by_group())?.groups)))
            .collect::<Result<Vec<_>>>()?;
        Ok(VoterFile {
            made,
            is_public,
            voters: all.people,
            outcomes: summaries.iter().map(|(name, summary)| (*name, Outcome::from(summary))).collect(),
            counts: summaries.iter().map(|(name, summary)| (*name, summary.counts())).collect(),
            truth: all.classes.iter().map(|class| class.truth_count.unwrap_or_default()).collect(),
            posterior: all.posterior_sums(),
            calibration: all.classes.into_iter().map(|class| class.calibration.unwrap_or_default()).collect(),
            counties: CountyShares::of(&by_county),
            trades: GAMMAS.into_par_iter().map(trade).collect::<Result<_>>()?,
            variants: variants(&scores, settings)?,
        })
    }

    /// Returns the results of a rule.
    pub fn outcome(&self, rule: &str) -> Option<&Outcome> {
        self.outcomes.iter().find(|(name, _)| *name == rule).map(|(_, outcome)| outcome)
    }

    /// Returns a description of the voters and their scores.
    pub fn words(&self) -> &'static str {
        if self.is_public { self.made.public_words() } else { self.made.words() }
    }
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
