//! The fuzz targets, by name: each is a function of some bytes that panics if its oracle finds a violation.

mod arrow;
mod columns;
mod decision;
mod files;
mod geometry;
mod names;
mod parquet;
mod reference;
mod solver;
mod sql;
mod text;
mod workbook;

use crate::Outcome;
use crate::draw::Draw;
use crate::{mutate, parquet_file};

pub(crate) use geometry::bundle;

/// A fuzz target.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// The name, also of the folders of its corpus and crashes.
    pub name: &'static str,
    /// Tries an input.
    ///
    /// # Panics
    /// If the oracle finds a violation.
    pub run: fn(&[u8]) -> Outcome,
    /// Damages an input.
    pub mutate: fn(&[u8], &mut Draw<'_>) -> Vec<u8>,
}

/// All targets.
pub const TARGETS: [Target; 11] = [
    Target { name: "text", run: text::run, mutate: mutate_text },
    Target { name: "parquet", run: parquet::run, mutate: parquet_file::mutate },
    Target { name: "arrow", run: arrow::run, mutate: arrow::mutate },
    Target { name: "workbook", run: workbook::run, mutate: workbook::mutate },
    Target { name: "decision", run: decision::run, mutate: mutate::text },
    Target { name: "reference", run: reference::run, mutate: mutate_text },
    Target { name: "geometry", run: geometry::run, mutate: geometry::mutate },
    Target { name: "names", run: names::run, mutate: mutate::text },
    Target { name: "columns", run: columns::run, mutate: mutate::text },
    Target { name: "sql", run: sql::run, mutate: mutate::bytes },
    Target { name: "solver", run: solver::run, mutate: mutate::bytes },
];

/// Returns the target with this name.
pub fn target(name: &str) -> Option<&'static Target> {
    TARGETS.iter().find(|target| target.name == name)
}

fn mutate_text(input: &[u8], draw: &mut Draw<'_>) -> Vec<u8> {
    let is_packed = input.starts_with(&mutate::GZIP) || input.starts_with(&mutate::ZSTANDARD);
    if is_packed { mutate::packed(input, draw) } else { mutate::text(input, draw) }
}
