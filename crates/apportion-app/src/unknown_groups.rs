//! Rows whose group is not in a decision by group: lists the groups, and applies the policy for them.

use std::collections::HashSet;

use apportion::decision::UnknownGroups;
use apportion::text::{Message, Setting, quoted};
use apportion::{Decision, Scores};
use apportion_io::closest_match;

use crate::{Context, Error, Result, text};

/// The number of groups in a message.
const SHOWN: usize = 10;

/// A group of the table that is not in the decision.
struct UnknownGroup<'a> {
    name: &'a str,
    rows: u64,
}

/// Refuses unknown groups, or sends a warning about them if the policy allows them.
///
/// # Errors
/// If there are unknown groups, and the policy refuses them.
pub(crate) fn check(decision: &Decision, scores: &Scores<'_>, policy: UnknownGroups, context: &Context) -> Result<()> {
    let unknown = find(decision, scores);
    if unknown.is_empty() {
        return Ok(());
    }
    let rows = text::counted(unknown.iter().map(|group| group.rows).sum(), "row", "rows");
    let groups = text::counted(unknown.len() as u64, "group", "groups");
    let is = if unknown.len() == 1 { "is" } else { "are" };
    let listed = format!("{groups} ({rows}) {is} not in the decision: {}", list(&unknown, decision));
    let done = match policy {
        UnknownGroups::Refuse => {
            let fix = Message::from(listed) + "; correct the names, fit again with these rows, or use ";
            let fix = match decision.overall() {
                Some(_) => fix + Setting::UnknownGroups.with("overall") + " or ",
                None => fix,
            };
            return Err(Error::Data(fix + Setting::UnknownGroups.with("unlabeled")));
        }
        UnknownGroups::Overall => "these rows are labeled at the prices for all rows of the fit",
        UnknownGroups::Unlabeled => "these rows are unlabeled",
    };
    context.warn(format!("{listed}; {done}"));
    Ok(())
}

/// Returns the decision with a policy for unknown groups.
///
/// # Errors
/// If the policy needs overall prices and the decision does not contain them.
pub(crate) fn with_policy(decision: Decision, policy: UnknownGroups) -> Result<Decision> {
    let reason = decision.fit_info().and_then(|info| info.no_overall.as_ref());
    if let (UnknownGroups::Overall, None, Some(reason)) = (policy, decision.overall(), reason) {
        let problem =
            format!(": the prices for all rows could not be computed in the fit ({reason}); fit again, or use ");
        let problem = Message::from(Setting::UnknownGroups.with("overall")) + problem;
        return Err(Error::Settings(problem + Setting::UnknownGroups.with("unlabeled")));
    }
    let decision = decision.with_unknown_groups(policy);
    decision.map_err(|error| Error::Setting(Setting::UnknownGroups, error))
}

/// Returns the policy as recorded in provenance; `None` for the default.
pub(crate) fn recorded(policy: UnknownGroups) -> Option<String> {
    match policy {
        UnknownGroups::Refuse => None,
        UnknownGroups::Overall => Some("overall".into()),
        UnknownGroups::Unlabeled => Some("unlabeled".into()),
    }
}

/// Returns a recorded policy.
///
/// # Errors
/// If it is unknown.
pub(crate) fn from_recorded(recorded: Option<&str>) -> Result<UnknownGroups> {
    match recorded {
        None | Some("refuse") => Ok(UnknownGroups::Refuse),
        Some("overall") => Ok(UnknownGroups::Overall),
        Some("unlabeled") => Ok(UnknownGroups::Unlabeled),
        Some(other) => {
            Err(Error::settings(Message::from(Setting::UnknownGroups) + format!(": {} is unknown", quoted(other))))
        }
    }
}

/// Returns the unknown groups that have rows, those with the most rows first.
fn find<'a>(decision: &Decision, scores: &Scores<'a>) -> Vec<UnknownGroup<'a>> {
    let (Some(known), Some(table)) = (decision.groups(), scores.groups()) else { return Vec::new() };
    let known: HashSet<&str> = known.iter().filter_map(|group| group.group.as_deref()).collect();
    let mut rows = vec![0_u64; table.names.len()];
    table.codes.iter().for_each(|&code| rows[code as usize] += 1);
    let all = table.names.iter().zip(rows).map(|(name, rows)| UnknownGroup { name, rows });
    let mut unknown: Vec<UnknownGroup<'a>> =
        all.filter(|group| group.rows > 0 && !known.contains(group.name)).collect();
    unknown.sort_by(|a, b| b.rows.cmp(&a.rows).then(a.name.cmp(b.name)));
    unknown
}

/// Returns the groups with their rows and similar known groups.
fn list(unknown: &[UnknownGroup<'_>], decision: &Decision) -> String {
    let known: Vec<&str> =
        decision.groups().unwrap_or_default().iter().filter_map(|group| group.group.as_deref()).collect();
    let one = |group: &UnknownGroup<'_>| {
        let rows = text::counted(group.rows, "row", "rows");
        let similar =
            similar(group.name, &known).map_or_else(String::new, |name| format!("; did you mean {}?", quoted(name)));
        format!("{} ({rows}{similar})", quoted(group.name))
    };
    let shown = unknown.iter().take(SHOWN).map(one).collect::<Vec<_>>().join(", ");
    match unknown.len().saturating_sub(SHOWN) {
        0 => shown,
        more => format!("{shown} and {} more", text::count(more as u64)),
    }
}

/// Returns the known group with a similar name, ignoring the word "County".
fn similar<'a>(name: &str, known: &[&'a str]) -> Option<&'a str> {
    let same = |other: &&&str| bare(other) == bare(name);
    known.iter().find(same).copied().or_else(|| closest_match(name, known.iter().copied()))
}

/// Returns the name of a group in lower case, without the word "County" at its end.
fn bare(name: &str) -> String {
    let name = name.trim().to_lowercase();
    name.strip_suffix(" county").map_or_else(|| name.clone(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn similar_groups_differ_in_case_or_by_the_word_county() {
        let known = ["Wake", "Durham", "New Hanover County"];
        for (name, expected) in [
            ("Wake County", Some("Wake")),
            ("WAKE", Some("Wake")),
            ("durhm", Some("Durham")),
            ("new hanover", Some("New Hanover County")),
            ("Orange", None),
            ("", None),
        ] {
            assert_eq!(similar(name, &known), expected, "{name}");
        }
    }
}
