//! Applying a decision: labels for batches, further draws, and the certificate computed from scratch.

use rayon::prelude::*;
use std::collections::HashMap;
use std::ops::Range;

use crate::decision::{Decision, Fitted, Prices};
use crate::error::{Error, Result};
use crate::kernel::{Real, STRETCH, SimdLevel, Source, WithZero};
use crate::label::Labels;
use crate::rule;
use crate::scores::{Label, Scores, UNCODED, Visitor, expect_length};
use crate::text::Setting;
use crate::transport::ties::{Repeats, lot, tight};
use crate::transport::{Certificate, settle};

impl Decision {
    /// Labels rows. Counts are exact for the rows of the fit and approximate for other rows; audit them, or fit
    /// again.
    pub fn apply(&self, scores: &Scores<'_>) -> Result<Labels> {
        self.applier().label(scores)
    }

    /// Returns an applier for rows that come in batches: it distinguishes tied rows with equal keys across
    /// batches.
    pub fn applier(&self) -> Applier<'_> {
        Applier { decision: self, simd: SimdLevel::best(), repeats: HashMap::new() }
    }

    /// Returns another draw of Thompson sampling or top-k; draw 0 is [`apply`](Self::apply). Deterministic rules
    /// give the same labels at every draw.
    pub fn draw(&self, scores: &Scores<'_>, draw: u64) -> Result<Labels> {
        let k = match &self.fitted {
            Fitted::Thompson => self.classes.len(),
            Fitted::TopK { k } => *k,
            Fitted::Argmax | Fitted::Threshold { .. } | Fitted::Prices(_) | Fitted::Learned(_) => {
                return self.apply(scores);
            }
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

    /// Computes the certificate from scores, labels and prices only, row by row, in integers. It closes if and
    /// only if the labels are optimal for their counts (in each group, if the decision is by group) and the
    /// prices prove it. It does not check the counts themselves.
    pub fn certify(&self, scores: &Scores<'_>, labels: &Labels) -> Result<Certificate> {
        self.check_classes(scores)?;
        expect_length("the list of labels", labels.values().len(), scores.rows())?;
        match self.fitted {
            Fitted::Argmax | Fitted::Prices(_) => {}
            Fitted::Threshold { .. } | Fitted::Thompson | Fitted::TopK { .. } | Fitted::Learned(_) => {
                return Err(Error::NoPrices);
            }
        }
        let row_prices = self.row_prices(scores)?;
        let mut classes = Vec::new();
        let mut certificate = Certificate { primal: 0, dual: 0 };
        scores.read_rows(0..scores.rows(), |index, row| {
            let prices = &self.levels[row_prices.of(index)][0];
            let label = usize::from(labels.values()[index]);
            // An unlabeled row counts as one more class, with score zero.
            let label = if labels.values()[index] == UNCODED { row.len() } else { label };
            let value = tight(prices, score_of(row), &mut classes);
            let people = scores.counts().map_or(1, |counts| i128::from(counts[index]));
            certificate.primal += row.get(label).map_or(0, |&score| i128::from(score)) * people;
            // The prices never assign a class without a price, so they prove nothing about it.
            let price = prices.get(label).copied().flatten().unwrap_or(-2 * value.abs() - 1);
            certificate.dual += (i128::from(value) - i128::from(price)) * people;
            Ok(())
        })?;
        Ok(certificate)
    }

    pub(crate) fn check_classes(&self, scores: &Scores<'_>) -> Result<()> {
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

    /// Returns the prices of each row.
    fn row_prices<'a>(&self, scores: &Scores<'a>) -> Result<RowPrices<'a>> {
        let Some(groups) = self.groups() else { return Ok(RowPrices::Same) };
        let table = scores.groups().ok_or(Error::Missing {
            what: "a group",
            by: "a decision that was fitted by group",
            setting: Setting::By,
            instead: "decision",
        })?;
        let known: HashMap<&str, usize> =
            groups.iter().enumerate().filter_map(|(index, group)| Some((group.group.as_deref()?, index))).collect();
        let of_unknown = (self.levels.len() > groups.len()).then_some(groups.len());
        let index = |name: &String| known.get(name.as_str()).copied().or(of_unknown);
        let indices: Vec<Option<usize>> = table.names.iter().map(index).collect();
        match table.codes.iter().find(|&&code| indices[code as usize].is_none()) {
            Some(&code) => Err(Error::UnknownGroup {
                group: table.names[code as usize].clone(),
                what: "decision",
                known: groups.len(),
                hint: "fit again on data with this group, or leave out its rows",
            }),
            None => Ok(RowPrices::ByGroup { codes: table.codes, indices }),
        }
    }

    /// Returns the label among tied classes.
    fn break_tie(&self, levels: &[Prices], key: u64, tied: &mut Vec<usize>) -> Label {
        for (level, prices) in levels[1..].iter().enumerate() {
            let value = |class: usize| prices[class].map(|price| price + lot(self.seed, key, level, class));
            let best = tied.iter().filter_map(|&class| value(class)).max();
            tied.retain(|&class| value(class) == best);
        }
        tied[0] as Label
    }
}

/// The index of a row's prices.
enum RowPrices<'a> {
    Same,
    ByGroup { codes: &'a [u32], indices: Vec<Option<usize>> },
}

impl RowPrices<'_> {
    fn of(&self, row: usize) -> usize {
        match self {
            RowPrices::Same => 0,
            RowPrices::ByGroup { codes, indices } => indices[codes[row] as usize].unwrap_or(0),
        }
    }
}

/// Labels batch after batch.
pub struct Applier<'d> {
    decision: &'d Decision,
    simd: SimdLevel,
    /// The keys of tied rows so far, by price index.
    repeats: HashMap<usize, Repeats>,
}

impl Applier<'_> {
    /// Sets the SIMD instructions, which do not affect labels.
    pub fn with_simd(mut self, simd: SimdLevel) -> Self {
        self.simd = simd;
        self
    }

    /// Labels the next batch.
    pub fn label(&mut self, scores: &Scores<'_>) -> Result<Labels> {
        let decision = self.decision;
        decision.check_classes(scores)?;
        match &decision.fitted {
            Fitted::Threshold { at } => {
                let bars: Vec<i64> = at.iter().map(|&bar| rule::bar_units(bar, scores.is_single())).collect();
                decision.label_rows(scores, |_, row, _| rule::threshold_label(row, &bars))
            }
            Fitted::Thompson | Fitted::TopK { .. } => decision.draw(scores, 0),
            Fitted::Learned(model) => decision.label_rows(scores, |_, row, votes| model.label(row, votes)),
            Fitted::Argmax | Fitted::Prices(_) => self.label_at_prices(scores),
        }
    }

    fn label_at_prices(&mut self, scores: &Scores<'_>) -> Result<Labels> {
        let decision = self.decision;
        let row_prices = decision.row_prices(scores)?;
        let mut labels = vec![0; scores.rows()];
        let tied = match row_prices {
            RowPrices::Same => {
                let prices = &decision.levels[0][0];
                scores.visit(LabelAll { scores, prices, simd: self.simd, labels: &mut labels })?
            }
            RowPrices::ByGroup { .. } => label_grouped(decision, scores, &row_prices, &mut labels)?,
        };
        // Tied rows already have the first of their classes, which is final for argmax.
        if decision.fitted != Fitted::Argmax {
            let mut classes = Vec::new();
            for row in tied {
                let index = row_prices.of(row);
                let levels = &decision.levels[index];
                let repeats = self.repeats.entry(index).or_insert_with(|| Repeats::new(scores.keys().are_unique()));
                let key = repeats.tell_apart(scores.keys().of(row));
                scores.read_rows(row..row + 1, |_, scores| {
                    tight(&levels[0], score_of(scores), &mut classes);
                    Ok(())
                })?;
                labels[row] = decision.break_tie(levels, key, &mut classes);
            }
        }
        let last = decision.classes.len();
        labels.iter_mut().filter(|label| usize::from(**label) == last).for_each(|label| *label = UNCODED);
        Ok(Labels::trusted(labels, decision.classes.len()))
    }
}

/// Returns the score of a class; zero for the extra class of unlabeled rows.
fn score_of(row: &[i64]) -> impl Fn(usize) -> i64 {
    |class| row.get(class).copied().unwrap_or(0)
}

/// Labels each row at the prices of its group; returns the tied rows, in order.
fn label_grouped(
    decision: &Decision,
    scores: &Scores<'_>,
    row_prices: &RowPrices<'_>,
    labels: &mut [Label],
) -> Result<Vec<usize>> {
    let parts = in_stretches(labels, |start, labels| {
        let (mut classes, mut tied) = (Vec::new(), Vec::new());
        scores.read_rows(start..start + labels.len(), |index, row| {
            tight(&decision.levels[row_prices.of(index)][0], score_of(row), &mut classes);
            labels[index - start] = classes[0] as Label;
            if classes.len() > 1 {
                tied.push(index);
            }
            Ok(())
        })?;
        Ok(tied)
    })?;
    Ok(parts.concat())
}

/// Labels all rows at the same prices; returns the tied ones, in order.
struct LabelAll<'a> {
    scores: &'a Scores<'a>,
    prices: &'a Prices,
    simd: SimdLevel,
    labels: &'a mut [Label],
}

impl Visitor for LabelAll<'_> {
    type Output = Result<Vec<usize>>;

    fn visit<T: Real>(self, rows: &dyn Source<T>) -> Result<Vec<usize>> {
        let guard = |rows: Range<usize>| self.scores.check_rows(rows);
        let settled = if self.prices.len() > rows.classes() {
            settle(self.simd, &WithZero(rows), self.prices, Some(&guard), self.labels)
        } else {
            settle(self.simd, rows, self.prices, Some(&guard), self.labels)
        };
        Ok(settled?.tied)
    }
}

/// Runs over ranges of the labels in parallel and returns the results, or the first error, in row order.
fn in_stretches<T: Send>(
    labels: &mut [Label],
    work: impl Fn(usize, &mut [Label]) -> Result<T> + Sync,
) -> Result<Vec<T>> {
    let parts: Vec<Result<T>> =
        labels.par_chunks_mut(STRETCH).enumerate().map(|(stretch, labels)| work(stretch * STRETCH, labels)).collect();
    parts.into_iter().collect()
}
