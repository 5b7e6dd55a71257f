//! An audit as a table: a row for each group and class, with all rows first.

use apportion::audit::{Bias, ClassAudit, Section};

use super::Response;
use crate::results::{CsvTable, cell, number};

const COLUMNS: usize = 26;

const HEADER: [&str; COLUMNS] = [
    "level",
    "group",
    "class",
    "labels",
    "expected_precision",
    "expected_recall",
    "share",
    "scores_sum",
    "count_sd",
    "share_by_scores",
    "bias",
    "bias_percent",
    "truth",
    "error_vs_truth",
    "error_vs_truth_percent",
    "bias_to_truth",
    "miscalibration_percent",
    "discretization_percent",
    "calibration_error",
    "kuiper",
    "correlation",
    "precision",
    "recall",
    "reference_share",
    "error_vs_reference",
    "error_vs_reference_percent",
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

fn row(level: &str, group: &str, class: &ClassAudit) -> [String; COLUMNS] {
    let difference = |bias: Option<Bias>| number(bias.map(|bias| bias.difference));
    let percent = |bias: Option<Bias>| number(bias.and_then(|bias| bias.percent));
    let (split, calibration) = (class.split.as_ref(), class.calibration.as_ref());
    [
        level.to_owned(),
        cell(group),
        cell(&class.class),
        class.labels.to_string(),
        number(class.expected_precision()),
        number(class.expected_recall()),
        number(class.share),
        class.posterior_sum.to_string(),
        class.count_sd.to_string(),
        number(class.posterior_share),
        difference(class.against_posterior),
        percent(class.against_posterior),
        number(class.truth_count),
        number(class.against_truth.map(|bias| bias.people)),
        percent(class.against_truth),
        difference(class.against_truth),
        number(split.and_then(|split| split.miscalibration.percent)),
        number(split.and_then(|split| split.discretization.percent)),
        number(calibration.map(|own| own.equal_width.expected_error)),
        number(calibration.map(|own| own.kuiper)),
        number(calibration.and_then(|own| own.correlation)),
        number(class.rates.and_then(|rates| rates.precision)),
        number(class.rates.and_then(|rates| rates.recall)),
        number(class.given_share),
        number(class.against_given.map(|bias| bias.people)),
        percent(class.against_given),
    ]
}
