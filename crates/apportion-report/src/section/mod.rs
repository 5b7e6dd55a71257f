//! The sections of a report, one file each: the first sentence, the charts and the tables.

mod answer;
mod audit;
mod brackets;
mod calibration;
mod changes;
mod groups;
mod histograms;
mod map;
mod outcomes;
mod provenance;
mod rules;
mod tables;
pub(crate) mod trade;

use std::ops::Range;

use crate::document::{Chart, Document, Section};
use crate::geometry::Shapes;
use crate::glossary;
use crate::study::Study;
use crate::text;

/// A warning about uses for which labels are not suitable.
pub(crate) const ADVICE: &str =
    "Labels of this kind are estimates about groups. Do not use them for decisions about a person.";

/// Builds the whole report.
pub(crate) fn document(study: &Study) -> Document {
    let study = &study.clone().in_order();
    let mut sections: Vec<Section> = vec![answer::section(study), groups::section(study)];
    sections.extend(map::section(study));
    sections.push(trade::section(study));
    sections.extend(changes::section(study));
    sections.extend(histograms::section(study));
    sections.push(calibration::section(study));
    sections.extend(outcomes::section(study));
    sections.extend([rules::section(study), tables::section(study), provenance::section(study)]);
    let subject = study.subject();
    let mut subtitle = format!(
        "Labels: {}. {}, {}",
        subject.name,
        text::counted(study.whole.people, "person"),
        text::counted(study.k() as u64, "class")
    );
    if let Some(groups) = &study.groups {
        subtitle += &format!(", {}", text::counted(groups.names.len() as u64, &groups.word));
    }
    subtitle += &study.date.as_ref().map_or_else(String::new, |date| format!(". {date}"));
    Document {
        title: study.title.clone().unwrap_or_else(|| "Do the labels count people correctly?".into()),
        subtitle,
        terms: glossary::terms(study),
        minor_rules: study.minor().into_iter().map(|index| study.label_sets[index].name.clone()).collect(),
        outlines: study.shapes.as_ref().map(Shapes::outlines),
        sections,
    }
}

/// Returns a section of one line, for sections without content.
fn nothing(id: &'static str, title: &'static str, why: impl Into<String>) -> Section {
    Section { id, title, lead: why.into(), blocks: Vec::new() }
}

/// The maximum number of panels of a chart on a printed page.
const MOST_PANELS: usize = 9;

/// Returns one chart with a panel for each class or, if there are many classes, several.
fn in_parts(classes: usize, chart: impl Fn(Range<usize>) -> Chart) -> Vec<Chart> {
    let parts = classes.div_ceil(MOST_PANELS);
    let one = |part: usize| {
        let mut chart = chart(part * MOST_PANELS..classes.min((part + 1) * MOST_PANELS));
        if parts > 1 {
            chart.title += &format!(" ({} of {parts})", part + 1);
        }
        if part > 0 {
            chart.id += &format!("-{}", part + 1);
        }
        chart
    };
    (0..parts).map(one).collect()
}
