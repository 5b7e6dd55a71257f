//! An outcome comparison as a table: a row for each estimator, value and class.

use apportion::audit::Interval;

use super::{ClassContract, DisparityContract, EstimatorContract};
use crate::results::{CsvTable, cell, number};

const HEADER: [&str; 19] = [
    "estimator",
    "method",
    "value",
    "class",
    "estimate",
    "error",
    "low",
    "high",
    "effective_n",
    "against",
    "gap",
    "gap_error",
    "gap_low",
    "gap_high",
    "hidden",
    "baseline",
    "ratio",
    "ratio_low",
    "ratio_high",
];

impl DisparityContract {
    /// Returns the estimates and the differences from the class with which others are compared.
    pub(super) fn table(&self) -> CsvTable {
        let mut table = CsvTable::new(HEADER);
        for estimator in &self.estimators {
            for own in &estimator.values {
                let value = own.value.as_deref().unwrap_or_default();
                own.classes.iter().for_each(|class| table.push(row(estimator, value, class, &self.against)));
            }
        }
        table
    }
}

fn row(estimator: &EstimatorContract, value: &str, class: &ClassContract, against: &str) -> [String; 19] {
    let ends = |interval: Option<Interval>| [number(interval.map(|own| own.low)), number(interval.map(|own| own.high))];
    let [low, high] = ends(class.interval);
    let gap = class.gap.as_ref();
    let [gap_low, gap_high] = ends(gap.and_then(|gap| gap.interval));
    let [ratio_low, ratio_high] = ends(class.ratio.as_ref().and_then(|own| own.interval));
    [
        cell(&estimator.name),
        estimator.method.to_owned(),
        cell(value),
        cell(&class.class),
        number(class.estimate),
        number(class.error),
        low,
        high,
        number(class.effective_n),
        cell(against),
        number(gap.and_then(|gap| gap.difference)),
        number(gap.and_then(|gap| gap.error)),
        gap_low,
        gap_high,
        class.hidden.to_string(),
        cell(class.ratio.as_ref().map_or("", |own| &own.baseline)),
        number(class.ratio.as_ref().map(|own| own.ratio)),
        ratio_low,
        ratio_high,
    ]
}
