//! Drift: whether a decision that was fitted to some rows still has the counts that it should on others.
//!
//! The count of a class is off by the sum of (1 where it is the label, else 0) − score over the rows. If the rows are drawn
//! from the same population as those that the decision was fitted to, this sum is off zero by chance alone. Its variance
//! is that of the new rows and, since the prices followed the old ones, that of as many of these:
//! V·(1 + N/N_fitted), where V ≤ Σ |indicator − score| = count + sum of scores − 2·(scores of the labels). What is beyond
//! three standard deviations and the rounding of each group is drift.

use crate::audit::Glance;
use crate::decision::{Decision, Fitted, Wanted};
use crate::scores::Scores;

/// How far the counts of a class may be off by chance, in standard deviations.
const DEVIATIONS: f64 = 3.0;

/// By how much the counts of labels are off what their decision was fitted to give.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Drift {
    /// The people of each class beyond those that were to have it.
    pub people: Vec<f64>,
    /// How far each may be off by chance and by rounding, if these rows are like those of the fit.
    pub explained: Vec<f64>,
}

impl Drift {
    /// The class that is furthest beyond what is explained, where one is.
    pub fn worst(&self) -> Option<usize> {
        let beyond = |class: usize| self.people[class].abs() / self.explained[class];
        let all = (0..self.people.len()).filter(|&class| beyond(class) > 1.0);
        all.max_by(|&a, &b| beyond(a).total_cmp(&beyond(b)))
    }

    /// How many people have another label than one that would make the counts right, at least.
    pub fn misplaced(&self) -> f64 {
        self.people.iter().map(|off| off.abs()).sum::<f64>() / 2.0
    }
}

impl Decision {
    /// By how much the counts of labels that it gave are off; none where it promises no counts, or does not say what it
    /// was fitted to ([`Origin`](crate::Origin)).
    pub fn drift(&self, scores: &Scores<'_>, glance: &Glance) -> Option<Drift> {
        let groups = match self.fitted() {
            Fitted::Prices(groups) => groups.len(),
            _ => return None,
        };
        let origin = self.origin()?;
        let share = |sum: f64| sum / glance.people.max(1) as f64;
        let posterior: Vec<f64> = glance.posterior_sums.iter().map(|&sum| share(sum)).collect();
        let wanted = match origin.wanted.as_ref()? {
            Wanted::Posterior => posterior,
            Wanted::Beside(off) => posterior.iter().zip(off).map(|(share, off)| share + off).collect(),
            Wanted::Shares(shares) => shares.clone(),
        };
        let labelled = glance.labelled as f64;
        let people = glance.counts.iter().zip(&wanted).map(|(&count, share)| count as f64 - share * labelled).collect();
        let fitted = origin.sample.unwrap_or(origin.people).max(1) as f64;
        let chance = (1.0 + glance.people as f64 / fitted) * people_at_once(scores);
        let explained = (0..glance.counts.len()).map(|class| {
            let unsure =
                glance.counts[class] as f64 + glance.posterior_sums[class] - 2.0 * glance.label_scores_by_class[class];
            DEVIATIONS * (unsure.max(0.0) * chance).sqrt() + groups as f64 + 1.0
        });
        Some(Drift { explained: explained.collect(), people })
    }
}

/// How many people go the same way at once: those of a row, on the average of a person.
fn people_at_once(scores: &Scores<'_>) -> f64 {
    let Some(counts) = scores.counts() else { return 1.0 };
    let squares: f64 = counts.iter().map(|&count| count as f64 * count as f64).sum();
    (squares / scores.people().max(1) as f64).max(1.0)
}
