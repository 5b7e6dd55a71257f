//! A synthetic voter file: people drawn from tables of counties and surnames, with their BISG scores.
//!
//! With W\[county, class\] the weights of counties and classes, and P(surname | class) those of surnames, a person is
//! drawn by
//!
//! ```text
//! (county, class) ~ W,   surname ~ P(· | class), whatever the county,
//! q[class] ∝ P(surname | class) · W[county, class].
//! ```
//!
//! So q is the conditional distribution of the class given the county and surname: the scores are calibrated by
//! construction, overall and in every county. The options introduce known miscalibration.

use super::alias::Alias;
use super::check::{scaled, within};
use super::random::normal;
use crate::error::{Error, Result};
use crate::scores::{Label, MAX_CLASSES};
use crate::seed;

/// Salts of the draws, distinct from those of labels and replicates: labels drawn with the same seed must be
/// independent of the truth.
const CELL: u64 = 0x766f_7465_0000_0000;
const SURNAME: u64 = CELL + 1;
const COUNTY_NOISE: u64 = CELL + 2;
const SURNAME_NOISE: u64 = CELL + 4;
/// The salt of the attribute with the number 0. Add no salts after it.
const ATTRIBUTE: u64 = CELL + 6;

/// Maximum number of rows of a table, so that its cells can be indexed with 32 bits.
const MOST_ROWS: usize = 1 << 24;

/// Maximum noise. Above this value weights would overflow, and the table would have no effect.
const MOST_NOISE: f64 = 10.0;

/// The tables from which people are drawn. Both have the same classes in the same order. Weights can be on any scale.
#[derive(Clone, Debug, PartialEq)]
pub struct VoterTables {
    /// For each county, the weight of each class, such as its number of people.
    pub counties: Vec<Vec<f64>>,
    /// For each surname, the weight of each class, such as the number of people of the class with that surname.
    pub surnames: Vec<Vec<f64>>,
}

/// Options for drawing people and for miscalibrating their scores. By default the scores are calibrated.
#[derive(Clone, Debug, PartialEq)]
pub struct VoterOptions {
    /// The seed of the draws.
    pub seed: u64,
    /// Class shares among the people drawn, which must sum to one within 0.001; P(county | class) does not change.
    /// `None` uses the shares of the county table.
    pub margin: Option<Vec<f64>>,
    /// Shift of the scores' prior from the margin (0) to the class shares of the county table (1). At 1, the prior is
    /// that of an analyst who has Census figures but no figures about voters. Requires a margin.
    pub prior_shift: f64,
    /// The power to which scores are raised before they are normalized. Scores are overconfident above 1 and
    /// underconfident below 1.
    pub sharpen: f64,
    /// Noise from 0 to 10: people are drawn from tables in which every weight is multiplied by e^(noise · z), with z
    /// standard normal. The scores use the original tables.
    pub noise: f64,
    /// The part of P(surname | class) that is replaced by P(surname), from 0 to 1, in draws and scores. Scores stay
    /// calibrated but are less informative.
    pub blend: f64,
}

impl Default for VoterOptions {
    /// Returns options for calibrated scores, with the class shares of the county table.
    fn default() -> VoterOptions {
        VoterOptions { seed: 0, margin: None, prior_shift: 0.0, sharpen: 1.0, noise: 0.0, blend: 0.0 }
    }
}

/// A person in a synthetic voter file, returned by [`Voters::person`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Voter {
    /// Row of the county table.
    pub county: u32,
    /// Row of the surname table.
    pub surname: u32,
    /// True class.
    pub truth: Label,
}

/// An unlimited synthetic voter file. Each row is a function of the seed and its index.
///
/// The rows of a seed are part of the interface, like labels, and are the same on every machine. Noise and sharpening
/// use the machine's exponential function, whose last digits may differ. As a result, the last digits of a score may
/// differ and, in very rare cases with noise, a draw.
///
/// ```
/// use apportion::simulate::{VoterOptions, VoterTables, Voters};
///
/// let tables = VoterTables {
///     counties: vec![vec![900.0, 100.0], vec![500.0, 500.0]],
///     surnames: vec![vec![30.0, 10.0], vec![5.0, 40.0]],
/// };
/// let voters = Voters::new(&tables, &VoterOptions { seed: 7, ..VoterOptions::default() })?;
/// let mut scores = [0.0; 2];
/// for index in 0..1000 {
///     let voter = voters.person(index);
///     voters.scores(&voter, &mut scores);
///     assert!((scores[0] + scores[1] - 1.0).abs() < 1e-12);
/// }
/// # Ok::<(), apportion::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Voters {
    classes: usize,
    seed: u64,
    /// The distribution of county and class: county · classes + class.
    cells: Alias,
    /// The distribution of surnames for each class.
    surnames: Vec<Alias>,
    /// The scores' prior weight of each county and class, row-major.
    prior: Vec<f64>,
    /// The scores' P(surname | class), row-major.
    likelihood: Vec<f64>,
    sharpen: f64,
}

impl Voters {
    /// Checks the tables and options, and creates a voter file.
    pub fn new(tables: &VoterTables, options: &VoterOptions) -> Result<Voters> {
        let counties = Conditional::new(&tables.counties, "county", None)?;
        let mut surnames = Conditional::new(&tables.surnames, "surname", Some(counties.classes))?;
        check(options)?;
        let margin = match &options.margin {
            Some(margin) => scaled_margin(margin, counties.classes)?,
            None => counties.shares.clone(),
        };
        surnames.blend(options.blend, &margin);

        let assumed = mix(&margin, &counties.shares, options.prior_shift);
        let cells = disturbed(&counties.times(&margin), options, COUNTY_NOISE);
        let names = disturbed(&surnames.values, options, SURNAME_NOISE);
        Ok(Voters {
            classes: counties.classes,
            seed: options.seed,
            cells: Alias::new(&cells),
            surnames: by_class(&names, surnames.classes),
            prior: counties.times(&assumed),
            likelihood: surnames.values,
            sharpen: options.sharpen,
        })
    }

    /// Returns the number of classes.
    pub fn classes(&self) -> usize {
        self.classes
    }

    /// Returns the person at an index, from 0.
    #[inline]
    pub fn person(&self, index: u64) -> Voter {
        let cell = self.cells.draw(seed::hash(self.seed, index, CELL));
        let (county, class) = (cell / self.classes as u32, cell % self.classes as u32);
        let surname = self.surnames[class as usize].draw(seed::hash(self.seed, index, SURNAME));
        Voter { county, surname, truth: class as Label }
    }

    /// Writes the scores of a person of this file in class order. They sum to one.
    ///
    /// # Panics
    /// If the length of `into` is not the number of classes, or if the person's county or surname is not in the tables.
    #[inline]
    pub fn scores(&self, voter: &Voter, into: &mut [f64]) {
        assert_eq!(into.len(), self.classes, "one score for each class");
        let row_of = |row: u32| row as usize * self.classes..(row as usize + 1) * self.classes;
        let (prior, likelihood) = (&self.prior[row_of(voter.county)], &self.likelihood[row_of(voter.surname)]);
        for ((score, prior), likelihood) in into.iter_mut().zip(prior).zip(likelihood) {
            *score = prior * likelihood;
        }
        if self.sharpen != 1.0 {
            raise(into, self.sharpen);
        }
        // The sum is positive: the class with which a person was drawn has a positive score.
        let sum: f64 = into.iter().sum();
        into.iter_mut().for_each(|score| *score /= sum);
    }
}

/// A further attribute of the people, such as the first name or the name of a person whose row stands for all rare
/// surnames. It depends on the class; scores do not use it.
///
/// ```
/// use apportion::simulate::{Attribute, VoterOptions, VoterTables, Voters};
///
/// let tables = VoterTables { counties: vec![vec![90.0, 10.0]], surnames: vec![vec![1.0, 1.0]] };
/// let voters = Voters::new(&tables, &VoterOptions { seed: 7, ..VoterOptions::default() })?;
/// let names = ["ANNA", "MARIA"];
/// let first_names = Attribute::new(&[vec![3.0, 1.0], vec![0.0, 4.0]], "first name", 1, 7)?;
/// let name = names[first_names.of(0, &voters.person(0)) as usize];
/// assert!(name == "ANNA" || voters.person(0).truth == 1);
/// # Ok::<(), apportion::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Attribute {
    seed: u64,
    salt: u64,
    /// The distribution of the values for each class.
    values: Vec<Alias>,
}

impl Attribute {
    /// Creates an attribute from the weight of each class for each value, such as the number of people of the class
    /// with that first name. `what` names a value in error messages. Attributes with different numbers are independent
    /// given the class.
    pub fn new(table: &[Vec<f64>], what: &str, number: u16, seed: u64) -> Result<Attribute> {
        let table = Conditional::new(table, what, None)?;
        let salt = ATTRIBUTE + u64::from(number);
        Ok(Attribute { seed, salt, values: by_class(&table.values, table.classes) })
    }

    /// Returns the row of the table with the value of the person at an index.
    #[inline]
    pub fn of(&self, index: u64, voter: &Voter) -> u32 {
        self.values[usize::from(voter.truth)].draw(seed::hash(self.seed, index, self.salt))
    }
}

/// Returns the distribution of the rows for each class, from weights in row-major order.
fn by_class(weights: &[f64], classes: usize) -> Vec<Alias> {
    let of_class = |class| weights.iter().skip(class).step_by(classes).copied().collect::<Vec<f64>>();
    (0..classes).map(|class| Alias::new(&of_class(class))).collect()
}

/// A table of weights as class shares and, for each class, the shares of the rows within it.
struct Conditional {
    classes: usize,
    /// P(row | class), row-major.
    values: Vec<f64>,
    /// P(class).
    shares: Vec<f64>,
}

impl Conditional {
    /// Checks and normalizes a table. `what` names a row in error messages.
    fn new(table: &[Vec<f64>], what: &str, classes: Option<usize>) -> Result<Conditional> {
        let rows = table.len();
        let number = format!("the number of rows of the {what} table");
        within(&number, rows as f64, (1..=MOST_ROWS).contains(&rows), "from 1 to 16777216")?;
        let classes = classes.unwrap_or(table[0].len());
        if classes == 0 {
            return Err(Error::NoClasses);
        }
        if classes > MAX_CLASSES {
            return Err(Error::TooManyClasses { found: classes, limit: MAX_CLASSES });
        }
        let mut totals = vec![0.0; classes];
        for (index, row) in table.iter().enumerate() {
            check_row(row, what, index, classes)?;
            totals.iter_mut().zip(row).for_each(|(total, weight)| *total += weight);
        }
        for (class, &total) in totals.iter().enumerate() {
            within(&format!("the total of class {class} in the {what} table"), total, total > 0.0, "above 0")?;
        }
        let everyone: f64 = totals.iter().sum();
        within(&format!("the total of the {what} table"), everyone, everyone.is_finite(), "finite")?;
        let shares_within = |row: &Vec<f64>| row.iter().zip(&totals).map(|(weight, total)| weight / total).collect();
        let values = table.iter().flat_map::<Vec<f64>, _>(shares_within).collect();
        Ok(Conditional { classes, values, shares: totals.iter().map(|total| total / everyone).collect() })
    }

    /// Returns P(row, class) for the given class shares.
    fn times(&self, shares: &[f64]) -> Vec<f64> {
        self.values.iter().zip(shares.iter().cycle()).map(|(value, share)| value * share).collect()
    }

    /// Replaces a part of P(row | class) by P(row) for the given class shares.
    fn blend(&mut self, part: f64, shares: &[f64]) {
        if part == 0.0 {
            return;
        }
        for row in self.values.chunks_exact_mut(self.classes) {
            let overall: f64 = row.iter().zip(shares).map(|(value, share)| value * share).sum();
            row.iter_mut().for_each(|value| *value = (1.0 - part) * *value + part * overall);
        }
    }
}

fn check_row(row: &[f64], what: &str, index: usize, classes: usize) -> Result<()> {
    if row.len() != classes {
        let what = format!("the number of weights of {what} {index}");
        return Err(Error::Parameter { what, value: row.len() as f64, range: "one for each class" });
    }
    if let Some(class) = row.iter().position(|weight| !weight.is_finite() || *weight < 0.0) {
        let what = format!("the weight of class {class} in {what} {index}");
        return Err(Error::Parameter { what, value: row[class], range: "finite and not negative" });
    }
    Ok(())
}

fn check(options: &VoterOptions) -> Result<()> {
    let VoterOptions { prior_shift, sharpen, noise, blend, .. } = *options;
    within("the prior shift", prior_shift, (0.0..=1.0).contains(&prior_shift), "from 0 to 1")?;
    within("the sharpening exponent", sharpen, sharpen > 0.0 && sharpen.is_finite(), "finite and above 0")?;
    within("the noise", noise, (0.0..=MOST_NOISE).contains(&noise), "from 0 to 10")?;
    within("the blend", blend, (0.0..=1.0).contains(&blend), "from 0 to 1")?;
    if prior_shift > 0.0 && options.margin.is_none() {
        return Err(Error::Incompatible {
            one: "a prior shift",
            other: "people drawn from the county table",
            why: "there is no other prior to shift from; give the margin of the voters",
        });
    }
    Ok(())
}

/// Checks class shares and scales them to sum to one.
fn scaled_margin(margin: &[f64], classes: usize) -> Result<Vec<f64>> {
    if margin.len() != classes {
        return Err(Error::Length { what: "the margin", found: margin.len(), expected: classes });
    }
    scaled(margin, "margin")
}

/// Interpolates linearly from `one` (at 0) to `other` (at 1).
fn mix(one: &[f64], other: &[f64], part: f64) -> Vec<f64> {
    one.iter().zip(other).map(|(one, other)| (1.0 - part) * one + part * other).collect()
}

/// Multiplies each weight by an independent log-normal factor.
fn disturbed(weights: &[f64], options: &VoterOptions, salt: u64) -> Vec<f64> {
    if options.noise == 0.0 {
        return weights.to_vec();
    }
    let factor = |cell: u64| (options.noise * normal(options.seed, cell, salt)).exp();
    weights.iter().zip(0..).map(|(weight, cell)| weight * factor(cell)).collect()
}

/// Raises scores to a power, up to scale. The largest becomes 1, so that the sum is positive.
fn raise(scores: &mut [f64], power: f64) {
    let largest = scores.iter().copied().fold(0.0, f64::max);
    scores.iter_mut().for_each(|score| *score = (*score / largest).powf(power));
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Creates a file with four counties, nine surnames and three classes.
    fn small(options: &VoterOptions) -> Voters {
        let tables = VoterTables {
            counties: vec![vec![70.0, 20.0, 10.0], vec![30.0, 30.0, 0.0], vec![0.5, 8.0, 4.0], vec![900.0, 40.0, 60.0]],
            surnames: (1..=9).map(|name| vec![f64::from(name), 40.0 / f64::from(name), f64::from(name % 4)]).collect(),
        };
        Voters::new(&tables, options).expect("sound tables")
    }

    fn people(voters: &Voters, indices: impl Iterator<Item = u64>) -> Vec<(u32, u32, Label)> {
        indices.map(|index| voters.person(index)).map(|voter| (voter.county, voter.surname, voter.truth)).collect()
    }

    /// Fails if published files change, which requires a changelog entry.
    #[test]
    fn rows_are_frozen() {
        let voters = small(&VoterOptions::default());
        let first = [(3, 8, 0), (3, 8, 0), (3, 1, 0), (1, 7, 0), (3, 8, 0), (3, 1, 2), (3, 7, 0), (3, 5, 0)];
        assert_eq!(people(&voters, 0..8), first);

        let voters = small(&VoterOptions { seed: 20_240_509, ..VoterOptions::default() });
        let far = [u64::from(u32::MAX), 1 << 40, u64::MAX];
        assert_eq!(people(&voters, far.into_iter()), [(0, 2, 1), (3, 1, 1), (3, 2, 2)]);

        let margin = Some(vec![0.2, 0.3, 0.5]);
        let options = VoterOptions { seed: 1, margin, prior_shift: 0.5, blend: 0.25, noise: 0.5, sharpen: 2.0 };
        let voters = small(&options);
        let first = [(0, 1, 1), (3, 6, 2), (3, 6, 2), (3, 6, 1), (3, 2, 2), (3, 2, 1), (3, 0, 0), (3, 5, 2)];
        assert_eq!(people(&voters, 0..8), first);
        let mut scores = [0.0; 3];
        voters.scores(&voters.person(0), &mut scores);
        // Computed from the formulas by another program.
        let frozen = [0.076880451887, 0.524240173235, 0.398879374878];
        assert!(
            scores.iter().zip(frozen).all(|(score, frozen): (&f64, f64)| (score - frozen).abs() < 1e-11),
            "{scores:?}"
        );
    }

    #[test]
    fn a_high_power_leaves_the_largest() {
        let mut scores = [1e-9, 3e-9, 2e-9];
        raise(&mut scores, 1e6);
        assert_eq!(scores, [0.0, 1.0, 0.0]);
    }
}
