//! A synthetic voter file: people drawn from tables of counties and surnames, with the scores that BISG would give them.
//!
//! With W\[county, class\] the weights of counties and classes and P(surname | class) those of names, a person is
//!
//! ```text
//! (county, class) ~ W,   surname ~ P(· | class), whatever the county,
//! q[class] ∝ P(surname | class) · W[county, class].
//! ```
//!
//! So q is the very law by which the class was drawn, given what is known of the person: the scores are calibrated by
//! construction, and in every county, too. The options put them off in ways that are known.

use super::alias::Alias;
use super::check::{scaled, within};
use super::random::normal;
use crate::error::{Error, Result};
use crate::scores::{Label, MAX_CLASSES};
use crate::seed;

/// The salts of the draws, far from those with which labels and replicates are drawn: with the same seed, a drawn label
/// must know nothing of the truth.
const CELL: u64 = 0x766f_7465_0000_0000;
const SURNAME: u64 = CELL + 1;
const COUNTY_NOISE: u64 = CELL + 2;
const SURNAME_NOISE: u64 = CELL + 4;
const RARE_NAME: u64 = CELL + 6;

/// At this many rows a table's cells can still be counted in 32 bits.
const MOST_ROWS: usize = 1 << 24;

/// Noise beyond this leaves nothing of a table, and would overflow.
const MOST_NOISE: f64 = 10.0;

/// What people are drawn from: two tables with the same classes, in the same order. Weights need no scale.
#[derive(Clone, Debug, PartialEq)]
pub struct VoterTables {
    /// For each county, the weight of each class: its people, say.
    pub counties: Vec<Vec<f64>>,
    /// For each surname, the weight of each class: the people of the class who have it.
    pub surnames: Vec<Vec<f64>>,
}

/// How people are drawn, and how their scores are off. By default they are not.
#[derive(Clone, Debug, PartialEq)]
pub struct VoterOptions {
    /// Another seed, other people.
    pub seed: u64,
    /// Shares of the classes among the people drawn, which must sum to one within a thousandth: within each class, the
    /// table of counties stays as it is. None: the shares that the table has.
    pub margin: Option<Vec<f64>>,
    /// From 0 to 1: how much of the way the scores' prior is from the margin back to the table's own shares. At 1 it is that
    /// of an analyst who has the Census, but no figures about voters. Needs a margin.
    pub prior_shift: f64,
    /// Scores are raised to this power and scaled: above 1 they are overconfident, below 1 too timid.
    pub sharpen: f64,
    /// People are drawn from tables in which every weight is multiplied by e^(noise · z), z standard normal, from the seed;
    /// the scores keep the tables as given. From 0 to 10.
    pub noise: f64,
    /// From 0 to 1: how much of P(surname | class) is replaced by P(surname), for draws and scores alike. Scores stay
    /// calibrated, but say less.
    pub blend: f64,
}

impl Default for VoterOptions {
    /// Calibrated, with the shares of the table.
    fn default() -> VoterOptions {
        VoterOptions { seed: 0, margin: None, prior_shift: 0.0, sharpen: 1.0, noise: 0.0, blend: 0.0 }
    }
}

/// One person of a synthetic voter file. Made by [`Voters::person`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Voter {
    /// Row of the table of counties.
    pub county: u32,
    /// Row of the table of surnames.
    pub surname: u32,
    /// The true class.
    pub truth: Label,
}

/// A synthetic voter file without end: any row at any time, from the seed and its index.
///
/// The rows of a seed are part of the interface, like labels, and the same on every machine. Noise and sharpening use the
/// machine's exponentials, whose last digits may differ: so may those of a score, and, with noise, next to never a draw.
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
    /// Of counties and classes together: county · classes + class.
    cells: Alias,
    /// Of surnames, for each class.
    surnames: Vec<Alias>,
    /// What the scores take for the weight of each county and class, row by row.
    prior: Vec<f64>,
    /// What the scores take for P(surname | class), row by row.
    likelihood: Vec<f64>,
    sharpen: f64,
}

impl Voters {
    /// Checks tables and options, and makes ready to draw.
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
        let names_of = |class| names.iter().skip(class).step_by(surnames.classes).copied().collect::<Vec<f64>>();
        Ok(Voters {
            classes: counties.classes,
            seed: options.seed,
            cells: Alias::new(&cells),
            surnames: (0..surnames.classes).map(|class| Alias::new(&names_of(class))).collect(),
            prior: counties.times(&assumed),
            likelihood: surnames.values,
            sharpen: options.sharpen,
        })
    }

    /// The number of classes, and so of a row's scores.
    pub fn classes(&self) -> usize {
        self.classes
    }

    /// The person at an index, from 0.
    #[inline]
    pub fn person(&self, index: u64) -> Voter {
        let cell = self.cells.draw(seed::hash(self.seed, index, CELL));
        let (county, class) = (cell / self.classes as u32, cell % self.classes as u32);
        let surname = self.surnames[class as usize].draw(seed::hash(self.seed, index, SURNAME));
        Voter { county, surname, truth: class as Label }
    }

    /// The scores of a person of this file, in the order of the classes. They sum to one.
    ///
    /// # Panics
    /// Where `into` is not as long as there are classes, or the person is of other tables.
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
        // Never zero: what a person was drawn with, the scores deem possible.
        let sum: f64 = into.iter().sum();
        into.iter_mut().for_each(|score| *score /= sum);
    }
}

/// The many names that one row of a table of surnames stands for: which of them a person of that row has. Scores know of the
/// row alone, so that it changes none.
#[derive(Clone, Debug)]
pub struct RareNames {
    seed: u64,
    /// Of names, for each class.
    names: Vec<Alias>,
}

impl RareNames {
    /// For each rare name, the weight of each class: the people of the class who have it.
    pub fn new(names: &[Vec<f64>], seed: u64) -> Result<RareNames> {
        let table = Conditional::new(names, "rare name", None)?;
        let names_of = |class| table.values.iter().skip(class).step_by(table.classes).copied().collect::<Vec<f64>>();
        Ok(RareNames { seed, names: (0..table.classes).map(|class| Alias::new(&names_of(class))).collect() })
    }

    /// The rare name of the person at an index.
    #[inline]
    pub fn of(&self, index: u64, voter: &Voter) -> u32 {
        self.names[usize::from(voter.truth)].draw(seed::hash(self.seed, index, RARE_NAME))
    }
}

/// A table of weights as what it says of each class: the class's share of everyone, and the shares of the rows within it.
struct Conditional {
    classes: usize,
    /// P(row | class), row by row.
    values: Vec<f64>,
    /// P(class).
    shares: Vec<f64>,
}

impl Conditional {
    /// Checks a table, whose rows are each a `what`.
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

    /// P(row, class), where the classes have these shares.
    fn times(&self, shares: &[f64]) -> Vec<f64> {
        self.values.iter().zip(shares.iter().cycle()).map(|(value, share)| value * share).collect()
    }

    /// Replaces a part of P(row | class) by P(row), where the classes have these shares.
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
    within("the power that sharpens", sharpen, sharpen > 0.0 && sharpen.is_finite(), "finite and above 0")?;
    within("the noise", noise, (0.0..=MOST_NOISE).contains(&noise), "from 0 to 10")?;
    within("the blend", blend, (0.0..=1.0).contains(&blend), "from 0 to 1")?;
    if prior_shift > 0.0 && options.margin.is_none() {
        return Err(Error::Incompatible {
            one: "a prior shift",
            other: "people who follow the county table",
            why: "there is nothing to shift away from; give the margin of the voters",
        });
    }
    Ok(())
}

/// Shares of the classes, checked and scaled to sum to one.
fn scaled_margin(margin: &[f64], classes: usize) -> Result<Vec<f64>> {
    if margin.len() != classes {
        return Err(Error::Length { what: "the margin", found: margin.len(), expected: classes });
    }
    scaled(margin, "margin")
}

/// From `one` (at 0) to `other` (at 1).
fn mix(one: &[f64], other: &[f64], part: f64) -> Vec<f64> {
    one.iter().zip(other).map(|(one, other)| (1.0 - part) * one + part * other).collect()
}

/// The weights, each times a log-normal factor of its own.
fn disturbed(weights: &[f64], options: &VoterOptions, salt: u64) -> Vec<f64> {
    if options.noise == 0.0 {
        return weights.to_vec();
    }
    let factor = |cell: u64| (options.noise * normal(options.seed, cell, salt)).exp();
    weights.iter().zip(0..).map(|(weight, cell)| weight * factor(cell)).collect()
}

/// Raises scores to a power, up to scale. The largest becomes 1, so that not all of them can vanish.
fn raise(scores: &mut [f64], power: f64) {
    let largest = scores.iter().copied().fold(0.0, f64::max);
    scores.iter_mut().for_each(|score| *score = (*score / largest).powf(power));
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Four counties and nine surnames with three classes.
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

    /// A change here changes published files: it needs a line in the changelog.
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
        // The formulas written out in another program.
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
