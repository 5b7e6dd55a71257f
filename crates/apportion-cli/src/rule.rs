//! From the command line to a rule of the library.

use std::collections::BTreeMap;

use anyhow::{Context, Result, bail};
use apportion::{Balance, Bound, Bounds, Match, Penalty, Rule, Thresholds};
use apportion_table::Table;
use clap::{Args, ValueEnum};

use crate::reference;

/// Which rule, and its options.
#[derive(Args, Clone, Debug)]
pub(crate) struct RuleArgs {
    /// How labels are chosen.
    #[arg(long, value_enum, default_value_t = RuleName::Match)]
    pub(crate) rule: RuleName,
    /// What the counts are to match: posterior, truth, uniform, or a file with the columns class,share (and group).
    #[arg(long, default_value = "posterior", value_name = "posterior|truth|uniform|FILE")]
    pub(crate) reference: String,
    /// balance: the weight of accuracy against fidelity; 1 is argmax, 0 is match.
    #[arg(
        long,
        value_name = "0|0.001…1",
        help = "balance: the weight of accuracy against fidelity; 1 is argmax, 0 is match [default: 0.9]"
    )]
    gamma: Option<f64>,
    /// balance: how the distance from the reference is measured.
    #[arg(long, value_enum)]
    penalty: Option<PenaltyName>,
    /// threshold: the least score of a label; one for all, and others for single classes.
    #[arg(long, value_delimiter = ',', value_name = "T[,CLASS=T]")]
    at: Vec<String>,
    /// top-k: how many of the likeliest classes are drawn among.
    #[arg(long)]
    k: Option<usize>,
    /// thompson, top-k: how many draws to make.
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..))]
    draws: Option<u64>,
    /// match, balance: label only this share of the rows.
    #[arg(long, value_name = "SHARE")]
    coverage: Option<f64>,
    /// match, balance: at least so many people of a class, or a share with a %.
    #[arg(long, value_delimiter = ',', value_name = "CLASS=N|P%")]
    at_least: Vec<String>,
    /// match, balance: at most so many.
    #[arg(long, value_delimiter = ',', value_name = "CLASS=N|P%")]
    at_most: Vec<String>,
    /// match, balance: every share within this many points of the reference (0.01 is one point).
    #[arg(long, value_name = "POINTS")]
    margin: Option<f64>,
    /// match, balance: columns of units inside units, the largest first: the counts of each smallest unit are matched, and
    /// those of every larger unit are right, too.
    #[arg(long, value_delimiter = ',', value_name = "COL,COL[,…]", conflicts_with = "by")]
    nested: Vec<String>,
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
    pub(crate) fn rule(&self, table: &Table, by_group: bool) -> Result<Rule> {
        self.refuse_foreign()?;
        Ok(match self.rule {
            RuleName::Argmax => Rule::Argmax,
            RuleName::Threshold => Rule::Threshold(thresholds(&self.at)?),
            RuleName::Thompson => Rule::Thompson,
            RuleName::TopK => Rule::TopK(self.k.unwrap_or(2)),
            RuleName::Match => Rule::Match(self.matching(table, by_group)?),
            RuleName::Balance => {
                let penalty = match self.penalty.unwrap_or(PenaltyName::L1) {
                    PenaltyName::L1 => Penalty::L1,
                    PenaltyName::L2 => Penalty::L2,
                    PenaltyName::L2Squared => Penalty::L2Squared,
                    PenaltyName::Kl => Penalty::Kl,
                };
                Rule::Balance(
                    Balance::new(self.gamma.unwrap_or(0.9), self.matching(table, by_group)?).with_penalty(penalty),
                )
            }
        })
    }

    /// The columns that make groups: those of `--nested`, or else of `--by`.
    pub(crate) fn groups<'a>(&'a self, by: &'a [String]) -> &'a [String] {
        if self.nested.is_empty() { by } else { &self.nested }
    }

    /// The rule's name.
    pub(crate) fn name(&self) -> String {
        self.rule.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
    }

    /// How many draws to make.
    pub(crate) fn draws(&self) -> u64 {
        self.draws.unwrap_or(1)
    }

    /// Refuses options that the rule does not look at: whoever gives one means something by it.
    fn refuse_foreign(&self) -> Result<()> {
        use RuleName::{Balance, Match, Thompson, Threshold, TopK};
        let bounded = !self.at_least.is_empty() || !self.at_most.is_empty() || self.margin.is_some();
        for (option, given, rules) in [
            ("--gamma", self.gamma.is_some(), &[Balance][..]),
            ("--penalty", self.penalty.is_some(), &[Balance]),
            ("--at", !self.at.is_empty(), &[Threshold]),
            ("--k", self.k.is_some(), &[TopK]),
            ("--draws", self.draws.is_some(), &[Thompson, TopK]),
            ("--coverage", self.coverage.is_some(), &[Match, Balance]),
            ("--at-least, --at-most and --margin", bounded, &[Match, Balance]),
            ("--reference", self.reference != "posterior", &[Match, Balance]),
            ("--nested", !self.nested.is_empty(), &[Match, Balance]),
        ] {
            if given && !rules.contains(&self.rule) {
                let names = rules.iter().filter_map(|rule| Some(rule.to_possible_value()?.get_name().to_owned()));
                let names = names.collect::<Vec<_>>().join(" or --rule ");
                bail!("{option}: it belongs to --rule {names}");
            }
        }
        Ok(())
    }

    /// What a joint rule aims at.
    pub(crate) fn matching(&self, table: &Table, by_group: bool) -> Result<Match> {
        let reference = reference::read(&self.reference, table.classes())?;
        let nested = if self.nested.is_empty() { Vec::new() } else { table.nesting() };
        if self.nested.len() == 1 {
            bail!("--nested names units inside units, such as state,county; for one kind of unit use --by");
        }
        let aim = Match { by_group, nested, ..Match::overall(reference) };
        let bounds = Bounds {
            at_least: bounds("--at-least", &self.at_least)?,
            at_most: bounds("--at-most", &self.at_most)?,
            margin: self.margin,
        };
        Ok(Match { coverage: self.coverage, bounds, ..aim })
    }
}

/// `0.8,black=0.5`.
fn thresholds(texts: &[String]) -> Result<Thresholds> {
    let number = |text: &str| text.trim().parse::<f64>().with_context(|| format!("--at: {text:?} is no number"));
    let mut all = None;
    for text in texts.iter().filter(|text| !text.contains('=')) {
        if all.replace(number(text)?).is_some() {
            bail!("--at: several thresholds for all classes; name the classes of the others: 0.8,black=0.5");
        }
    }
    let mut thresholds = Thresholds::at(all.unwrap_or(0.8));
    for (class, at) in texts.iter().filter_map(|text| text.split_once('=')) {
        thresholds = thresholds.with(class.trim(), number(at)?);
    }
    Ok(thresholds)
}

/// `black=2000` or `black=20%`.
fn bounds(option: &str, texts: &[String]) -> Result<BTreeMap<String, Bound>> {
    let mut bounds = BTreeMap::new();
    for text in texts {
        let (class, value) =
            text.split_once('=').with_context(|| format!("{option}: {text:?} is not CLASS=N or CLASS=P%"))?;
        let bound = match value.trim().strip_suffix('%') {
            Some(percent) => percent.trim().parse().ok().map(|percent: f64| Bound::Share(percent / 100.0)),
            None => value.trim().parse().ok().map(Bound::Count),
        };
        let bound = bound.with_context(|| format!("{option}: {value:?} is neither a whole number nor a percentage"))?;
        bounds.insert(class.trim().to_owned(), bound);
    }
    Ok(bounds)
}
