//! A rule fitted to a table: small, saved as JSON, and able to label further rows.
//!
//! For a joint rule it contains K prices per group and further prices for ties. The label of a row is the class with
//! the largest score + price; among equal classes, the one with the largest hash + price of the first tie level, and
//! so on. So apply(fit(x), x) = label(x), row by row. The module `apply` applies it.

use crate::error::{Error, Result};
use crate::kernel::GRID;
use crate::learn::Model;
use crate::rule;
use crate::scores::Classes;
use crate::text::quoted;

pub use crate::apply::Applier;
pub(crate) use crate::transport::Prices;

/// A fitted rule: small, serializable, and able to label further rows.
///
/// ```
/// # use apportion::{Classes, Decision, Match, Matrix, Reference, Rule, Scores, Settings};
/// # let classes = Classes::new(["a", "b"])?;
/// # let scores = Scores::new(&classes, Matrix::RowsF64(&[0.9, 0.1, 0.6, 0.4]))?;
/// let decision = Rule::Match(Match::overall(Reference::Uniform)).fit(&scores, &Settings::default())?;
/// let json = serde_json::to_string(&decision)?;
/// let again: Decision = serde_json::from_str(&json)?;
/// assert_eq!(again.apply(&scores)?.values(), [0, 1]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(try_from = "Saved", into = "Saved")]
pub struct Decision {
    pub(crate) classes: Classes,
    pub(crate) seed: u64,
    pub(crate) fitted: Fitted,
    /// The prices on the grid, in the order of `fitted`; one set of zeros for argmax; empty for other rules. The
    /// prices of unknown groups come last, if there are any.
    pub(crate) levels: Vec<Vec<Prices>>,
    /// Prices for all rows, if `fitted` has prices by group.
    pub(crate) overall: Option<GroupPrices>,
    pub(crate) fit_info: Option<FitInfo>,
}

/// How rows are labeled whose group is not in a decision with prices by group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum UnknownGroups {
    /// They are an error.
    #[default]
    Refuse,
    /// They are labeled at the prices for all rows of the fit.
    Overall,
    /// They stay Uncoded.
    Unlabeled,
}

/// The data that a decision was fitted to. No label depends on it.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct FitInfo {
    /// The name of the rule, if it is known.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub rule: Option<String>,
    /// The reference, by its name or file, if the rule has one and it is known.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub reference: Option<String>,
    /// The score columns, in the order of the classes.
    pub scores: Vec<String>,
    /// The columns that define the groups, if there are groups.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub groups: Vec<String>,
    /// Number of people.
    pub people: u64,
    /// Number of tied people: an upper bound on the errors of a system that cannot break ties.
    pub tied: u64,
    /// Number of rows of the sample, if the rule was solved on one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub sample: Option<u64>,
    /// The expected shares of the labels, if the rule has any.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub expected_shares: Option<ExpectedShares>,
    /// The number of people of each class who are the only ones with this label in their group, if there are groups.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub single_members: Vec<u64>,
    /// Why there are no overall prices, if the decision is by group and they could not be computed.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub no_overall: Option<String>,
}

/// The expected shares of labels, on any rows.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum ExpectedShares {
    /// The means of the scores.
    Posterior,
    /// The means of the scores plus an offset per class: for balance, which trades fidelity, for bounds, and for the
    /// rounding of groups.
    OffsetFromPosterior(Vec<f64>),
    /// Fixed shares.
    Shares(Vec<f64>),
}

/// The fitted parameters of a rule.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
#[serde(rename_all = "kebab-case")]
pub enum Fitted {
    /// No parameters.
    Argmax,
    /// The threshold of each class.
    Threshold {
        /// In the order of the classes.
        at: Vec<f64>,
    },
    /// No parameters.
    Thompson,
    /// The parameter k.
    TopK {
        /// The number of most likely classes to draw from.
        k: usize,
    },
    /// Prices for all rows or for each group.
    Prices(Vec<GroupPrices>),
    /// A trained model.
    Learned(Model),
}

/// The prices of a group, or of all rows.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct GroupPrices {
    /// The group. Left out if the prices are for all rows.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub group: Option<String>,
    /// The price of each class, a multiple of 2^-40 that is added to its score. A class without a price is never assigned.
    /// If some rows stay Uncoded, there is one more price than classes; the last one is added to a score of zero.
    pub prices: Vec<Option<f64>>,
    /// Prices that are added to the hashes of tied classes, level by level.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub ties: Vec<Vec<Option<f64>>>,
}

impl GroupPrices {
    pub(crate) fn new(group: Option<String>, levels: &[Prices]) -> GroupPrices {
        let value = |prices: &Prices| prices.iter().map(|price| price.map(|units| GRID.value(units))).collect();
        let mut levels = levels.iter().map(value);
        GroupPrices { group, prices: levels.next().unwrap_or_default(), ties: levels.collect() }
    }

    /// Returns all levels on the grid.
    fn levels(&self) -> Vec<Prices> {
        let units =
            |prices: &Vec<Option<f64>>| prices.iter().map(|price| price.map(|value| GRID.round(value))).collect();
        std::iter::once(&self.prices).chain(&self.ties).map(units).collect()
    }
}

/// A fitted rule, as it is saved.
#[derive(serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields, rename = "Decision"))]
struct Saved {
    /// The version of this format.
    version: u32,
    /// The names of the classes, in order.
    classes: Classes,
    /// The seed of draws and ties.
    seed: u64,
    /// The fitted parameters of the rule.
    rule: Fitted,
    /// The prices for all rows of the fit, for rows of other groups. Only with prices by group.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    overall: Option<GroupPrices>,
    /// The data that the decision was fitted to. No label depends on it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    fit_info: Option<FitInfo>,
}

/// A decision has the schema of its serialized form.
#[cfg(feature = "schema")]
impl schemars::JsonSchema for Decision {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        Saved::schema_name()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        Saved::json_schema(generator)
    }
}

/// Incremented when the meaning of the serialized form changes.
const VERSION: u32 = 2;

impl TryFrom<Saved> for Decision {
    type Error = Error;
    fn try_from(saved: Saved) -> Result<Decision> {
        if saved.version != VERSION {
            let problem = format!("it has version {}, but this program reads version {VERSION}", saved.version);
            return Err(Error::Decision { problem });
        }
        saved.fit_info.iter().try_for_each(|fit_info| check_fit_info(fit_info, saved.classes.len()))?;
        let mut decision = Decision::new(saved.classes, saved.seed, saved.rule)?;
        if let Some(overall) = saved.overall {
            decision = decision.with_overall(&overall)?;
        }
        Ok(Decision { fit_info: saved.fit_info, ..decision })
    }
}

impl From<Decision> for Saved {
    fn from(decision: Decision) -> Saved {
        let Decision { classes, seed, fitted, overall, fit_info, .. } = decision;
        Saved { version: VERSION, classes, seed, rule: fitted, overall, fit_info }
    }
}

impl Decision {
    /// Checks fitted or deserialized parameters.
    pub(crate) fn new(classes: Classes, seed: u64, mut fitted: Fitted) -> Result<Decision> {
        let k = classes.len();
        let refuse = |problem: String| Err(Error::Decision { problem });
        let levels = match &mut fitted {
            Fitted::Argmax => vec![vec![rule::argmax_prices(k)]],
            Fitted::Prices(groups) => {
                for group in groups.iter() {
                    check_prices(group, k)?;
                }
                let mut names: Vec<_> = groups.iter().map(|group| &group.group).collect();
                names.sort_unstable();
                if names.windows(2).any(|pair| pair[0] == pair[1]) || (names.len() > 1 && names[0].is_none()) {
                    return refuse("a group is listed twice".into());
                }
                let levels: Vec<Vec<Prices>> = groups.iter().map(GroupPrices::levels).collect();
                // JSON readers may change the last digit; rounding to the grid restores it.
                for (group, levels) in groups.iter_mut().zip(&levels) {
                    *group = GroupPrices::new(group.group.take(), levels);
                }
                levels
            }
            Fitted::Threshold { at } if at.len() != k => {
                return refuse(format!("it has {} thresholds for {k} classes", at.len()));
            }
            Fitted::Threshold { at } => {
                classes.names().iter().zip(at.iter()).try_for_each(|(class, &bar)| rule::check_bar(class, bar))?;
                Vec::new()
            }
            Fitted::TopK { k: 0 } => return refuse("its k is 0".into()),
            Fitted::Learned(model) => {
                *model = model.clone().checked(k)?;
                Vec::new()
            }
            Fitted::TopK { .. } | Fitted::Thompson => Vec::new(),
        };
        Ok(Decision { classes, seed, fitted, levels, overall: None, fit_info: None })
    }

    /// Adds prices for all rows, for rows of groups that the decision does not have.
    ///
    /// # Errors
    /// If the decision has no prices by group, or these prices are not for all rows.
    pub fn with_overall(self, overall: &GroupPrices) -> Result<Decision> {
        check_prices(overall, self.classes.len())?;
        if self.groups().is_none() || overall.group.is_some() {
            return Err(Error::Decision { problem: "its overall prices do not belong to prices by group".into() });
        }
        Ok(Decision { overall: Some(GroupPrices::new(None, &overall.levels())), ..self })
    }

    /// Returns the prices for all rows, if the decision has them in addition to prices by group.
    pub fn overall(&self) -> Option<&GroupPrices> {
        self.overall.as_ref()
    }

    /// Returns the prices of each group, if the decision has prices by group.
    pub fn groups(&self) -> Option<&[GroupPrices]> {
        match &self.fitted {
            Fitted::Prices(groups) if groups.iter().all(|group| group.group.is_some()) => Some(groups),
            Fitted::Argmax
            | Fitted::Threshold { .. }
            | Fitted::Thompson
            | Fitted::TopK { .. }
            | Fitted::Prices(_)
            | Fitted::Learned(_) => None,
        }
    }

    /// Sets how rows of unknown groups are labeled; they are an error otherwise. Decisions without prices by group
    /// have no unknown groups. The setting is not saved.
    ///
    /// # Errors
    /// If overall prices are requested and the decision does not contain them.
    pub fn with_unknown_groups(mut self, unknown: UnknownGroups) -> Result<Decision> {
        let Some(known) = self.groups().map(<[GroupPrices]>::len) else { return Ok(self) };
        self.levels.truncate(known);
        if let Some(prices) = self.prices_of_unknown_groups(unknown)? {
            self.levels.push(prices.levels());
        }
        Ok(self)
    }

    /// Returns the prices at which rows of unknown groups are labeled; `None` if they are refused.
    ///
    /// # Errors
    /// If overall prices are requested and the decision does not contain them.
    pub fn prices_of_unknown_groups(&self, unknown: UnknownGroups) -> Result<Option<GroupPrices>> {
        match unknown {
            UnknownGroups::Refuse => Ok(None),
            UnknownGroups::Overall => Ok(Some(self.overall.clone().ok_or(Error::NoOverallPrices)?)),
            UnknownGroups::Unlabeled => {
                // Only the class of Uncoded rows, which comes last, has a price.
                let mut prices = vec![None; self.classes.len()];
                prices.push(Some(0.0));
                Ok(Some(GroupPrices { group: None, prices, ties: Vec::new() }))
            }
        }
    }

    /// Adds information about the fit.
    pub fn with_fit_info(self, fit_info: FitInfo) -> Decision {
        Decision { fit_info: Some(fit_info), ..self }
    }

    /// Returns information about the fit, if known.
    pub fn fit_info(&self) -> Option<&FitInfo> {
        self.fit_info.as_ref()
    }

    /// Returns the classes.
    pub fn classes(&self) -> &Classes {
        &self.classes
    }

    /// Returns the seed of draws and ties.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// Returns the fitted parameters.
    pub fn fitted(&self) -> &Fitted {
        &self.fitted
    }
}

/// Checks that there is one share and one number of people per class.
fn check_fit_info(fit_info: &FitInfo, k: usize) -> Result<()> {
    let shares = match &fit_info.expected_shares {
        Some(ExpectedShares::OffsetFromPosterior(shares) | ExpectedShares::Shares(shares)) => shares.len(),
        None | Some(ExpectedShares::Posterior) => k,
    };
    if shares != k {
        return Err(Error::Decision { problem: format!("it has {shares} shares for {k} classes") });
    }
    match fit_info.single_members.len() {
        0 => Ok(()),
        singles if singles == k => Ok(()),
        singles => {
            Err(Error::Decision { problem: format!("it has {singles} numbers of single members for {k} classes") })
        }
    }
}

/// Checks that there is one price per class, in a plausible range.
fn check_prices(group: &GroupPrices, k: usize) -> Result<()> {
    let problem = |problem: &str| {
        let of = group.group.as_ref().map_or_else(String::new, |name| format!(" of group {}", quoted(name)));
        Err(Error::Decision { problem: format!("the prices{of} {problem}") })
    };
    for level in std::iter::once(&group.prices).chain(&group.ties) {
        if level.len() != group.prices.len() || !(k..=k + 1).contains(&level.len()) {
            return problem("must be one per class");
        }
        if level.iter().all(Option::is_none) {
            return problem("exclude every class");
        }
        if level.iter().flatten().any(|price| !price.is_finite() || price.abs() > 1024.0) {
            return problem("are out of range");
        }
    }
    Ok(())
}
