//! Settings of `predict`, of `explain` and of the built-in tables.

use apportion::text::Setting;

use super::Job::{Explain, Predict, TablesCheck, TablesExport, TablesImport, TablesShow};
use super::Words::{Setting as S, Text as T};
use super::{Declaration, Group, Kind};

const MODELS: &[(&str, &str)] = &[
    ("bisg", "Surname and place"),
    ("bifsg", "Surname, first name and place"),
    (
        "voter",
        "Surname, place and first name if named, adjusted to the known class shares of a state's registered voters",
    ),
    ("rake", "BISG with one weight per class, so that the mean scores match the margin"),
    ("fbisg", "Surname and place, allowing for errors in the Census counts (Gibbs sampling)"),
];

const VINTAGES: &[(&str, &str)] = &[
    ("2020", "Surnames of 2020 with the adults of block groups, tracts, ZCTAs, counties and states of 2020"),
    ("2010", "Surnames of 2010 with the residents of counties and ZCTAs of 2010"),
];

const NAMES: &[(&str, &str)] = &[
    ("all", "The Census list, then the list of registered voters in six Southern states"),
    ("census", "The Census list only"),
];

const SUBJECTS: &[(&str, &str)] = &[("surnames", "Surnames"), ("first-names", "First names"), ("places", "Places")];

const OTHER_RACE: &[(&str, &str)] = &[
    ("allocate", "With another race, as that race; alone, spread over the other non-Hispanic classes of the place"),
    ("other", "In the class other"),
];

const fn setting(setting: Setting, kind: Kind, value: &'static str, help: &'static [super::Words]) -> Declaration {
    Declaration::of(setting, kind, value, help)
}

const NUMBERS: Declaration = setting(
    Setting::Numbers,
    Kind::Text,
    "PREFIX*",
    &[T("Number columns of a table, if it has several sets, such as 'vap_*'")],
);

pub(super) static GROUPS: &[Group] = &[
    Group {
        heading: "Input",
        jobs: &[Predict, Explain],
        settings: &[
            setting(
                Setting::Inputs,
                Kind::List,
                "PEOPLE",
                &[T("Files of people (CSV, TSV, Parquet, Arrow; .gz, .zst), folders or globs; - for standard input")],
            )
            .required(),
            setting(
                Setting::Surname,
                Kind::Text,
                "COL",
                &[T("Surname column [default: detected by name; place columns are also detected unless you name one]")],
            ),
            setting(Setting::FirstName, Kind::Text, "COL", &[T("First name column")]),
            setting(
                Setting::MiddleName,
                Kind::Text,
                "COL",
                &[T("Middle name column; needs "), S(Setting::MiddleNames), T(" [default: detected by name]")],
            ),
            setting(
                Setting::FullName,
                Kind::Text,
                "COL",
                &[T(
                    "Column of whole names, instead of surnames and first names: \"Last, First M\" or \"First M Last\"",
                )],
            ),
            setting(
                Setting::Place,
                Kind::Text,
                "COL",
                &[
                    T("Column of your own places, such as precincts; needs a table in "),
                    S(Setting::Geography),
                    T(" with the same column"),
                ],
            ),
            setting(Setting::BlockGroup, Kind::Text, "COL", &[T("Column of Census block groups or blocks")]),
            setting(Setting::Tract, Kind::Text, "COL", &[T("Column of Census tracts, 11 digits")]),
            setting(Setting::Zcta, Kind::Text, "COL", &[T("Column of ZIP codes")]),
            setting(
                Setting::County,
                Kind::Text,
                "COL",
                &[T("Column of counties: FIPS codes of 5 digits; 3 digits or names with a state")],
            ),
            setting(Setting::State, Kind::Text, "COL", &[T("Column of states: abbreviations or FIPS codes")]),
        ],
    },
    Group {
        heading: "Input",
        jobs: &[Explain],
        settings: &[setting(
            Setting::Row,
            Kind::Whole(1, u64::MAX),
            "ROW",
            &[T("Row to explain: 1 for the first row after the header; over all inputs in order")],
        )
        .required()],
    },
    Group {
        heading: "Model",
        jobs: &[Predict, Explain],
        settings: &[
            setting(
                Setting::Model,
                Kind::Choice(MODELS),
                "MODEL",
                &[T(
                    "Model that computes the scores [default: bifsg if there is a column of first names, otherwise bisg]",
                )],
            ),
            setting(Setting::Vintage, Kind::Choice(VINTAGES), "YEAR", &[T("Census of the built-in tables")])
                .default("2020"),
            setting(
                Setting::Names,
                Kind::Choice(NAMES),
                "LISTS",
                &[T("Lists in which names are looked up, if the tables of names are built-in ones")],
            )
            .default("all"),
            setting(
                Setting::Surnames,
                Kind::Text,
                "FILE|NAME",
                &[T("Table of surnames: a file, or a built-in one [default: surnames-2020, or of the vintage]")],
            ),
            setting(
                Setting::FirstNames,
                Kind::Text,
                "FILE|NAME",
                &[T("Table of first names: a file, or a built-in one")],
            )
            .default("first-names-2020"),
            setting(
                Setting::MiddleNames,
                Kind::Text,
                "FILE",
                &[T("Table of middle names, for models other than bisg; there is no built-in one")],
            ),
            setting(
                Setting::Geography,
                Kind::List,
                "FILE|NAME,…",
                &[T(
                    "Tables of places, one per level: files or built-in tables; 'none' to use names only [default: built-in tables]",
                )],
            ),
            NUMBERS,
            setting(
                Setting::Classes,
                Kind::List,
                "NAME,NAME,…",
                &[T("Classes, in the order of the scores [default: the classes of the surname table]")],
            ),
            setting(
                Setting::Crosswalk,
                Kind::Pairs,
                "OLD=NEW,…",
                &[T("New names for classes of the tables; classes with the same name are merged")],
            ),
            setting(
                Setting::Margin,
                Kind::Text,
                "FILE",
                &[T("voter, rake: table of known class shares, with the columns class,share or one column per class")],
            ),
            setting(
                Setting::SurnameMargin,
                Kind::Text,
                "FILE",
                &[
                    T("rake: people by surname and class, or their shares; with "),
                    S(Setting::PlaceMargin),
                    T(", raking is three-way"),
                ],
            ),
            setting(Setting::PlaceMargin, Kind::Text, "FILE", &[T("rake: people by place and class, or their shares")]),
            setting(
                Setting::Tolerance,
                Kind::Number(0.0, 1.0),
                "SHARE",
                &[T(
                    "rake by surname or place: maximum difference from a margin, as a share of all people [default: 1e-9]",
                )],
            ),
            setting(
                Setting::Within,
                Kind::Text,
                "STATE",
                &[T("Use only the places of one state: abbreviation or FIPS code")],
            ),
            setting(
                Setting::AsPublished,
                Kind::Flag,
                "",
                &[T(
                    "voter: use the published surname factor, which mixes national class shares with those of the state",
                )],
            ),
            setting(Setting::Seed, Kind::Whole(0, u64::MAX), "SEED", &[T("fbisg: seed of the draws [default: 0]")]),
            setting(
                Setting::BurnIn,
                Kind::Whole(0, 65_535),
                "SWEEPS",
                &[T("fbisg: sweeps before probabilities are averaged [default: 500]")],
            ),
            setting(
                Setting::Sweeps,
                Kind::Whole(1, 65_535),
                "SWEEPS",
                &[T("fbisg: sweeps whose probabilities are averaged [default: 1000]")],
            ),
        ],
    },
    Group {
        heading: "Output",
        jobs: &[Predict],
        settings: &[
            setting(
                Setting::Output,
                Kind::Text,
                "SCORES",
                &[T("Output file (format from its extension), directory (one file per input), or - for CSV on stdout")],
            )
            .required(),
            setting(Setting::Prefix, Kind::Text, "PREFIX", &[T("Prefix of the score columns")]).default("p_"),
        ],
    },
    Group {
        heading: "Table",
        jobs: &[TablesShow, TablesExport],
        settings: &[setting(Setting::Table, Kind::Text, "NAME", &[T("Name of a built-in table")]).required()],
    },
    Group {
        heading: "Input",
        jobs: &[TablesImport],
        settings: &[
            setting(
                Setting::Inputs,
                Kind::List,
                "FILE",
                &[T("Files of one table from data.census.gov, ending in -Data.csv")],
            )
            .required(),
            setting(
                Setting::OtherRace,
                Kind::Choice(OTHER_RACE),
                "HOW",
                &[T("How non-Hispanic people of Some Other Race are counted")],
            )
            .default("allocate"),
        ],
    },
    Group {
        heading: "Table",
        jobs: &[TablesCheck],
        settings: &[
            setting(Setting::Table, Kind::Text, "FILE", &[T("The table")]).required(),
            setting(
                Setting::Of,
                Kind::Choice(SUBJECTS),
                "OF",
                &[T("Subject of the table [default: recognized by its columns]")],
            ),
            NUMBERS,
            setting(Setting::Classes, Kind::List, "NAME,NAME,…", &[T("Classes other than those detected by name")]),
            setting(Setting::Key, Kind::Text, "COL", &[T("Column of the keys [default: recognized by name]")]),
        ],
    },
];
