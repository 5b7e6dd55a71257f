//! What is known of people whatever their labels: their number, their scores and their truth, in all and in each group. With a
//! [`Crosstab`] of each labelling it says what these do in groups, and the scores are read once for all.

use rayon::prelude::*;

use super::calibration::{Tenths, times};
use super::cell::add_all;
use super::counts::{distance_between, share_of_scores, shares_of_people};
use super::crosstab::Crosstab;
use super::report::Binning;
use crate::error::Result;
use crate::kernel::{GRID, STRETCH};
use crate::scores::{Scores, UNCODED};

/// All people, and those of each group.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct PopulationTotals {
    /// All.
    pub whole: GroupTotals,
    /// The groups, by code; none where the table has none.
    pub groups: Vec<GroupTotals>,
}

/// Some people.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct GroupTotals {
    /// How many they are.
    pub people: u64,
    /// The mean score of each class; none of nobody.
    pub posterior: Option<Vec<f64>>,
    /// How many are of each class in truth, where that is known of anybody.
    pub truth: Option<Vec<u64>>,
    /// The mean score of each class among those whose truth is known.
    pub posterior_with_truth: Option<Vec<f64>>,
}

#[derive(Clone, Debug)]
struct Sums {
    people: u64,
    truth: Vec<u64>,
    /// Scores of those whose truth is known, and of the others.
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

    /// The fidelity of labels to the posterior within groups: that of each, weighed by its people. Labels whose counts are
    /// right in all may be far off in each group. Nothing where there are no groups.
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

/// Whether the scores of each class are as often true as they say, where truth is known: the ten bins of equal width that an
/// [`Audit`](crate::audit::Audit) has among others.
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

/// The part of each class's scores that lies on people who have a label, of all people's; none where a class has no scores.
/// `labeled` says how many of a row's people have one.
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

/// Sums over all rows, stretch by stretch: each row's index, scores, people and truth.
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
    // Stretches are read in any order; the first bad row is the one to name.
    summed.map_err(|error| scores.check().err().unwrap_or(error))
}
