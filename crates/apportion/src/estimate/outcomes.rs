//! The outcome of each row: a number, one of a few levels, or unknown.

use super::exact::ExactSum;
use crate::error::{Error, Result};
use crate::scores::expect_length;

/// The level of a row with unknown outcome.
pub const NO_LEVEL: u16 = u16::MAX;

/// The largest number of levels.
pub const MAX_LEVELS: usize = 100;

/// Larger numbers could overflow when squared and summed.
const LARGEST: f64 = 1e100;

/// Larger weights could overflow when squared and multiplied by squared numbers. If all weights are smaller than the
/// smallest, their squares could be zero.
const WEIGHTS: std::ops::RangeInclusive<f64> = 1e-30..=1e30;

/// The outcome of each row, such as turnout, approval or a price, and optionally its survey weight. Borrowed.
#[derive(Clone, Copy, Debug)]
pub struct Outcomes<'a> {
    kind: Kind<'a>,
    weights: Option<&'a [f64]>,
}

#[derive(Clone, Copy, Debug)]
enum Kind<'a> {
    Numbers { values: &'a [f64], about: f64 },
    Levels { codes: &'a [u16], names: &'a [String], counted: Option<usize> },
}

/// The quantity that is averaged; it must be equal in sums that are merged.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Measure {
    /// Numbers, relative to an offset.
    Mean { about: f64, is_weighted: bool },
    /// The share of each level, or of one level.
    Shares { levels: usize, counted: Option<usize>, is_weighted: bool },
}

/// The outcome of one row.
#[derive(Clone, Copy, Debug)]
pub(super) enum Value {
    /// A number minus the offset.
    Number(f64),
    /// The index of a level.
    Level(usize),
}

impl<'a> Outcomes<'a> {
    /// Creates numeric outcomes, whose mean is estimated; NaN if unknown.
    pub fn numbers(values: &'a [f64]) -> Result<Outcomes<'a>> {
        let (mut sum, mut known) = (ExactSum::ZERO, 0u64);
        check(values)?;
        for value in values.iter().filter(|value| !value.is_nan()) {
            sum.add(*value, 1);
            known += 1;
        }
        Outcomes::numbers_about(values, if known > 0 { sum.value() / known as f64 } else { 0.0 })
    }

    /// Creates numeric outcomes of one of several batches, which must share the offset `about`. Any number is
    /// valid; one near the mean preserves the precision of standard errors if the numbers are large relative to
    /// their standard deviation.
    pub fn numbers_about(values: &'a [f64], about: f64) -> Result<Outcomes<'a>> {
        check(values)?;
        if about.is_nan() || about.abs() > LARGEST {
            let what = "the center of the outcomes".to_owned();
            return Err(Error::Parameter { what, value: about, range: "finite, and within ±1e100" });
        }
        Ok(Outcomes { kind: Kind::Numbers { values, about }, weights: None })
    }

    /// Creates categorical outcomes, whose shares are estimated: for each row the index of its level, or
    /// [`NO_LEVEL`].
    pub fn levels(codes: &'a [u16], names: &'a [String]) -> Result<Outcomes<'a>> {
        if names.is_empty() || names.len() > MAX_LEVELS {
            let what = "the number of levels of the outcome".to_owned();
            return Err(Error::Parameter { what, value: names.len() as f64, range: "from 1 to 100" });
        }
        match codes.iter().position(|&code| code != NO_LEVEL && usize::from(code) >= names.len()) {
            Some(row) => {
                Err(Error::Code { row, what: "outcome", code: usize::from(codes[row]), last: names.len() - 1 })
            }
            None => Ok(Outcomes { kind: Kind::Levels { codes, names, counted: None }, weights: None }),
        }
    }

    /// Estimates the share of one level only. Numeric outcomes do not change.
    pub fn counting(self, level: usize) -> Result<Outcomes<'a>> {
        match self.kind {
            Kind::Levels { codes, names, .. } if level < names.len() => {
                Ok(Outcomes { kind: Kind::Levels { codes, names, counted: Some(level) }, ..self })
            }
            Kind::Levels { names, .. } => {
                Err(Error::Code { row: 0, what: "level", code: level, last: names.len().saturating_sub(1) })
            }
            Kind::Numbers { .. } => Ok(self),
        }
    }

    /// Adds a survey weight for each row: from 0 to 1e30, and one of them at least 1e-30. A row of several people has one
    /// weight, which is that of each of them. A row with weight 0 does not change any estimate.
    pub fn with_weights(self, weights: &'a [f64]) -> Result<Outcomes<'a>> {
        expect_length("the list of weights", weights.len(), self.rows())?;
        let is_valid = |weight: &f64| *weight >= 0.0 && weight <= WEIGHTS.end();
        if let Some(row) = weights.iter().position(|weight| !is_valid(weight)) {
            return Err(Error::Weight { row, value: weights[row] });
        }
        let largest = weights.iter().fold(0.0, |most: f64, &weight| most.max(weight));
        if largest < *WEIGHTS.start() {
            let what = "the largest weight".to_owned();
            return Err(Error::Parameter { what, value: largest, range: "at least 1e-30" });
        }
        Ok(Outcomes { weights: Some(weights), ..self })
    }

    /// Returns whether rows have weights.
    pub fn is_weighted(&self) -> bool {
        self.weights.is_some()
    }

    /// Returns the weights of the rows, if they have weights.
    pub fn weights(&self) -> Option<&'a [f64]> {
        self.weights
    }

    /// Returns the weight of a row; 1 without weights.
    #[inline]
    pub(super) fn weight(&self, row: usize) -> f64 {
        self.weights.map_or(1.0, |weights| weights[row])
    }

    /// Returns the level of each row whose `condition` has the counted level (`has` is true) or another known level (`has`
    /// is false); [`NO_LEVEL`] for other rows. With a prediction and what really happened, these are the outcomes for the
    /// rates of true and of false positives.
    ///
    /// # Errors
    /// If either has numbers, the condition does not count a level, or the numbers of rows differ.
    pub fn levels_among(&self, condition: &Outcomes<'_>, has: bool) -> Result<Vec<u16>> {
        expect_length("the list of conditions", condition.rows(), self.rows())?;
        let (Kind::Levels { codes, .. }, Kind::Levels { codes: conditions, counted: Some(level), .. }) =
            (self.kind, condition.kind)
        else {
            let why = "rates of true and false positives need two outcomes of levels, one of which counts";
            return Err(Error::Incompatible { one: "error rates", other: "an outcome of numbers", why });
        };
        let is_among = |own: u16| own != NO_LEVEL && (usize::from(own) == level) == has;
        Ok(codes.iter().zip(conditions).map(|(&code, &own)| if is_among(own) { code } else { NO_LEVEL }).collect())
    }

    /// Returns the number of rows.
    pub fn rows(&self) -> usize {
        match self.kind {
            Kind::Numbers { values, .. } => values.len(),
            Kind::Levels { codes, .. } => codes.len(),
        }
    }

    /// Returns whether outcomes are numeric.
    pub fn are_numbers(&self) -> bool {
        matches!(self.kind, Kind::Numbers { .. })
    }

    /// Returns the names of the levels whose shares are estimated; empty for numeric outcomes.
    pub fn shown(&self) -> Vec<String> {
        match self.kind {
            Kind::Numbers { .. } => Vec::new(),
            Kind::Levels { names, counted, .. } => match counted {
                Some(level) => vec![names[level].clone()],
                None => names.to_vec(),
            },
        }
    }

    pub(super) fn measure(&self) -> Measure {
        let is_weighted = self.is_weighted();
        match self.kind {
            Kind::Numbers { about, .. } => Measure::Mean { about, is_weighted },
            Kind::Levels { names, counted, .. } => Measure::Shares { levels: names.len(), counted, is_weighted },
        }
    }

    /// Returns the outcome of a row; `None` if unknown.
    #[inline]
    pub(super) fn at(&self, row: usize) -> Option<Value> {
        match self.kind {
            Kind::Numbers { values, about } => {
                Some(values[row]).filter(|v| !v.is_nan()).map(|v| Value::Number(v - about))
            }
            Kind::Levels { codes, .. } => {
                Some(codes[row]).filter(|&code| code != NO_LEVEL).map(|code| Value::Level(usize::from(code)))
            }
        }
    }
}

impl Value {
    /// Returns the number that is averaged: for a share, 1 if the row has the level, and 0 otherwise.
    #[inline]
    pub(super) fn at(self, level: usize) -> f64 {
        match self {
            Value::Number(number) => number,
            Value::Level(own) => f64::from(u8::from(own == level)),
        }
    }
}

impl Measure {
    /// Returns the offset of means.
    pub(super) fn about(&self) -> f64 {
        match self {
            Measure::Mean { about, .. } => *about,
            Measure::Shares { .. } => 0.0,
        }
    }

    /// Returns whether means are shares.
    pub(super) fn is_share(&self) -> bool {
        matches!(self, Measure::Shares { .. })
    }

    /// Returns whether rows have survey weights.
    pub(super) fn is_weighted(&self) -> bool {
        match self {
            Measure::Mean { is_weighted, .. } | Measure::Shares { is_weighted, .. } => *is_weighted,
        }
    }

    /// Returns the number of levels; 1 for a mean.
    pub(super) fn levels(&self) -> usize {
        match self {
            Measure::Mean { .. } => 1,
            Measure::Shares { levels, .. } => *levels,
        }
    }

    /// Returns the requested levels.
    pub(super) fn shown(&self) -> std::ops::Range<usize> {
        match self {
            Measure::Shares { counted: Some(level), .. } => *level..level + 1,
            Measure::Shares { counted: None, .. } | Measure::Mean { .. } => 0..self.levels(),
        }
    }

    /// Checks that sums of another quantity are not merged, and sums with weights not with sums without weights.
    pub(super) fn check_same(&self, other: &Measure) -> Result<()> {
        if self.is_weighted() != other.is_weighted() {
            return Err(Error::Tally { what: "weights" });
        }
        if self == other { Ok(()) } else { Err(Error::Tally { what: "outcomes" }) }
    }
}

fn check(values: &[f64]) -> Result<()> {
    match values.iter().position(|value| value.abs() > LARGEST) {
        Some(row) => Err(Error::Outcome { row, value: values[row] }),
        None => Ok(()),
    }
}
