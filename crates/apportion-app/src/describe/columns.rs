//! What the columns of a file contain, by their names.

use apportion::text::Setting;
use apportion_bisg::Level;
use apportion_io::{RecognizedScores, same_name};
use serde::Serialize;

use crate::existing_labels;
use crate::predict::recognized_people;

/// Names of columns that identify rows.
const IDS: [&str; 13] = [
    "id",
    "voter_id",
    "voterid",
    "person_id",
    "row_id",
    "ncid",
    "voter_reg_num",
    "lalvoterid",
    "registration_id",
    "applicant_id",
    "patient_id",
    "respondent_id",
    "uuid",
];

/// Names of columns with the true class.
const TRUTHS: [&str; 12] = [
    "race",
    "truth",
    "race_code",
    "true_race",
    "true_class",
    "race_ethnicity",
    "race_eth",
    "ethnicity",
    "self_reported_race",
    "vb_voterbase_race",
    "ethnicgroups_ethnicgroup1desc",
    "eth1_eth",
];

/// A column, and what it is taken for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct Column {
    /// Its name.
    pub name: String,
    /// Its content; left out if the name is not recognized.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content: Option<Content>,
    /// The class of a score column.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub class: Option<String>,
    /// The option that must name the column before a command uses it; left out if commands find it by themselves.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub setting: Option<Setting>,
}

/// The content of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Content {
    /// The score of a class.
    Score,
    /// Existing labels.
    Label,
    /// The true class.
    Truth,
    /// The ID of a row.
    Id,
    /// Surnames.
    Surname,
    /// First names.
    FirstName,
    /// Middle names.
    MiddleName,
    /// Whole names.
    FullName,
    /// Codes of block groups.
    BlockGroup,
    /// Codes of census tracts.
    Tract,
    /// ZIP codes.
    Zcta,
    /// Codes of counties.
    County,
    /// Names of counties, or codes without the state. `predict` uses them if it knows the state.
    CountyName,
    /// States.
    State,
}

impl Content {
    /// Returns the content of the codes of a level.
    pub(crate) fn of_level(level: Level) -> Option<Content> {
        match level {
            Level::BlockGroup => Some(Content::BlockGroup),
            Level::Tract => Some(Content::Tract),
            Level::Zcta => Some(Content::Zcta),
            Level::County => Some(Content::County),
            Level::State => Some(Content::State),
            Level::Own | Level::ZipPrefix | Level::Nation | Level::All => None,
        }
    }

    /// Returns the content in words.
    pub(super) fn words(self, class: Option<&str>) -> String {
        let words = match self {
            Content::Score => return format!("score of {}", class.unwrap_or("a class")),
            Content::Label => "labels",
            Content::Truth => "true class",
            Content::Id => "ID of the row",
            Content::Surname => "surname",
            Content::FirstName => "first name",
            Content::MiddleName => "middle name",
            Content::FullName => "whole name",
            Content::BlockGroup => "block group",
            Content::Tract => "census tract",
            Content::Zcta => "ZIP code",
            Content::County => "county",
            Content::CountyName => "county name",
            Content::State => "state",
        };
        words.to_owned()
    }

    /// Returns the setting that must name a column with this content.
    fn setting(self) -> Option<Setting> {
        match self {
            Content::Truth => Some(Setting::Truth),
            Content::Id => Some(Setting::Id),
            Content::FullName => Some(Setting::FullName),
            Content::Score
            | Content::Label
            | Content::Surname
            | Content::FirstName
            | Content::MiddleName
            | Content::BlockGroup
            | Content::Tract
            | Content::Zcta
            | Content::County
            | Content::CountyName
            | Content::State => None,
        }
    }
}

/// Recognizes columns by their names. A column has one content; of several ID or truth columns, the one with the most
/// usual name.
pub(super) fn recognize(names: &[String], scores: Option<&RecognizedScores>) -> Vec<Column> {
    let people = recognized_people(names);
    let usual = |known: &[&str]| known.iter().find_map(|known| names.iter().find(|name| same_name(name, known)));
    let (id, truth) = (usual(&IDS), usual(&TRUTHS));
    let column = |name: &String| {
        let class = scores.and_then(|own| {
            let index = own.scores.columns.iter().position(|column| column == name)?;
            Some(own.scores.classes[index].clone())
        });
        let content = if class.is_some() {
            Some(Content::Score)
        } else if existing_labels::is_usual(name) {
            Some(Content::Label)
        } else if truth == Some(name) {
            Some(Content::Truth)
        } else if id == Some(name) {
            Some(Content::Id)
        } else {
            people.iter().find(|(_, column)| column == name).map(|(content, _)| *content)
        };
        Column { name: name.clone(), content, class, setting: content.and_then(Content::setting) }
    };
    names.iter().map(column).collect()
}
