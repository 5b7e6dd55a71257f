//! Suggests what a user may have meant by an unknown word.

use strsim::damerau_levenshtein;

use super::score_columns::normalize_name;

/// Returns the candidate closest to a word: equal except for case and separators, a few letters
/// away, or the only one that ends in the word after a prefix.
pub fn closest_match<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let normalized = normalize_name(word);
    let words: Vec<(&str, String)> =
        candidates.into_iter().map(|candidates| (candidates, normalize_name(candidates))).collect();
    let distance = |candidate: &str| damerau_levenshtein(&normalized, candidate);
    let closest = words.iter().min_by_key(|(_, candidate)| distance(candidate))?;
    // At most a third of the letters may differ.
    if 3 * distance(&closest.1) <= normalized.chars().count() {
        return Some(closest.0);
    }
    let mut longer = words.iter().filter(|(_, candidate)| candidate.ends_with(&format!("_{normalized}")));
    longer.next().filter(|_| longer.next().is_none()).map(|(candidates, _)| *candidates)
}

/// Returns ` (did you mean "white"?)`, or an empty string.
pub fn did_you_mean<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> String {
    closest_match(word, candidates).map_or_else(String::new, |closest| format!(" (did you mean {closest:?}?)"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_close_words_are_suggested() {
        let candidates = ["id", "p_white", "p_black", "county"];
        for (word, found) in [
            ("p_whit", Some("p_white")),
            ("P.White", Some("p_white")),
            ("p_balck", Some("p_black")),
            ("black", Some("p_black")),
            ("conuty", Some("county")),
            ("red", None),
            ("ix", None),
            ("", None),
        ] {
            assert_eq!(closest_match(word, candidates), found, "{word}");
        }
        assert_eq!(did_you_mean("contry", candidates), " (did you mean \"county\"?)");
        assert_eq!(did_you_mean("white", ["a_white", "b_white"]), "");
        assert_eq!(closest_match("x", []), None);
    }
}
