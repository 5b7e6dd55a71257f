//! Names of groups that are made of the values of several columns.

/// Separates the values of several columns that together name a group: `NC / Wake`. See [`group_name`].
pub(crate) const GROUP_JOINT: &str = " / ";

/// Returns the name of a group from the values of its columns: `NC / Wake`.
///
/// Two lists of the same length never have the same name. If there are several values, a value that contains ` / `,
/// ends in ` /` or begins with a double quote is written in double quotes, with its own double quotes doubled:
/// `"a / b" / c`. The value of a single column is used as it is.
pub fn group_name<'a>(values: impl IntoIterator<Item = &'a str>) -> String {
    let mut name = String::new();
    write_group_name(values, &mut name);
    name
}

/// Appends the name of a group to a text, as [`group_name`] makes it.
pub fn write_group_name<'a>(values: impl IntoIterator<Item = &'a str>, name: &mut String) {
    let mut values = values.into_iter();
    let (first, second) = (values.next(), values.next());
    let Some(second) = second else { return name.push_str(first.unwrap_or_default()) };
    push_value(first.unwrap_or_default(), name);
    for value in std::iter::once(second).chain(values) {
        name.push_str(GROUP_JOINT);
        push_value(value, name);
    }
}

fn push_value(value: &str, name: &mut String) {
    if !is_ambiguous(value) {
        return name.push_str(value);
    }
    name.push('"');
    name.push_str(&value.replace('"', "\"\""));
    name.push('"');
}

/// Returns whether a value must be quoted to make the name unambiguous.
fn is_ambiguous(value: &str) -> bool {
    value.contains(GROUP_JOINT) || value.ends_with(" /") || value.starts_with('"')
}

/// Returns the number of values in the name of a group, if [`group_name`] made it from several values.
pub(crate) fn count_group_values(name: &str) -> usize {
    let (mut rest, mut values) = (name, 1);
    loop {
        if let Some(quoted) = rest.strip_prefix('"') {
            rest = after_quoted(quoted);
        }
        match rest.split_once(GROUP_JOINT) {
            Some((_, after)) => (rest, values) = (after, values + 1),
            None => return values,
        }
    }
}

/// Returns the text after the quote that ends a quoted value.
fn after_quoted(text: &str) -> &str {
    let mut rest = text;
    while let Some((_, after)) = rest.split_once('"') {
        match after.strip_prefix('"') {
            Some(after) => rest = after,
            None => return after,
        }
    }
    ""
}
