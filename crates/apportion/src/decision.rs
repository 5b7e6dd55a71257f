//! A rule fitted to a table: small, saved as JSON, and able to label any further rows.
//!
//! For a joint rule it is K prices for each group, and further prices for ties. The label of a row is the class with the
//! largest score + price; where several are equal, the one of these with the largest lot + price of the first level of
//! ties, and so on. So apply(fit(x), x) = label(x), row by row, and other rows are labelled as if at the margin.

use rayon::prelude::*;
use std::collections::HashMap;
use std::ops::Range;

use crate::error::{Error, Result};
use crate::kernel::{GRID, Level, Real, Rows, Tile, Unsettled, Watch, sweep};
use crate::label::Labels;
use crate::rule;
use crate::scores::{Classes, Label, Scores, Visitor};
use crate::transport::ties::{Repeats, lot, tight};
use crate::transport::{Certificate, exact_bounds};

pub(crate) use crate::transport::Prices;

/// Rows that one thread labels at a time.
const STRETCH: usize = 1 << 16;

/// A fitted rule.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(try_from = "Saved", into = "Saved")]
pub struct Decision {
    classes: Classes,
    seed: u64,
    fitted: Fitted,
    /// The prices on the grid, in the order of `fitted`; one set of zeros for argmax; else none.
    levels: Vec<Vec<Prices>>,
}

/// What a rule has learned.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Fitted {
    /// Nothing.
    Argmax,
    /// The bar of each class.
    Threshold {
        /// In the order of the classes.
        at: Vec<f64>,
    },
    /// Nothing.
    Thompson,
    /// Nothing but its k.
    TopK {
        /// How many of the likeliest classes are drawn among.
        k: usize,
    },
    /// Prices, for all rows or for each group.
    Prices(Vec<GroupPrices>),
}

/// The prices of a group, or of all rows.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct GroupPrices {
    /// The group, or none where the prices are for all rows.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub group: Option<String>,
    /// Added to the scores; a class without a price is never given. Multiples of 2^-40.
    pub prices: Vec<Option<f64>>,
    /// Added to the lots among tied classes, level by level.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub ties: Vec<Vec<Option<f64>>>,
}

impl GroupPrices {
    pub(crate) fn new(group: Option<String>, levels: &[Prices]) -> GroupPrices {
        let value = |prices: &Prices| prices.iter().map(|price| price.map(|units| GRID.value(units))).collect();
        let mut levels = levels.iter().map(value);
        GroupPrices { group, prices: levels.next().unwrap_or_default(), ties: levels.collect() }
    }

    /// All levels on the grid.
    fn levels(&self) -> Vec<Prices> {
        let units =
            |prices: &Vec<Option<f64>>| prices.iter().map(|price| price.map(|value| GRID.round(value))).collect();
        std::iter::once(&self.prices).chain(&self.ties).map(units).collect()
    }
}

/// The form in which a decision is saved.
#[derive(serde::Serialize, serde::Deserialize)]
struct Saved {
    version: u32,
    classes: Classes,
    seed: u64,
    rule: Fitted,
}

/// Raised when the saved form changes its meaning.
const VERSION: u32 = 1;

impl TryFrom<Saved> for Decision {
    type Error = Error;
    fn try_from(saved: Saved) -> Result<Decision> {
        if saved.version != VERSION {
            let problem = format!("it is of version {}, and this program reads version {VERSION}", saved.version);
            return Err(Error::Decision { problem });
        }
        Decision::new(saved.classes, saved.seed, saved.rule)
    }
}

impl From<Decision> for Saved {
    fn from(decision: Decision) -> Saved {
        Saved { version: VERSION, classes: decision.classes, seed: decision.seed, rule: decision.fitted }
    }
}

impl Decision {
    /// Checks what was fitted, or read from a file, once and for all.
    pub(crate) fn new(classes: Classes, seed: u64, mut fitted: Fitted) -> Result<Decision> {
        let k = classes.len();
        let refuse = |problem: String| Err(Error::Decision { problem });
        let levels = match &mut fitted {
            Fitted::Argmax => vec![vec![rule::argmax_prices(k)]],
            Fitted::Prices(groups) => {
                for group in groups.iter() {
                    check_prices(group, k)?;
                }
                let mut names: Vec<_> = groups.iter().map(|group| &group.group).collect();
                names.sort_unstable();
                if names.windows(2).any(|pair| pair[0] == pair[1]) || (names.len() > 1 && names[0].is_none()) {
                    return refuse("a group has prices twice".into());
                }
                let levels: Vec<Vec<Prices>> = groups.iter().map(GroupPrices::levels).collect();
                // Readers of JSON may be off in the last digit; the grid is not.
                for (group, levels) in groups.iter_mut().zip(&levels) {
                    *group = GroupPrices::new(group.group.take(), levels);
                }
                levels
            }
            Fitted::Threshold { at } if at.len() != k => {
                return refuse(format!("it has {} thresholds for {k} classes", at.len()));
            }
            Fitted::Threshold { at } => {
                classes.names().iter().zip(at.iter()).try_for_each(|(class, &bar)| rule::check_bar(class, bar))?;
                Vec::new()
            }
            Fitted::TopK { k: 0 } => return refuse("its k is 0".into()),
            Fitted::TopK { .. } | Fitted::Thompson => Vec::new(),
        };
        Ok(Decision { classes, seed, fitted, levels })
    }

    /// The classes it was fitted to.
    pub fn classes(&self) -> &Classes {
        &self.classes
    }

    /// The seed of its draws and ties.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// What the rule has learned.
    pub fn fitted(&self) -> &Fitted {
        &self.fitted
    }

    /// Labels rows.
    pub fn apply(&self, scores: &Scores<'_>, simd: Level) -> Result<Labels> {
        self.applier(simd).label(scores)
    }

    /// Labels rows that come in batches: tied rows with equal keys are told apart across batches too.
    pub fn applier(&self, simd: Level) -> Applier<'_> {
        Applier { decision: self, simd, repeats: HashMap::new() }
    }

    /// A further draw of Thompson sampling or top-k; draw 0 is what [`apply`](Self::apply) gives. Rules without chance
    /// give the same labels at every draw.
    pub fn draw(&self, scores: &Scores<'_>, simd: Level, draw: u64) -> Result<Labels> {
        match &self.fitted {
            Fitted::Thompson => self.draw_rows(scores, self.classes.len(), draw),
            Fitted::TopK { k } => self.draw_rows(scores, *k, draw),
            _ => self.apply(scores, simd),
        }
    }

    /// Computes the proof again from nothing but scores, labels and prices, row by row, in whole numbers. It closes if and
    /// only if the labels are optimal for their counts (in each group, where the decision has groups) and the prices
    /// show it.
    pub fn certify(&self, scores: &Scores<'_>, labels: &Labels) -> Result<Certificate> {
        self.check_classes(scores)?;
        crate::scores::expect_length("the list of labels", labels.values().len(), scores.rows())?;
        let row_prices = self.row_prices(scores)?;
        let mut row = vec![0; self.classes.len()];
        let mut classes = Vec::new();
        let mut certificate = Certificate { primal: 0, dual: 0 };
        for (index, &label) in labels.values().iter().enumerate() {
            scores.read_row(index, &mut row)?;
            let prices = &self.levels[row_prices.of(index)][0];
            let Some(price) = prices.get(usize::from(label)).copied().flatten() else {
                // A label that the prices never give: they prove nothing.
                return Ok(Certificate { primal: 0, dual: i128::MAX });
            };
            certificate.primal += i128::from(row[usize::from(label)]);
            certificate.dual += i128::from(tight(prices, |class| row[class], &mut classes) - price);
        }
        Ok(certificate)
    }

    fn check_classes(&self, scores: &Scores<'_>) -> Result<()> {
        if scores.classes() == &self.classes {
            return Ok(());
        }
        Err(Error::ClassesDiffer { fitted: self.classes.to_string(), found: scores.classes().to_string() })
    }

    fn draw_rows(&self, scores: &Scores<'_>, k: usize, draw: u64) -> Result<Labels> {
        self.check_classes(scores)?;
        if scores.counts().is_some() {
            return Err(Error::CountsUnsupported { rule: "sampling" });
        }
        self.label_rows(scores, |index, row, sorted| {
            if k < row.len() {
                rule::top_classes(row, k, sorted);
            }
            rule::sample(row, self.seed, scores.keys().of(index), draw)
        })
    }

    /// Labels row by row, in parallel.
    fn label_rows(
        &self,
        scores: &Scores<'_>,
        label: impl Fn(usize, &mut [i64], &mut Vec<i64>) -> Label + Sync,
    ) -> Result<Labels> {
        let k = self.classes.len();
        let mut labels = vec![0; scores.rows()];
        in_stretches(&mut labels, |start, labels| {
            let (mut row, mut spare) = (vec![0; k], Vec::new());
            for (offset, out) in labels.iter_mut().enumerate() {
                scores.read_row(start + offset, &mut row)?;
                *out = label(start + offset, &mut row, &mut spare);
            }
            Ok(())
        })?;
        Ok(Labels::trusted(labels, k))
    }

    /// Which prices each row has.
    fn row_prices<'a>(&self, scores: &Scores<'a>) -> Result<RowPrices<'a>> {
        let groups = match &self.fitted {
            Fitted::Prices(groups) if groups.iter().all(|group| group.group.is_some()) => groups,
            _ => return Ok(RowPrices::Same),
        };
        let table = scores.groups().ok_or(Error::Missing {
            what: "a group",
            by: "a decision that was fitted by group",
            instead: "decision",
        })?;
        let known: HashMap<&str, usize> =
            groups.iter().enumerate().filter_map(|(place, group)| Some((group.group.as_deref()?, place))).collect();
        let places: Vec<Option<usize>> = table.names.iter().map(|name| known.get(name.as_str()).copied()).collect();
        match table.codes.iter().find(|&&code| places[code as usize].is_none()) {
            Some(&code) => Err(Error::UnknownGroup {
                group: table.names[code as usize].clone(),
                what: "decision",
                known: groups.len(),
            }),
            None => Ok(RowPrices::ByGroup { codes: table.codes, places }),
        }
    }

    /// The label among tied classes.
    fn break_tie(&self, levels: &[Prices], key: u64, tied: &mut Vec<usize>) -> Label {
        if self.fitted != Fitted::Argmax {
            for (level, prices) in levels[1..].iter().enumerate() {
                let best =
                    tied.iter().filter_map(|&class| Some(prices[class]? + lot(self.seed, key, level, class))).max();
                tied.retain(|&class| prices[class].map(|price| price + lot(self.seed, key, level, class)) == best);
            }
        }
        tied[0] as Label
    }
}

/// Refuses prices that are not multiples of 2^-40 in a sane range, or not one a class.
fn check_prices(group: &GroupPrices, k: usize) -> Result<()> {
    let problem = |problem: &str| {
        let of = group.group.as_ref().map_or_else(String::new, |name| format!(" of group {name:?}"));
        Err(Error::Decision { problem: format!("the prices{of} {problem}") })
    };
    for level in std::iter::once(&group.prices).chain(&group.ties) {
        if level.len() != k {
            return problem("are not one for each class");
        }
        if level.iter().all(Option::is_none) {
            return problem("leave no class to give");
        }
        if level.iter().flatten().any(|price| !price.is_finite() || price.abs() > 1024.0) {
            return problem("are out of range");
        }
    }
    Ok(())
}

/// Which of a decision's prices a row has.
enum RowPrices<'a> {
    Same,
    ByGroup { codes: &'a [u32], places: Vec<Option<usize>> },
}

impl RowPrices<'_> {
    fn of(&self, row: usize) -> usize {
        match self {
            RowPrices::Same => 0,
            RowPrices::ByGroup { codes, places } => places[codes[row] as usize].unwrap_or(0),
        }
    }
}

/// Labels batch after batch.
pub struct Applier<'d> {
    decision: &'d Decision,
    simd: Level,
    /// The keys of tied rows so far, by the prices that they have.
    repeats: HashMap<usize, Repeats>,
}

impl Applier<'_> {
    /// Labels the next batch.
    pub fn label(&mut self, scores: &Scores<'_>) -> Result<Labels> {
        let decision = self.decision;
        decision.check_classes(scores)?;
        match &decision.fitted {
            Fitted::Threshold { at } => {
                let bars: Vec<i64> = at.iter().map(|&bar| rule::bar_units(bar)).collect();
                decision.label_rows(scores, |_, row, _| rule::threshold_label(row, &bars))
            }
            Fitted::Thompson | Fitted::TopK { .. } => decision.draw(scores, self.simd, 0),
            Fitted::Argmax | Fitted::Prices(_) => self.label_at_prices(scores),
        }
    }

    fn label_at_prices(&mut self, scores: &Scores<'_>) -> Result<Labels> {
        let row_prices = self.decision.row_prices(scores)?;
        let mut labels = vec![0; scores.rows()];
        let tied = match row_prices {
            RowPrices::Same if self.decision.levels.is_empty() => Vec::new(),
            RowPrices::Same => {
                let prices = &self.decision.levels[0][0];
                scores.visit(LabelAll { scores, prices, simd: self.simd, labels: &mut labels })?
            }
            RowPrices::ByGroup { .. } => self.label_grouped(scores, &row_prices, &mut labels)?,
        };
        for (row, mut classes) in tied {
            let place = row_prices.of(row);
            let key = if self.decision.fitted == Fitted::Argmax {
                0 // the first class is taken, whatever the key
            } else {
                self.repeats.entry(place).or_default().tell_apart(scores.keys().of(row))
            };
            labels[row] = self.decision.break_tie(&self.decision.levels[place], key, &mut classes);
        }
        Ok(Labels::trusted(labels, self.decision.classes.len()))
    }

    fn label_grouped(
        &self,
        scores: &Scores<'_>,
        row_prices: &RowPrices<'_>,
        labels: &mut [Label],
    ) -> Result<Vec<Tied>> {
        in_stretches(labels, |start, labels| {
            let (mut scratch, mut classes, mut tied) = (vec![0; self.decision.classes.len()], Vec::new(), Vec::new());
            for (offset, label) in labels.iter_mut().enumerate() {
                let row = start + offset;
                scores.read_row(row, &mut scratch)?;
                let prices = &self.decision.levels[row_prices.of(row)][0];
                tight(prices, |class| scratch[class], &mut classes);
                *label = classes[0] as Label;
                if classes.len() > 1 {
                    tied.push((row, classes.clone()));
                }
            }
            Ok(tied)
        })
        .map(|parts| parts.into_iter().flatten().collect())
    }
}

/// A row and the classes that are equally good for it.
type Tied = (usize, Vec<usize>);

/// Labels all rows at the same prices; returns the tied ones, in order.
struct LabelAll<'a> {
    scores: &'a Scores<'a>,
    prices: &'a Prices,
    simd: Level,
    labels: &'a mut [Label],
}

impl Visitor for LabelAll<'_> {
    type Output = Result<Vec<Tied>>;

    fn visit<R: Rows>(self, rows: &R) -> Result<Vec<Tied>> {
        let bounds = exact_bounds(self.prices, rows.magnitude());
        in_stretches(self.labels, |start, labels| {
            let mut exact = Exact { scores: self.scores, prices: self.prices, tight: Vec::new(), tied: Vec::new() };
            let range = start..start + labels.len();
            sweep(self.simd, rows, range, &bounds, Watch::Values, labels, &mut exact)?;
            Ok(exact.tied)
        })
        .map(|parts| parts.into_iter().flatten().collect())
    }
}

/// Decides exactly where single precision cannot.
struct Exact<'a> {
    scores: &'a Scores<'a>,
    prices: &'a Prices,
    tight: Vec<usize>,
    tied: Vec<Tied>,
}

impl<R: Rows> Unsettled<R> for Exact<'_> {
    fn row(&mut self, _: &R, row: usize, tile: &Tile<R::Elem>, lane: usize) -> Label {
        tight(self.prices, |class| GRID.round(tile.score(lane, class).double()), &mut self.tight);
        if self.tight.len() > 1 {
            self.tied.push((row, self.tight.clone()));
        }
        self.tight[0] as Label
    }

    fn suspect(&mut self, rows: Range<usize>) -> Result<()> {
        self.scores.check_rows(rows)
    }
}

/// Runs over stretches of the labels in parallel; the results, or the first error, in the order of the rows.
fn in_stretches<T: Send>(
    labels: &mut [Label],
    work: impl Fn(usize, &mut [Label]) -> Result<T> + Sync,
) -> Result<Vec<T>> {
    let parts: Vec<Result<T>> =
        labels.par_chunks_mut(STRETCH).enumerate().map(|(stretch, labels)| work(stretch * STRETCH, labels)).collect();
    parts.into_iter().collect()
}
