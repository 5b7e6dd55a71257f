//! From the command line to a rule of the library.

use anyhow::{Context, Result, bail};
use apportion::decision::ExpectedShares;
use apportion::learn::Learner;
use apportion::rule::{Bound, FromSample, JointRule, Learned, Thresholds};
use apportion::text::Setting;
use apportion::{Balance, Bounds, Classes, Match, Penalty, Rule};
use apportion_io::Table;
use clap::{Args, ValueEnum};

use crate::options::{Grouping, TableArgs};
use crate::rule_result::RuleResult;
use crate::summary::Aim;
use crate::text;
use crate::usage::usage;
use crate::values::{self, At};
use apportion_app::protect::SideInput;
use apportion_app::provenance::{ExtraFile, Recorded};
use apportion_app::reference;

/// With more classes than this, a joint rule may have to solve nearly all rows at once.
const MANY_CLASSES: usize = 100;

/// Memory that this takes for each score: the score on the grid, the people of the row in the class, and the move to it.
const BYTES_PER_SCORE: u64 = 52;

/// Which rule, and its options.
#[derive(Args, Clone, Debug)]
pub(crate) struct RuleArgs {
    /// How labels are chosen.
    #[arg(long, value_enum, default_value_t = RuleName::Match)]
    pub(crate) rule: RuleName,
    /// What the counts are to match: posterior, truth, uniform, or a file with the columns class,share (and group).
    #[arg(long, default_value = "posterior", value_name = "posterior|truth|uniform|FILE", value_parser = values::reference)]
    pub(crate) reference: String,
    /// balance, learned: the weight of accuracy against fidelity; 1 is argmax, 0 is match.
    #[arg(
        long,
        value_name = "0|0.001…1",
        value_parser = values::gamma,
        help = "balance, learned: the weight of accuracy against fidelity; 1 is argmax, 0 is match [default: 0.9]"
    )]
    gamma: Option<f64>,
    /// balance, learned: how the distance from the reference is measured.
    #[arg(long, value_enum)]
    penalty: Option<PenaltyName>,
    /// threshold: the least score of a label; one for all, and others for single classes.
    #[arg(long, value_delimiter = ',', value_name = "T[,CLASS=T]", value_parser = values::at)]
    at: Vec<At>,
    /// top-k: how many of the likeliest classes are drawn among.
    #[arg(long, value_parser = clap::value_parser!(u8).range(1..))]
    k: Option<u8>,
    /// thompson, top-k: how many draws to make, at most 1,000.
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..=1000))]
    draws: Option<u64>,
    /// match, balance: label only this share of the rows.
    #[arg(long, value_name = "SHARE", value_parser = values::share)]
    coverage: Option<f64>,
    /// match, balance: at least so many people of a class, or a share with a %.
    #[arg(long, value_delimiter = ',', value_name = "CLASS=N|P%", value_parser = values::bound)]
    at_least: Vec<(String, Bound)>,
    /// match, balance: at most so many.
    #[arg(long, value_delimiter = ',', value_name = "CLASS=N|P%", value_parser = values::bound)]
    at_most: Vec<(String, Bound)>,
    /// balance: every share within this much of the reference (0.01 is one point).
    #[arg(long, value_name = "POINTS", value_parser = values::share)]
    margin: Option<f64>,
    /// match: columns of units inside units, the largest first: the counts of every larger unit are right, and those of the
    /// smallest as near to their own as that allows. One column alone: units inside the whole.
    #[arg(long, value_delimiter = ',', value_name = "COL[,COL,…]", conflicts_with = "by")]
    nested: Vec<String>,
    /// match, balance: solve for so many rows, drawn by the seed, and label all by the prices of these. Counts are then near,
    /// and not exact.
    #[arg(long, value_name = "ROWS", value_parser = clap::value_parser!(u64).range(1..), conflicts_with_all = ["by", "nested"])]
    from_sample: Option<u64>,
    /// learned: what learns the labels of match, or with --gamma of balance, from the scores [default: svm].
    #[arg(long, value_enum)]
    learner: Option<LearnerName>,
    /// learned: how many rows are solved exactly and learned from, drawn by the seed [default: 10000].
    #[arg(long, value_name = "ROWS", value_parser = clap::value_parser!(u64).range(1..))]
    batch: Option<u64>,
}

/// The rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum RuleName {
    /// The likeliest class. Undercounts every minority.
    Argmax,
    /// The likeliest class where it is likely enough, else no label.
    Threshold,
    /// A class drawn by chance: right on average in any subgroup, least accurate row by row.
    Thompson,
    /// A class drawn among the likeliest.
    TopK,
    /// The most accurate labels whose counts match the reference.
    Match,
    /// Accuracy weighed against fidelity to the reference.
    Balance,
    /// What a model has learned from the labels of match on a batch of the rows, as in the paper. Counts are near.
    Learned,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum LearnerName {
    /// A linear support vector machine.
    Svm,
    /// Multinomial logistic regression.
    Logistic,
    /// A random forest.
    Forest,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum PenaltyName {
    L1,
    L2,
    L2Squared,
    Kl,
}

impl RuleArgs {
    /// The rule for a table.
    pub(crate) fn rule(&self, table: &Table, options: &TableArgs) -> Result<Rule> {
        self.check_classes(table.classes())?;
        self.check_memory(table, options)?;
        Ok(match self.rule {
            RuleName::Argmax => Rule::Argmax,
            RuleName::Threshold => Rule::Threshold(self.thresholds()),
            RuleName::Thompson => Rule::Thompson,
            RuleName::TopK => Rule::TopK(self.k.map_or(2, usize::from)),
            RuleName::Match => self.sampled(JointRule::Match(self.matching(table, options)?)),
            RuleName::Balance => self.sampled(JointRule::Balance(self.balance(table, options)?)),
            RuleName::Learned => Rule::Learned(self.learned(table, options)?),
        })
    }

    /// A joint rule on all rows, or on a sample where that is asked for.
    fn sampled(&self, joint: JointRule) -> Rule {
        match self.from_sample {
            Some(rows) => Rule::FromSample(FromSample { joint, rows: rows as usize }),
            None => joint.rule(),
        }
    }

    fn learned(&self, table: &Table, options: &TableArgs) -> Result<Learned> {
        let exact = match self.gamma.is_some() || self.penalty.is_some() {
            true => JointRule::Balance(self.balance(table, options)?),
            false => JointRule::Match(self.matching(table, options)?),
        };
        let learner = match self.learner.unwrap_or(LearnerName::Svm) {
            LearnerName::Svm => Learner::Svm,
            LearnerName::Logistic => Learner::Logistic,
            LearnerName::Forest => Learner::Forest,
        };
        let batch = self.batch.map_or(Learned::BATCH, |rows| rows as usize);
        Ok(Learned::new(exact).with_learner(learner).with_batch(batch))
    }

    fn balance(&self, table: &Table, options: &TableArgs) -> Result<Balance> {
        let penalty = match self.penalty.unwrap_or(PenaltyName::L1) {
            PenaltyName::L1 => Penalty::L1,
            PenaltyName::L2 => Penalty::L2,
            PenaltyName::L2Squared => Penalty::L2Squared,
            PenaltyName::Kl => Penalty::Kl,
        };
        Ok(Balance::new(self.gamma.unwrap_or(0.9), self.matching(table, options)?).with_penalty(penalty))
    }

    /// The columns that make groups: those of `--nested`, or else of `--by`.
    pub(crate) fn groups<'a>(&'a self, options: &'a TableArgs) -> Grouping<'a> {
        if self.nested.is_empty() {
            return options.groups();
        }
        Grouping { columns: &self.nested, setting: Setting::Nested }
    }

    /// The rule's name.
    pub(crate) fn name(&self) -> String {
        self.rule.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
    }

    /// What a reader of a report needs to know of the rule, defaults and all.
    pub(crate) fn facts(&self) -> Vec<(&'static str, String)> {
        let own = match self.rule {
            RuleName::Threshold if self.at.is_empty() => ", at 0.8".to_owned(),
            RuleName::TopK => format!(", k {}", self.k.unwrap_or(2)),
            RuleName::Balance => {
                let penalty = self.penalty.unwrap_or(PenaltyName::L1).to_possible_value();
                let penalty = penalty.map_or_else(String::new, |value| value.get_name().to_owned());
                format!(", γ {}, distance {penalty}", self.gamma.unwrap_or(0.9))
            }
            RuleName::Learned => {
                let learner = self.learner.unwrap_or(LearnerName::Svm).to_possible_value();
                let learner = learner.map_or_else(String::new, |value| value.get_name().to_owned());
                format!(", by {learner}, from a batch of {} rows", self.batch.unwrap_or(Learned::BATCH as u64))
            }
            _ => String::new(),
        };
        let mut facts = vec![("Rule", format!("{}{own}; all else as the command says", self.name()))];
        if matches!(self.rule, RuleName::Match | RuleName::Balance | RuleName::Learned) {
            let reference = match self.reference.as_str() {
                "posterior" => "the posterior, the mean of the scores".to_owned(),
                "truth" => "the shares of the truth".to_owned(),
                "uniform" => "all classes alike".to_owned(),
                file => format!("the file {file}"),
            };
            facts.push(("Reference", reference));
        }
        if self.draws() > 1 {
            facts.push(("Draws", format!("{}; what is shown is the first", self.draws())));
        }
        facts
    }

    /// The file that the reference is in, where it is in one.
    pub(crate) fn beside(&self) -> Result<Vec<ExtraFile>> {
        Ok(reference::extra_files(&self.reference)?)
    }

    /// The options, defaults and all, that labels depend on.
    pub(crate) fn record(&self, into: &mut Recorded) {
        use RuleName::{Balance, Learned, Match, Threshold, TopK};
        let is = |rules: &[RuleName]| rules.contains(&self.rule);
        let named = |value: Option<clap::builder::PossibleValue>| value.map(|value| value.get_name().to_owned());
        let traded = is(&[Balance]) || is(&[Learned]) && (self.gamma.is_some() || self.penalty.is_some());
        into.rule = Some(self.name());
        into.reference = is(&[Match, Balance, Learned]).then(|| self.reference.clone());
        into.gamma = traded.then(|| self.gamma.unwrap_or(0.9));
        into.penalty = named(self.penalty.unwrap_or(PenaltyName::L1).to_possible_value()).filter(|_| traded);
        if is(&[Threshold]) {
            let Thresholds { default, by_class } = self.thresholds();
            (into.at, into.at_by_class) = (Some(default), by_class);
        }
        into.k = is(&[TopK]).then(|| self.k.map_or(2, usize::from));
        into.draws = self.draws;
        into.coverage = self.coverage;
        into.at_least = self.at_least.iter().map(|(class, bound)| (class.clone(), (*bound).into())).collect();
        into.at_most = self.at_most.iter().map(|(class, bound)| (class.clone(), (*bound).into())).collect();
        into.margin = self.margin;
        into.nested.clone_from(&self.nested);
        into.from_sample = self.from_sample;
        into.learner = named(self.learner.unwrap_or(LearnerName::Svm).to_possible_value()).filter(|_| is(&[Learned]));
        into.batch = is(&[Learned]).then(|| self.batch.unwrap_or(apportion::rule::Learned::BATCH as u64));
    }

    /// The files that the rule is made of, which outputs must not replace.
    pub(crate) fn side_inputs(&self) -> Vec<SideInput> {
        match self.reference.as_str() {
            "posterior" | "truth" | "uniform" => Vec::new(),
            path => vec![SideInput::new(Setting::Reference, path)],
        }
    }

    /// What the counts are held against when all is done.
    pub(crate) fn aim(&self) -> Aim {
        let scores = self.reference == "posterior" && self.coverage.is_none() && self.at_least.is_empty();
        if scores && self.at_most.is_empty() { Aim::Scores } else { Aim::Targets }
    }

    /// What the shares of the labels are to be on other rows, too, given the labels of these; none where the rule promises
    /// no counts, or where they depend on how many rows each group has.
    pub(crate) fn wanted(&self, outcome: &RuleResult, by_group: bool) -> Option<ExpectedShares> {
        let summary = &outcome.summary;
        let joint = matches!(self.rule, RuleName::Match | RuleName::Balance | RuleName::Learned);
        if !joint || summary.labeled == 0 {
            return None;
        }
        let to_posterior = self.reference == "posterior";
        if to_posterior && !self.is_traded() {
            return Some(ExpectedShares::Posterior);
        }
        if by_group {
            return None;
        }
        let counts: Vec<f64> = summary.counts().iter().map(|&count| count as f64).collect();
        Some(if to_posterior {
            let both = shares(&counts).into_iter().zip(shares(&summary.posterior_sums()));
            ExpectedShares::OffsetFromPosterior(both.map(|(labels, scores)| labels - scores).collect())
        } else {
            let targets = outcome.targets.as_ref().filter(|_| !self.is_traded());
            let targets = targets.map(|targets| targets.iter().map(|&target| target as f64).collect::<Vec<f64>>());
            ExpectedShares::Shares(shares(&targets.unwrap_or(counts)))
        })
    }

    /// Whether counts are given for accuracy, or for bounds.
    fn is_traded(&self) -> bool {
        let balanced = self.rule == RuleName::Balance || self.gamma.is_some() || self.penalty.is_some();
        balanced || !self.at_least.is_empty() || !self.at_most.is_empty()
    }

    /// How many draws to make.
    pub(crate) fn draws(&self) -> u64 {
        self.draws.unwrap_or(1)
    }

    /// Refuses options that the rule does not look at: whoever gives one means something by it.
    pub(crate) fn check(&self, by_group: bool) -> Result<()> {
        use RuleName::{Balance, Learned, Match, Thompson, Threshold, TopK};
        let bounded = !self.at_least.is_empty() || !self.at_most.is_empty();
        if self.margin.is_some() && self.rule == Match {
            return Err(usage(
                "--margin: match leaves no room to be off; for the most accurate labels within a margin use --rule balance \
                 --gamma 1 --margin 0.01",
            ));
        }
        for (option, given, rules) in [
            ("--gamma", self.gamma.is_some(), &[Balance, Learned][..]),
            ("--penalty", self.penalty.is_some(), &[Balance, Learned]),
            ("--at", !self.at.is_empty(), &[Threshold]),
            ("--k", self.k.is_some(), &[TopK]),
            ("--draws", self.draws.is_some(), &[Thompson, TopK]),
            ("--coverage", self.coverage.is_some(), &[Match, Balance]),
            ("--at-least and --at-most", bounded, &[Match, Balance]),
            ("--margin", self.margin.is_some(), &[Balance]),
            ("--reference", self.reference != "posterior", &[Match, Balance, Learned]),
            ("--nested", !self.nested.is_empty(), &[Match]),
            ("--from-sample", self.from_sample.is_some(), &[Match, Balance]),
            ("--learner", self.learner.is_some(), &[Learned]),
            ("--batch", self.batch.is_some(), &[Learned]),
        ] {
            if given && !rules.contains(&self.rule) {
                let names = rules.iter().filter_map(|rule| Some(rule.to_possible_value()?.get_name().to_owned()));
                let names = names.collect::<Vec<_>>().join(" or --rule ");
                return Err(usage(format!("{option}: it belongs to --rule {names}")));
            }
        }
        if self.rule == Learned && by_group {
            return Err(usage(
                "--by: --rule learned learns from a batch of all rows, which has few of a small group; use --rule match \
                 --by, which is exact in each",
            ));
        }
        if self.at.iter().filter(|at| at.class.is_none()).count() > 1 {
            let way_on = "name the classes of the others: 0.8,black=0.5";
            return Err(usage(format!("--at: several thresholds for all classes; {way_on}")));
        }
        Ok(())
    }

    /// What a joint rule aims at.
    pub(crate) fn matching(&self, table: &Table, options: &TableArgs) -> Result<Match> {
        let by = self.groups(options).columns;
        let given = options.host.as_ref().and_then(|host| host.reference.as_ref());
        let reference = reference::read(&self.reference, given, table.classes(), by, &options.context())?;
        let by_group = !by.is_empty();
        let nested = if self.nested.is_empty() { Vec::new() } else { table.nesting() };
        let aim = Match { by_group, nested, ..Match::overall(reference) };
        let bounds = Bounds {
            at_least: self.at_least.iter().cloned().collect(),
            at_most: self.at_most.iter().cloned().collect(),
            margin: self.margin,
        };
        Ok(Match { coverage: self.coverage, bounds, ..aim })
    }

    /// Refuses classes that the table does not have, by the option that names them.
    fn check_classes(&self, classes: &Classes) -> Result<()> {
        let at = self.at.iter().filter_map(|at| Some(("--at", at.class.as_ref()?)));
        let least = self.at_least.iter().map(|(class, _)| ("--at-least", class));
        let most = self.at_most.iter().map(|(class, _)| ("--at-most", class));
        for (option, class) in at.chain(least).chain(most) {
            classes.position(class).context(option)?;
        }
        Ok(())
    }

    /// Refuses a joint rule that needs far more memory than allowed: with many classes nearly all rows are solved at once.
    fn check_memory(&self, table: &Table, options: &TableArgs) -> Result<()> {
        let joint = matches!(self.rule, RuleName::Match | RuleName::Balance) && self.from_sample.is_none();
        let by_group = !self.groups(options).columns.is_empty();
        let classes = table.classes().len();
        if !joint || by_group || classes <= MANY_CLASSES {
            return Ok(());
        }
        let (needed, allowed) = ((table.rows() * classes) as u64 * BYTES_PER_SCORE, options.memory());
        if needed <= allowed {
            return Ok(());
        }
        let mebibytes = |bytes: u64| bytes.div_ceil(1 << 20);
        bail!(
            "{} rows of {classes} classes take about {} MiB of memory to solve, and {} MiB are allowed; combine rare classes, \
             solve by group with --by, or allow it with --memory {}M",
            text::count(table.rows() as u64),
            mebibytes(needed),
            mebibytes(allowed),
            mebibytes(needed)
        )
    }

    fn thresholds(&self) -> Thresholds {
        let all = self.at.iter().find(|at| at.class.is_none()).map_or(0.8, |at| at.least);
        let own = self.at.iter().filter_map(|at| Some((at.class.as_ref()?, at.least)));
        own.fold(Thresholds::at(all), |thresholds, (class, least)| thresholds.with(class, least))
    }
}

/// Parts of their sum.
fn shares(sums: &[f64]) -> Vec<f64> {
    let all: f64 = sums.iter().sum();
    sums.iter().map(|sum| sum / all).collect()
}
