//! The factors of one person's scores: the numbers by class whose product is proportional to the scores, and the rows
//! of the tables that they come from.

use super::{Bisg, MatchInfo, Person, Population, quotient};
use crate::error::Result;
use crate::names::{NameId, NameRow, NameTable};
use crate::numbers::Numbers;
use crate::places::{Place, PlaceLookup, PlaceTable};

/// Which of a person's names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameRole {
    /// The surname.
    Surname,
    /// The first name.
    First,
    /// The middle name.
    Middle,
}

impl NameRole {
    /// All names, in the order of [`crate::NameLikelihoods::of`].
    pub const ALL: [NameRole; 3] = [NameRole::Surname, NameRole::First, NameRole::Middle];
}

/// The kind of numbers of a factor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FactorKind {
    /// P(class | name).
    Shares(NameRole),
    /// P(name | class), or numbers proportional to it.
    Likelihoods(NameRole),
    /// P(name | class) + [`NAME_NOISE`](crate::NAME_NOISE), for fBISG.
    NoisyLikelihoods(NameRole),
    /// P(class) among the people of a table of names.
    Margin(NameRole),
    /// The numbers of the place.
    Place(Numbers),
    /// The people of the place, plus one, for fBISG.
    PlacePlusOne,
    /// The people of all places.
    AllPlaces,
    /// The shares of the classes among voters.
    Voters,
    /// P(class) if nothing else is known.
    Prior,
}

/// Numbers by class that are multiplied into the scores.
#[derive(Clone, Debug, PartialEq)]
pub struct Factor {
    /// The kind of the numbers.
    pub kind: FactorKind,
    /// Their power in the product: -1 if the product is divided by them.
    pub power: i32,
    /// The numbers by class.
    pub values: Vec<f64>,
}

/// The factors of a product, in order. Factors that cancel are left out.
#[derive(Default)]
struct Product(Vec<Factor>);

impl Product {
    fn multiply(&mut self, kind: FactorKind, values: &[f64]) {
        self.push(kind, 1, values);
    }

    fn divide(&mut self, kind: FactorKind, values: &[f64]) {
        self.push(kind, -1, values);
    }

    /// Multiplies by the numbers of a name and, if the table has P(class | name) but the model needs P(name | class),
    /// divides by the class shares of the table.
    fn multiply_name(&mut self, table: &NameTable, role: NameRole, id: NameId) {
        let rows = table.rows_behind(id);
        let parts = rows.len().max(1) as f64;
        let mean = |class: usize| rows.iter().map(|row| row.values[class]).sum::<f64>() / parts;
        let values: Vec<f64> = (0..table.classes()).map(mean).collect();
        match table.margin() {
            Some(margin) => {
                self.multiply(FactorKind::Shares(role), &values);
                if table.is_key_given_class() {
                    self.divide(FactorKind::Margin(role), margin);
                }
            }
            None if table.is_key_given_class() => self.multiply(FactorKind::Likelihoods(role), &values),
            None => self.multiply(FactorKind::Shares(role), &values),
        }
    }

    fn push(&mut self, kind: FactorKind, power: i32, values: &[f64]) {
        match self.0.iter_mut().find(|own| own.kind == kind) {
            Some(own) => own.power += power,
            None => self.0.push(Factor { kind, power, values: values.to_vec() }),
        }
        self.0.retain(|own| own.power != 0);
    }
}

impl Factor {
    /// Returns the product of factors, by class. A class whose divisor is zero has no people, and its product is zero.
    pub fn product(factors: &[Factor], classes: usize) -> Vec<f64> {
        let value = |factor: &Factor, class: usize| match factor.values[class] {
            0.0 => 0.0,
            value => value.powi(factor.power),
        };
        (0..classes).map(|class| factors.iter().map(|factor| value(factor, class)).product()).collect()
    }
}

impl Bisg {
    /// Returns the factors of a person's scores, given the information that was used for them. Their product, divided
    /// by its sum, is the scores up to rounding. If it is zero for all classes, the scores are uniform.
    pub fn factors(&self, person: &Person<'_>, info: &MatchInfo) -> Vec<Factor> {
        let mut product = Product::default();
        self.surname_factors(person.surname, info, &mut product);
        if let Some(table) = self.first_names.as_ref().filter(|_| !info.without_first_name) {
            product.multiply_name(table, NameRole::First, person.first_name);
        }
        if let Some(table) = self.middle_names.as_ref().filter(|_| !info.without_middle_name) {
            product.multiply_name(table, NameRole::Middle, person.middle_name);
        }
        if let Some(level) = info.place {
            self.place_factors(usize::from(level), info.place_row, &mut product);
        }
        match (&self.population, &self.all_places) {
            (Population::Voters { shares, .. }, Some(all)) => {
                product.multiply(FactorKind::Voters, shares);
                if info.place.is_some() {
                    product.divide(FactorKind::AllPlaces, all);
                }
            }
            (Population::Everybody, _) if info.place.is_none() && self.surnames.is_key_given_class() => {
                product.multiply(FactorKind::Prior, &self.without_place);
            }
            (Population::Everybody | Population::Voters { .. }, _) => {}
        }
        product.0
    }

    /// Adds the numbers of the surname, or of all people if it is not used, and the class shares by which they are
    /// divided.
    fn surname_factors(&self, id: NameId, info: &MatchInfo, product: &mut Product) {
        let (is_voters, as_published) = match self.population {
            Population::Everybody => (false, false),
            Population::Voters { as_published, .. } => (true, as_published),
        };
        let is_key_given_class = self.surnames.is_key_given_class();
        let margin = self.surnames.margin().map(|margin| (FactorKind::Margin(NameRole::Surname), margin));
        let all_places = self.all_places.as_deref().map(|all| (FactorKind::AllPlaces, all));
        if !info.without_surname {
            product.multiply_name(&self.surnames, NameRole::Surname, id);
        } else if !is_key_given_class {
            let margin = margin.unwrap_or((FactorKind::Prior, &self.without_name));
            let (kind, values) = all_places.filter(|_| as_published).unwrap_or(margin);
            product.multiply(kind, values);
        }
        let numbers = info.place.and_then(|level| self.layers.get(usize::from(level))).map(PlaceTable::numbers);
        let is_divided = is_voters || matches!(numbers, Some(Numbers::People | Numbers::Shares));
        if is_divided && !is_key_given_class {
            let divisor = margin.filter(|_| !as_published).or(all_places);
            divisor.iter().for_each(|(kind, values)| product.divide(*kind, values));
        }
    }

    /// Adds the numbers of a place, as its table has them.
    fn place_factors(&self, level: usize, row: u32, product: &mut Product) {
        let layer = &self.layers[level];
        let (kind, values) = (FactorKind::Place(layer.numbers()), layer.row(row as usize));
        let prepared = (layer.numbers(), self.surnames.is_key_given_class(), self.surnames.margin());
        match prepared {
            (Numbers::People, ..) => product.multiply(kind, self.people_in(level, row as usize).unwrap_or_default()),
            (Numbers::Shares, false, Some(margin)) => {
                let shares = values.iter().zip(margin).map(|(value, share)| value * share);
                product.multiply(kind, &shares.collect::<Vec<_>>());
            }
            (Numbers::KeyGivenClass, true, _) => {
                let given_class = values.iter().zip(&self.without_place).map(|(value, share)| quotient(*value, *share));
                product.multiply(kind, &given_class.collect::<Vec<_>>());
                product.multiply(FactorKind::Prior, &self.without_place);
            }
            (Numbers::Shares | Numbers::KeyGivenClass, ..) => product.multiply(kind, values),
        }
    }

    /// Returns the factors of fBISG if no one else of the file lives in a person's place.
    ///
    /// # Errors
    /// If the tables do not have the numbers that fBISG needs.
    pub fn sampler_factors(&self, person: &Person<'_>) -> Result<Vec<Factor>> {
        let likelihoods = self.likelihoods()?;
        let mut product = Product::default();
        let names = [person.surname, person.first_name, person.middle_name];
        for (role, id) in NameRole::ALL.into_iter().zip(names) {
            let mut values = vec![1.0; self.classes];
            if likelihoods.multiply(role, id, &mut values) {
                product.multiply(FactorKind::NoisyLikelihoods(role), &values);
            }
        }
        if let Some(people) = self.place_of(&person.place).and_then(|place| self.people_at(place)) {
            product.multiply(FactorKind::PlacePlusOne, &people.iter().map(|people| people + 1.0).collect::<Vec<_>>());
        }
        Ok(product.0)
    }

    /// Returns the rows whose numbers are used for a name: its own, those of its parts, or the row for all other names.
    pub fn name_rows(&self, role: NameRole, id: NameId) -> Vec<NameRow> {
        self.table_of(role).map(|table| table.rows_behind(id)).unwrap_or_default()
    }

    fn table_of(&self, role: NameRole) -> Option<&NameTable> {
        match role {
            NameRole::Surname => Some(&self.surnames),
            NameRole::First => self.first_names.as_ref(),
            NameRole::Middle => self.middle_names.as_ref(),
        }
    }

    /// Returns how a person's place is found at each of [`Bisg::levels`].
    pub fn look_up_place(&self, place: &Place<'_>) -> Vec<PlaceLookup> {
        self.layers.iter().map(|layer| layer.look_up(place)).collect()
    }
}
