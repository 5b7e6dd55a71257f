//! Exact sums of outcomes by cell, such as by label, which can be merged in any order.

use super::exact::ExactSum;
use super::figures::Moments;
use super::outcomes::{Measure, Value};

/// Number of sums of a level with weights, and of all levels: Σ w and Σ w².
const OF_LEVEL: usize = 2;

/// Number of sums of numbers with weights: Σ w, Σ w², Σ w y, Σ w² y and Σ w² y².
const OF_NUMBERS: usize = 5;

/// The people of each cell and their outcomes.
#[derive(Clone, Debug)]
pub(super) struct Cells {
    measure: Measure,
    /// Without weights: people by cell, then by level.
    people: Vec<u64>,
    /// Without weights, for numbers, by cell: the sum, and the sum of squares.
    sums: Vec<[ExactSum; 2]>,
    /// With weights, by cell: [`OF_NUMBERS`] sums, or [`OF_LEVEL`] of each level and then of all levels.
    weighted: Vec<ExactSum>,
}

impl Cells {
    pub(super) fn new(measure: &Measure, cells: usize) -> Cells {
        let (is_weighted, length) = (measure.is_weighted(), cells * measure.levels());
        let are_numbers = !measure.is_share();
        let of_each = if are_numbers { OF_NUMBERS } else { (measure.levels() + 1) * OF_LEVEL };
        Cells {
            measure: measure.clone(),
            people: vec![0; if is_weighted { 0 } else { length }],
            sums: vec![[ExactSum::ZERO; 2]; if are_numbers && !is_weighted { cells } else { 0 }],
            weighted: vec![ExactSum::ZERO; if is_weighted { cells * of_each } else { 0 }],
        }
    }

    /// Adds people with an outcome. `weight` is used only if the measure is weighted.
    #[inline]
    pub(super) fn add(&mut self, cell: usize, value: Value, people: u64, weight: f64) {
        if self.measure.is_weighted() {
            return self.add_weighted(cell, value, people, weight);
        }
        match value {
            Value::Level(level) => self.people[cell * self.measure.levels() + level] += people,
            Value::Number(number) => {
                self.people[cell] += people;
                let [sum, squares] = &mut self.sums[cell];
                sum.add(number, people);
                squares.add(number * number, people);
            }
        }
    }

    fn add_weighted(&mut self, cell: usize, value: Value, people: u64, weight: f64) {
        let square = weight * weight;
        let mut put = |first: usize, terms: &[f64]| {
            self.weighted[first..].iter_mut().zip(terms).for_each(|(sum, &term)| sum.add(term, people));
        };
        match value {
            Value::Level(level) => {
                let (first, levels) = (cell * (self.measure.levels() + 1), self.measure.levels());
                [level, levels].into_iter().for_each(|own| put((first + own) * OF_LEVEL, &[weight, square]));
            }
            Value::Number(number) => {
                let terms = [weight, square, weight * number, square * number, square * number * number];
                put(cell * OF_NUMBERS, &terms);
            }
        }
    }

    pub(super) fn merge(&mut self, other: &Cells) {
        self.people.iter_mut().zip(&other.people).for_each(|(sum, more)| *sum += more);
        for (sums, more) in self.sums.iter_mut().zip(&other.sums) {
            sums.iter_mut().zip(more).for_each(|(sum, more)| sum.merge(more));
        }
        self.weighted.iter_mut().zip(&other.weighted).for_each(|(sum, more)| sum.merge(more));
    }

    /// Returns the moments of a level over several cells; the level of a mean is 0.
    pub(super) fn moments(&self, cells: impl IntoIterator<Item = usize>, level: usize) -> Moments {
        match (self.measure.is_weighted(), self.measure.is_share()) {
            (false, _) => self.moments_of_people(cells, level),
            (true, true) => self.moments_of_level(cells, level),
            (true, false) => self.moments_of_numbers(cells),
        }
    }

    fn moments_of_people(&self, cells: impl IntoIterator<Item = usize>, level: usize) -> Moments {
        let (levels, mut people, mut hits) = (self.measure.levels(), 0, 0);
        let mut sums = [ExactSum::ZERO; 2];
        for cell in cells {
            let own = &self.people[cell * levels..][..levels];
            people += own.iter().sum::<u64>();
            hits += own[level];
            let more = self.sums.get(cell).into_iter().flatten();
            sums.iter_mut().zip(more).for_each(|(sum, more)| sum.merge(more));
        }
        if self.measure.is_share() {
            return Moments::of_people(people, hits as f64, hits as f64);
        }
        let [sum, squares] = sums.map(|sum| sum.value());
        Moments::of_people(people, sum, squares)
    }

    fn moments_of_level(&self, cells: impl IntoIterator<Item = usize>, level: usize) -> Moments {
        let levels = self.measure.levels();
        // Σ w and Σ w² of the level, then of all levels.
        let mut sums = [ExactSum::ZERO; 2 * OF_LEVEL];
        for cell in cells {
            let first = cell * (levels + 1);
            let more =
                [level, levels].into_iter().flat_map(|own| &self.weighted[(first + own) * OF_LEVEL..][..OF_LEVEL]);
            sums.iter_mut().zip(more).for_each(|(sum, more)| sum.merge(more));
        }
        let [sum, own, weight, square] = sums.map(|sum| sum.value());
        Moments::weighted(weight, square, sum, |share| own - 2.0 * share * own + share * share * square)
    }

    fn moments_of_numbers(&self, cells: impl IntoIterator<Item = usize>) -> Moments {
        let mut sums = [ExactSum::ZERO; OF_NUMBERS];
        for cell in cells {
            let more = &self.weighted[cell * OF_NUMBERS..][..OF_NUMBERS];
            sums.iter_mut().zip(more).for_each(|(sum, more)| sum.merge(more));
        }
        let [weight, square, sum, first, second] = sums.map(|sum| sum.value());
        Moments::weighted(weight, square, sum, |mean| second - 2.0 * mean * first + mean * mean * square)
    }
}
