//! Options that commands share: which files, which columns, how many threads.

use std::fmt::Display;

use std::sync::Arc;

use anyhow::{Context as _, Result, bail};
use apportion::text::Setting;
use apportion::{Scores, Settings, UNCODED};
use apportion_app::{Context, Notice};
use apportion_io::{ClassColumn, ClassSettings, Error, Input, InputOptions, Table, TableOptions};
use clap::{Args, ValueEnum};
use serde_json::Value;

use crate::host::Host;
use crate::message::{self, render};
use crate::progress::Bar;
use crate::text::{count, shown};
use crate::usage::usage;
use apportion_app::input::Source;
use apportion_app::memory;
use apportion_app::provenance::Recorded;

/// Which files, and what their columns hold.
#[derive(Args, Clone, Debug)]
pub(crate) struct TableArgs {
    /// Files (CSV, TSV, Parquet, Arrow; .gz, .zst), folders or globs; - for standard input.
    #[arg(required = true, value_name = "SCORES")]
    pub(crate) inputs: Vec<String>,
    /// The score columns. Without this they are found by their names.
    #[arg(long, value_delimiter = ',', value_name = "COL,COL,…")]
    pub(crate) scores: Vec<String>,
    /// Names of the classes for the score columns, or another order of the names that were found.
    #[arg(long, value_delimiter = ',', value_name = "NAME,NAME,…")]
    pub(crate) classes: Vec<String>,
    /// The column that identifies a row: ties and draws then do not depend on the order of the rows.
    #[arg(long, value_name = "COL")]
    pub(crate) id: Option<String>,
    /// Columns whose values together are a group.
    #[arg(long, value_delimiter = ',', value_name = "COL[,COL]")]
    pub(crate) by: Vec<String>,
    /// The column that says how many people a row stands for.
    #[arg(long, value_name = "COL")]
    pub(crate) count: Option<String>,
    /// The column of the true class.
    #[arg(long, value_name = "COL")]
    pub(crate) truth: Option<String>,
    /// Values of the truth that stand for a class.
    #[arg(long, value_delimiter = ',', value_name = "VALUE=CLASS,…", requires = "truth")]
    truth_map: Vec<String>,
    /// Values of the truth that stand for none: such rows are left out of whatever needs truth.
    #[arg(long, value_delimiter = ',', value_name = "VALUE,…", requires = "truth")]
    truth_exclude: Vec<String>,
    /// Takes rows without truth out before anything is computed, as the paper does.
    #[arg(long, requires = "truth")]
    pub(crate) only_with_truth: bool,
    /// Leaves out rows that have no score at all, instead of refusing them.
    #[arg(long)]
    skip_missing: bool,
    /// Divides each row by its sum.
    #[arg(long)]
    normalize: bool,
    /// How text is encoded that does not say so itself.
    #[arg(long, value_enum, default_value_t = Encoding::Utf8)]
    encoding: Encoding,
    /// What separates the values of text, where its first line does not show it: one character, or tab.
    #[arg(long, value_name = "CHAR")]
    delimiter: Option<String>,
    /// Threads to use; all where it is not given. Results do not depend on it.
    #[arg(long, value_name = "1…1024", value_parser = clap::value_parser!(u16).range(1..=i64::from(MAX_THREADS)))]
    threads: Option<u16>,
    /// About how much memory to use, such as 512M; a quarter of the machine's where it is not given. Scores that do not fit are
    /// put into a temporary file (in the folder that TMPDIR names). Results do not depend on it.
    #[arg(long, value_parser = memory::parse, value_name = "SIZE")]
    memory: Option<u64>,
    /// Rows that are read at a time. Results do not depend on it.
    #[arg(long, value_name = "ROWS", default_value_t = 65_536, value_parser = clap::value_parser!(u32).range(1..=1 << 24))]
    batch_rows: u32,
    /// Longest line of a text file, so that a damaged file cannot fill the memory.
    #[arg(long, value_name = "SIZE", default_value = "16M", value_parser = memory::parse_small)]
    max_line: usize,
    /// Settles ties and draws, together with the rows' identifiers.
    #[arg(long, help = "Settles ties and draws, together with the rows' identifiers [default: 0]")]
    pub(crate) seed: Option<u64>,
    /// Prints the result as one JSON object on standard output.
    #[arg(long)]
    pub(crate) json: bool,
    /// Says nothing on standard error but errors.
    #[arg(long, short)]
    pub(crate) quiet: bool,
    /// Another program, in place of files and a terminal.
    #[arg(skip)]
    pub(crate) host: Option<Host>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Encoding {
    /// UTF-8; UTF-16 where a byte order mark says so.
    Utf8,
    /// Latin-1 (Windows 1252).
    Latin1,
}

/// The columns that make groups, and the setting that names them.
#[derive(Clone, Copy)]
pub(crate) struct Grouping<'a> {
    pub(crate) columns: &'a [String],
    pub(crate) setting: Setting,
}

impl TableArgs {
    /// The groups of `--by`.
    pub(crate) fn groups(&self) -> Grouping<'_> {
        Grouping { columns: &self.by, setting: Setting::By }
    }

    /// Reads what is needed of files, by some groups, with labels that exist already.
    pub(crate) fn read(&self, input: &Input, groups: Grouping<'_>, labels: Option<ClassColumn>) -> Result<Table> {
        self.read_with(input, groups, |options| options.labels = labels.into_iter().collect())
    }

    /// Reads what is needed of files, and what else is asked for.
    pub(crate) fn read_with(
        &self,
        input: &Input,
        groups: Grouping<'_>,
        ask: impl FnOnce(&mut TableOptions),
    ) -> Result<Table> {
        input.skipped_note().iter().for_each(|passed| self.say(&message::render(passed)));
        let mut options = TableOptions {
            scores: self.scores.clone(),
            classes: self.classes.clone(),
            id: self.id.clone(),
            by: groups.columns.to_vec(),
            by_setting: groups.setting,
            count: self.count.clone(),
            truth: self.truth_column()?,
            normalize: self.normalize,
            only_with_truth: self.only_with_truth,
            skip_missing: self.skip_missing,
            memory: self.memory(),
            ..TableOptions::default()
        };
        ask(&mut options);
        let table = Table::read(input, &options)?;
        self.say(&table.describe_scores());
        table.remarks().iter().for_each(|remark| self.say(&message::render(remark)));
        Ok(table)
    }

    /// Opens the files, once the threads that read them are there.
    pub(crate) fn input(&self) -> Result<Input> {
        use_threads(self.threads)?;
        let (delimiter, host) = (self.delimiter.as_deref(), self.host.as_ref());
        let limits = Limits { batch_rows: self.batch_rows as usize, max_line: self.max_line };
        open(&self.inputs, self.encoding, delimiter, limits, self.quiet, host)
    }

    /// The files to read, for a job.
    pub(crate) fn source(&self) -> Result<Source> {
        let delimiter = delimiter(self.delimiter.as_deref())?;
        Ok(Source {
            inputs: self.inputs.clone(),
            table: self.host.as_ref().and_then(|host| host.table.clone()),
            encoding: match self.encoding {
                Encoding::Utf8 => apportion_app::input::Encoding::Utf8,
                Encoding::Latin1 => apportion_app::input::Encoding::Latin1,
            },
            delimiter: delimiter.map(char::from),
            batch_rows: self.batch_rows as usize,
            max_line: self.max_line,
        })
    }

    fn truth_column(&self) -> Result<Option<ClassColumn>> {
        let Some(column) = self.truth.clone() else { return Ok(None) };
        let map = pairs("--truth-map", &self.truth_map)?;
        Ok(Some(ClassColumn { column, map, exclude: self.truth_exclude.clone(), settings: ClassSettings::TRUTH }))
    }

    pub(crate) fn settings(&self) -> Settings {
        Settings { seed: self.seed.unwrap_or(0), ..Settings::default() }
    }

    /// The options that say how a table is read, as the command line has them.
    pub(crate) fn record(&self, into: &mut Recorded) {
        into.by.clone_from(&self.by);
        into.scores.clone_from(&self.scores);
        into.classes.clone_from(&self.classes);
        into.id.clone_from(&self.id);
        into.count.clone_from(&self.count);
        into.truth.clone_from(&self.truth);
        into.truth_map.clone_from(&self.truth_map);
        into.truth_exclude.clone_from(&self.truth_exclude);
        (into.only_with_truth, into.skip_missing) = (self.only_with_truth, self.skip_missing);
        into.normalize = self.normalize;
        into.seed = self.seed;
    }

    /// The same, with what was found in a table: columns, classes, scaling and the seed.
    pub(crate) fn record_table(&self, table: &Table, into: &mut Recorded) {
        self.record(into);
        into.scores = table.score_columns().to_vec();
        into.classes = table.classes().names().to_vec();
        into.scaling = Some(table.scaling());
        into.seed = Some(self.settings().seed);
    }

    /// About how much memory to use.
    pub(crate) fn memory(&self) -> u64 {
        self.memory.unwrap_or_else(memory::default)
    }

    /// Uses the threads that were asked for.
    pub(crate) fn use_threads(&self) -> Result<()> {
        use_threads(self.threads)
    }

    /// What a reader needs to know of how the table was read, as pairs of a name and a fact.
    pub(crate) fn facts(&self, table: &Table, by: Grouping<'_>) -> Vec<(&'static str, String)> {
        let classes = table.classes().names().iter().zip(table.score_columns());
        let classes: Vec<String> = classes.map(|(class, column)| format!("{class} ({column})")).collect();
        let mut facts = vec![
            ("Program", format!("apportion {}", env!("CARGO_PKG_VERSION"))),
            ("Classes, and their columns", classes.join(", ")),
            ("Scores", table.describe_scores()),
        ];
        if let Some(truth) = &self.truth {
            facts.push(("Truth", format!("column {truth}")));
        }
        for (name, values) in
            [("Truth, values mapped", &self.truth_map), ("Truth, values left out", &self.truth_exclude)]
        {
            if !values.is_empty() {
                facts.push((name, values.join(", ")));
            }
        }
        if let Some(groups) = table.group_count() {
            facts.push(("Groups", format!("{groups}, by {}", by.columns.join(", "))));
        }
        if let Some(count) = &self.count {
            facts.push(("People of a row", format!("column {count}")));
        }
        facts.extend(table.remarks().iter().map(|remark| ("Remark", message::render(remark))));
        facts.push(("Seed", self.settings().seed.to_string()));
        facts.push((
            "Rounding",
            "whole people by largest remainders of N · share; where these tie, as costs least accuracy".into(),
        ));
        let keys = self.id.as_ref().map_or_else(|| "its place in the files".into(), |id| format!("column {id}"));
        facts.push((
            "Ties",
            format!("by a hash of the seed, the row’s key ({keys}) and the class; argmax by the order of the classes"),
        ));
        facts
    }

    /// Refuses draws that do not fit into memory: each takes a byte a row.
    pub(crate) fn check_draws(&self, table: &Table, draws: u64) -> Result<()> {
        let memory = self.memory.unwrap_or_else(memory::default);
        let bytes = (table.rows() as u64).saturating_mul(draws);
        if draws == 1 || bytes <= memory {
            return Ok(());
        }
        Err(usage(format!(
            "--draws {draws}: the draws of {} rows take {} MB, and --memory allows {} MB; make fewer draws, or allow more \
             memory",
            count(table.rows() as u64),
            count(bytes.div_ceil(1 << 20)),
            count(memory >> 20)
        )))
    }

    /// Refuses a truth that nobody has, where rules are to be held against it.
    pub(crate) fn refuse_empty_truth(&self, scores: &Scores<'_>) -> Result<()> {
        let (Some(column), Some(truth)) = (&self.truth, scores.truth()) else { return Ok(()) };
        if truth.iter().any(|&truth| truth != UNCODED) {
            return Ok(());
        }
        bail!(
            "--truth {column}: no row has a truth: it is empty or left out in all; name another column, or leave --truth out"
        )
    }

    /// What jobs are run with: notices are said as everything else is.
    pub(crate) fn context(&self) -> Context {
        let own = self.clone();
        let notices = Arc::new(move |notice: Notice| match notice {
            Notice::Note(message) | Notice::Warning(message) => own.say(&render(&message)),
        });
        Context { notices, ..Context::default() }
    }

    /// A word on standard error, unless silence is wanted.
    pub(crate) fn say(&self, text: &str) {
        match &self.host {
            Some(host) => host.results().said.push(shown(text)),
            None if !self.quiet => crate::text::say(text),
            None => {}
        }
    }

    /// Whether anybody reads what is said on the way.
    pub(crate) fn is_heard(&self) -> bool {
        !self.quiet && self.host.is_none()
    }

    /// A result on standard output.
    pub(crate) fn print(&self, result: impl Display) -> Result<()> {
        match &self.host {
            Some(host) => host.results().printed.push(result.to_string()),
            None => crate::text::print(result)?,
        }
        Ok(())
    }

    /// A result for people on standard output, with control characters escaped.
    pub(crate) fn print_text(&self, result: impl Display) -> Result<()> {
        self.print(shown(&result.to_string()))
    }

    /// A result as JSON, where that is asked for, or as text; another program is given both.
    pub(crate) fn print_either(&self, json: &Value, text: impl FnOnce() -> String) -> Result<()> {
        if self.json {
            self.print(json)?;
        }
        if !self.json || self.host.is_some() { self.print_text(text()) } else { Ok(()) }
    }

    /// The host of a table in memory, which is given labels in place of files.
    pub(crate) fn memory_host(&self) -> Option<&Host> {
        self.host.as_ref().filter(|host| host.table.is_some())
    }

    /// Ends the work between two of its parts, where that is wanted.
    pub(crate) fn refuse_stopped(&self) -> Result<()> {
        let progress = self.host.as_ref().and_then(|host| host.progress.as_ref());
        if progress.is_some_and(|progress| progress.is_cancelled()) { Err(Error::Cancelled.into()) } else { Ok(()) }
    }
}

/// How much of a file is read at a time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    pub(crate) batch_rows: usize,
    pub(crate) max_line: usize,
}

/// The byte between values, if it is given.
fn delimiter(text: Option<&str>) -> Result<Option<u8>> {
    match text.map(str::as_bytes) {
        None => Ok(None),
        Some(b"tab" | b"\\t") => Ok(Some(b'\t')),
        Some([byte]) => Ok(Some(*byte)),
        Some(_) => Err(usage("--delimiter: it must be one character, or tab")),
    }
}

/// Opens files, or what another program lends in their place.
pub(crate) fn open(
    inputs: &[String],
    encoding: Encoding,
    delimiter: Option<&str>,
    limits: Limits,
    quiet: bool,
    host: Option<&Host>,
) -> Result<Input> {
    let delimiter = self::delimiter(delimiter)?;
    let latin1 = matches!(encoding, Encoding::Latin1);
    let options = InputOptions { latin1, delimiter, batch_rows: limits.batch_rows, max_line: limits.max_line };
    let input = match host.and_then(|host| host.table.clone()) {
        Some(held) => Input::from_memory(&inputs.join(" "), held, options),
        None => Input::new(inputs, options)?,
    };
    if let Some(told) = input.separator_note().as_ref().map(message::render) {
        match host {
            Some(host) => host.results().said.push(shown(&told)),
            None if !quiet => crate::text::say(told),
            None => {}
        }
    }
    Ok(match host {
        None => input.with_progress(Box::new(Bar::new(quiet))),
        Some(Host { progress: Some(progress), .. }) => input.with_progress(Box::new(progress.clone())),
        Some(_) => input,
    })
}

/// The largest number of threads. More than a machine has processors do not help, and the system may refuse them.
pub(crate) const MAX_THREADS: u16 = 1024;

/// Starts the threads: this many, or one for each processor.
///
/// # Errors
/// If the system does not start them, or if another number of threads was started before.
pub(crate) fn use_threads(threads: Option<u16>) -> Result<()> {
    // Another program has threads of its own for this.
    if rayon::current_thread_index().is_some() {
        return Ok(());
    }
    let built = rayon::ThreadPoolBuilder::new().num_threads(threads.map_or(0, usize::from)).build_global();
    let Err(error) = built else { return Ok(()) };
    // Threads that were started before have no cause; those that the system refused have one.
    match std::error::Error::source(&error) {
        Some(cause) => bail!("the threads could not be started ({cause}); use fewer with --threads"),
        None if threads.is_some() => Err(error).context("--threads"),
        None => Ok(()),
    }
}

/// Reads VALUE=CLASS.
pub(crate) fn pairs(option: &str, texts: &[String]) -> Result<Vec<(String, String)>> {
    let pair = |text: &String| {
        let (value, class) = text.split_once('=')?;
        Some((value.trim().to_owned(), class.trim().to_owned()))
    };
    texts.iter().map(|text| pair(text).ok_or_else(|| usage(format!("{option}: {text:?} is not VALUE=CLASS")))).collect()
}
