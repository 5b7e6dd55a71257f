//! Totals that do not depend on labels: people, scores and truth, overall and by group. Together with a [`Crosstab`]
//! of each labeling they show results by group, and the scores are read only once.

use rayon::prelude::*;

use super::calibration::{Tenths, times};
use super::cell::add_all;
use super::counts::{distance_between, share_of_scores, shares_of_people};
use super::crosstab::Crosstab;
use super::report::Binning;
use crate::error::Result;
use crate::kernel::{GRID, STRETCH};
use crate::scores::{Scores, UNCODED};

/// Totals over all people and by group.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct PopulationTotals {
    /// All people.
    pub whole: GroupTotals,
    /// The groups by code; empty if the table has no groups.
    pub groups: Vec<GroupTotals>,
}

/// Totals over a set of people.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct GroupTotals {
    /// Number of people.
    pub people: u64,
    /// The mean score of each class; `None` without people.
    pub posterior: Option<Vec<f64>>,
    /// The number of people of each true class, if any truth is known.
    pub truth: Option<Vec<u64>>,
    /// The mean score of each class among people with known truth.
    pub posterior_with_truth: Option<Vec<f64>>,
}

#[derive(Clone, Debug)]
struct Sums {
    people: u64,
    truth: Vec<u64>,
    /// Scores of people with known truth, and of all others.
    posterior: [Vec<i128>; 2],
}

impl Sums {
    fn new(classes: usize) -> Sums {
        Sums { people: 0, truth: vec![0; classes], posterior: [vec![0; classes], vec![0; classes]] }
    }

    #[inline]
    fn add(&mut self, row: &[i64], people: u64, truth: Option<usize>) {
        self.people += people;
        if let Some(truth) = truth {
            self.truth[truth] += people;
        }
        let sums = &mut self.posterior[usize::from(truth.is_none())];
        sums.iter_mut().zip(row).for_each(|(sum, &score)| *sum += times(score, people));
    }

    fn merge(&mut self, other: &Sums) {
        self.people += other.people;
        add_all(&mut self.truth, &other.truth);
        self.posterior.iter_mut().zip(&other.posterior).for_each(|(sums, others)| add_all(sums, others));
    }

    fn totals(&self) -> GroupTotals {
        let known: u64 = self.truth.iter().sum();
        let mut all = self.posterior[0].clone();
        add_all(&mut all, &self.posterior[1]);
        GroupTotals {
            people: self.people,
            posterior: share_of_scores(&all, self.people),
            truth: (known > 0).then(|| self.truth.clone()),
            posterior_with_truth: share_of_scores(&self.posterior[0], known),
        }
    }
}

impl PopulationTotals {
    /// Reads all rows once.
    pub fn of(scores: &Scores<'_>) -> Result<PopulationTotals> {
        let k = scores.classes().len();
        let groups = scores.groups().map_or(1, |groups| groups.names.len());
        let sums = read(
            scores,
            || vec![Sums::new(k); groups],
            |sums, index, row, people, truth| {
                let group = scores.groups().map_or(0, |groups| groups.codes[index] as usize);
                sums[group].add(row, people, truth);
            },
            |sums, part| sums.iter_mut().zip(&part).for_each(|(sums, part)| sums.merge(part)),
        )?;
        let mut whole = Sums::new(k);
        sums.iter().for_each(|group| whole.merge(group));
        let groups = if scores.groups().is_some() { sums.iter().map(Sums::totals).collect() } else { Vec::new() };
        Ok(PopulationTotals { whole: whole.totals(), groups })
    }

    /// Returns the fidelity of labels to the posterior within groups, weighted by people. Labels with correct
    /// overall counts can be far off in each group. `None` without groups.
    pub fn fidelity_in_groups(&self, labels: &Crosstab) -> Option<f64> {
        let of_group = |(group, totals): (usize, &GroupTotals)| {
            let mut counts = labels.labels_in(group);
            counts.pop();
            let distance = distance_between(shares_of_people(&counts).as_ref(), totals.posterior.as_ref())?;
            Some((totals.people as f64, distance.fidelity))
        };
        let groups = self.groups.iter().enumerate().filter_map(of_group);
        let (people, sum) = groups.fold((0.0, 0.0), |(all, sum), (people, far)| (all + people, sum + people * far));
        (people > 0.0).then(|| sum / people)
    }
}

/// Returns the calibration of the scores of each class against the truth in ten bins of equal width, as in
/// [`Audit`](crate::audit::Audit).
pub fn calibration_in_tenths(scores: &Scores<'_>) -> Result<Vec<Option<Binning>>> {
    let tenths = read(
        scores,
        || Tenths::new(scores.classes().len()),
        |tenths, _, row, people, truth| {
            if let Some(truth) = truth {
                tenths.add(row, people, truth);
            }
        },
        |tenths, part| tenths.merge(&part),
    )?;
    Ok(tenths.binnings())
}

/// Returns the part of each class's scores that belongs to labeled people; `None` if a class has no scores. `labeled`
/// returns the number of labeled people of a row.
pub fn posterior_coverage(
    scores: &Scores<'_>,
    all: &GroupTotals,
    labeled: impl Fn(usize) -> u64 + Sync,
) -> Result<Vec<Option<f64>>> {
    let k = scores.classes().len();
    let sums = read(
        scores,
        || vec![0i128; k],
        |sums, index, row, _, _| {
            let people = labeled(index);
            if people > 0 {
                sums.iter_mut().zip(row).for_each(|(sum, &score)| *sum += times(score, people));
            }
        },
        |sums, part| add_all(sums, &part),
    )?;
    let part = |(class, sum): (usize, i128)| {
        let all = all.posterior.as_ref()?[class] * all.people as f64;
        (all > 0.0).then(|| GRID.total(sum) / all)
    };
    Ok(sums.into_iter().enumerate().map(part).collect())
}

/// Sums over all rows in parallel; `add` gets each row's index, scores, people and truth.
pub(crate) fn read<T: Send>(
    scores: &Scores<'_>,
    none: impl Fn() -> T + Sync + Send,
    add: impl Fn(&mut T, usize, &[i64], u64, Option<usize>) + Sync + Send,
    merge: impl Fn(&mut T, T) + Sync + Send,
) -> Result<T> {
    let rows = scores.rows();
    let summed = (0..rows.div_ceil(STRETCH))
        .into_par_iter()
        .try_fold(&none, |mut sums, stretch| {
            scores.read_rows(stretch * STRETCH..rows.min((stretch + 1) * STRETCH), |index, row| {
                let people = scores.counts().map_or(1, |counts| counts[index]);
                let truth = scores.truth().map(|truth| truth[index]).filter(|&truth| truth != UNCODED);
                add(&mut sums, index, row, people, truth.map(usize::from));
                Ok(())
            })?;
            Ok(sums)
        })
        .try_reduce(&none, |mut all, part| {
            merge(&mut all, part);
            Ok(all)
        });
    // Ranges are read in any order; report the first invalid row.
    summed.map_err(|error| scores.check().err().unwrap_or(error))
}
