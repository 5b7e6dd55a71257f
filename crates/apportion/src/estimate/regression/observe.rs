//! The observations of a row: which class a person is taken for, in each of several fits.

use super::design::Design;
use crate::estimate::regression::Model;
use crate::kernel::GRID;
use crate::rule::{Allotment, person_key, sample_each};
use crate::scores::{Label, Scores, UNCODED};

/// Where the classes of people come from.
#[derive(Clone, Copy)]
pub(super) enum Source<'s> {
    /// The true class, if it is known.
    Truth,
    /// Labels of rows.
    Labels(&'s [Label]),
    /// Labels of the people of each row.
    Allotment(&'s Allotment),
    /// Each class, with the weight of its score.
    Weighted,
    /// The scores are the regressors.
    Linear,
    /// Classes drawn by the scores, in several fits.
    Draws { draws: usize, seed: u64 },
}

/// How a person enters a fit.
#[derive(Clone, Copy)]
pub(super) enum Entry {
    /// As a member of a class.
    Class(usize),
    /// As a member of each class, weighted by the scores.
    Weighted,
    /// With the scores as regressors.
    Scores,
}

impl Source<'_> {
    /// Returns the number of fits.
    pub(super) fn fits(self) -> usize {
        match self {
            Source::Draws { draws, .. } => draws,
            Source::Truth | Source::Labels(_) | Source::Allotment(_) | Source::Weighted | Source::Linear => 1,
        }
    }

    /// Calls `each` with the fit, the entry and its number of people.
    #[inline]
    pub(super) fn entries(
        self,
        scores: &Scores<'_>,
        row: &Row<'_>,
        buffer: &mut Vec<u64>,
        mut each: impl FnMut(usize, Entry, u64),
    ) {
        match self {
            Source::Truth => row.truth.into_iter().for_each(|class| each(0, Entry::Class(class), row.people)),
            Source::Labels(labels) => {
                let label = Some(labels[row.index]).filter(|&label| label != UNCODED);
                label.into_iter().for_each(|label| each(0, Entry::Class(usize::from(label)), row.people));
            }
            Source::Allotment(allotment) => {
                let own = &allotment.row(row.index)[..row.scores.len()];
                let labeled = own.iter().enumerate().filter(|(_, people)| **people > 0);
                labeled.for_each(|(class, &people)| each(0, Entry::Class(class), people));
            }
            Source::Weighted => each(0, Entry::Weighted, row.people),
            Source::Linear => each(0, Entry::Scores, row.people),
            Source::Draws { draws, seed } => {
                let key = scores.keys().of(row.index);
                for person in 0..row.people {
                    let key = person_key(key, person);
                    sample_each(row.scores, seed, key, draws as u64, buffer, |draw, class| {
                        each(draw as usize, Entry::Class(class), 1);
                    });
                }
            }
        }
    }
}

/// A row of the table.
pub(super) struct Row<'r> {
    pub(super) index: usize,
    pub(super) scores: &'r [i64],
    pub(super) people: u64,
    pub(super) truth: Option<usize>,
}

/// The coefficients of a fit, and what it leaves out.
#[derive(Clone, Debug)]
pub(super) struct Fit {
    pub(super) coefficients: Vec<f64>,
    /// Classes and levels of controls whose people are left out, because all of them have the same outcome (logistic
    /// model).
    pub(super) excluded: Vec<bool>,
    /// Whether the fit needs no more passes.
    pub(super) is_done: bool,
}

impl Fit {
    pub(super) fn new(size: usize) -> Fit {
        Fit { coefficients: vec![0.0; size], excluded: vec![false; size], is_done: false }
    }

    /// Returns the part of the linear predictor that comes from the controls; `None` if the row is left out.
    #[inline]
    pub(super) fn control_part(&self, controls: &[(usize, f64)]) -> Option<f64> {
        let mut sum = 0.0;
        for &(column, value) in controls {
            if self.excluded[column] {
                return None;
            }
            sum += self.coefficients[column] * value;
        }
        Some(sum)
    }

    /// Sets `into` to the terms of the score of the likelihood, or of the least squares: Σ x (y − fitted), of columns
    /// that are not zero.
    #[inline]
    pub(super) fn score(
        &self,
        model: Model,
        entry: Entry,
        row: &Observation<'_>,
        into: &mut Vec<(usize, f64)>,
    ) -> Option<()> {
        into.clear();
        let own = self.control_part(row.controls)?;
        let residual = |class: usize| row.weight * (row.outcome - model.mean(own + self.coefficients[class]));
        let sum = match entry {
            Entry::Class(class) => {
                if self.excluded[class] {
                    return None;
                }
                let residual = residual(class);
                into.push((class, residual));
                residual
            }
            Entry::Weighted => {
                let mut sum = 0.0;
                for (class, &score) in row.scores.iter().enumerate() {
                    if score != 0 && !self.excluded[class] {
                        let residual = GRID.value(score) * residual(class);
                        into.push((class, residual));
                        sum += residual;
                    }
                }
                sum
            }
            Entry::Scores => {
                let scores = || row.scores.iter().enumerate().map(|(class, &score)| (class, GRID.value(score)));
                let fitted = own + scores().map(|(class, score)| score * self.coefficients[class]).sum::<f64>();
                let residual = row.weight * (row.outcome - fitted);
                into.extend(scores().map(|(class, score)| (class, score * residual)));
                residual
            }
        };
        into.extend(row.controls.iter().map(|&(column, value)| (column, value * sum)));
        Some(())
    }
}

/// The outcome, the weight and the controls of a used row.
pub(super) struct Observation<'r> {
    pub(super) scores: &'r [i64],
    pub(super) controls: &'r [(usize, f64)],
    pub(super) outcome: f64,
    pub(super) weight: f64,
}

impl<'r> Observation<'r> {
    pub(super) fn of(design: &Design<'_>, row: &Row<'r>, controls: &'r mut Vec<(usize, f64)>) -> Observation<'r> {
        design.controls_of(row.index, controls);
        Observation {
            scores: row.scores,
            controls,
            outcome: design.outcome(row.index),
            weight: design.weight(row.index),
        }
    }
}
