//! Numbers and lists as people read them.

/// A whole number with its thousands apart.
pub fn count(number: u64) -> String {
    let digits = number.to_string();
    let groups: Vec<&str> = digits.as_bytes().rchunks(3).rev().map(|g| std::str::from_utf8(g).unwrap_or("")).collect();
    groups.join(",")
}

/// People, with the sign of the difference that they are.
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

/// A number with its sign and so many decimals.
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

/// A number with so many decimals.
pub fn plain(number: f64, decimals: usize) -> String {
    signed(number, decimals).trim_start_matches('+').to_owned()
}

/// A share as a percentage.
pub fn percent(share: f64, decimals: usize) -> String {
    format!("{}%", plain(100.0 * share, decimals))
}

/// A percentage with its sign.
pub(crate) fn signed_percent(percent: f64) -> String {
    format!("{}%", signed(percent, 1))
}

/// A difference of shares in points.
pub(crate) fn points(difference: f64, decimals: usize) -> String {
    format!("{} points", signed(100.0 * difference, decimals))
}

/// How much, without a sign.
pub(crate) fn points_of(difference: f64, decimals: usize) -> String {
    format!("{} points", plain(100.0 * difference.abs(), decimals))
}

/// a, b and c.
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

/// The first letter large, as a sentence begins.
pub(crate) fn begin(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// A word for one or for several.
pub(crate) fn plural(number: usize, one: &str) -> String {
    if number == 1 {
        return one.to_owned();
    }
    match one.strip_suffix('y') {
        Some(stem) if !stem.ends_with(['a', 'e', 'o', 'u']) => format!("{stem}ies"),
        _ => format!("{one}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        assert_eq!(people(-1234.6), "−1,235");
        assert_eq!(people(0.2), "0");
        assert_eq!(signed(-0.004, 2), "0.00");
        assert_eq!(signed_percent(-28.21), "−28.2%");
        assert_eq!(points(0.0123, 2), "+1.23 points");
        assert_eq!(list(&["a", "b", "c"]), "a, b and c");
        assert_eq!(
            (plural(2, "county"), plural(2, "survey"), plural(1, "state")),
            ("counties".into(), "surveys".into(), "state".into())
        );
    }
}
