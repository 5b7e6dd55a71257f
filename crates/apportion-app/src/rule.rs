//! Settings of rules, and the rules that they define for a table.

use std::collections::BTreeMap;

use apportion::decision::ExpectedShares;
use apportion::learn::Learner;
use apportion::rule::{FromSample, JointRule, Learned, Thresholds};
use apportion::text::{Message, Setting};
use apportion::{Balance, Bounds, Classes, Match, Penalty, Rule, Scores};
use apportion_io::{MemoryTable, Table};
use serde::{Deserialize, Serialize};

use crate::estimated_reference::{EstimatedReference, TrainingShares};
use crate::protect::SideInput;
use crate::provenance::{ExtraFile, Recorded, RecordedBound};
use crate::table::{Grouping, TableSettings};
use crate::{Context, Error, Result, reference, text};

/// If there are more classes, a joint rule may have to solve nearly all rows together.
const MANY_CLASSES: usize = 100;

/// Memory per score for that: the score on the grid, the row's people in the class, and the move to the class.
const BYTES_PER_SCORE: u64 = 52;

/// The default weight of accuracy.
const GAMMA: f64 = 0.9;

/// The default minimum score of a label.
const THRESHOLD: f64 = 0.8;

/// The default number of classes from which top-k draws.
const K: u8 = 2;

/// The name of a rule.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RuleName {
    /// The most likely class.
    Argmax,
    /// The most likely class if its score reaches a threshold.
    Threshold,
    /// A random class, drawn with the scores as probabilities.
    Thompson,
    /// A random class among the most likely ones.
    TopK,
    /// The most accurate labels whose counts match the reference.
    #[default]
    Match,
    /// A trade-off between accuracy and fidelity.
    Balance,
    /// A model trained on matched labels.
    Learned,
}

impl RuleName {
    /// All rules.
    pub const ALL: [RuleName; 7] = [
        RuleName::Argmax,
        RuleName::Threshold,
        RuleName::Thompson,
        RuleName::TopK,
        RuleName::Match,
        RuleName::Balance,
        RuleName::Learned,
    ];

    /// Returns the rule with this name.
    pub fn parse(name: &str) -> Option<RuleName> {
        RuleName::ALL.into_iter().find(|rule| rule.name() == name)
    }

    /// Returns the name.
    pub const fn name(self) -> &'static str {
        match self {
            RuleName::Argmax => "argmax",
            RuleName::Threshold => "threshold",
            RuleName::Thompson => "thompson",
            RuleName::TopK => "top-k",
            RuleName::Match => "match",
            RuleName::Balance => "balance",
            RuleName::Learned => "learned",
        }
    }

    /// Returns whether the rule has a reference.
    pub const fn has_reference(self) -> bool {
        match self {
            RuleName::Match | RuleName::Balance | RuleName::Learned => true,
            RuleName::Argmax | RuleName::Threshold | RuleName::Thompson | RuleName::TopK => false,
        }
    }
}

/// The minimum score of a label.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct MinimumScores {
    /// For all classes.
    pub all: Option<f64>,
    /// For individual classes.
    pub by_class: BTreeMap<String, f64>,
}

/// A rule and its settings. Settings without a value are not serialized.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct RuleSettings {
    /// The rule.
    pub rule: RuleName,
    /// `posterior` (the default), `truth`, `uniform`, `em`, `pacc`, or a file of shares.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reference: Option<String>,
    /// Shares in memory, instead of the file; `reference` may be empty.
    #[serde(skip)]
    pub reference_table: Option<MemoryTable>,
    /// The training shares of the reference `em`.
    #[serde(flatten)]
    pub training: TrainingShares,
    /// The weight of accuracy relative to fidelity.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gamma: Option<f64>,
    /// The measure of distance from the reference.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub penalty: Option<Penalty>,
    /// The minimum score of a label.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<MinimumScores>,
    /// The number of most likely classes from which top-k draws.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub k: Option<u8>,
    /// The number of draws.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub draws: Option<u64>,
    /// The share of rows to label.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub coverage: Option<f64>,
    /// Minimum numbers or shares of people, by class.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub at_least: BTreeMap<String, RecordedBound>,
    /// Maximum numbers or shares of people, by class.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub at_most: BTreeMap<String, RecordedBound>,
    /// The maximum difference between each share and the reference.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tolerance: Option<f64>,
    /// Columns of nested groups, the largest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub nested: Vec<String>,
    /// The number of rows in the sample to solve.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from_sample: Option<u64>,
    /// The model of the learned rule.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub learner: Option<Learner>,
    /// The number of rows on which the learned rule is trained.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub train_rows: Option<u64>,
}

impl RuleSettings {
    /// Returns the rule for a table.
    ///
    /// # Errors
    /// If a class is unknown, the reference cannot be read, or there is not enough memory.
    pub fn rule(
        &self,
        table: &Table,
        settings: &TableSettings,
        estimated: Option<&EstimatedReference>,
        context: &Context,
    ) -> Result<Rule> {
        self.check_classes(table.classes())?;
        self.check_memory(table, settings)?;
        Ok(match self.rule {
            RuleName::Argmax => Rule::Argmax,
            RuleName::Threshold => Rule::Threshold(self.thresholds()),
            RuleName::Thompson => Rule::Thompson,
            RuleName::TopK => Rule::TopK(usize::from(self.k.unwrap_or(K))),
            RuleName::Match => self.on_sample(JointRule::Match(self.matching(table, settings, estimated, context)?)),
            RuleName::Balance => self.on_sample(JointRule::Balance(self.balance(table, settings, estimated, context)?)),
            RuleName::Learned => Rule::Learned(self.learned(table, settings, estimated, context)?),
        })
    }

    /// Returns a joint rule for all rows, or for a sample if requested.
    fn on_sample(&self, joint: JointRule) -> Rule {
        match self.from_sample {
            Some(rows) => Rule::FromSample(FromSample { joint, rows: rows as usize }),
            None => joint.rule(),
        }
    }

    fn learned(
        &self,
        table: &Table,
        settings: &TableSettings,
        estimated: Option<&EstimatedReference>,
        context: &Context,
    ) -> Result<Learned> {
        let joint = match self.gamma.is_some() || self.penalty.is_some() {
            true => JointRule::Balance(self.balance(table, settings, estimated, context)?),
            false => JointRule::Match(self.matching(table, settings, estimated, context)?),
        };
        let rows = self.train_rows.map_or(Learned::TRAIN_ROWS, |rows| rows as usize);
        Ok(Learned::new(joint).with_learner(self.learner.unwrap_or_default()).with_train_rows(rows))
    }

    fn balance(
        &self,
        table: &Table,
        settings: &TableSettings,
        estimated: Option<&EstimatedReference>,
        context: &Context,
    ) -> Result<Balance> {
        let matching = self.matching(table, settings, estimated, context)?;
        Ok(Balance::new(self.gamma.unwrap_or(GAMMA), matching).with_penalty(self.penalty.unwrap_or_default()))
    }

    /// Returns the counts that a joint rule matches.
    fn matching(
        &self,
        table: &Table,
        settings: &TableSettings,
        estimated: Option<&EstimatedReference>,
        context: &Context,
    ) -> Result<Match> {
        let by = self.groups(settings).columns;
        let given = self.reference_table.as_ref();
        let reference = match estimated {
            Some(estimated) => estimated.estimate.reference(),
            None => reference::read(self.reference_name(), given, table.classes(), by, context)?,
        };
        let nested = if self.nested.is_empty() { Vec::new() } else { table.nesting() };
        let bound = |(class, bound): (&String, &RecordedBound)| (class.clone(), (*bound).into());
        let bounds = Bounds {
            at_least: self.at_least.iter().map(bound).collect(),
            at_most: self.at_most.iter().map(bound).collect(),
            tolerance: self.tolerance,
        };
        let by_group = !by.is_empty();
        Ok(Match { by_group, nested, coverage: self.coverage, bounds, ..Match::overall(reference) })
    }

    /// Returns the columns that define groups: those of `nested`, or else of `by`.
    pub fn groups<'a>(&'a self, settings: &'a TableSettings) -> Grouping<'a> {
        if self.nested.is_empty() {
            return settings.groups();
        }
        Grouping { columns: &self.nested, setting: Setting::Nested }
    }

    /// Returns the reference by its name or path.
    pub fn reference_name(&self) -> &str {
        reference::name(self.reference.as_deref(), self.reference_table.as_ref())
    }

    /// Estimates the reference from a table; `None` if it is not estimated.
    ///
    /// # Errors
    /// If it cannot be estimated.
    pub fn estimated_reference(
        &self,
        table: &Table,
        scores: &Scores<'_>,
        settings: &TableSettings,
        context: &Context,
    ) -> Result<Option<EstimatedReference>> {
        if !self.rule.has_reference() {
            return Ok(None);
        }
        self.training.estimate(self.reference_name(), table, scores, settings.settings().seed, context)
    }

    /// Returns the number of draws.
    pub fn draws(&self) -> u64 {
        self.draws.unwrap_or(1)
    }

    /// Returns the facts about the rule for readers of a report, including defaults.
    pub fn facts(&self) -> Vec<(&'static str, String)> {
        let own = match self.rule {
            RuleName::Threshold if self.at.is_none() => format!(", at {THRESHOLD}"),
            RuleName::TopK => format!(", k {}", self.k.unwrap_or(K)),
            RuleName::Balance => {
                let penalty = self.penalty.unwrap_or_default().name();
                format!(", γ {}, distance {penalty}", self.gamma.unwrap_or(GAMMA))
            }
            RuleName::Learned => {
                let rows = self.train_rows.unwrap_or(Learned::TRAIN_ROWS as u64);
                let rows = text::counted(rows, "row", "rows");
                format!(", {}, trained on {rows}", self.learner.unwrap_or_default().name())
            }
            RuleName::Threshold | RuleName::Argmax | RuleName::Thompson | RuleName::Match => String::new(),
        };
        let mut facts = vec![("Rule", format!("{}{own}; other options as in the command", self.rule.name()))];
        if self.rule.has_reference() {
            let reference = match self.reference_name() {
                "posterior" => "the posterior, that is, the mean of the scores".to_owned(),
                "truth" => "the shares of the truth".to_owned(),
                "uniform" => "equal shares for all classes".to_owned(),
                "em" => format!("estimated from the scores and the training shares in {} (em)", self.training.name()),
                "pacc" => "estimated from the scores and the people with known truth (pacc)".to_owned(),
                table if self.reference_table.is_some() => table.to_owned(),
                file => format!("the file {file}"),
            };
            facts.push(("Reference", reference));
        }
        if self.draws() > 1 {
            facts.push(("Draws", format!("{}; the first is shown", self.draws())));
        }
        facts
    }

    /// Returns the files of the reference and of the training shares.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn extra_files(&self) -> Result<Vec<ExtraFile>> {
        let mut files = self.training.extra_files();
        if self.reference_table.is_none() {
            files.extend(reference::extra_files(self.reference_name())?);
        }
        Ok(files)
    }

    /// Returns the files that the rule uses, which outputs must not replace.
    pub fn side_inputs(&self) -> Vec<SideInput> {
        let name = self.reference_name();
        let is_file = reference::is_file(name) && self.reference_table.is_none();
        let own = is_file.then(|| SideInput::new(Setting::Reference, name));
        own.into_iter().chain(self.training.side_inputs()).collect()
    }

    /// Records the settings on which labels depend, including defaults.
    pub fn record(&self, into: &mut Recorded) {
        use RuleName::{Balance, Learned, Threshold, TopK};
        let traded = self.rule == Balance || self.rule == Learned && (self.gamma.is_some() || self.penalty.is_some());
        into.rule = Some(self.rule.name().into());
        into.reference = self.rule.has_reference().then(|| self.reference_name().to_owned());
        into.training_shares = self.training.is_given().then(|| self.training.name().to_owned());
        into.gamma = traded.then(|| self.gamma.unwrap_or(GAMMA));
        into.penalty = traded.then(|| self.penalty.unwrap_or_default().name().to_owned());
        if self.rule == Threshold {
            let Thresholds { default, by_class } = self.thresholds();
            (into.at, into.at_by_class) = (Some(default), by_class);
        }
        into.k = (self.rule == TopK).then(|| usize::from(self.k.unwrap_or(K)));
        into.draws = self.draws;
        into.coverage = self.coverage;
        into.at_least.clone_from(&self.at_least);
        into.at_most.clone_from(&self.at_most);
        into.tolerance = self.tolerance;
        into.nested.clone_from(&self.nested);
        into.from_sample = self.from_sample;
        into.learner = (self.rule == Learned).then(|| self.learner.unwrap_or_default().name().to_owned());
        into.train_rows =
            (self.rule == Learned).then(|| self.train_rows.unwrap_or(apportion::rule::Learned::TRAIN_ROWS as u64));
    }

    /// Returns whether the counts are compared with the sums of the scores rather than with targets.
    pub fn aims_at_scores(&self) -> bool {
        let free = self.coverage.is_none() && self.at_least.is_empty() && self.at_most.is_empty();
        free && self.reference_name() == "posterior"
    }

    /// Returns the expected shares of labels of other rows, given the counts of these labels, the sums of their scores
    /// and their targets; `None` if the rule has no expected counts, or if they depend on the size of each group.
    pub fn expected_shares(
        &self,
        counts: &[u64],
        posterior_sums: &[f64],
        targets: Option<&[u64]>,
        by_group: bool,
    ) -> Option<ExpectedShares> {
        if !self.rule.has_reference() || counts.iter().sum::<u64>() == 0 {
            return None;
        }
        let to_posterior = self.reference_name() == "posterior";
        if to_posterior && !self.is_traded() && !by_group {
            return Some(ExpectedShares::Posterior);
        }
        if by_group && (!to_posterior || self.is_traded()) {
            return None;
        }
        let numbers = |counts: &[u64]| counts.iter().map(|&count| count as f64).collect::<Vec<f64>>();
        if to_posterior {
            let both = shares(&numbers(counts)).into_iter().zip(shares(posterior_sums));
            return Some(ExpectedShares::OffsetFromPosterior(both.map(|(labels, scores)| labels - scores).collect()));
        }
        let targets = targets.filter(|_| !self.is_traded()).unwrap_or(counts);
        Some(ExpectedShares::Shares(shares(&numbers(targets))))
    }

    /// Returns whether counts may deviate from the reference, because of balance or bounds.
    fn is_traded(&self) -> bool {
        let balanced = self.rule == RuleName::Balance || self.gamma.is_some() || self.penalty.is_some();
        balanced || !self.at_least.is_empty() || !self.at_most.is_empty()
    }

    /// Refuses settings that cannot be combined.
    ///
    /// # Errors
    /// If there are such settings.
    pub fn check(&self, by_group: bool, has_truth: bool) -> Result<()> {
        reference::check_table(self.reference.as_deref(), self.reference_table.as_ref())?;
        let nested = (!self.nested.is_empty()).then_some(Setting::Nested);
        let by = by_group.then_some(Setting::By).or(nested);
        self.training.check(self.reference_name(), by, has_truth)?;
        if self.reference_table.is_some() && !self.rule.has_reference() {
            let problem = format!(": {} has no reference; leave it out, or use ", self.rule.name());
            return Err(Error::Settings(Message::from(Setting::Reference) + problem + Setting::Rule.with("match")));
        }
        if self.tolerance.is_some() && self.rule == RuleName::Match {
            let problem = Message::from(Setting::Tolerance)
                + ": match hits its targets exactly; for the most accurate labels \
                within a tolerance use ";
            let balance = Message::from(Setting::Rule.with("balance")) + " " + Setting::Gamma.with("1") + " ";
            return Err(Error::Settings(problem + balance + Setting::Tolerance.with("0.01")));
        }
        let exclusive = [(by_group, Setting::By), (!self.nested.is_empty(), Setting::Nested)];
        for (given, setting) in exclusive {
            if given && self.from_sample.is_some() {
                return Err(Error::settings(Message::from(Setting::FromSample) + " cannot be used with " + setting));
            }
        }
        if by_group && !self.nested.is_empty() {
            return Err(Error::settings(Message::from(Setting::Nested) + " cannot be used with " + Setting::By));
        }
        if self.rule == RuleName::Learned && by_group {
            let problem = Message::from(Setting::By) + ": " + Setting::Rule.with("learned");
            let why = problem + " trains on a sample of all rows, which contains few rows of a small group; use ";
            return Err(Error::Settings(
                why + Setting::Rule.with("match") + " " + Setting::By + ", which is exact in each group",
            ));
        }
        Ok(())
    }

    /// Refuses unknown classes; the error gives the setting.
    fn check_classes(&self, classes: &Classes) -> Result<()> {
        let at = self.at.iter().flat_map(|at| at.by_class.keys()).map(|class| (Setting::At, class));
        let least = self.at_least.keys().map(|class| (Setting::AtLeast, class));
        let most = self.at_most.keys().map(|class| (Setting::AtMost, class));
        for (setting, class) in at.chain(least).chain(most) {
            classes.position(class).map_err(|error| Error::Setting(setting, error))?;
        }
        Ok(())
    }

    /// Refuses a joint rule that needs far more memory than allowed: with many classes, nearly all rows are solved
    /// together.
    fn check_memory(&self, table: &Table, settings: &TableSettings) -> Result<()> {
        let joint = matches!(self.rule, RuleName::Match | RuleName::Balance) && self.from_sample.is_none();
        let by_group = !self.groups(settings).columns.is_empty();
        let classes = table.classes().len();
        if !joint || by_group || classes <= MANY_CLASSES {
            return Ok(());
        }
        let (needed, allowed) = ((table.rows() * classes) as u64 * BYTES_PER_SCORE, settings.memory());
        if needed <= allowed {
            return Ok(());
        }
        let mebibytes = |bytes: u64| bytes.div_ceil(1 << 20);
        let problem = Message::from(format!(
            "{} rows of {classes} classes need about {} MiB of memory, but {} MiB are allowed; combine rare classes, \
             solve by group with ",
            text::count(table.rows() as u64),
            text::count(mebibytes(needed)),
            text::count(mebibytes(allowed)),
        ));
        Err(Error::Data(
            problem + Setting::By + ", or allow more with " + Setting::Memory.with(format!("{}M", mebibytes(needed))),
        ))
    }

    fn thresholds(&self) -> Thresholds {
        let given = self.at.clone().unwrap_or_default();
        let all = Thresholds::at(given.all.unwrap_or(THRESHOLD));
        given.by_class.iter().fold(all, |thresholds, (class, &least)| thresholds.with(class, least))
    }
}

/// Divides numbers by their sum.
fn shares(sums: &[f64]) -> Vec<f64> {
    let all: f64 = sums.iter().sum();
    sums.iter().map(|sum| sum / all).collect()
}
