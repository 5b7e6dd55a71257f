//! Sums of rows with survey weights, for [`Weighted`](super::Weighted). Each term is rounded, and terms are summed exactly.

use super::exact::ExactSum;
use super::outcomes::{Measure, Value};
use super::sums::add_sums;
use super::weighted::{each_pair, pairs_of};
use crate::kernel::GRID;

/// Sums over rows with known outcomes. They are kept by slot: of each level, or of the powers 0, 1 and 2 of numbers.
#[derive(Clone, Debug)]
pub(super) struct SurveySums {
    slots: usize,
    classes: usize,
    /// Number of people with a positive weight.
    pub(super) people: u64,
    /// Σ w.
    pub(super) weight: ExactSum,
    /// Σ w q_a q_b of each pair of classes.
    products: Vec<ExactSum>,
    /// By slot: Σ w q y of each class.
    scores: Vec<ExactSum>,
    /// By slot: Σ w² q_a q_b y of each pair.
    squares: Vec<ExactSum>,
    /// By slot: Σ w² q y of each class.
    own_squares: Vec<ExactSum>,
}

/// Number of slots of numbers.
const POWERS: usize = 3;

impl SurveySums {
    /// Creates empty sums.
    pub(super) fn new(classes: usize, measure: &Measure) -> SurveySums {
        let slots = if measure.is_share() { measure.levels() } else { POWERS };
        let zeros = |length: usize| vec![ExactSum::ZERO; length];
        SurveySums {
            slots,
            classes,
            people: 0,
            weight: ExactSum::ZERO,
            products: zeros(pairs_of(classes)),
            scores: zeros(slots * classes),
            squares: zeros(slots * pairs_of(classes)),
            own_squares: zeros(slots * classes),
        }
    }

    /// Adds a row.
    pub(super) fn add(&mut self, row: &[i64], value: Value, people: u64, weight: f64) {
        if weight == 0.0 {
            return;
        }
        self.people += people;
        self.weight.add(weight, people);
        each_pair(row, |pair, a, b| {
            self.products[pair].add(weight * (GRID.value(a) * GRID.value(b)), people);
        });
        match value {
            Value::Level(level) => self.add_to(level, 1.0, row, people, weight),
            Value::Number(number) => [1.0, number, number * number]
                .into_iter()
                .enumerate()
                .for_each(|(power, value)| self.add_to(power, value, row, people, weight)),
        }
    }

    fn add_to(&mut self, slot: usize, value: f64, row: &[i64], people: u64, weight: f64) {
        let (k, pairs) = (self.classes, pairs_of(self.classes));
        let (once, twice) = (weight * value, weight * weight * value);
        for (class, &score) in row.iter().enumerate() {
            let score = GRID.value(score);
            self.scores[slot * k + class].add(once * score, people);
            self.own_squares[slot * k + class].add(twice * score, people);
        }
        let squares = &mut self.squares[slot * pairs..][..pairs];
        each_pair(row, |pair, a, b| squares[pair].add(twice * (GRID.value(a) * GRID.value(b)), people));
    }

    /// Adds the sums of other rows.
    pub(super) fn merge(&mut self, other: &SurveySums) {
        self.people += other.people;
        self.weight.merge(&other.weight);
        for (sums, more) in [
            (&mut self.products, &other.products),
            (&mut self.scores, &other.scores),
            (&mut self.squares, &other.squares),
            (&mut self.own_squares, &other.own_squares),
        ] {
            add_sums(sums, more);
        }
    }

    /// Returns Σ w q_a q_b of each pair.
    pub(super) fn products(&self) -> Vec<f64> {
        self.products.iter().map(ExactSum::value).collect()
    }

    /// Returns Σ w q y of each class in a slot.
    pub(super) fn scores(&self, slot: usize) -> Vec<f64> {
        self.slot(&self.scores, slot)
    }

    /// Returns Σ w² q_a q_b y of each pair in a slot.
    pub(super) fn squares(&self, slot: usize) -> Vec<f64> {
        self.slot(&self.squares, slot)
    }

    /// Returns Σ w² q y of each class in a slot.
    pub(super) fn own_squares(&self, slot: usize) -> Vec<f64> {
        self.slot(&self.own_squares, slot)
    }

    /// Returns Σ w q of each class over all rows.
    pub(super) fn all_scores(&self, measure: &Measure) -> Vec<f64> {
        self.all(&self.scores, measure)
    }

    /// Returns Σ w² q_a q_b of each pair over all rows.
    pub(super) fn all_squares(&self, measure: &Measure) -> Vec<f64> {
        self.all(&self.squares, measure)
    }

    /// Returns Σ w² q of each class over all rows.
    pub(super) fn all_own_squares(&self, measure: &Measure) -> Vec<f64> {
        self.all(&self.own_squares, measure)
    }

    fn slot(&self, sums: &[ExactSum], slot: usize) -> Vec<f64> {
        let size = sums.len() / self.slots;
        sums[slot * size..][..size].iter().map(ExactSum::value).collect()
    }

    /// Sums over all levels; for numbers, the sums are those of the power 0.
    fn all(&self, sums: &[ExactSum], measure: &Measure) -> Vec<f64> {
        if !measure.is_share() {
            return self.slot(sums, 0);
        }
        let size = sums.len() / self.slots;
        let mut all = vec![ExactSum::ZERO; size];
        sums.chunks_exact(size).for_each(|slot| add_sums(&mut all, slot));
        all.iter().map(ExactSum::value).collect()
    }
}
