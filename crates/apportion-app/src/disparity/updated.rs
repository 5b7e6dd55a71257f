//! Writes the input with scores updated by the outcome (BIRDiE): P(class | name, place, outcome).

use std::path::{Path, PathBuf};

use apportion::estimate::{Birdie, Outcomes};
use apportion::text::{Message, Setting};
use apportion::{Scaling, Scores};
use apportion_io::{Input, Output, PlainColumn, PlainValues, Table, refuse_nested_columns, write_replacing_columns};

use super::Request;
use super::builder::birdie_scores;
use crate::protect::{refuse_overwriting_outputs, refuse_unsafe_formats};
use crate::provenance::{InputHashes, Provenance, Recorded, holds_metadata};
use crate::{Context, Error, Result};

/// A file for updated scores that may be written.
pub(super) struct UpdatedScores {
    /// The file; `None` for a table in memory.
    output: Option<Output>,
    hashes: Option<InputHashes>,
}

impl UpdatedScores {
    /// Checks the file before any rows are read. Returns `None` if no updated scores are requested.
    pub(super) fn prepare(request: &Request, input: &Input) -> Result<Option<UpdatedScores>> {
        let Some(path) = &request.write_scores else { return Ok(None) };
        if request.table.source.is_in_memory() {
            return Ok(Some(UpdatedScores { output: None, hashes: None }));
        }
        if request.output.as_deref() == Some(Path::new(path)) {
            let both = Message::from(Setting::WriteScores) + " and " + Setting::Output;
            return Err(Error::settings(both + " name the same file; choose different files"));
        }
        if path == "-" || path.is_empty() {
            let problem = ": name a file or a directory; standard output is for the estimates";
            return Err(Error::settings(Message::from(Setting::WriteScores) + problem));
        }
        refuse_unsafe_formats(false, path)?;
        refuse_overwriting_outputs(path, input, &request.report.side_inputs())?;
        let output = Output { path: path.clone(), force: request.force, ..Output::default() };
        output.check(Some(input))?;
        refuse_nested_columns(input, &output)?;
        let is_folder = path.ends_with('/') || Path::new(path).is_dir();
        let holds =
            holds_metadata(path) || is_folder && input.names().any(|name| holds_metadata(&name.to_string_lossy()));
        let hashes = holds.then(|| InputHashes::start(input, "scores", Vec::new()));
        Ok(Some(UpdatedScores { output: Some(output), hashes }))
    }

    /// Writes all input rows in order, or returns the new score columns of a table in memory.
    pub(super) fn write(
        self,
        request: &Request,
        input: &Input,
        table: &Table,
        birdie: &Birdie,
        context: &Context,
    ) -> Result<(Vec<PathBuf>, Vec<PlainColumn>)> {
        let Some(outcomes) = table.outcomes()? else { return Ok((Vec::new(), Vec::new())) };
        let scores = birdie_scores(table, &table.scores()?)?;
        let mut columns = Columns { table, scores, outcomes, birdie, done: 0 };
        let rows = table.row_mask().total();
        let Some(mut output) = self.output else { return Ok((Vec::new(), columns.next(0, rows)?)) };
        if let Some(hashes) = self.hashes {
            let mut recorded = Recorded { method: Some("birdie".into()), ..Recorded::default() };
            request.table.record_table(table, &mut recorded);
            let files = hashes.finish(Some(&table.file_rows()))?;
            let mut provenance = Provenance::new("disparity", context, recorded, files);
            provenance.rows = Some(rows as u64);
            output.metadata = provenance.metadata()?;
        }
        let layout = columns.next(0, 0)?;
        let paths =
            write_replacing_columns(input, &output, &layout, Some(rows), &mut |first, rows| columns.next(first, rows))?;
        Ok((paths, Vec::new()))
    }
}

/// Updates the scores of an input in order.
struct Columns<'a> {
    table: &'a Table,
    scores: Scores<'a>,
    outcomes: Outcomes<'a>,
    birdie: &'a Birdie,
    /// The number of table rows that are done.
    done: usize,
}

impl Columns<'_> {
    /// Returns the new score columns of the next input rows, which start at row `first`. Excluded rows have no scores.
    fn next(&mut self, first: usize, rows: usize) -> apportion_io::Result<Vec<PlainColumn>> {
        let (mask, k) = (self.table.row_mask(), self.scores.classes().len());
        let kept: Vec<bool> = (first..first + rows).map(|row| mask.contains(row)).collect();
        let own = self.done..self.done + kept.iter().filter(|kept| **kept).count();
        self.done = own.end;
        let mut updated = Vec::with_capacity(own.len() * k);
        let each = |_: usize, own: &[f64]| {
            updated.extend_from_slice(own);
            Ok(())
        };
        let done = self.birdie.updated_rows(&self.scores, &self.outcomes, own, each);
        done.map_err(|error| self.table.locate(error))?;
        let unit = if self.table.scaling() == Scaling::Percent { 100.0 } else { 1.0 };
        let is_complete = mask.total() == mask.count();
        let column = |(class, name): (usize, &String)| {
            let mut column = updated.iter().skip(class).step_by(k).map(|value| value * unit);
            let values = match is_complete {
                true => PlainValues::Double(column.collect()),
                false => PlainValues::OptionalDouble(
                    kept.iter().map(|&kept| if kept { column.next() } else { None }).collect(),
                ),
            };
            PlainColumn::new(name, values)
        };
        Ok(self.table.score_columns().iter().enumerate().map(column).collect())
    }
}
