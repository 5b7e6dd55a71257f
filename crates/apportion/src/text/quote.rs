//! Values and names in messages: quoted, escaped, and never longer than 40 characters.

/// The maximum number of characters shown.
const SHOWN: usize = 40;

/// Returns a value in quotes, with control characters escaped. A long value is truncated, and its length is added.
pub fn quoted(value: &str) -> String {
    let length = value.chars().count();
    if length <= SHOWN {
        return format!("{value:?}");
    }
    let start: String = value.chars().take(SHOWN).collect();
    format!("{start:?}… ({length} characters)")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_values_are_cut_and_control_characters_escaped() {
        assert_eq!(quoted("white"), "\"white\"");
        assert_eq!(quoted("a\u{1b}[31m\"b\""), r#""a\u{1b}[31m\"b\"""#);
        let forty = "é".repeat(40);
        assert_eq!(quoted(&forty), format!("\"{forty}\""));
        assert_eq!(quoted(&"é".repeat(41)), format!("\"{forty}\"… (41 characters)"));
    }
}
