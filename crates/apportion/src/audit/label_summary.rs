//! The few figures of a summary, computed several times faster than an audit.

use rayon::prelude::*;

use super::accuracy::rate;
use super::counts::{distance_between, share_of_scores, shares_of_people};
use crate::error::Result;
use crate::kernel::{GRID, STRETCH};
use crate::label::Labels;
use crate::rule::Allotment;
use crate::scores::{Scores, UNCODED, expect_length};

/// Counts, shares and accuracy of labels. Each figure equals the one of the same name in
/// [`Audit`](crate::audit::Audit) with Uncoded rows kept.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct LabelSummary {
    /// Number of rows.
    pub rows: u64,
    /// Number of people that the rows represent.
    pub people: u64,
    /// Number of labeled people.
    #[serde(rename = "labelled")]
    pub labeled: u64,
    /// Number of people of each class.
    pub counts: Vec<u64>,
    /// The sum of each class's scores over all people.
    pub posterior_sums: Vec<f64>,
    /// The sum of the labels' scores.
    pub label_scores: f64,
    /// The sum of the labels' scores, by class.
    pub label_scores_by_class: Vec<f64>,
    /// The mean score of the labels.
    pub expected_accuracy: Option<f64>,
    /// The share of correct labels among people with known truth.
    pub accuracy: Option<f64>,
    /// −Σ |share of the labels − share of the scores|.
    pub fidelity_to_posterior: Option<f64>,
    /// −Σ |share of the labels − share of the truth|, over rows with known truth.
    pub fidelity_to_truth: Option<f64>,
}

/// Sums over some rows.
#[derive(Clone, Debug)]
struct Sums {
    people: u64,
    counts: Vec<u64>,
    posterior: Vec<i128>,
    label_scores: Vec<i128>,
    truth: Vec<u64>,
    /// Labels of rows with known truth.
    labels_with_truth: Vec<u64>,
    right: u64,
}

impl Sums {
    fn new(classes: usize) -> Sums {
        Sums {
            people: 0,
            counts: vec![0; classes],
            posterior: vec![0; classes],
            label_scores: vec![0; classes],
            truth: vec![0; classes],
            labels_with_truth: vec![0; classes],
            right: 0,
        }
    }

    fn merge(mut self, other: Sums) -> Sums {
        self.people += other.people;
        self.right += other.right;
        for (sums, parts) in [(&mut self.posterior, other.posterior), (&mut self.label_scores, other.label_scores)] {
            sums.iter_mut().zip(parts).for_each(|(sum, part)| *sum += part);
        }
        for (sums, parts) in [
            (&mut self.counts, other.counts),
            (&mut self.truth, other.truth),
            (&mut self.labels_with_truth, other.labels_with_truth),
        ] {
            sums.iter_mut().zip(parts).for_each(|(sum, part)| *sum += part);
        }
        self
    }

    /// Adds people of a row with a label, or without one.
    #[inline]
    fn give(&mut self, label: usize, people: u64, row: &[i64], truth: Option<usize>) {
        let Some(&score) = row.get(label) else { return };
        self.counts[label] += people;
        self.label_scores[label] += i128::from(score) * i128::from(people);
        if let Some(truth) = truth {
            self.labels_with_truth[label] += people;
            self.right += if truth == label { people } else { 0 };
        }
    }
}

impl LabelSummary {
    /// Summarizes labels, one per row.
    pub fn of(scores: &Scores<'_>, labels: &Labels) -> Result<LabelSummary> {
        expect_length("the list of labels", labels.values().len(), scores.rows())?;
        LabelSummary::with(scores, |index, people, row, truth, sums| {
            sums.give(usize::from(labels.values()[index]), people, row, truth);
        })
    }

    /// Summarizes the labels of rows that represent several people.
    pub fn of_allotment(scores: &Scores<'_>, allotment: &Allotment) -> Result<LabelSummary> {
        expect_length("the list of allotted rows", allotment.rows().len(), scores.rows())?;
        LabelSummary::with(scores, |index, _, row, truth, sums| {
            allotment.row(index).iter().enumerate().for_each(|(label, &people)| sums.give(label, people, row, truth));
        })
    }

    fn with(
        scores: &Scores<'_>,
        give: impl Fn(usize, u64, &[i64], Option<usize>, &mut Sums) + Sync,
    ) -> Result<LabelSummary> {
        let (k, rows) = (scores.classes().len(), scores.rows());
        let stretches = (0..rows.div_ceil(STRETCH)).into_par_iter();
        let parts: Vec<Result<Sums>> = stretches
            .map(|stretch| {
                let mut sums = Sums::new(k);
                // The sums of a range fit 64 bits if each row is one person.
                let mut posterior = vec![0i64; k];
                scores.read_rows(stretch * STRETCH..rows.min((stretch + 1) * STRETCH), |index, row| {
                    let people = scores.counts().map_or(1, |counts| counts[index]);
                    let truth = scores.truth().map(|truth| truth[index]).filter(|&truth| truth != UNCODED);
                    sums.people += people;
                    if people == 1 {
                        posterior.iter_mut().zip(&*row).for_each(|(sum, score)| *sum += score);
                    } else {
                        let weigh = |score: i64| i128::from(score) * i128::from(people);
                        sums.posterior.iter_mut().zip(&*row).for_each(|(sum, &score)| *sum += weigh(score));
                    }
                    if let Some(truth) = truth {
                        sums.truth[usize::from(truth)] += people;
                    }
                    give(index, people, row, truth.map(usize::from), &mut sums);
                    Ok(())
                })?;
                sums.posterior.iter_mut().zip(posterior).for_each(|(sum, part)| *sum += i128::from(part));
                Ok(sums)
            })
            .collect();
        // In row order, so that the first invalid row is reported.
        let sums = parts.into_iter().try_fold(Sums::new(k), |sums, part| part.map(|part| sums.merge(part)))?;
        Ok(LabelSummary::from_sums(&sums, rows as u64))
    }

    fn from_sums(sums: &Sums, rows: u64) -> LabelSummary {
        let labeled: u64 = sums.counts.iter().sum();
        let with_truth: u64 = sums.labels_with_truth.iter().sum();
        let label_scores = GRID.total(sums.label_scores.iter().sum());
        let fidelity = |labels: &[u64], reference: Option<Vec<f64>>| {
            Some(distance_between(shares_of_people(labels).as_ref(), reference.as_ref())?.fidelity)
        };
        LabelSummary {
            rows,
            people: sums.people,
            labeled,
            posterior_sums: sums.posterior.iter().map(|&sum| GRID.total(sum)).collect(),
            expected_accuracy: (labeled > 0).then(|| label_scores / labeled as f64),
            accuracy: rate(sums.right, with_truth),
            fidelity_to_posterior: fidelity(&sums.counts, share_of_scores(&sums.posterior, sums.people)),
            fidelity_to_truth: fidelity(&sums.labels_with_truth, shares_of_people(&sums.truth)),
            counts: sums.counts.clone(),
            label_scores,
            label_scores_by_class: sums.label_scores.iter().map(|&sum| GRID.total(sum)).collect(),
        }
    }
}
