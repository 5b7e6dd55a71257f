//! Numbers and lists in readable form.

/// Formats a whole number with thousands separators.
pub fn count(number: u64) -> String {
    let digits = number.to_string();
    let groups: Vec<&str> = digits.as_bytes().rchunks(3).rev().map(|g| std::str::from_utf8(g).unwrap_or("")).collect();
    groups.join(",")
}

/// Formats a sum of scores, which is not a whole number: small sums have a decimal.
pub(crate) fn sum(number: f64) -> String {
    if number < 100.0 { plain(number, 1) } else { count(number.round() as u64) }
}

/// Formats a difference in people, with its sign.
pub(crate) fn people(number: f64) -> String {
    let whole = number.round();
    let sign = if whole < 0.0 {
        "−"
    } else if whole > 0.0 {
        "+"
    } else {
        ""
    };
    format!("{sign}{}", count(whole.abs() as u64))
}

/// Formats a number with its sign and a number of decimals.
pub fn signed(number: f64, decimals: usize) -> String {
    let text = format!("{:.decimals$}", number.abs());
    let is_zero = text.chars().all(|letter| matches!(letter, '0' | '.'));
    let sign = if is_zero {
        ""
    } else if number < 0.0 {
        "−"
    } else {
        "+"
    };
    format!("{sign}{text}")
}

/// Formats a number with a number of decimals, and a sign only if it is negative.
pub fn plain(number: f64, decimals: usize) -> String {
    signed(number, decimals).trim_start_matches('+').to_owned()
}

/// Formats a share as a percentage.
pub fn percent(share: f64, decimals: usize) -> String {
    format!("{}%", plain(100.0 * share, decimals))
}

/// Formats a percentage with its sign.
pub(crate) fn signed_percent(percent: f64) -> String {
    format!("{}%", signed(percent, 1))
}

/// Formats a difference of shares in points, with its sign.
pub(crate) fn points(difference: f64, decimals: usize) -> String {
    format!("{} points", signed(100.0 * difference, decimals))
}

/// Formats a difference of shares in points, without its sign.
pub(crate) fn points_of(difference: f64, decimals: usize) -> String {
    format!("{} points", plain(100.0 * difference.abs(), decimals))
}

/// Joins items as in "a, b and c".
pub(crate) fn list<S: AsRef<str>>(items: &[S]) -> String {
    match items {
        [] => String::new(),
        [one] => one.as_ref().to_owned(),
        [most @ .., last] => {
            let most: Vec<&str> = most.iter().map(AsRef::as_ref).collect();
            format!("{} and {}", most.join(", "), last.as_ref())
        }
    }
}

/// Capitalizes the first letter.
pub(crate) fn begin(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// Returns a heading as it is written within a sentence: a first letter that is capital becomes small, unless the word is
/// all capitals.
pub(crate) fn uncapitalized(text: &str) -> String {
    let mut letters = text.chars();
    let is_acronym = text.chars().nth(1).is_some_and(char::is_uppercase);
    match letters.next() {
        Some(first) if !is_acronym => first.to_lowercase().chain(letters).collect(),
        _ => text.to_owned(),
    }
}

/// Returns the singular or plural of a word.
pub(crate) fn plural(number: usize, one: &str) -> String {
    if number == 1 {
        return one.to_owned();
    }
    match one.strip_suffix('y') {
        _ if one == "person" => "people".into(),
        Some(stem) if !stem.ends_with(['a', 'e', 'o', 'u']) => format!("{stem}ies"),
        _ if one.ends_with('s') => format!("{one}es"),
        _ => format!("{one}s"),
    }
}

/// Formats a number with its noun: 1 row, 2 rows.
pub(crate) fn counted(number: u64, one: &str) -> String {
    format!("{} {}", count(number), plural(usize::try_from(number).unwrap_or(usize::MAX), one))
}

/// Returns the singular or plural form of a verb.
pub(crate) fn verb<'a>(number: usize, one: &'a str, many: &'a str) -> &'a str {
    if number == 1 { one } else { many }
}

/// Returns the approximate width of a text in characters. East Asian characters count twice.
pub(crate) fn width(text: &str) -> usize {
    let is_wide = |letter| {
        matches!(letter, '\u{1100}'..='\u{115f}' | '\u{2e80}'..='\u{a4cf}' | '\u{ac00}'..='\u{d7a3}'
        | '\u{f900}'..='\u{faff}' | '\u{fe30}'..='\u{fe6f}' | '\u{ff00}'..='\u{ff60}' | '\u{1f300}'..='\u{3fffd}')
    };
    text.chars().map(|letter| if is_wide(letter) { 2 } else { 1 }).sum()
}

/// Truncates a text that is too wide, and marks the truncation.
pub(crate) fn short(text: &str, most: usize) -> String {
    if width(text) <= most {
        return text.to_owned();
    }
    let mut room = most.saturating_sub(1);
    let fits = |letter: &char| {
        let own = width(letter.encode_utf8(&mut [0; 4]));
        let fits = own <= room;
        room = room.saturating_sub(own);
        fits
    };
    let begin: String = text.chars().take_while(fits).collect();
    format!("{}…", begin.trim_end())
}

/// Splits a text into one or two lines, between words if possible, and truncates it if it is too wide.
pub(crate) fn lines(text: &str, most: usize) -> Vec<String> {
    if width(text) <= most {
        return vec![text.to_owned()];
    }
    let fits = |index: &usize| *index > 0 && width(&text[..*index]) <= most;
    let between_words = text.rmatch_indices(char::is_whitespace).map(|(index, _)| index).find(fits);
    let Some(end) = between_words.or_else(|| text.char_indices().map(|(index, _)| index).rfind(fits)) else {
        return vec![short(text, most)];
    };
    vec![text[..end].to_owned(), short(text[end..].trim_start(), most)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        assert_eq!(people(-1234.6), "−1,235");
        assert_eq!((sum(1.94), sum(1_234.5)), ("1.9".into(), "1,235".into()));
        assert_eq!((people(0.2), people(-0.6)), ("0".into(), "−1".into()));
        assert_eq!(signed(-0.004, 2), "0.00");
        assert_eq!(signed_percent(-28.21), "−28.2%");
        assert_eq!(points(0.0123, 2), "+1.23 points");
        assert_eq!(list(&["a", "b", "c"]), "a, b and c");
        assert_eq!(
            (plural(2, "county"), plural(2, "survey"), plural(1, "state")),
            ("counties".into(), "surveys".into(), "state".into())
        );
        assert_eq!([0, 1, 2].map(|number| counted(number, "class")), ["0 classes", "1 class", "2 classes"]);
        assert_eq!([0, 1, 2].map(|number| counted(number, "person")), ["0 people", "1 person", "2 people"]);
    }

    #[test]
    fn long_names_are_broken_and_then_cut() {
        assert_eq!(lines("black", 8), ["black"]);
        assert_eq!(lines("black or African American", 12), ["black or", "African Ame…"]);
        assert_eq!(lines("blackorAfrican", 8), ["blackorA", "frican"]);
        assert_eq!(lines("日本語の長い", 8), ["日本語の", "長い"]);
        assert_eq!((short("日本語の長い", 8), short("abcdefghi", 8)), ("日本語…".into(), "abcdefg…".into()));
    }
}
