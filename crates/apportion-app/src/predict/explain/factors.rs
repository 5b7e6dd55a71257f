//! The factors of the product: their symbols, their meanings, and the formula.

use apportion_bisg::{Factor, FactorKind, NAME_NOISE, NameRole, Numbers};
use serde::Serialize;

use super::{AllPeople, ExplainedName, Explanation, PlaceResult, Response, TriedPlace};
use crate::text::count;

/// A factor of the product.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct ExplainedFactor {
    /// Its symbol in the formula, such as `P(r|s)`.
    pub symbol: &'static str,
    /// Its power in the product: 1, or -1 or -2 if the product is divided by it.
    pub power: i32,
    /// The kind of the numbers, and their table.
    pub meaning: String,
    /// The numbers by class.
    pub values: Vec<f64>,
}

impl Explanation<'_> {
    /// Returns the formula of the scores.
    pub(super) fn formula(&self, factors: &[Factor]) -> String {
        let mut product = String::new();
        for factor in factors {
            let symbol = match factor.kind {
                FactorKind::PlacePlusOne => "(N_gr + 1 + n_r)",
                kind => symbol(kind),
            };
            let between = match (product.is_empty(), factor.power > 0) {
                (true, true) => "",
                (true, false) => "1 / ",
                (false, true) => " · ",
                (false, false) => " / ",
            };
            let power = if factor.power.abs() == 2 { "²" } else { "" };
            product += &format!("{between}{symbol}{power}");
        }
        match self.all {
            AllPeople::Unused => format!("score(r) ∝ {product}"),
            AllPeople::Weights(..) | AllPeople::Raked(..) => {
                format!("BISG(r) ∝ {product}; score(r) ∝ BISG(r) · w_r")
            }
            AllPeople::Means(_) => {
                let sweeps = count(u64::from(self.request.gibbs().kept));
                format!("P(r) ∝ {product}; score(r) = mean of P(r) over {sweeps} sweeps")
            }
        }
    }

    /// Returns a factor with its symbol and meaning.
    pub(super) fn factor(&self, factor: &Factor, response: &Response) -> ExplainedFactor {
        let Factor { kind, power, values } = factor;
        ExplainedFactor {
            symbol: symbol(*kind),
            power: *power,
            meaning: self.meaning(*kind, response),
            values: values.clone(),
        }
    }

    fn meaning(&self, kind: FactorKind, response: &Response) -> String {
        let name = |role: NameRole| match role {
            NameRole::Surname => Some(&response.surname),
            NameRole::First => response.first_name.as_ref(),
            NameRole::Middle => response.middle_name.as_ref(),
        };
        let rows = |role: NameRole| name(role).map(rows).unwrap_or_default();
        match kind {
            FactorKind::Shares(role) => format!("class shares of {}", rows(role)),
            FactorKind::Likelihoods(role) => format!("share of each class with {}", rows(role)),
            FactorKind::NoisyLikelihoods(role) => {
                let is_on_voter_list =
                    name(role).is_some_and(|name| name.rows.iter().any(|row| row.smoothing.is_some()));
                let up_to = if is_on_voter_list { ", up to a factor" } else { "" };
                format!("share of each class with {}{up_to}, plus {NAME_NOISE:e}", rows(role))
            }
            FactorKind::Margin(role) => format!("class shares of all people in {}", self.table_of_names(role)),
            FactorKind::Place(Numbers::People) => format!("people of the class in {}", place(response)),
            FactorKind::Place(Numbers::Shares) => format!("class shares of {}", place(response)),
            FactorKind::Place(Numbers::KeyGivenClass) => {
                format!("share of each class that lives in {}", place(response))
            }
            FactorKind::PlacePlusOne => format!("people of the class in {}, plus 1", place(response)),
            FactorKind::AllPlaces => match &self.request.within {
                Some(state) => format!("people of the class in all places of {state}"),
                None => "people of the class in all places of the table".into(),
            },
            FactorKind::Voters => {
                format!("class shares of {}, divided by their sum", self.request.margin_names().join(" and "))
            }
            FactorKind::Prior => "class shares of all people".into(),
        }
    }

    /// Returns the name of a table of names.
    fn table_of_names(&self, role: NameRole) -> String {
        let table = match role {
            NameRole::Surname => Some(&self.tables.surnames),
            NameRole::First => self.tables.first_names.as_ref(),
            NameRole::Middle => self.tables.middle_names.as_ref(),
        };
        table.map(|table| table.path.display().to_string()).unwrap_or_default()
    }
}

/// Returns the rows of a name in words: `SMITH in surnames-2020`.
fn rows(name: &ExplainedName) -> String {
    let keys: Vec<&str> = name.rows.iter().map(|row| row.key.as_str()).collect();
    let table = name.rows.first().map_or("", |row| row.table.as_str());
    match keys[..] {
        [first, second] => format!("{first} and {second} in {table}, their mean"),
        _ => format!("{} in {table}", keys.join("")),
    }
}

/// Returns the place that is used in words: `county 37063 (counties-2020)`.
fn place(response: &Response) -> String {
    let used = response.places.iter().find(|place| place.result == PlaceResult::Used);
    used.map(TriedPlace::describe).unwrap_or_default()
}

/// Returns the symbol of a factor. r is a class, s a surname, f a first name, m a middle name and g a place.
fn symbol(kind: FactorKind) -> &'static str {
    match kind {
        FactorKind::Shares(NameRole::Surname) => "P(r|s)",
        FactorKind::Shares(NameRole::First) => "P(r|f)",
        FactorKind::Shares(NameRole::Middle) => "P(r|m)",
        FactorKind::Likelihoods(NameRole::Surname) | FactorKind::NoisyLikelihoods(NameRole::Surname) => "P(s|r)",
        FactorKind::Likelihoods(NameRole::First) | FactorKind::NoisyLikelihoods(NameRole::First) => "P(f|r)",
        FactorKind::Likelihoods(NameRole::Middle) | FactorKind::NoisyLikelihoods(NameRole::Middle) => "P(m|r)",
        FactorKind::Margin(NameRole::Surname) => "P_sur(r)",
        FactorKind::Margin(NameRole::First) => "P_first(r)",
        FactorKind::Margin(NameRole::Middle) => "P_mid(r)",
        FactorKind::Place(Numbers::People) => "N_gr",
        FactorKind::Place(Numbers::Shares) => "P(r|g)",
        FactorKind::Place(Numbers::KeyGivenClass) => "P(g|r)",
        FactorKind::PlacePlusOne => "N_gr + 1",
        FactorKind::AllPlaces => "N_r",
        FactorKind::Voters => "c_r",
        FactorKind::Prior => "P(r)",
    }
}
