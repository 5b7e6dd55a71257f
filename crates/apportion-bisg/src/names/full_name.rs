//! Splits a whole name in one text into surname, first name and middle name.
//!
//! ```text
//! with a comma:     LAST LAST, FIRST MIDDLE      all words before the comma are the surname
//! without a comma:  FIRST MIDDLE LAST            the last word is the surname, with articles before it (de la Cruz)
//!                   LAST FIRST M                 if the last word is a single letter
//! ```
//!
//! Suffixes, titles, nicknames and former names are dropped first. Vi and Do at the end of a name without a comma are
//! surnames. Without a comma, the surname of a person with two Spanish surnames is the second one.

use super::cleaning::{
    ARTICLES, LEADING_TITLES, MARKERS, NEW_MARKER, NameChanges, PREFIXES, certain_extra, extra_word, fold,
    without_asides, without_ordinal,
};

/// The parts of a whole name, as written. Missing parts are empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FullName {
    /// The surname.
    pub surname: String,
    /// The first name.
    pub first_name: String,
    /// The other words between first name and surname.
    pub middle_name: String,
    /// What was dropped.
    pub changes: NameChanges,
}

/// Titles before a whole name, other than [`LEADING_TITLES`].
const WHOLE_NAME_TITLES: [&str; 3] = ["MISS", "REV", "PROF"];

impl FullName {
    /// Splits a whole name.
    pub fn split(text: &str) -> FullName {
        let mut changes = NameChanges::NONE;
        let mut buffer = String::new();
        let text = without_asides(text, &mut buffer, &mut changes);
        let mut segments: Vec<&str> = Vec::new();
        for segment in text.split([',', '，']) {
            let segment = without_ordinal(segment, &mut changes);
            let words = Words::new(segment);
            let extras = words.all_extras().filter(|_| !segments.is_empty());
            match extras {
                Some(extra) => changes.add(extra),
                None if words.texts.is_empty() => {}
                None => segments.push(segment),
            }
        }
        match segments[..] {
            [] => FullName { changes, ..FullName::default() },
            [whole] => Words::new(whole).without_comma(changes),
            [surname, given, ..] => {
                if segments.len() > 2 {
                    changes.add(NameChanges::AFTER_COMMA);
                }
                Words::new(given).after_comma(surname, changes)
            }
        }
    }
}

/// Words as written, and the same words in the letters A to Z.
struct Words<'t> {
    texts: Vec<&'t str>,
    folded: Vec<String>,
}

impl<'t> Words<'t> {
    fn new(text: &'t str) -> Words<'t> {
        let (mut texts, mut folded) = (Vec::new(), Vec::new());
        for word in text.split_whitespace() {
            let mut letters = String::new();
            if fold(word, &mut letters) {
                texts.push(word);
                folded.push(letters);
            }
        }
        Words { texts, folded }
    }

    fn len(&self) -> usize {
        self.texts.len()
    }

    fn keep(&mut self, from: usize, to: usize) {
        self.texts = self.texts[from..to].to_vec();
        self.folded = self.folded[from..to].to_vec();
    }

    /// Returns the changes if all words are suffixes or titles.
    fn all_extras(&self) -> Option<NameChanges> {
        let mut changes = NameChanges::NONE;
        for word in &self.folded {
            changes.add(extra_word(word)?);
        }
        (self.len() > 0).then_some(changes)
    }

    /// Drops titles at the start, former names, and suffixes and titles at the end; keeps `least` words.
    fn drop_extras(&mut self, least: usize, changes: &mut NameChanges) {
        while let Some(at) = (0..self.len().saturating_sub(1)).find(|&at| is_marker(&self.folded[at])) {
            let is_new = at == 0 || matches!(self.folded[at].as_str(), NEW_MARKER | "N K A");
            if is_new {
                self.keep(at + 1, self.len());
            } else {
                self.keep(0, at);
            }
            changes.add(NameChanges::FORMER);
        }
        while self.len() > least && is_leading_title(&self.folded[0]) {
            self.keep(1, self.len());
            changes.add(NameChanges::TITLE);
        }
        while self.len() > least
            && let Some(change) = self.folded.last().and_then(|last| certain_extra(last))
        {
            self.keep(0, self.len() - 1);
            changes.add(change);
        }
    }

    /// Returns the parts of a name whose surname is before a comma.
    fn after_comma(mut self, surname: &str, mut changes: NameChanges) -> FullName {
        self.drop_extras(1, &mut changes);
        let (first, middle) = self.texts.split_first().map_or(("", &[][..]), |(first, middle)| (*first, middle));
        FullName { surname: surname.trim().into(), first_name: first.into(), middle_name: middle.join(" "), changes }
    }

    /// Returns the parts of a name without a comma.
    fn without_comma(mut self, mut changes: NameChanges) -> FullName {
        self.drop_extras(2, &mut changes);
        let last = |words: &Words<'_>| words.folded.last().cloned().unwrap_or_default();
        if self.len() > 2 && last(&self) == "V" {
            self.keep(0, self.len() - 1);
            changes.add(NameChanges::SUFFIX);
        }
        let count = self.len();
        if count > 2 && last(&self).len() == 1 {
            return FullName {
                surname: self.texts[0].into(),
                first_name: self.texts[1].into(),
                middle_name: self.texts[2..].join(" "),
                changes,
            };
        }
        let mut start = count.saturating_sub(1);
        while start > 1 && joins_next(&self.folded[start - 1]) {
            start -= 1;
        }
        FullName {
            surname: self.texts[start..].join(" "),
            first_name: if start > 0 { self.texts[0].into() } else { String::new() },
            middle_name: self.texts.get(1..start).unwrap_or_default().join(" "),
            changes,
        }
    }
}

fn is_marker(word: &str) -> bool {
    MARKERS.contains(&word) || matches!(word, NEW_MARKER | "A K A" | "F K A" | "N K A")
}

fn is_leading_title(word: &str) -> bool {
    LEADING_TITLES.contains(&word) || WHOLE_NAME_TITLES.contains(&word)
}

/// Returns whether a word is the start of a surname of several words. O is more often an initial.
fn joins_next(word: &str) -> bool {
    ARTICLES.contains(&word) || PREFIXES.contains(&word) && word != "O"
}
