//! The settings of the job: their meaning, their defaults, and valid combinations.

use std::collections::BTreeMap;

use apportion::text::{Message, Setting};
use apportion_bisg::census::CensusTable;
use apportion_bisg::{Gibbs, MarginKey};
use apportion_io::MemoryTable;
use serde::{Deserialize, Serialize};

use crate::input::Source;
use crate::protect::SideInput;
use crate::provenance::ProvenanceSettings;
use crate::reference::SHARES_IN_MEMORY;
use crate::{Error, Result};

/// The settings of the job.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(default)]
pub struct Request {
    /// The people: files, or a table in memory.
    #[serde(flatten)]
    pub source: Source,
    /// The output file, a directory with one file per input, or `-` for CSV on standard output. Scores of a table in
    /// memory are returned instead.
    pub output: Option<String>,
    /// Whether to replace an existing output.
    pub force: bool,
    /// Whether CSV and TSV text that a spreadsheet could run as a formula gets an apostrophe.
    pub safe_csv: bool,
    /// Whether and where provenance is written.
    #[serde(flatten)]
    pub provenance: ProvenanceSettings,
    /// The model. If not set, `bifsg` if the people have first names and the tables of names are built-in ones, otherwise
    /// `bisg`.
    pub model: Option<Model>,
    /// The surname column; recognized by name if not set.
    pub surname: Option<String>,
    /// The first name column; recognized by name if not set.
    pub first_name: Option<String>,
    /// The middle name column; recognized by name if not set.
    pub middle_name: Option<String>,
    /// The column of whole names, instead of columns of surnames, first names and middle names.
    pub full_name: Option<String>,
    /// The column of user-defined places, such as precincts. If no place column is set, place columns are recognized by
    /// name.
    pub place: Option<String>,
    /// The column of Census block groups or blocks.
    pub block_group: Option<String>,
    /// The column of Census tracts.
    pub tract: Option<String>,
    /// The column of ZIP codes.
    pub zcta: Option<String>,
    /// The column of counties: FIPS codes, or names and three digits if the state is known.
    pub county: Option<String>,
    /// The column of states: abbreviations, names or FIPS codes.
    pub state: Option<String>,
    /// The Census of the built-in tables.
    pub vintage: Vintage,
    /// The lists in which names are looked up, if the tables of names are built-in ones.
    pub names: NameLists,
    /// The table of surnames: a file, or the name of a built-in table. If not set, that of the vintage.
    pub surnames: Option<String>,
    /// The table of first names: a file, or the name of a built-in table.
    pub first_names: String,
    /// The table of middle names: a file. If not set, middle names are not used.
    pub middle_names: Option<String>,
    /// Tables of places, at most one per level; `none` for scores by names alone. If empty, built-in tables are used.
    pub geography: Vec<String>,
    /// The prefix of the number columns of a table, such as `vap_*`, if it has several sets.
    pub numbers: Option<String>,
    /// The classes, in the order of the scores; if empty, the classes of the surname table.
    pub classes: Vec<String>,
    /// New names of classes of the tables. Classes with the same name are merged.
    pub crosswalk: BTreeMap<String, String>,
    /// For `voter` and `rake`: the file with the class shares.
    pub margin: Option<String>,
    /// A table in memory, instead of the file; `margin` may be empty.
    #[serde(skip)]
    pub margin_table: Option<MemoryTable>,
    /// Tables in memory, by the names that other settings use for them instead of files: surnames, first names, places,
    /// and margins by surname and place.
    #[serde(skip)]
    pub tables: BTreeMap<String, MemoryTable>,
    /// For `rake`: the file with the people of each class by surname, or their shares.
    pub surname_margin: Option<String>,
    /// For `rake`: the file with the people of each class by place, or their shares.
    pub place_margin: Option<String>,
    /// For `rake` by surname or place: the allowed deviation from a margin, as a share of all people.
    pub tolerance: Option<f64>,
    /// The state to which places are limited: its abbreviation, name or FIPS code.
    pub within: Option<String>,
    /// For `voter`: whether to use the surname factor as published.
    pub as_published: bool,
    /// For `fbisg`: the seed of the draws.
    pub seed: Option<u64>,
    /// For `fbisg`: the number of sweeps that are discarded.
    pub burn_in: Option<u16>,
    /// For `fbisg`: the number of sweeps whose probabilities are averaged.
    pub sweeps: Option<u16>,
    /// The prefix of the score columns.
    pub prefix: String,
}

/// The model of the scores.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "PredictModel"))]
#[serde(rename_all = "kebab-case")]
pub enum Model {
    /// By surname and place.
    #[default]
    Bisg,
    /// By surname, first name and place.
    Bifsg,
    /// By surname and place, for registered voters with known shares of the classes.
    Voter,
    /// BISG, weighted so that all scores meet a margin.
    Rake,
    /// By surname and place, allowing for errors in the counts of places (Gibbs sampling).
    Fbisg,
}

impl Model {
    /// All models.
    pub const ALL: [Model; 5] = [Model::Bisg, Model::Bifsg, Model::Voter, Model::Rake, Model::Fbisg];

    /// Returns the name, as in settings and JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Model::Bisg => "bisg",
            Model::Bifsg => "bifsg",
            Model::Voter => "voter",
            Model::Rake => "rake",
            Model::Fbisg => "fbisg",
        }
    }
}

/// The Census of the built-in tables.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Vintage {
    /// Surnames and adults of the Census of 2020.
    #[default]
    #[serde(rename = "2020")]
    Census2020,
    /// Surnames and residents of the Census of 2010.
    #[serde(rename = "2010")]
    Census2010,
}

/// The lists in which names are looked up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NameLists {
    /// The Census list, then the voter list.
    #[default]
    All,
    /// The Census list only.
    Census,
}

impl Default for Request {
    fn default() -> Request {
        Request {
            source: Source::default(),
            output: None,
            force: false,
            safe_csv: false,
            provenance: ProvenanceSettings::default(),
            model: None,
            surname: None,
            first_name: None,
            middle_name: None,
            full_name: None,
            place: None,
            block_group: None,
            tract: None,
            zcta: None,
            county: None,
            state: None,
            vintage: Vintage::default(),
            names: NameLists::default(),
            surnames: None,
            first_names: CensusTable::FirstNames2020.name().into(),
            middle_names: None,
            geography: Vec::new(),
            numbers: None,
            classes: Vec::new(),
            crosswalk: BTreeMap::new(),
            margin: None,
            margin_table: None,
            tables: BTreeMap::new(),
            surname_margin: None,
            place_margin: None,
            tolerance: None,
            within: None,
            as_published: false,
            seed: None,
            burn_in: None,
            sweeps: None,
            prefix: "p_".into(),
        }
    }
}

impl Request {
    /// Refuses settings that are invalid or cannot be combined.
    pub(super) fn check(&self) -> Result<()> {
        let is = |model: Model| self.model() == model;
        let by_row = self.surname_margin.is_some() || self.place_margin.is_some();
        let only_for =
            |setting: Setting, model: Model| Message::from(setting) + " requires " + Setting::Model.with(model.name());
        let model = || Message::from(Setting::Model.with(self.model().name()));
        let both_margins =
            |between: &'static str| Message::from(Setting::SurnameMargin) + between + Setting::PlaceMargin;
        let problem = if self.first_name.is_some() && self.model == Some(Model::Bisg) {
            let problem = ": bisg uses surname and place only; use ";
            Message::from(Setting::FirstName) + problem + Setting::Model.with(Model::Bifsg.name())
        } else if let Some(setting) = self.name_column().filter(|_| self.full_name.is_some()) {
            Message::from(Setting::FullName) + " and " + setting + " cannot be used together; leave one out"
        } else if self.middle_name.is_some() && self.middle_names.is_none() {
            let problem = ": no list of middle names is built in; give a table of them with ";
            Message::from(Setting::MiddleName) + problem + Setting::MiddleNames.with("FILE")
        } else if self.middle_names.is_some() && is(Model::Bisg) {
            let problem = ": bisg uses surname and place only; use ";
            Message::from(Setting::MiddleNames) + problem + Setting::Model.with(Model::Bifsg.name())
        } else if self.margin_name().is_some() && !is(Model::Voter) && !is(Model::Rake) {
            only_for(Setting::Margin, Model::Voter) + " or " + Setting::Model.with(Model::Rake.name())
        } else if self.as_published && !is(Model::Voter) {
            only_for(Setting::AsPublished, Model::Voter)
        } else if by_row && !is(Model::Rake) {
            both_margins(" and ") + " require " + Setting::Model.with(Model::Rake.name())
        } else if self.tolerance.is_some() && !by_row {
            Message::from(Setting::Tolerance) + " requires " + both_margins(" or ")
        } else if self.tolerance.is_some_and(|share| !(0.0..=1.0).contains(&share)) {
            Message::from(Setting::Tolerance) + ": it must be from 0 to 1"
        } else if self.seed.is_some() && !is(Model::Fbisg) {
            only_for(Setting::Seed, Model::Fbisg) + "; other models do not use random draws"
        } else if self.burn_in.is_some() && !is(Model::Fbisg) {
            only_for(Setting::BurnIn, Model::Fbisg)
        } else if self.sweeps.is_some() && !is(Model::Fbisg) {
            only_for(Setting::Sweeps, Model::Fbisg)
        } else if self.sweeps == Some(0) {
            Message::from(Setting::Sweeps) + ": it must be at least 1"
        } else if is(Model::Voter) && self.margin_name().is_none() {
            let problem = " needs the shares of the classes among voters: use ";
            model() + problem + Setting::Margin.with("FILE")
        } else if is(Model::Rake) && by_row && self.margin_name().is_some() {
            let problem = ": the margins by surname and place already determine the class totals; leave it out";
            Message::from(Setting::Margin) + problem
        } else if is(Model::Rake) && !by_row && self.margin_name().is_none() {
            model() + " needs target shares: use " + Setting::Margin + ", or " + both_margins(" and ")
        } else {
            return Ok(());
        };
        Err(Error::settings(problem))
    }

    /// Returns the model.
    pub(super) fn model(&self) -> Model {
        self.model.unwrap_or_default()
    }

    /// Chooses the model if none is set: BIFSG if the people have first names. On simulated people, its log loss is lower
    /// than that of BISG even if the first names of 40% of them say no more than their surnames.
    pub(super) fn choose_model(&mut self, has_first_names: bool) {
        let is_built_in = |name: &str| CensusTable::named(name).is_some() && !self.tables.contains_key(name);
        let fits = is_built_in(self.surname_table()) && is_built_in(&self.first_names);
        let uses_first_names = self.first_name.is_some() || has_first_names && fits;
        self.model.get_or_insert(if uses_first_names { Model::Bifsg } else { Model::Bisg });
    }

    /// Describes the model in a few words.
    pub(super) fn describe_model(&self) -> String {
        let name = match self.model() {
            Model::Bisg => "BISG",
            Model::Bifsg => "BIFSG",
            Model::Voter => "voter BISG, fitted",
            Model::Rake => "BISG, raked",
            Model::Fbisg => "fBISG",
        };
        let mut text = name.to_owned();
        let margins = self.margin_names();
        if !margins.is_empty() {
            text = format!("{text} to {}", margins.join(" and "));
        }
        if let Some(state) = &self.within {
            text = format!("{text}, within {state}");
        }
        text
    }

    /// Returns the name of the margin, if there is one.
    pub(super) fn margin_name(&self) -> Option<&str> {
        self.margin.as_deref().or(self.margin_table.as_ref().map(|_| SHARES_IN_MEMORY))
    }

    /// Returns the names of all margins.
    pub(super) fn margin_names(&self) -> Vec<&str> {
        let margins = [self.margin_name(), self.surname_margin.as_deref(), self.place_margin.as_deref()];
        margins.into_iter().flatten().collect()
    }

    /// Returns the table of surnames: a file, or the name of a built-in table.
    pub(super) fn surname_table(&self) -> &str {
        let default = match self.vintage {
            Vintage::Census2020 => CensusTable::Surnames2020,
            Vintage::Census2010 => CensusTable::Surnames2010,
        };
        self.surnames.as_deref().unwrap_or(default.name())
    }

    /// Returns the settings of fBISG.
    pub(super) fn gibbs(&self) -> Gibbs {
        let default = Gibbs::default();
        Gibbs {
            burn_in: self.burn_in.unwrap_or(default.burn_in),
            kept: self.sweeps.unwrap_or(default.kept),
            seed: self.seed.unwrap_or(default.seed),
        }
    }

    /// Returns the first setting that names a column with a part of the name.
    fn name_column(&self) -> Option<Setting> {
        let columns = [
            (Setting::Surname, &self.surname),
            (Setting::FirstName, &self.first_name),
            (Setting::MiddleName, &self.middle_name),
        ];
        columns.into_iter().find(|(_, column)| column.is_some()).map(|(setting, _)| setting)
    }

    /// Returns whether first names are used.
    pub(super) fn needs_first_names(&self) -> bool {
        self.model() == Model::Bifsg || self.first_name.is_some()
    }

    /// Returns whether the model needs places as people by class.
    pub(super) fn needs_people_by_place(&self) -> bool {
        match self.model() {
            Model::Voter | Model::Fbisg => true,
            Model::Bisg | Model::Bifsg | Model::Rake => false,
        }
    }

    /// Returns whether no places are used.
    pub(super) fn is_by_names_alone(&self) -> bool {
        self.geography.iter().any(|name| name == "none")
    }

    /// Returns the setting and the file of a margin by surname or place.
    pub(super) fn margin_by(&self, key: MarginKey) -> (Setting, Option<&str>) {
        match key {
            MarginKey::Name => (Setting::SurnameMargin, self.surname_margin.as_deref()),
            MarginKey::Place => (Setting::PlaceMargin, self.place_margin.as_deref()),
        }
    }

    /// Returns the files of tables and margins, which the output must not overwrite.
    pub(super) fn side_inputs(&self) -> Vec<SideInput> {
        let margins = [
            (Setting::Margin, &self.margin),
            (Setting::SurnameMargin, &self.surname_margin),
            (Setting::PlaceMargin, &self.place_margin),
        ];
        let margins = margins.into_iter().filter_map(|(setting, path)| Some((setting, path.as_ref()?)));
        let margins = margins.filter(|(setting, _)| *setting != Setting::Margin || self.margin_table.is_none());
        let names = self.surnames.iter().map(|path| (Setting::Surnames, path));
        let names = names.chain([(Setting::FirstNames, &self.first_names)]);
        let middle_names = self.middle_names.iter().map(|path| (Setting::MiddleNames, path));
        let places = self.geography.iter().map(|path| (Setting::Geography, path)).chain(middle_names);
        let files = margins.chain(names).chain(places).filter(|(_, path)| !self.tables.contains_key(*path));
        files.map(|(setting, path)| SideInput::new(setting, path)).collect()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn requests_have_defaults() {
        let text =
            r#"{"inputs": ["people.csv"], "model": "fbisg", "crosswalk": {"api": "asian"}, "no_provenance": true}"#;
        let request: Request = serde_json::from_str(text).unwrap();
        assert_eq!((request.model(), &request.source.inputs[..]), (Model::Fbisg, &["people.csv".to_owned()][..]));
        assert_eq!((request.surname_table(), request.prefix.as_str()), ("surnames-2020", "p_"));
        assert_eq!((request.crosswalk["api"].as_str(), request.provenance.no_provenance), ("asian", true));
        let older: Request = serde_json::from_str(r#"{"vintage": "2010", "names": "census"}"#).unwrap();
        assert_eq!((older.surname_table(), older.names), ("surnames-2010", NameLists::Census));
        for model in Model::ALL {
            assert_eq!(serde_json::to_value(model).unwrap(), model.name());
        }
    }

    #[test]
    fn invalid_settings_are_refused() {
        let rake = Request { model: Some(Model::Rake), ..Request::default() };
        let by_place = Request { place_margin: Some("p.csv".into()), ..rake.clone() };
        for (request, expected) in [
            (rake, "`model` rake needs target shares: use `margin`, or `surname_margin` and `place_margin`"),
            (Request { tolerance: Some(2.0), ..by_place }, "`tolerance`: it must be from 0 to 1"),
            (
                Request { model: Some(Model::Fbisg), sweeps: Some(0), ..Request::default() },
                "`sweeps`: it must be at least 1",
            ),
            (
                Request { full_name: Some("n".into()), surname: Some("s".into()), ..Request::default() },
                "`full_name` and `surname` cannot be used together; leave one out",
            ),
            (
                Request { middle_name: Some("m".into()), model: Some(Model::Bifsg), ..Request::default() },
                "`middle_name`: no list of middle names is built in; give a table of them with `middle_names` FILE",
            ),
            (
                Request { middle_names: Some("m.csv".into()), model: Some(Model::Bisg), ..Request::default() },
                "`middle_names`: bisg uses surname and place only; use `model` bifsg",
            ),
        ] {
            let error = request.check().unwrap_err();
            assert!(error.is_usage());
            assert_eq!(error.to_string(), expected);
        }
    }
}
