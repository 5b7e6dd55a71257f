//! An audit as a table: a row for each group and class, with all rows first.

use apportion::audit::{Bias, ClassAudit, Section};

use super::Response;
use crate::results::{CsvTable, cell, number};

const HEADER: [&str; 18] = [
    "level",
    "group",
    "class",
    "labels",
    "share",
    "scores_sum",
    "share_by_scores",
    "bias",
    "bias_percent",
    "truth_count",
    "bias_to_truth",
    "bias_to_truth_percent",
    "miscalibration",
    "discretization",
    "calibration_error",
    "kuiper",
    "precision",
    "recall",
];

impl Response {
    /// Returns the figures of all rows, whose level is `all`, and of each group.
    pub(super) fn table(&self) -> CsvTable {
        let mut table = CsvTable::new(HEADER);
        add(&mut table, "all", "", &self.audit.overall);
        for group in &self.audit.groups {
            add(&mut table, "group", &group.name, &group.section);
        }
        table
    }
}

fn add(table: &mut CsvTable, level: &str, group: &str, section: &Section) {
    for class in &section.classes {
        table.push(row(level, group, class));
    }
}

fn row(level: &str, group: &str, class: &ClassAudit) -> [String; 18] {
    let difference = |bias: Option<Bias>| number(bias.map(|bias| bias.difference));
    let percent = |bias: Option<Bias>| number(bias.and_then(|bias| bias.percent));
    let (split, calibration) = (class.split.as_ref(), class.calibration.as_ref());
    [
        level.to_owned(),
        cell(group),
        cell(&class.class),
        class.labels.to_string(),
        number(class.share),
        class.posterior_sum.to_string(),
        number(class.posterior_share),
        difference(class.against_posterior),
        percent(class.against_posterior),
        number(class.truth_count),
        difference(class.against_truth),
        percent(class.against_truth),
        number(split.and_then(|split| split.miscalibration.percent)),
        number(split.and_then(|split| split.discretization.percent)),
        number(calibration.map(|own| own.equal_width.expected_error)),
        number(calibration.map(|own| own.kuiper)),
        number(class.rates.and_then(|rates| rates.precision)),
        number(class.rates.and_then(|rates| rates.recall)),
    ]
}
