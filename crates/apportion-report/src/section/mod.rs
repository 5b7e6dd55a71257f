//! The sections of a report, one file each: the sentence that leads it, its charts and its tables.

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

/// What such labels are not for.
pub(crate) const ADVICE: &str =
    "Labels of this kind are estimates about groups. They are not fit for decisions about a person.";

/// The whole report.
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

/// A section of one line, where there is nothing to show.
fn nothing(id: &'static str, title: &'static str, why: impl Into<String>) -> Section {
    Section { id, title, lead: why.into(), blocks: Vec::new() }
}
