//! Built-in maps from the race values of voter files to classes.

use apportion::Classes;

use super::score_columns::normalize_name;

/// The race values of a voter file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Vocabulary {
    /// North Carolina's voter file: `race_code`, with `ethnic_code` for Hispanic people.
    NorthCarolina,
    /// L2's `EthnicGroups_EthnicGroup1Desc`.
    L2,
    /// TargetSmart's `vb.voterbase_race`.
    TargetSmart,
}

/// What a value stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Meaning {
    White,
    Black,
    Hispanic,
    Asian,
    Native,
    Other,
    Missing,
}

use Meaning::{Asian, Black, Hispanic, Missing, Native, Other, White};

/// The value of `ethnic_code` that takes precedence over the race.
const HISPANIC_CODE: &str = "HL";

const NORTH_CAROLINA: &[(&str, Meaning)] = &[
    ("W", White),
    ("B", Black),
    (HISPANIC_CODE, Hispanic),
    ("A", Asian),
    ("P", Asian),
    ("I", Native),
    ("M", Other),
    ("O", Other),
    ("U", Missing),
];

const L2: &[(&str, Meaning)] = &[
    ("European", White),
    ("Likely African-American", Black),
    ("Hispanic and Portuguese", Hispanic),
    ("East and South Asian", Asian),
    ("Other", Other),
];

const TARGETSMART: &[(&str, Meaning)] = &[
    ("Caucasian", White),
    ("African-American", Black),
    ("Hispanic", Hispanic),
    ("Asian", Asian),
    ("Native American", Native),
    ("Other", Other),
    ("Uncoded", Missing),
];

impl Vocabulary {
    /// All vocabularies.
    pub const ALL: [Vocabulary; 3] = [Vocabulary::NorthCarolina, Vocabulary::L2, Vocabulary::TargetSmart];

    /// Returns the name.
    pub const fn name(self) -> &'static str {
        match self {
            Vocabulary::NorthCarolina => "nc",
            Vocabulary::L2 => "l2",
            Vocabulary::TargetSmart => "targetsmart",
        }
    }

    /// Returns the vocabulary with a name.
    pub fn named(name: &str) -> Option<Vocabulary> {
        Vocabulary::ALL.into_iter().find(|own| own.name() == name)
    }

    /// Returns the name of the column that is read together with the race, if there is one.
    pub(crate) fn ethnicity_column(self) -> Option<&'static str> {
        match self {
            Vocabulary::NorthCarolina => Some("ethnic_code"),
            Vocabulary::L2 | Vocabulary::TargetSmart => None,
        }
    }

    fn values(self) -> &'static [(&'static str, Meaning)] {
        match self {
            Vocabulary::NorthCarolina => NORTH_CAROLINA,
            Vocabulary::L2 => L2,
            Vocabulary::TargetSmart => TARGETSMART,
        }
    }

    /// Returns the values and their classes. Values without a suitable class are left out.
    pub(crate) fn map(self, classes: &Classes) -> Vec<(String, String)> {
        let pair = |(value, meaning): &(&str, Meaning)| Some(((*value).to_owned(), meaning.class(classes)?));
        self.values().iter().filter_map(pair).collect()
    }

    /// Returns the values that stand for an unknown race.
    pub(crate) fn missing_values(self) -> impl Iterator<Item = &'static str> {
        self.values().iter().filter(|(_, meaning)| *meaning == Missing).map(|(value, _)| *value)
    }

    /// Returns the vocabulary that a column with these values has, if it is clear.
    pub(crate) fn recognize(column: &str, values: &[&str]) -> Option<Vocabulary> {
        let has = |own: &Vocabulary, value: &str| own.values().iter().any(|(known, _)| *known == value);
        // Single letters are common; only the name of the column shows that they are North Carolina's.
        let is_clear = |own: &Vocabulary| match own {
            Vocabulary::NorthCarolina => normalize_name(column) == "race_code",
            Vocabulary::L2 | Vocabulary::TargetSmart => values.len() > 1,
        };
        Vocabulary::ALL.into_iter().find(|own| is_clear(own) && values.iter().all(|value| has(own, value)))
    }
}

/// Returns the value of a row from its race and its ethnicity: Hispanic people of any race are Hispanic.
pub(crate) fn with_ethnicity<'a>(race: &'a str, ethnicity: &str) -> &'a str {
    if ethnicity.trim() == HISPANIC_CODE { HISPANIC_CODE } else { race }
}

impl Meaning {
    /// Returns the class for this meaning, in the names of the tools that write scores.
    fn class(self, classes: &Classes) -> Option<String> {
        const OTHER: &[&str] = &["other", "nh_other", "oth", "mult_other", "multiple", "multi", "nh_multi"];
        let names: &[&str] = match self {
            White => &["white", "nh_white", "whi", "caucasian"],
            Black => &["black", "nh_black", "bla", "african_american"],
            Hispanic => &["hispanic", "hisp", "his", "latino"],
            Asian => &["asian", "nh_asian", "asi", "api", "nh_api", "aapi", "nh_aapi"],
            Native => &["aian", "nh_aian", "native", "native_american", "american_indian"],
            Other => OTHER,
            Missing => &[],
        };
        let find = |names: &[&str]| {
            let of = |name: &&str| classes.names().iter().find(|class| normalize_name(class) == *name).cloned();
            names.iter().find_map(of)
        };
        // Scores of five classes count American Indians among others.
        find(names).or_else(|| if self == Native { find(OTHER) } else { None })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(vocabulary: Vocabulary, classes: &[&str]) -> String {
        let classes = Classes::new(classes.iter().copied()).unwrap();
        let pairs = vocabulary.map(&classes).into_iter().map(|(value, class)| format!("{value}={class}"));
        pairs.collect::<Vec<_>>().join(",")
    }

    #[test]
    fn values_are_mapped_to_the_classes_of_the_scores() {
        let six = ["white", "black", "hispanic", "asian", "aian", "other"];
        let nc = "W=white,B=black,HL=hispanic,A=asian,P=asian,I=aian,M=other,O=other";
        assert_eq!(map(Vocabulary::NorthCarolina, &six), nc);
        let five = ["whi", "bla", "his", "asi", "oth"];
        assert_eq!(map(Vocabulary::NorthCarolina, &five), "W=whi,B=bla,HL=his,A=asi,P=asi,I=oth,M=oth,O=oth");
        let api = ["WHITE", "BLACK", "HISPANIC", "AAPI"];
        assert_eq!(map(Vocabulary::L2, &api).matches('=').count(), 4);
        assert!(map(Vocabulary::TargetSmart, &six).contains("Native American=aian,Other=other"));
        assert_eq!(Vocabulary::TargetSmart.missing_values().collect::<Vec<_>>(), ["Uncoded"]);
        assert_eq!(Vocabulary::named("l2"), Some(Vocabulary::L2));
        assert_eq!(Vocabulary::named("L3"), None);
    }

    #[test]
    fn a_vocabulary_is_recognized_only_if_it_is_clear() {
        let recognize = Vocabulary::recognize;
        assert_eq!(recognize("race", &["European", "Other"]), Some(Vocabulary::L2));
        assert_eq!(recognize("race", &["Caucasian", "Uncoded"]), Some(Vocabulary::TargetSmart));
        assert_eq!(recognize("Race Code", &["W", "B"]), Some(Vocabulary::NorthCarolina));
        assert_eq!(recognize("race", &["W", "B"]), None);
        assert_eq!(recognize("race", &["Other"]), None);
        assert_eq!(recognize("race_code", &["W", "X"]), None);
    }
}
