//! What a user may have meant by a word that is not known.

use strsim::damerau_levenshtein;

use crate::columns::normal;

/// The known word that is nearest to another: the same but for case and separators, or a few letters away, or the only one
/// that ends so after a prefix.
pub fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let wanted = normal(word);
    let words: Vec<(&str, String)> = known.into_iter().map(|known| (known, normal(known))).collect();
    let distance = |own: &str| damerau_levenshtein(&wanted, own);
    let near = words.iter().min_by_key(|(_, own)| distance(own))?;
    // A third of the letters: more would be another word.
    if 3 * distance(&near.1) <= wanted.chars().count() {
        return Some(near.0);
    }
    let mut longer = words.iter().filter(|(_, own)| own.ends_with(&format!("_{wanted}")));
    longer.next().filter(|_| longer.next().is_none()).map(|(known, _)| *known)
}

/// ` (did you mean "white"?)`, or nothing.
pub fn did_you_mean<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    nearest(word, known).map_or_else(String::new, |near| format!(" (did you mean {near:?}?)"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_near_is_named_and_nothing_else() {
        let known = ["id", "p_white", "p_black", "county"];
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
            assert_eq!(nearest(word, known), found, "{word}");
        }
        assert_eq!(did_you_mean("contry", known), " (did you mean \"county\"?)");
        assert_eq!(did_you_mean("white", ["a_white", "b_white"]), "");
        assert_eq!(nearest("x", []), None);
    }
}
