//! The job `describe`: shows what apportion recognizes in a file, and suggests the next commands.

mod columns;
mod next;

use apportion::text::{Message, Setting};
use apportion_io::{ColumnBatches, Input, find_scores};
use serde::{Deserialize, Serialize};

pub use self::columns::{Column, Content};
use crate::demo::Step;
use crate::input::Source;
use crate::text::{self, counted};
use crate::{Context, Result};

/// The file to describe.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Request {
    /// The file, or several files with the same columns.
    #[serde(flatten)]
    pub source: Source,
}

/// What apportion recognizes in a file. It depends on the names of the columns only, not on their values.
#[derive(Clone, Debug, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct Response {
    /// The version of the program.
    pub apportion: String,
    /// The names of the input files.
    pub inputs: Vec<String>,
    /// The number of rows of all input files.
    pub rows: u64,
    /// The columns of the first input file, in order.
    pub columns: Vec<Column>,
    /// The program that writes score columns with these names; left out if no score columns are recognized.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub score_format: Option<String>,
    /// Remarks, for example if score columns could not be recognized.
    pub remarks: Vec<String>,
    /// Commands that can be run on the file.
    pub next: Vec<Step>,
}

/// Describes the input.
///
/// # Errors
/// If the input cannot be read.
pub fn run(request: &Request, context: &Context) -> Result<Response> {
    context.install(|| describe(request, context))
}

fn describe(request: &Request, context: &Context) -> Result<Response> {
    let input = request.source.open(context)?;
    let names = input.columns(0)?;
    let (scores, ambiguous) = match find_scores(&names) {
        Ok(scores) => (scores, None),
        Err(error) => (None, Some(error.message())),
    };
    let columns = columns::recognize(&names, scores.as_ref());
    let remark = match ambiguous {
        Some(problem) => Some(problem),
        None => nothing_recognized(&columns),
    };
    Ok(Response {
        apportion: env!("CARGO_PKG_VERSION").into(),
        inputs: input.names().map(|name| name.display().to_string()).collect(),
        rows: rows(&input, &columns, context)?,
        next: next::commands(&request.source.inputs, &columns),
        columns,
        score_format: scores.map(|scores| scores.tool),
        remarks: remark.iter().map(|remark| context.render(remark)).collect(),
    })
}

/// Returns the number of rows. One column is read; a recognized column, because others can contain lists.
fn rows(input: &Input, columns: &[Column], context: &Context) -> Result<u64> {
    let column = columns.iter().find(|column| column.content.is_some()).or(columns.first());
    let column: Vec<String> = column.map(|column| column.name.clone()).into_iter().collect();
    let mut batches = ColumnBatches::new(input, &column);
    let mut rows = 0;
    loop {
        context.check_cancelled()?;
        let read = batches.next_rows(1 << 16)?;
        if read.is_empty() {
            return Ok(rows);
        }
        rows += read.iter().map(|batch| batch.rows() as u64).sum::<u64>();
    }
}

/// Returns the remark for a file that no command can use without further options.
fn nothing_recognized(columns: &[Column]) -> Option<Message> {
    let has = |content| columns.iter().any(|column| column.content == Some(content));
    if has(Content::Score) || has(Content::Surname) || has(Content::FullName) {
        return None;
    }
    let problem = Message::from("no scores and no surnames were recognized; name the score columns with ");
    Some(problem + Setting::Scores.with("COL,COL,…") + ", or the surnames with " + Setting::Surname.with("COL"))
}

impl Response {
    /// Returns the description as text, without the next commands, which each front end writes in its own form.
    pub fn text(&self) -> Message {
        let of = match &self.inputs[..] {
            [one] => one.clone(),
            several => counted(several.len() as u64, "file", "files"),
        };
        let sizes = (counted(self.rows, "row", "rows"), counted(self.columns.len() as u64, "column", "columns"));
        let mut parts = vec![Message::from(format!("{of}: {}, {}", sizes.0, sizes.1))];
        let width = self.columns.iter().map(|column| text::shown(&column.name).chars().count()).max().unwrap_or(0);
        parts.extend(self.columns.iter().filter_map(|column| {
            let content = column.content?.words(column.class.as_deref());
            Some(format!("  {:width$}  {content}", text::shown(&column.name)).into())
        }));
        parts.extend(self.score_format.iter().map(|format| format!("score columns: format of {format}").into()));
        parts.extend(self.options());
        parts.extend(self.not_recognized().map(Message::from));
        parts.extend(self.remarks.iter().map(|remark| Message::from(remark.as_str())));
        text::lines(parts)
    }

    /// Lists the columns that are used only if an option names them.
    fn options(&self) -> Option<Message> {
        let named = self.columns.iter().filter_map(|column| Some((column.setting?, &column.name)));
        let list = named.fold(None, |list: Option<Message>, (setting, name)| {
            let next = Message::from(setting.with(text::shown(name)));
            Some(list.map_or(next.clone(), |list| list + ", " + next))
        })?;
        Some(Message::from("used only with these options: ") + list)
    }

    /// Lists the other columns; the first few if there are many.
    fn not_recognized(&self) -> Option<String> {
        const MOST: usize = 12;
        let all: Vec<String> = self
            .columns
            .iter()
            .filter(|column| column.content.is_none())
            .map(|column| text::shown(&column.name))
            .collect();
        let more = all.len().saturating_sub(MOST);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        (!all.is_empty()).then(|| format!("not recognized: {}{more}", all[..all.len().min(MOST)].join(", ")))
    }
}
