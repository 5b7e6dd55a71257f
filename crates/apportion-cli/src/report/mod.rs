//! `--report` and `--figures`: what was computed, to look at.

mod figures;
mod provenance;
mod sample;
mod study_builder;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use apportion::{Classes, Scores};
use apportion_io::{Error, Input, refuse_overwrite, write_atomically};
use apportion_report::{Document, Geometry, GeometryError, Groups, Shapes, Study};
use clap::Args;

pub(crate) use provenance::of_report;
pub(crate) use study_builder::{Role, StudyBuilder};

use crate::options::{Grouping, TableArgs};
use crate::usage::usage;
use crate::values;
use apportion_app::protect::{SideInput, refuse_overwriting};
use apportion_app::provenance::ExtraFile;

/// What there is to look at, and where it goes.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct ReportArgs {
    /// Writes a page to look at, with charts, maps and tables (.html); or the same as Markdown (.md).
    #[arg(long, value_name = "FILE.html|FILE.md", value_parser = values::report)]
    report: Option<PathBuf>,
    /// Writes every chart of the report into a folder: its numbers (.csv), and its specification for Plotly (.json).
    #[arg(long, value_name = "DIR")]
    figures: Option<PathBuf>,
    /// Outlines of the --by groups, for a map in the report: GeoJSON, TopoJSON or a Shapefile (.shp).
    #[arg(long, value_name = "FILE")]
    geometry: Option<PathBuf>,
    /// The property of the outlines that has the names of the groups; the one that fits best where none is named.
    #[arg(long, value_name = "NAME[,NAME]", value_delimiter = ',', requires = "geometry")]
    geometry_key: Vec<String>,
    /// Two classes in corners of the report's triangle, all others together in the third; the two largest where none are named.
    #[arg(long, value_name = "CLASS,CLASS", value_delimiter = ',', num_args = 1)]
    simplex: Vec<String>,
    /// The class that is set against all others together; the largest where none is named.
    #[arg(long, value_name = "CLASS")]
    pub(crate) focus: Option<String>,
    /// Whether another program wants to look at what is computed.
    #[arg(skip)]
    pub(crate) for_host: bool,
}

/// A report that can be written, once there is something in it.
pub(crate) struct Report<'a> {
    args: &'a ReportArgs,
    geometry: Option<Geometry>,
    /// The outlines of the table's groups, once these are known.
    shapes: Option<Shapes>,
}

impl ReportArgs {
    /// Refuses, before anything is read, what could not be written or drawn. Nothing where no report is wanted.
    pub(crate) fn prepare(
        &self,
        input: &Input,
        side: &[SideInput],
        groups: Grouping<'_>,
        force: bool,
    ) -> Result<Option<Report<'_>>> {
        if self.report.is_none() && self.figures.is_none() && !self.for_host {
            return match &self.geometry {
                Some(_) => Err(usage("--geometry: it is for a map in a report; name one with --report FILE.html")),
                None if !self.simplex.is_empty() => Err(usage("--simplex: it is for --report FILE.html")),
                None => Ok(None),
            };
        }
        if self.geometry.is_some() && groups.columns.is_empty() {
            return Err(usage("--geometry: outlines are those of groups; name their column with --by"));
        }
        if !matches!(self.simplex.len(), 0 | 2) {
            return Err(usage("--simplex: it must be two classes; all others together are in the third corner"));
        }
        let geometry = self.geometry.iter().map(|path| SideInput::new(apportion::text::Setting::Geometry, path));
        let side: Vec<SideInput> = side.iter().cloned().chain(geometry).collect();
        if let Some(path) = &self.report {
            refuse_overwriting(path, Some(input), &side)?;
            refuse_overwrite(path, Some(input), force)?;
            refuse_no_folder(path)?;
        }
        if let Some(folder) = &self.figures {
            let inputs = input.names().chain(side.iter().map(|own| own.path.as_path()));
            figures::check(folder, inputs, self.report.as_deref(), force)?;
        }
        let geometry = self.geometry.as_deref().map(outlines).transpose()?;
        Ok(Some(Report { args: self, geometry, shapes: None }))
    }

    /// Refuses an outcome where there is no report for it.
    pub(crate) fn check_outcome(&self, outcome: Option<&String>) -> Result<()> {
        match outcome {
            Some(_) if self.report.is_none() && self.figures.is_none() && !self.for_host => {
                Err(usage("--outcome: it is for --report FILE.html; `apportion disparity` prints the same"))
            }
            _ => Ok(()),
        }
    }

    /// The class that is set against the others, where one is named.
    pub(crate) fn focus_class(&self, classes: &Classes) -> Result<Option<usize>> {
        self.focus.as_ref().map(|class| classes.position(class)).transpose().context("--focus")
    }

    /// The classes in the corners of the triangle, where they are named.
    fn corners(&self, classes: &Classes) -> Result<Option<[usize; 2]>> {
        let [a, b] = &self.simplex[..] else { return Ok(None) };
        let corners = [a, b].map(|class| classes.position(class.trim()).context("--simplex"));
        let [a, b] = corners;
        match (a?, b?) {
            (a, b) if a == b => Err(usage("--simplex: it must be two different classes")),
            corners => Ok(Some([corners.0, corners.1])),
        }
    }
}

impl Report<'_> {
    /// The files that the report is made of beside the tables.
    pub(crate) fn beside(&self) -> Vec<ExtraFile> {
        let (Some(path), Some(geometry)) = (&self.args.geometry, &self.geometry) else { return Vec::new() };
        let file = |path: PathBuf| ExtraFile { path, what: "outlines", rows: Some(geometry.outlines() as u64) };
        // The names of a Shapefile's outlines are in a file of their own.
        let names = ["dbf", "DBF"].map(|ending| path.with_extension(ending)).into_iter().find(|own| own.is_file());
        let is_shapefile = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("shp"));
        std::iter::once(path.clone()).chain(names.filter(|_| is_shapefile)).map(file).collect()
    }

    /// Finds the outlines of the table's groups, before any work is done that would be lost if there were none.
    pub(crate) fn outline(&mut self, scores: &Scores<'_>) -> Result<()> {
        if let (Some(geometry), Some(groups)) = (&self.geometry, scores.groups()) {
            let key = Some(&self.args.geometry_key[..]).filter(|key| !key.is_empty());
            self.shapes = Some(geometry.matched(groups.names, key).context("--geometry")?);
        }
        Ok(())
    }

    /// Writes what was asked for, and says so.
    pub(crate) fn write(self, mut study: Study, options: &TableArgs) -> Result<()> {
        study.shapes.clone_from(&self.shapes);
        if let Some(why) = study.groups.as_ref().and_then(Groups::why_untold) {
            let way = "group by a column such as the county, and name what identifies a row with --id";
            options.say(&format!("warning: the report shows no groups: {why}; {way}"));
        }
        let document = study.document();
        if let Some(path) = &self.args.report {
            write_atomically(path, text_for(path, &document).as_bytes())?;
            options.say(&format!("report written to {}", path.display()));
        }
        if let Some(folder) = &self.args.figures {
            figures::write(folder, &document.figures())?;
            options.say(&format!("figures written to {}", folder.display()));
        }
        if let Some(host) = &options.host {
            host.results().document = Some(document);
        }
        Ok(())
    }
}

/// The outlines of a file, or what is wrong with it.
fn outlines(path: &Path) -> Result<Geometry> {
    let failed = |error: GeometryError| match error {
        GeometryError::Io(error) => Error::io(path, &error),
        GeometryError::Format(problem) => Error::file(path, problem),
    };
    Geometry::read(path).map_err(failed).context("--geometry")
}

fn text_for(path: &Path, document: &Document) -> String {
    let is_markdown = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("md"));
    if is_markdown { document.to_markdown() } else { document.to_html() }
}

/// Refuses a path whose folder there is not.
pub(crate) fn refuse_no_folder(path: &Path) -> Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if folder.is_dir() { Ok(()) } else { Err(Error::file(folder, "there is no such folder; make it first").into()) }
}

/// A folder may be there already, if it is empty, or if what is in it may be replaced.
pub(crate) fn refuse_filled(folder: &Path, force: bool) -> Result<()> {
    if folder.exists() && !folder.is_dir() {
        return Err(Error::file(folder, "it is no folder; name one that there is not yet").into());
    }
    let is_empty = std::fs::read_dir(folder).map_or(true, |mut files| files.next().is_none());
    if is_empty || force {
        return Ok(());
    }
    Err(Error::file(folder, "it has files already; choose another folder, or allow it with --force").into())
}
