//! What is known of people whatever their labels: their number, their scores and their truth, in all and in each group. With a
//! [`Crossing`] of each labelling it says what these do in groups, and the scores are read once for all.

use rayon::prelude::*;

use super::calibration::{GROUP_FINENESS, Histograms};
use super::cell::{Shape, add_all};
use super::counts::{distance_between, share_of_scores, shares_of_people};
use super::crossing::Crossing;
use super::report::Calibration;
use crate::error::Result;
use crate::kernel::{GRID, Grid, STRETCH};
use crate::scores::{Scores, UNCODED};

/// All people, and those of each group.
#[derive(Clone, Debug, PartialEq)]
pub struct Backdrop {
    /// All.
    pub whole: Crowd,
    /// The groups, by code; none where the table has none.
    pub groups: Vec<Crowd>,
}

/// Some people.
#[derive(Clone, Debug, PartialEq)]
pub struct Crowd {
    /// How many they are.
    pub people: u64,
    /// The mean score of each class; none of nobody.
    pub posterior: Option<Vec<f64>>,
    /// How many are of each class in truth, where that is known of anybody.
    pub truth: Option<Vec<u64>>,
    /// The mean score of each class among those whose truth is known.
    pub posterior_with_truth: Option<Vec<f64>>,
}

/// How good the scores are by themselves.
#[derive(Clone, Debug, PartialEq)]
pub struct ScoreQuality {
    /// Whether the scores of each class are as often true as they say, where truth is known. Of finer measures than the ten
    /// bins of equal width, those of an [`Audit`](crate::Audit) are more exact.
    pub calibration: Vec<Option<Calibration>>,
    /// mean(1 − Σ q²): what the scores themselves say.
    pub implied_mae: Option<f64>,
    /// mean(1 − q of the true class), over the rows whose truth is known.
    pub observed_mae: Option<f64>,
    /// People for whom several classes have the largest score.
    pub tied: u64,
}

#[derive(Clone, Debug)]
struct Sums {
    people: u64,
    posterior: Vec<i128>,
    truth: Vec<u64>,
    posterior_with_truth: Vec<i128>,
}

impl Sums {
    fn new(classes: usize) -> Sums {
        Sums { people: 0, posterior: vec![0; classes], truth: vec![0; classes], posterior_with_truth: vec![0; classes] }
    }

    #[inline]
    fn add(&mut self, row: &[i64], people: u64, truth: Option<usize>) {
        self.people += people;
        let weighed = || row.iter().map(|&score| i128::from(score) * i128::from(people));
        self.posterior.iter_mut().zip(weighed()).for_each(|(sum, score)| *sum += score);
        if let Some(truth) = truth {
            self.truth[truth] += people;
            self.posterior_with_truth.iter_mut().zip(weighed()).for_each(|(sum, score)| *sum += score);
        }
    }

    fn merge(&mut self, other: &Sums) {
        self.people += other.people;
        add_all(&mut self.posterior, &other.posterior);
        add_all(&mut self.truth, &other.truth);
        add_all(&mut self.posterior_with_truth, &other.posterior_with_truth);
    }

    fn crowd(&self) -> Crowd {
        let known: u64 = self.truth.iter().sum();
        Crowd {
            people: self.people,
            posterior: share_of_scores(&self.posterior, self.people),
            truth: (known > 0).then(|| self.truth.clone()),
            posterior_with_truth: share_of_scores(&self.posterior_with_truth, known),
        }
    }
}

impl Backdrop {
    /// Reads all rows once.
    pub fn of(scores: &Scores<'_>) -> Result<Backdrop> {
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
        let groups = if scores.groups().is_some() { sums.iter().map(Sums::crowd).collect() } else { Vec::new() };
        Ok(Backdrop { whole: whole.crowd(), groups })
    }

    /// The fidelity of labels to the posterior within groups: that of each, weighed by its people. Labels whose counts are
    /// right in all may be far off in each group. Nothing where there are no groups.
    pub fn fidelity_in_groups(&self, labels: &Crossing) -> Option<f64> {
        let of_group = |(group, crowd): (usize, &Crowd)| {
            let mut counts = labels.labels_in(group);
            counts.pop();
            let distance = distance_between(shares_of_people(&counts).as_ref(), crowd.posterior.as_ref())?;
            Some((crowd.people as f64, distance.fidelity))
        };
        let groups = self.groups.iter().enumerate().filter_map(of_group);
        let (people, sum) = groups.fold((0.0, 0.0), |(all, sum), (people, far)| (all + people, sum + people * far));
        (people > 0.0).then(|| sum / people)
    }
}

/// Sums behind [`ScoreQuality`].
struct Quality {
    histograms: Histograms,
    people: u64,
    squares: i128,
    known: u64,
    truth_scores: i128,
    tied: u64,
}

impl ScoreQuality {
    /// Reads all rows once.
    pub fn of(scores: &Scores<'_>) -> Result<ScoreQuality> {
        let k = scores.classes().len();
        let none = || Quality {
            histograms: Histograms::new(k, GROUP_FINENESS),
            people: 0,
            squares: 0,
            known: 0,
            truth_scores: 0,
            tied: 0,
        };
        let sums = read(scores, none, |sums, _, row, people, truth| sums.add(row, people, truth), Quality::merge)?;
        let error = |whole: u64, sum: i128| {
            (whole > 0).then(|| GRID.total(i128::from(whole) * i128::from(Grid::UNIT) - sum) / whole as f64)
        };
        Ok(ScoreQuality {
            calibration: (0..k).map(|class| sums.histograms.of(class).calibration()).collect(),
            implied_mae: error(sums.people, sums.squares),
            observed_mae: error(sums.known, sums.truth_scores),
            tied: sums.tied,
        })
    }
}

impl Quality {
    #[inline]
    fn add(&mut self, row: &[i64], people: u64, truth: Option<usize>) {
        if people == 0 {
            return;
        }
        let shape = Shape::of(row);
        self.people += people;
        self.squares += shape.squares * i128::from(people);
        self.tied += if shape.tied { people } else { 0 };
        let Some(truth) = truth else { return };
        self.known += people;
        self.truth_scores += i128::from(row[truth]) * i128::from(people);
        for (class, &score) in row.iter().enumerate() {
            self.histograms.add(class, score, people, class == truth);
        }
    }

    fn merge(&mut self, other: Quality) {
        self.histograms.merge(&other.histograms);
        self.people += other.people;
        self.squares += other.squares;
        self.known += other.known;
        self.truth_scores += other.truth_scores;
        self.tied += other.tied;
    }
}

/// The part of each class's scores that lies on people who have a label; none where a class has no scores. `labelled` says
/// how many of a row's people have one.
pub fn posterior_coverage(scores: &Scores<'_>, labelled: impl Fn(usize) -> u64 + Sync) -> Result<Vec<Option<f64>>> {
    let k = scores.classes().len();
    let sums = read(
        scores,
        || vec![[0i128; 2]; k],
        |sums, index, row, people, _| {
            let labelled = i128::from(labelled(index));
            for (sum, &score) in sums.iter_mut().zip(row) {
                sum[0] += i128::from(score) * labelled;
                sum[1] += i128::from(score) * i128::from(people);
            }
        },
        |sums, part| sums.iter_mut().zip(part).for_each(|(sum, part)| add_all(sum, &part)),
    )?;
    Ok(sums.into_iter().map(|[labelled, all]| (all > 0).then(|| labelled as f64 / all as f64)).collect())
}

/// Sums over all rows, stretch by stretch: each row's index, scores, people and truth.
fn read<T: Send>(
    scores: &Scores<'_>,
    none: impl Fn() -> T + Sync + Send,
    add: impl Fn(&mut T, usize, &[i64], u64, Option<usize>) + Sync + Send,
    merge: impl Fn(&mut T, T) + Sync + Send,
) -> Result<T> {
    let rows = scores.rows();
    (0..rows.div_ceil(STRETCH))
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
        })
}
