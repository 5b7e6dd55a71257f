//! Settings of score tables: the contents of their columns, and how they are read.

use apportion::text::{Message, Setting};
use apportion::{Scores, Settings, UNCODED};
use apportion_io::{ClassColumn, ClassSettings, Input, Table, TableOptions, Vocabulary};
use serde::{Deserialize, Serialize};

use crate::class_map::ClassMap;
use crate::input::Source;
use crate::provenance::Recorded;
use crate::{Context, Error, Result, memory, similar_groups, text};

/// The source of a score table, and the contents of its columns.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct TableSettings {
    /// The files, or a table in memory.
    #[serde(flatten)]
    pub source: Source,
    /// The score columns; recognized by name if empty.
    pub scores: Vec<String>,
    /// The names of the classes, in the order of the score columns.
    pub classes: Vec<String>,
    /// The column that identifies a row.
    pub id: Option<String>,
    /// Columns that together define the group of a row.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub by: Vec<String>,
    /// The column with the number of people in a row.
    pub count: Option<String>,
    /// The column of the true class.
    pub truth: Option<String>,
    /// The class of each truth value, for values that differ from the class names.
    pub truth_map: ClassMap,
    /// The column of the ethnicity, if `truth_map` uses one; found by name if not set.
    pub truth_ethnicity: Option<String>,
    /// Values of the truth to treat as missing.
    pub truth_exclude: Vec<String>,
    /// Whether to exclude rows without truth.
    pub only_with_truth: bool,
    /// Whether to exclude rows with a missing score.
    pub skip_missing: bool,
    /// Whether to divide the scores of each row by their sum.
    pub normalize: bool,
    /// Memory for the scores, in bytes; a quarter of the machine's memory if not set.
    pub memory: Option<u64>,
    /// The seed of ties and draws. A decision that is applied has its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
}

/// The columns that define groups, and the setting that names them.
#[derive(Clone, Copy, Debug)]
pub struct Grouping<'a> {
    /// The columns.
    pub columns: &'a [String],
    /// The setting.
    pub setting: Setting,
}

impl TableSettings {
    /// Returns the groups of `by`.
    pub fn groups(&self) -> Grouping<'_> {
        Grouping { columns: &self.by, setting: Setting::By }
    }

    /// Reads the table with some groups; `ask` can add options.
    ///
    /// # Errors
    /// If the table cannot be read, or is not a score table.
    pub fn read(
        &self,
        input: &Input,
        groups: Grouping<'_>,
        context: &Context,
        ask: impl FnOnce(&mut TableOptions),
    ) -> Result<Table> {
        let mut options = TableOptions {
            scores: self.scores.clone(),
            classes: self.classes.clone(),
            id: self.id.clone(),
            by: groups.columns.to_vec(),
            by_setting: groups.setting,
            count: self.count.clone(),
            truth: self.truth_column(),
            normalize: self.normalize,
            only_with_truth: self.only_with_truth,
            skip_missing: self.skip_missing,
            memory: self.memory(),
            ..TableOptions::default()
        };
        ask(&mut options);
        let table = Table::read(input, &options)?;
        context.note(table.describe_scores());
        for remark in table.remarks() {
            context.note(remark);
        }
        for warning in table.warnings(groups.setting) {
            context.warn(warning);
        }
        let warning = table.group_names().and_then(|names| similar_groups::warning(names, groups.setting));
        warning.into_iter().for_each(|warning| context.warn(warning));
        Ok(table)
    }

    fn truth_column(&self) -> Option<ClassColumn> {
        let ethnicity = self.truth_ethnicity.clone();
        Some(truth_column(self.truth.clone()?, &self.truth_map, self.truth_exclude.clone(), ethnicity))
    }

    /// Returns the settings of rules.
    pub fn settings(&self) -> Settings {
        Settings { seed: self.seed.unwrap_or(0), ..Settings::default() }
    }

    /// Returns the approximate memory to use.
    pub fn memory(&self) -> u64 {
        self.memory.unwrap_or_else(memory::default)
    }

    /// Refuses settings whose required settings are missing.
    ///
    /// # Errors
    /// If a setting of the truth is given without its column.
    pub fn check(&self) -> Result<()> {
        let given = [
            (!self.truth_map.is_empty(), Setting::TruthMap),
            (self.truth_ethnicity.is_some(), Setting::TruthEthnicity),
            (!self.truth_exclude.is_empty(), Setting::TruthExclude),
            (self.only_with_truth, Setting::OnlyWithTruth),
        ];
        for (given, setting) in given {
            if given && self.truth.is_none() {
                return Err(Error::settings(Message::from(setting) + " needs " + Setting::Truth.with("COL")));
            }
        }
        if self.truth_ethnicity.is_some() && self.truth_map.vocabulary() != Some(Vocabulary::NorthCarolina) {
            let needs = Message::from(Setting::TruthEthnicity) + " needs " + Setting::TruthMap.with("nc");
            return Err(Error::settings(needs));
        }
        Ok(())
    }

    /// Records the settings as given.
    pub fn record(&self, into: &mut Recorded) {
        self.source.record(into);
        into.by.clone_from(&self.by);
        into.scores.clone_from(&self.scores);
        into.classes.clone_from(&self.classes);
        into.id.clone_from(&self.id);
        into.count.clone_from(&self.count);
        into.truth.clone_from(&self.truth);
        into.truth_map = self.truth_map.texts();
        into.truth_ethnicity.clone_from(&self.truth_ethnicity);
        into.truth_exclude.clone_from(&self.truth_exclude);
        (into.only_with_truth, into.skip_missing) = (self.only_with_truth, self.skip_missing);
        into.normalize = self.normalize;
        into.seed = self.seed;
    }

    /// Records the settings, with the columns, classes, scaling and seed that were used.
    pub fn record_table(&self, table: &Table, into: &mut Recorded) {
        self.record(into);
        into.scores = table.score_columns().to_vec();
        into.classes = table.classes().names().to_vec();
        into.scaling = Some(table.scaling());
        into.seed = Some(self.settings().seed);
    }

    /// Returns how the table was read, as names and facts for readers of a report.
    pub fn facts(&self, table: &Table, by: Grouping<'_>) -> Vec<(&'static str, String)> {
        let classes = table.classes().names().iter().zip(table.score_columns());
        let classes: Vec<String> = classes.map(|(class, column)| format!("{class} ({column})")).collect();
        let mut facts = vec![
            ("Program", format!("apportion {}", env!("CARGO_PKG_VERSION"))),
            ("Classes and their columns", classes.join(", ")),
            ("Scores", table.describe_scores()),
        ];
        if let Some(truth) = &self.truth {
            facts.push(("Truth", format!("column {truth}")));
        }
        let mapped = self.truth_map.texts();
        for (name, values) in
            [("Truth, values mapped", &mapped), ("Truth, values treated as missing", &self.truth_exclude)]
        {
            if !values.is_empty() {
                facts.push((name, values.join(", ")));
            }
        }
        if let Some(groups) = table.group_count() {
            facts.push(("Groups", format!("{groups}, by {}", by.columns.join(", "))));
        }
        if let Some(count) = &self.count {
            facts.push(("People per row", format!("column {count}")));
        }
        facts.extend(table.remarks().into_iter().map(|remark| ("Remark", remark.to_string())));
        facts.push(("Seed", self.settings().seed.to_string()));
        facts.push((
            "Rounding",
            "whole people by largest remainders of N · share; ties are broken at the lowest cost in accuracy".into(),
        ));
        let keys = self.id.as_ref().map_or_else(|| "its position in the files".into(), |id| format!("column {id}"));
        facts.push((
            "Ties",
            format!(
                "by a hash of the seed, the row’s key ({keys}) and the class; for argmax, by the order of the classes"
            ),
        ));
        facts
    }

    /// Refuses draws that do not fit into memory: each takes one byte per row.
    ///
    /// # Errors
    /// If the draws do not fit.
    pub fn check_draws(&self, table: &Table, draws: u64) -> Result<()> {
        let bytes = (table.rows() as u64).saturating_mul(draws);
        if draws == 1 || bytes <= self.memory() {
            return Ok(());
        }
        let draws = Message::from(Setting::Draws.with(draws.to_string()));
        let rows = text::count(table.rows() as u64);
        let needed = format!(": the draws of {rows} rows need {} MB, but ", text::count(bytes.div_ceil(1 << 20)));
        let allowed = format!(" allows {} MB; use fewer draws or more memory", text::count(self.memory() >> 20));
        Err(Error::Settings(draws + needed + Setting::Memory + allowed))
    }

    /// Refuses a truth column in which no value is a class.
    ///
    /// # Errors
    /// If there is no such value.
    pub fn refuse_empty_truth(&self, scores: &Scores<'_>) -> Result<()> {
        let (Some(column), Some(truth)) = (&self.truth, scores.truth()) else { return Ok(()) };
        if truth.iter().any(|&truth| truth != UNCODED) {
            return Ok(());
        }
        let problem = ": no row has a true class: all values are empty or excluded; name another column, or leave out ";
        Err(Error::Data(Message::from(Setting::Truth.with(column)) + problem + Setting::Truth))
    }
}

/// Returns the options for reading the truth.
pub(crate) fn truth_column(
    column: String,
    map: &ClassMap,
    exclude: Vec<String>,
    ethnicity: Option<String>,
) -> ClassColumn {
    let vocabulary = map.vocabulary();
    ClassColumn { column, map: map.pairs(), exclude, vocabulary, ethnicity, settings: ClassSettings::TRUTH }
}
