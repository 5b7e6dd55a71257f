//! Exact sums of outcomes by cell, such as by label, which can be merged in any order.

use super::exact::ExactSum;
use super::figures::Moments;
use super::outcomes::{Measure, Value};

/// The people of each cell and their outcomes.
#[derive(Clone, Debug)]
pub(super) struct Cells {
    measure: Measure,
    /// People by cell, then by level.
    people: Vec<u64>,
    /// For numbers, by cell: the sum, and the sum of squares.
    sums: Vec<[ExactSum; 2]>,
}

impl Cells {
    pub(super) fn new(measure: &Measure, cells: usize) -> Cells {
        let sums = if measure.is_share() { Vec::new() } else { vec![[ExactSum::ZERO; 2]; cells] };
        Cells { measure: measure.clone(), people: vec![0; cells * measure.levels()], sums }
    }

    #[inline]
    pub(super) fn add(&mut self, cell: usize, value: Value, people: u64) {
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

    pub(super) fn merge(&mut self, other: &Cells) {
        self.people.iter_mut().zip(&other.people).for_each(|(sum, more)| *sum += more);
        for (sums, more) in self.sums.iter_mut().zip(&other.sums) {
            sums.iter_mut().zip(more).for_each(|(sum, more)| sum.merge(more));
        }
    }

    /// Returns the moments of a level over several cells; the level of a mean is 0.
    pub(super) fn moments(&self, cells: impl IntoIterator<Item = usize>, level: usize) -> Moments {
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
            return Moments { people, sum: hits as f64, squares: hits as f64 };
        }
        let [sum, squares] = sums.map(|sum| sum.value());
        Moments { people, sum, squares }
    }
}
