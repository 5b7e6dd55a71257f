//! The outcome of each row: a number, or one of a few levels; and whose outcome is not known.

use super::exact::ExactSum;
use crate::error::{Error, Result};

/// Stands for the level of a row whose outcome is not known.
pub const NO_LEVEL: u16 = u16::MAX;

/// The largest number of levels that an outcome may have.
pub const MAX_LEVELS: usize = 100;

/// Numbers beyond this could not be squared and summed.
const LARGEST: f64 = 1e100;

/// The outcome of each row, such as turnout, approval or a price. Borrowed, never copied.
#[derive(Clone, Copy, Debug)]
pub struct Outcomes<'a>(Kind<'a>);

#[derive(Clone, Copy, Debug)]
enum Kind<'a> {
    Numbers { values: &'a [f64], about: f64 },
    Levels { codes: &'a [u16], names: &'a [String], counted: Option<usize> },
}

/// What is averaged: what two sums must share to be merged.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Measure {
    /// Numbers, each less the one that they lie about.
    Mean { about: f64 },
    /// The share of each level, or that of one alone.
    Shares { levels: usize, counted: Option<usize> },
}

/// The outcome of one row.
#[derive(Clone, Copy, Debug)]
pub(super) enum Value {
    /// A number less the one that all lie about.
    Number(f64),
    /// The place of a level.
    Level(usize),
}

impl<'a> Outcomes<'a> {
    /// Numbers, whose mean is asked for; NaN where the outcome is not known.
    pub fn numbers(values: &'a [f64]) -> Result<Outcomes<'a>> {
        let (mut sum, mut known) = (ExactSum::ZERO, 0u64);
        check(values)?;
        for value in values.iter().filter(|value| !value.is_nan()) {
            sum.add(*value, 1);
            known += 1;
        }
        Outcomes::numbers_about(values, if known > 0 { sum.value() / known as f64 } else { 0.0 })
    }

    /// Numbers that come in batches: all batches need the same number about which they lie. Any will do; one near their
    /// mean, where numbers are large beside their spread, keeps the digits of standard errors.
    pub fn numbers_about(values: &'a [f64], about: f64) -> Result<Outcomes<'a>> {
        check(values)?;
        if about.is_nan() || about.abs() > LARGEST {
            let what = "the number about which outcomes lie".to_owned();
            return Err(Error::Parameter { what, value: about, range: "finite, and within ±1e100" });
        }
        Ok(Outcomes(Kind::Numbers { values, about }))
    }

    /// Levels, whose shares are asked for: for each row the place of its level among the names, or [`NO_LEVEL`].
    pub fn levels(codes: &'a [u16], names: &'a [String]) -> Result<Outcomes<'a>> {
        if names.is_empty() || names.len() > MAX_LEVELS {
            let what = "the number of levels of the outcome".to_owned();
            return Err(Error::Parameter { what, value: names.len() as f64, range: "from 1 to 100" });
        }
        match codes.iter().position(|&code| code != NO_LEVEL && usize::from(code) >= names.len()) {
            Some(row) => {
                Err(Error::Code { row, what: "outcome", code: usize::from(codes[row]), last: names.len() - 1 })
            }
            None => Ok(Outcomes(Kind::Levels { codes, names, counted: None })),
        }
    }

    /// Asks for the share of one level alone: what counts as 1, where all others are 0. Numbers stay as they are.
    pub fn counting(self, level: usize) -> Result<Outcomes<'a>> {
        match self.0 {
            Kind::Levels { codes, names, .. } if level < names.len() => {
                Ok(Outcomes(Kind::Levels { codes, names, counted: Some(level) }))
            }
            Kind::Levels { names, .. } => {
                Err(Error::Code { row: 0, what: "level", code: level, last: names.len().saturating_sub(1) })
            }
            Kind::Numbers { .. } => Ok(self),
        }
    }

    /// How many rows there are.
    pub fn rows(&self) -> usize {
        match self.0 {
            Kind::Numbers { values, .. } => values.len(),
            Kind::Levels { codes, .. } => codes.len(),
        }
    }

    /// Whether they are numbers, and not levels.
    pub fn are_numbers(&self) -> bool {
        matches!(self.0, Kind::Numbers { .. })
    }

    /// The names of the levels whose shares are asked for; none where it is a mean.
    pub fn shown(&self) -> Vec<String> {
        match self.0 {
            Kind::Numbers { .. } => Vec::new(),
            Kind::Levels { names, counted, .. } => match counted {
                Some(level) => vec![names[level].clone()],
                None => names.to_vec(),
            },
        }
    }

    pub(super) fn measure(&self) -> Measure {
        match self.0 {
            Kind::Numbers { about, .. } => Measure::Mean { about },
            Kind::Levels { names, counted, .. } => Measure::Shares { levels: names.len(), counted },
        }
    }

    /// The outcome of a row; none where it is not known.
    #[inline]
    pub(super) fn at(&self, row: usize) -> Option<Value> {
        match self.0 {
            Kind::Numbers { values, about } => {
                Some(values[row]).filter(|v| !v.is_nan()).map(|v| Value::Number(v - about))
            }
            Kind::Levels { codes, .. } => {
                Some(codes[row]).filter(|&code| code != NO_LEVEL).map(|code| Value::Level(usize::from(code)))
            }
        }
    }
}

impl Measure {
    /// The number to add to means.
    pub(super) fn about(&self) -> f64 {
        match self {
            Measure::Mean { about } => *about,
            Measure::Shares { .. } => 0.0,
        }
    }

    /// Whether means are shares.
    pub(super) fn is_share(&self) -> bool {
        matches!(self, Measure::Shares { .. })
    }

    /// How many levels are told apart; a mean has one.
    pub(super) fn levels(&self) -> usize {
        match self {
            Measure::Mean { .. } => 1,
            Measure::Shares { levels, .. } => *levels,
        }
    }

    /// The levels that are asked for.
    pub(super) fn shown(&self) -> std::ops::Range<usize> {
        match self {
            Measure::Shares { counted: Some(level), .. } => *level..level + 1,
            Measure::Shares { counted: None, .. } | Measure::Mean { .. } => 0..self.levels(),
        }
    }

    /// Refuses to merge sums of something else.
    pub(super) fn check_same(&self, other: &Measure) -> Result<()> {
        if self == other { Ok(()) } else { Err(Error::Tally { what: "outcomes" }) }
    }
}

fn check(values: &[f64]) -> Result<()> {
    match values.iter().position(|value| value.abs() > LARGEST) {
        Some(row) => Err(Error::Outcome { row, value: values[row] }),
        None => Ok(()),
    }
}
