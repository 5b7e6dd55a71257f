//! Reports: their data, their settings, and writing them with their figures.

mod changes;
mod date;
mod figures;
mod provenance;
mod study_builder;

use std::path::{Path, PathBuf};

use apportion::text::{Message, Setting};
use apportion::{Classes, Frontier, Match, Reference, Scores, Settings};
use apportion_io::{Input, refuse_overwrite, write_atomically};
use apportion_report::{Document, Geometry, GeometryError, Groups, Shapes, Study};
use serde::{Deserialize, Serialize};

pub use provenance::report_provenance;
pub use study_builder::{Role, StudyBuilder};

use crate::protect::{SideInput, refuse_overwriting};
use crate::provenance::{ExtraFile, refuse_missing_folder};
use crate::table::Grouping;
use crate::{Context, Error, Result};

/// The settings of a report, and its file.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ReportSettings {
    /// The output file: a page (.html) or Markdown (.md).
    pub report: Option<PathBuf>,
    /// A folder for the data and specification of every chart.
    pub figures: Option<PathBuf>,
    /// Outlines of the groups, for a map.
    pub geometry: Option<PathBuf>,
    /// The property of the outlines that contains the names of the groups.
    pub geometry_key: Vec<String>,
    /// The class to compare with all others combined.
    pub focus: Option<String>,
    /// The title.
    pub title: Option<String>,
    /// Whether the report is returned even if no output file is set.
    #[serde(skip)]
    pub in_memory: bool,
}

/// A report that can be written, once its study is complete.
#[derive(Debug)]
pub struct Report<'a> {
    settings: &'a ReportSettings,
    geometry: Option<Geometry>,
    /// The outlines of the groups, once the groups are known.
    shapes: Option<Shapes>,
}

impl ReportSettings {
    /// Returns whether a report is made.
    pub fn is_wanted(&self) -> bool {
        self.report.is_some() || self.figures.is_some() || self.in_memory
    }

    /// Refuses a report that cannot be written or drawn, before any rows are read. Returns `None` if no report is
    /// requested.
    ///
    /// # Errors
    /// If the report is refused.
    pub fn prepare(
        &self,
        input: &Input,
        side: &[SideInput],
        groups: Grouping<'_>,
        force: bool,
    ) -> Result<Option<Report<'_>>> {
        if !self.is_wanted() {
            return self.refuse_without_report().map(|()| None);
        }
        if self.geometry.is_some() && groups.columns.is_empty() {
            let problem = ": outlines are those of groups; name their column with ";
            return Err(Error::settings(Message::from(Setting::Geometry) + problem + Setting::By));
        }
        if self.geometry.is_none() && !self.geometry_key.is_empty() {
            let needs = Message::from(Setting::GeometryKey) + " needs " + Setting::Geometry.with("FILE");
            return Err(Error::Settings(needs));
        }
        let side: Vec<SideInput> = side.iter().cloned().chain(self.side_inputs()).collect();
        if let Some(path) = &self.report {
            refuse_overwriting(path, Some(input), &side)?;
            refuse_overwrite(path, Some(input), force)?;
            refuse_missing_folder(path)?;
        }
        if let Some(folder) = &self.figures {
            let inputs = input.names().chain(side.iter().map(|own| own.path.as_path()));
            figures::check(folder, inputs, self.report.as_deref(), force)?;
        }
        let geometry = self.geometry.as_deref().map(outlines).transpose()?;
        Ok(Some(Report { settings: self, geometry, shapes: None }))
    }

    /// Returns the files that the report reads.
    pub(crate) fn side_inputs(&self) -> Vec<SideInput> {
        self.geometry.iter().map(|path| SideInput::new(Setting::Geometry, path)).collect()
    }

    /// Refuses settings of a report if no report is requested.
    fn refuse_without_report(&self) -> Result<()> {
        let example = Setting::Report.with("FILE.html");
        if self.geometry.is_some() {
            let problem = ": it is for a map in a report; name one with ";
            return Err(Error::settings(Message::from(Setting::Geometry) + problem + example));
        }
        let given = [(self.title.is_some(), Setting::Title), (self.focus.is_some(), Setting::Focus)];
        match given.into_iter().find(|(given, _)| *given) {
            Some((_, setting)) => Err(Error::settings(Message::from(setting) + ": it is for " + example)),
            None => Ok(()),
        }
    }

    /// Refuses an outcome if no report is requested.
    ///
    /// # Errors
    /// If an outcome is given without a report.
    pub fn check_outcome(&self, outcome: Option<&String>) -> Result<()> {
        if outcome.is_none() || self.is_wanted() {
            return Ok(());
        }
        let problem = Message::from(Setting::Outcome) + ": it is for " + Setting::Report.with("FILE.html");
        Err(Error::Settings(problem + "; `apportion disparity` prints the same"))
    }

    /// Returns the class to compare with the others, if one is given.
    ///
    /// # Errors
    /// If the class is unknown.
    pub fn focus_class(&self, classes: &Classes) -> Result<Option<usize>> {
        let position = |class: &String| classes.position(class).map_err(|error| Error::Setting(Setting::Focus, error));
        self.focus.as_ref().map(position).transpose()
    }
}

/// A finished report.
#[derive(Clone, Debug)]
pub struct WrittenReport {
    /// The report.
    pub document: Document,
    /// The file it was written to.
    pub report: Option<PathBuf>,
    /// The folder its figures were written to.
    pub figures: Option<PathBuf>,
}

/// Returns the frontier with respect to the posterior, with which labels are compared; `None` without people.
///
/// # Errors
/// If it cannot be computed.
pub fn frontier(scores: &Scores<'_>, settings: &Settings) -> apportion::Result<Option<Frontier>> {
    if scores.people() == 0 {
        return Ok(None);
    }
    Frontier::of(&Match::overall(Reference::Posterior), scores, settings).map(Some)
}

impl Report<'_> {
    /// Returns the files that the report uses in addition to the tables.
    pub fn extra_files(&self) -> Vec<ExtraFile> {
        let (Some(path), Some(geometry)) = (&self.settings.geometry, &self.geometry) else { return Vec::new() };
        let file = |path: PathBuf| ExtraFile { path, what: "outlines", rows: Some(geometry.outlines() as u64) };
        // The names of a Shapefile's outlines are in a separate file.
        let names = ["dbf", "DBF"].map(|ending| path.with_extension(ending)).into_iter().find(|own| own.is_file());
        let is_shapefile = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("shp"));
        std::iter::once(path.clone()).chain(names.filter(|_| is_shapefile)).map(file).collect()
    }

    /// Finds the outlines of the groups early, so that an error does not discard finished work.
    ///
    /// # Errors
    /// If no outline has the name of a group.
    pub fn outline(&mut self, scores: &Scores<'_>) -> Result<()> {
        if let (Some(geometry), Some(groups)) = (&self.geometry, scores.groups()) {
            let key = Some(&self.settings.geometry_key[..]).filter(|key| !key.is_empty());
            self.shapes = Some(geometry.matched(groups.names, key).map_err(|error| in_geometry(error.message()))?);
        }
        Ok(())
    }

    /// Writes the report and its figures.
    ///
    /// # Errors
    /// If a file cannot be written.
    pub fn write(self, mut study: Study, context: &Context) -> Result<WrittenReport> {
        study.shapes.clone_from(&self.shapes);
        study.title.clone_from(&self.settings.title);
        study.date = date::today();
        if let Some(why) = study.groups.as_ref().and_then(Groups::why_hidden) {
            let problem =
                format!("the report shows no groups: {why}; group by a column such as the county, and name what ");
            context.warn(Message::from(problem) + "identifies a row with " + Setting::Id);
        }
        let document = study.document();
        if let Some(path) = &self.settings.report {
            write_atomically(path, text_for(path, &document).as_bytes())?;
        }
        if let Some(folder) = &self.settings.figures {
            figures::write(folder, &document.figures())?;
        }
        let (report, figures) = (self.settings.report.clone(), self.settings.figures.clone());
        Ok(WrittenReport { document, report, figures })
    }
}

/// Writes the figures of a report to a folder.
///
/// # Errors
/// If the folder contains files and `force` is not set, or contains other files, or cannot be written.
pub fn write_figures(folder: &Path, files: &[(String, Vec<u8>)], force: bool) -> Result<()> {
    figures::check(folder, std::iter::empty(), None, force)?;
    figures::write(folder, files)
}

/// Returns an error in the outlines.
fn in_geometry(problem: Message) -> Error {
    Error::Data(Message::from(Setting::Geometry) + ": " + problem)
}

/// Reads the outlines in a file.
fn outlines(path: &Path) -> Result<Geometry> {
    Geometry::read(path).map_err(|error| {
        let error = match error {
            GeometryError::Io(error) => apportion_io::Error::io(path, &error),
            GeometryError::Format(problem) => apportion_io::Error::file(path, problem),
        };
        in_geometry(error.message())
    })
}

fn text_for(path: &Path, document: &Document) -> String {
    let is_markdown = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("md"));
    if is_markdown { document.to_markdown() } else { document.to_html() }
}
