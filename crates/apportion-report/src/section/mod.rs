//! The sections of a report, one file each: the first sentence, the charts and the tables.

mod audit;
mod calibration;
mod counts;
mod groups;
mod headline;
mod map;
mod outcomes;
mod provenance;
mod simplex;
mod tables;
pub(crate) mod trade;

use crate::document::{Document, Section};
use crate::geometry::Shapes;
use crate::study::Study;
use crate::text;

/// A warning about uses for which labels are not suitable.
pub(crate) const ADVICE: &str =
    "Labels of this kind are estimates about groups. They are not fit for decisions about a person.";

/// Builds the whole report.
pub(crate) fn document(study: &Study) -> Document {
    let mut sections: Vec<Section> = vec![
        headline::section(study),
        counts::section(study),
        groups::section(study),
        trade::section(study),
        map::section(study),
        simplex::section(study),
        calibration::section(study),
    ];
    sections.extend(outcomes::section(study));
    sections.extend([tables::section(study), provenance::section(study)]);
    Document {
        title: "What the labels do to the counts".into(),
        subtitle: format!(
            "{}, {} classes, {} of labeling them",
            text::counted(study.whole.people, "person"),
            study.k(),
            text::counted(study.label_sets.len() as u64, "way")
        ),
        shapes: study.shapes.as_ref().map(Shapes::geojson),
        sections,
    }
}

/// Returns a section of one line, for sections without content.
fn nothing(id: &'static str, title: &'static str, why: impl Into<String>) -> Section {
    Section { id, title, lead: why.into(), blocks: Vec::new() }
}
