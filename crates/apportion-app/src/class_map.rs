//! Values of a column that stand for classes: a built-in map, and pairs that override it.

use std::collections::BTreeMap;

use apportion_io::{Vocabulary, did_you_mean};
use serde::{Deserialize, Serialize};

/// The class of each value, for values that differ from the class names.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ClassMap {
    /// The name of a built-in map: `nc`, `l2` or `targetsmart`.
    pub vocabulary: Option<String>,
    /// The class of each value. Pairs take precedence over the built-in map.
    pub pairs: BTreeMap<String, String>,
}

impl ClassMap {
    /// Reads a map from texts: the name of a built-in map, and pairs such as `W=white`.
    ///
    /// # Errors
    /// If a text is neither, or there are several built-in maps.
    pub fn from_texts<S: AsRef<str>>(texts: impl IntoIterator<Item = S>) -> Result<ClassMap, String> {
        let mut map = ClassMap::default();
        for text in texts {
            let text = text.as_ref().trim();
            match text.split_once('=') {
                Some((value, class)) => {
                    map.pairs.insert(value.trim().to_owned(), class.trim().to_owned());
                }
                None if map.vocabulary.is_some() => return Err("it takes one built-in map, and VALUE=CLASS".into()),
                None => {
                    check_name(text)?;
                    map.vocabulary = Some(text.to_owned());
                }
            }
        }
        Ok(map)
    }

    /// Returns the map as texts, as [`ClassMap::from_texts`] reads them.
    pub fn texts(&self) -> Vec<String> {
        let pairs = self.pairs.iter().map(|(value, class)| format!("{value}={class}"));
        self.vocabulary.iter().cloned().chain(pairs).collect()
    }

    /// Returns whether no value is mapped.
    pub fn is_empty(&self) -> bool {
        self.vocabulary.is_none() && self.pairs.is_empty()
    }

    /// Returns the built-in map.
    pub fn vocabulary(&self) -> Option<Vocabulary> {
        self.vocabulary.as_deref().and_then(Vocabulary::named)
    }

    /// Returns the pairs as a list.
    pub fn pairs(&self) -> Vec<(String, String)> {
        self.pairs.iter().map(|(value, class)| (value.clone(), class.clone())).collect()
    }
}

impl From<BTreeMap<String, String>> for ClassMap {
    fn from(pairs: BTreeMap<String, String>) -> ClassMap {
        ClassMap { vocabulary: None, pairs }
    }
}

/// Refuses an unknown built-in map.
///
/// # Errors
/// If there is no such map.
pub(crate) fn check_name(name: &str) -> Result<(), String> {
    if Vocabulary::named(name).is_some() {
        return Ok(());
    }
    let names = Vocabulary::ALL.map(Vocabulary::name);
    let near = did_you_mean(name, names);
    Err(format!("{name:?} is neither VALUE=CLASS nor a built-in map ({}){near}", names.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_map_is_read_and_written() {
        let map = ClassMap::from_texts(["nc", "M = aian"]).unwrap();
        assert_eq!(map.vocabulary(), Some(Vocabulary::NorthCarolina));
        assert_eq!(map.pairs(), [("M".to_owned(), "aian".to_owned())]);
        assert_eq!(ClassMap::from_texts(map.texts()), Ok(map));
        assert!(ClassMap::default().is_empty());
        let problem = ClassMap::from_texts(["targetsmrt"]).unwrap_err();
        assert!(problem.ends_with("(nc, l2, targetsmart) (did you mean \"targetsmart\"?)"), "{problem}");
        assert!(ClassMap::from_texts(["nc", "l2"]).unwrap_err().starts_with("it takes one built-in map"));
    }
}
