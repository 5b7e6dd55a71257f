//! How well scores agree with the truth: calibration, losses, and the bias of argmax.

use crate::audit::{Audit, AuditOptions, GroupMeasures, Measures, read};
use crate::calibrate::logistic::FLOOR;
use crate::error::Result;
use crate::kernel::{GRID, Grid};
use crate::rule::{Rule, Settings};
use crate::scores::Scores;

/// How well the scores of people with known truth agree with it.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
#[non_exhaustive]
pub struct Quality {
    /// The number of people with known truth.
    pub people: u64,
    /// The mean of −log(score of the true class), with scores below 1e-6 raised to it.
    pub log_loss: f64,
    /// The mean of Σ (score − truth)² over classes, from 0 to 2.
    pub brier: f64,
    /// The share of people whose class with the largest score is the true one.
    pub argmax_accuracy: f64,
    /// The figures of each class, in order.
    pub classes: Vec<ClassQuality>,
}

/// How well the scores of one class agree with the truth.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
#[non_exhaustive]
pub struct ClassQuality {
    /// The class.
    pub class: String,
    /// The mean score.
    pub mean_score: f64,
    /// The share of people of this true class.
    pub truth_share: f64,
    /// The expected calibration error, with ten bins of equal width: the mean over people of the difference between the
    /// mean score and the share of true members in their bin.
    pub expected_error: f64,
    /// Kuiper's statistic: the largest error of the scores over a range of scores, as a share of all people.
    pub kuiper: f64,
    /// The mean of (score − truth)².
    pub brier: f64,
    /// The share of people whose largest score is that of this class.
    pub argmax_share: f64,
    /// The share of argmax minus the share in the truth.
    pub argmax_bias: f64,
}

/// Fixed-point units in 1.0, so that sums do not depend on their order.
const UNITS: f64 = (1u64 << 60) as f64;

/// Sums over people with known truth.
struct Losses {
    people: u64,
    log: i128,
    brier: Vec<i128>,
}

impl Quality {
    /// Measures the scores of the people with known truth; `None` if there are none.
    ///
    /// # Errors
    /// If a score is invalid.
    pub fn of(scores: &Scores<'_>) -> Result<Option<Quality>> {
        let losses = Losses::of(scores)?;
        if losses.people == 0 {
            return Ok(None);
        }
        let labels = Rule::Argmax.label(scores, &Settings::default())?.labels;
        let measures = Measures { calibration: true, ..Measures::SUMMARY };
        let options = AuditOptions { measures, group_measures: GroupMeasures::None, ..AuditOptions::default() };
        let section = Audit::of(scores, &labels, &options)?.overall;
        let mean = |sum: i128| sum as f64 / UNITS / losses.people as f64;
        let mut classes = Vec::with_capacity(section.classes.len());
        for (class, &brier) in section.classes.into_iter().zip(&losses.brier) {
            let calibration = class.calibration.unwrap_or_default();
            let (truth_share, argmax_share) =
                (class.truth_share.unwrap_or_default(), class.share_with_truth.unwrap_or_default());
            classes.push(ClassQuality {
                class: class.class,
                mean_score: class.posterior_share_with_truth.unwrap_or_default(),
                truth_share,
                expected_error: calibration.equal_width.expected_error,
                kuiper: calibration.kuiper,
                brier: mean(brier),
                argmax_share,
                argmax_bias: argmax_share - truth_share,
            });
        }
        Ok(Some(Quality {
            people: losses.people,
            log_loss: mean(losses.log),
            brier: mean(losses.brier.iter().sum()),
            argmax_accuracy: section.accuracy.unwrap_or_default(),
            classes,
        }))
    }
}

impl Losses {
    fn of(scores: &Scores<'_>) -> Result<Losses> {
        let k = scores.classes().len();
        read(
            scores,
            || Losses { people: 0, log: 0, brier: vec![0; k] },
            |sums, _, row, people, truth| {
                let Some(truth) = truth else { return };
                sums.people += people;
                let times = i128::from(people);
                sums.log += times * (-GRID.value(row[truth]).max(FLOOR).ln() * UNITS) as i128;
                for (class, (sum, &score)) in sums.brier.iter_mut().zip(row.iter()).enumerate() {
                    let off = GRID.value(score - if class == truth { Grid::UNIT } else { 0 });
                    *sum += times * (off * off * UNITS) as i128;
                }
            },
            |sums, more| {
                sums.people += more.people;
                sums.log += more.log;
                sums.brier.iter_mut().zip(more.brier).for_each(|(sum, more)| *sum += more);
            },
        )
    }
}
