//! Drift: whether a decision still gives the expected counts on rows that it was not fitted to.
//!
//! The count of a class deviates by the sum of (1 if it is the label, else 0) − score over the rows. If the rows are
//! from the same population as those of the fit, the expected value of this sum is the rounding of the fit, in
//! proportion to the number of people. Its variance is V·(1 + N/N_fitted) with V = Σ (indicator − score)²: the second
//! term is due to the prices, which were fitted to other rows. Deviations beyond three standard deviations are drift.
//!
//! Two effects of small groups are allowed for in addition. Other rows may have another mix of groups, and thus of
//! their rounding, which has a variance of 1/12 per group. And the only person of a class in a group is there by
//! chance: without this person, the class would have no price in the group, and people like this would get another
//! label. Leaving out one row at a time shows that half a person per such group moves to the other classes.

use rayon::prelude::*;

use crate::audit::Section;
use crate::decision::{Decision, ExpectedShares, Fitted};
use crate::error::Result;
use crate::kernel::{GRID, STRETCH};
use crate::scores::Scores;

/// Tolerance in standard deviations.
const DEVIATIONS: f64 = 3.0;

/// The variance of the rounding of a group: of a uniform distribution between −1/2 and 1/2.
const ROUNDING: f64 = 1.0 / 12.0;

/// The deviation of label counts from the counts that the decision was fitted to.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct Drift {
    /// The excess of people in each class.
    pub people: Vec<f64>,
    /// The deviation of each class that chance and rounding explain, if these rows are like those of the fit.
    pub explained: Vec<f64>,
}

impl Drift {
    /// Returns the classes with an unexplained deviation, those with the largest relative to what chance explains first.
    pub fn beyond(&self) -> Vec<usize> {
        let ratio = |class: usize| self.people[class].abs() / self.explained[class];
        let mut beyond: Vec<usize> = (0..self.people.len()).filter(|&class| ratio(class) > 1.0).collect();
        beyond.sort_by(|&a, &b| ratio(b).total_cmp(&ratio(a)));
        beyond
    }

    /// Returns the minimum number of people whose labels must change for correct counts.
    pub fn misplaced(&self) -> f64 {
        self.people.iter().map(|off| off.abs()).sum::<f64>() / 2.0
    }
}

impl Decision {
    /// Returns the drift of labels given by this decision, from their summary with Uncoded rows kept; `None` if the
    /// decision has no expected counts or no [`FitInfo`](crate::decision::FitInfo).
    pub fn drift(&self, scores: &Scores<'_>, summary: &Section) -> Result<Option<Drift>> {
        let groups = match self.fitted() {
            Fitted::Prices(groups) => groups.len(),
            Fitted::Learned(_) => 1,
            Fitted::Argmax | Fitted::Threshold { .. } | Fitted::Thompson | Fitted::TopK { .. } => return Ok(None),
        };
        let Some((info, expected)) = self.fit_info().and_then(|info| Some((info, info.expected_shares.as_ref()?)))
        else {
            return Ok(None);
        };
        let counts = summary.counts();
        let labeled = summary.labeled as f64;
        let shares = shares_on(expected, summary);
        let people: Vec<f64> =
            counts.iter().zip(&shares).map(|(&count, share)| count as f64 - share * labeled).collect();
        let fitted = info.sample.unwrap_or(info.people).max(1) as f64;
        let times = summary.people as f64 / fitted;
        let at_once = people_at_once(scores);
        // Decisions by group that were saved before the offset was recorded expect the posterior.
        let rounded = if *expected == ExpectedShares::Posterior && groups > 1 { groups as f64 } else { 0.0 };
        let explained = squares(scores)?.into_iter().enumerate().map(|(class, squares)| {
            let variance = squares + counts[class] as f64 - 2.0 * summary.classes[class].label_scores;
            let variance = variance.max(0.0) * (1.0 + times) * at_once + ROUNDING * groups as f64 * times;
            let moved = times * moved(&info.single_members, class, people[class] > 0.0);
            DEVIATIONS * variance.sqrt() + moved + rounded + 1.0
        });
        Ok(Some(Drift { explained: explained.collect(), people }))
    }
}

/// Returns the expected number of people, in the table of the fit, who leave a class or join it from other classes,
/// because some people are the only ones of a class in their group.
fn moved(single_members: &[u64], class: usize, joining: bool) -> f64 {
    let of = |other: &usize| (*other != class) == joining;
    (0..single_members.len()).filter(of).map(|class| single_members[class] as f64 / 2.0).sum()
}

/// Returns the expected shares of the labels on these rows.
fn shares_on(expected: &ExpectedShares, summary: &Section) -> Vec<f64> {
    let posterior = summary.classes.iter().map(|class| class.posterior_sum / summary.people.max(1) as f64);
    match expected {
        ExpectedShares::Posterior => posterior.collect(),
        ExpectedShares::OffsetFromPosterior(off) => posterior.zip(off).map(|(share, off)| share + off).collect(),
        ExpectedShares::Shares(shares) => shares.clone(),
    }
}

/// Sums the squared scores by class, in the same order for any number of threads.
fn squares(scores: &Scores<'_>) -> Result<Vec<f64>> {
    let rows = scores.rows();
    let stretches = (0..rows.div_ceil(STRETCH)).into_par_iter();
    let parts: Vec<Result<Vec<f64>>> = stretches
        .map(|stretch| {
            let mut sums = vec![0.0; scores.classes().len()];
            scores.read_rows(stretch * STRETCH..rows.min((stretch + 1) * STRETCH), |index, row| {
                let people = scores.counts().map_or(1.0, |counts| counts[index] as f64);
                sums.iter_mut().zip(&*row).for_each(|(sum, &units)| *sum += people * GRID.value(units).powi(2));
                Ok(())
            })?;
            Ok(sums)
        })
        .collect();
    let mut all = vec![0.0; scores.classes().len()];
    for part in parts {
        all.iter_mut().zip(part?).for_each(|(sum, part)| *sum += part);
    }
    Ok(all)
}

/// Returns the average number of people, per person, who share a row and thus a label.
fn people_at_once(scores: &Scores<'_>) -> f64 {
    let Some(counts) = scores.counts() else { return 1.0 };
    let squares: f64 = counts.iter().map(|&count| count as f64 * count as f64).sum();
    (squares / scores.people().max(1) as f64).max(1.0)
}
