//! Class shares from the mean scores of people with known truth, by least squares (probabilistic adjusted count).
//!
//! With M_rs the mean score of class r among people whose true class is s, and m_r the mean score of class r in the
//! table, Mπ = m if people of a class have the same scores on average, whether their truth is known or not. The
//! estimate minimizes Σ (Mπ − m)² over shares π. Scores need not be calibrated. One pass sums all replicates of the
//! bootstrap, in whole numbers.

use super::simplex::{Program, unexplained};
use super::{ShareEstimate, ShareMethod, check_classes, check_identified, drawn, intervals, not_estimated};
use crate::audit::{Bootstrap, Draws, read};
use crate::error::Result;
use crate::kernel::GRID;
use crate::scores::{Classes, Scores};

impl ShareEstimate {
    /// Estimates the class shares of a table from the people whose true class is known.
    ///
    /// The estimate assumes that, within each class, people with known truth have the same distribution of scores as
    /// the others. Their class shares may differ, and scores need not be calibrated.
    ///
    /// # Errors
    /// If a score is invalid, no person with known truth is of some class, or the scores do not distinguish the
    /// classes.
    pub fn pacc(scores: &Scores<'_>, bootstrap: Option<&Bootstrap>) -> Result<ShareEstimate> {
        let (classes, keys) = (scores.classes(), scores.keys());
        check_classes(classes)?;
        let k = classes.len();
        let replicates = bootstrap.map_or(0, |bootstrap| bootstrap.replicates as usize);
        let sums = read(
            scores,
            || (vec![Sums::zero(k); replicates + 1], Draws::new(bootstrap)),
            |(sums, draws), index, row, people, truth| {
                let key = keys.of(index);
                for (replicate, sums) in sums.iter_mut().enumerate() {
                    let times = match replicate.checked_sub(1) {
                        Some(replicate) => drawn(draws, key, people, replicate),
                        None => people,
                    };
                    sums.add(row, times, truth);
                }
            },
            |(sums, _), (more, _)| sums.iter_mut().zip(&more).for_each(|(sums, more)| sums.merge(more)),
        )?;
        let (all, resampled) = sums.0.split_first().ok_or_else(|| not_estimated("there are no rows"))?;
        all.check(classes)?;
        let columns = all.columns(None);
        let parts: Vec<(usize, f64)> = unexplained(&products(&columns, k), k).into_iter().enumerate().collect();
        check_identified(classes, &parts)?;
        let found: Vec<Vec<f64>> = resampled
            .iter()
            .filter(|sums| sums.people > 0)
            .map(|sums| shares(&sums.columns(Some(&columns)), &sums.means()))
            .collect();
        Ok(ShareEstimate {
            method: ShareMethod::Pacc,
            shares: shares(&columns, &all.means()),
            intervals: bootstrap.map_or_else(Vec::new, |bootstrap| intervals(&found, k, bootstrap.level)),
            people: all.people,
            with_truth: Some(all.by_class.iter().sum()),
        })
    }
}

/// Sums over people, and over those of each true class.
#[derive(Clone)]
struct Sums {
    people: u64,
    scores: Vec<i128>,
    by_class: Vec<u64>,
    /// For each true class, the sums of the scores of all classes.
    scores_by_class: Vec<i128>,
}

impl Sums {
    fn zero(k: usize) -> Sums {
        Sums { people: 0, scores: vec![0; k], by_class: vec![0; k], scores_by_class: vec![0; k * k] }
    }

    fn add(&mut self, row: &[i64], people: u64, truth: Option<usize>) {
        if people == 0 {
            return;
        }
        let add = |sums: &mut [i128]| {
            sums.iter_mut().zip(row).for_each(|(sum, &score)| *sum += i128::from(score) * i128::from(people));
        };
        self.people += people;
        add(&mut self.scores);
        if let Some(class) = truth {
            let k = self.by_class.len();
            self.by_class[class] += people;
            add(&mut self.scores_by_class[class * k..][..k]);
        }
    }

    fn merge(&mut self, other: &Sums) {
        self.people += other.people;
        self.scores.iter_mut().zip(&other.scores).for_each(|(sum, more)| *sum += more);
        self.by_class.iter_mut().zip(&other.by_class).for_each(|(sum, more)| *sum += more);
        self.scores_by_class.iter_mut().zip(&other.scores_by_class).for_each(|(sum, more)| *sum += more);
    }

    fn check(&self, classes: &Classes) -> Result<()> {
        let absent: Vec<String> = (self.by_class.iter().zip(classes.names()))
            .filter(|(people, _)| **people == 0)
            .map(|(_, class)| format!("{class:?}"))
            .collect();
        match &absent[..] {
            [] => Ok(()),
            all if all.len() == classes.len() => {
                Err(not_estimated("no row has a known true class; use rows with known truth of all classes"))
            }
            some => Err(not_estimated(&format!(
                "no person with known truth is {}; use rows of each class, or merge it with another one",
                some.join(" or ")
            ))),
        }
    }

    fn means(&self) -> Vec<f64> {
        self.scores.iter().map(|&sum| GRID.total(sum) / self.people as f64).collect()
    }

    /// Returns the mean scores of each true class, one class after the other. A class without people in a replicate has
    /// the means of `others`.
    fn columns(&self, others: Option<&[f64]>) -> Vec<f64> {
        let k = self.by_class.len();
        let mean = |(at, &sum): (usize, &i128)| match self.by_class[at / k] {
            0 => others.map_or(0.0, |others| others[at]),
            people => GRID.total(sum) / people as f64,
        };
        self.scores_by_class.iter().enumerate().map(mean).collect()
    }
}

/// Returns MᵀM, from the columns of M.
fn products(columns: &[f64], k: usize) -> Vec<f64> {
    let column = |class: usize| &columns[class * k..][..k];
    let product = |at: usize| column(at / k).iter().zip(column(at % k)).map(|(a, b)| a * b).sum();
    (0..k * k).map(product).collect()
}

/// Returns the shares π that minimize Σ (Mπ − m)².
fn shares(columns: &[f64], means: &[f64]) -> Vec<f64> {
    let k = means.len();
    let mut curvature = products(columns, k);
    // Keeps the matrix of a replicate positive definite.
    (0..k).for_each(|class| curvature[class * (k + 1)] *= 1.0 + 1e-12);
    let slope: Vec<f64> =
        columns.chunks_exact(k).map(|column| column.iter().zip(means).map(|(a, b)| a * b).sum()).collect();
    let program = Program { curvature: &curvature, slope: &slope, weights: &vec![1.0; k], low: 0.0 };
    let found = program.minimum(&vec![1.0 / k as f64; k]);
    found.into_iter().map(|share| GRID.value(GRID.round(share))).collect()
}
