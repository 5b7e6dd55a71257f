//! A decision at work: labels for batches, further draws, and the proof computed anew.

use rayon::prelude::*;
use std::collections::HashMap;
use std::ops::Range;

use crate::decision::{Decision, Fitted, Prices};
use crate::error::{Error, Result};
use crate::kernel::{GRID, Level, Real, Rows, Tile, Unsettled, Watch, sweep};
use crate::label::Labels;
use crate::rule;
use crate::scores::{Label, Scores, Visitor, expect_length};
use crate::transport::ties::{Repeats, lot, tight};
use crate::transport::{Certificate, exact_bounds};

/// Rows that one thread labels at a time.
const STRETCH: usize = 1 << 16;

impl Decision {
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
        let k = match &self.fitted {
            Fitted::Thompson => self.classes.len(),
            Fitted::TopK { k } => *k,
            _ => return self.apply(scores, simd),
        };
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

    /// Computes the proof again from nothing but scores, labels and prices, row by row, in whole numbers. It closes if and
    /// only if the labels are optimal for their counts (in each group, where the decision has groups) and the prices
    /// show it.
    pub fn certify(&self, scores: &Scores<'_>, labels: &Labels) -> Result<Certificate> {
        self.check_classes(scores)?;
        expect_length("the list of labels", labels.values().len(), scores.rows())?;
        if !matches!(self.fitted, Fitted::Argmax | Fitted::Prices(_)) {
            return Err(Error::Decision { problem: "it has no prices, and proves nothing".into() });
        }
        let row_prices = self.row_prices(scores)?;
        let mut classes = Vec::new();
        let mut certificate = Certificate { primal: 0, dual: 0 };
        scores.read_rows(0..scores.rows(), |index, row| {
            let prices = &self.levels[row_prices.of(index)][0];
            let label = usize::from(labels.values()[index]);
            let value = tight(prices, |class| row[class], &mut classes);
            certificate.primal += row.get(label).map_or(0, |&score| i128::from(score));
            // A label without a price is one that the prices never give: they prove nothing.
            let price = prices.get(label).copied().flatten().unwrap_or(-2 * value.abs() - 1);
            certificate.dual += i128::from(value) - i128::from(price);
            Ok(())
        })?;
        Ok(certificate)
    }

    fn check_classes(&self, scores: &Scores<'_>) -> Result<()> {
        if scores.classes() == &self.classes {
            return Ok(());
        }
        Err(Error::ClassesDiffer { fitted: self.classes.to_string(), found: scores.classes().to_string() })
    }

    /// Labels row by row, in parallel.
    fn label_rows(
        &self,
        scores: &Scores<'_>,
        label: impl Fn(usize, &mut [i64], &mut Vec<i64>) -> Label + Sync,
    ) -> Result<Labels> {
        let mut labels = vec![0; scores.rows()];
        in_stretches(&mut labels, |start, labels| {
            let mut spare = Vec::new();
            scores.read_rows(start..start + labels.len(), |index, row| {
                labels[index - start] = label(index, row, &mut spare);
                Ok(())
            })
        })?;
        Ok(Labels::trusted(labels, self.classes.len()))
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
            let (mut classes, mut tied) = (Vec::new(), Vec::new());
            scores.read_rows(start..start + labels.len(), |index, row| {
                let prices = &self.decision.levels[row_prices.of(index)][0];
                tight(prices, |class| row[class], &mut classes);
                labels[index - start] = classes[0] as Label;
                if classes.len() > 1 {
                    tied.push((index, classes.clone()));
                }
                Ok(())
            })?;
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
