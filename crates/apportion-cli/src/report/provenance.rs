//! Where a report's numbers come from: files and their SHA-256, the command, and what was done.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::thread::JoinHandle;

use anyhow::{Result, anyhow};
use apportion_report::Provenance;
use apportion_table::{Error, Input, Table};
use sha2::{Digest, Sha256};

use crate::options::{Grouping, TableArgs};

/// A file that is no table of people: what it is, and how many of what it is made of.
#[derive(Clone)]
pub(crate) struct Beside {
    pub(crate) path: PathBuf,
    pub(crate) what: &'static str,
    pub(crate) rows: u64,
}

/// Files whose SHA-256 is computed while other things are.
pub(crate) struct Origin {
    names: Vec<String>,
    beside: Vec<Beside>,
    hashes: JoinHandle<Result<Vec<String>, (PathBuf, io::Error)>>,
}

impl Origin {
    /// Begins to read the files.
    pub(crate) fn of(input: &Input, beside: Vec<Beside>) -> Origin {
        // A table in memory has no bytes that anybody could hash again.
        let place = |file: usize| input.held(file).is_none().then(|| input.place(file).to_owned());
        let places = (0..input.names().len()).map(place);
        let places: Vec<Option<PathBuf>> = places.chain(beside.iter().map(|own| Some(own.path.clone()))).collect();
        let names = input.names().map(|name| name.display().to_string()).collect();
        let hash = |place: &Option<PathBuf>| match place {
            Some(place) => sha256(place).map_err(|error| (place.clone(), error)),
            None => Ok("in memory".to_owned()),
        };
        Origin { names, beside, hashes: std::thread::spawn(move || places.iter().map(hash).collect()) }
    }

    /// All that is said of where the numbers come from.
    pub(crate) fn told(
        self,
        table: &Table,
        options: &TableArgs,
        by: Grouping<'_>,
        line: &[String],
        more: Vec<(&str, String)>,
    ) -> Result<Provenance> {
        let hashes = self.hashes.join().map_err(|_| anyhow!("the files could not be read again"))?;
        let hashes = hashes.map_err(|(path, error)| Error::io(&path, &error))?;
        let beside = self.beside.into_iter().map(|own| (format!("{} ({})", own.path.display(), own.what), own.rows));
        let files = self.names.into_iter().zip(table.rows_of_files()).chain(beside).zip(hashes);
        let facts = options.facts(table, by).into_iter().chain(more);
        Ok(Provenance {
            files: files.map(|((name, rows), hash)| (name, rows, hash)).collect(),
            facts: facts.map(|(name, fact)| (name.to_owned(), fact)).collect(),
            command: command(line),
        })
    }
}

fn sha256(path: &Path) -> io::Result<String> {
    let (mut file, mut hash, mut buffer) = (File::open(path)?, Sha256::new(), vec![0; 1 << 20]);
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()),
            read => hash.update(&buffer[..read]),
        }
    }
}

/// A command as a shell takes it.
pub(crate) fn command(line: &[String]) -> String {
    line.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
}

/// A word as a shell takes it.
fn quoted(word: &str) -> String {
    let is_plain = |letter: char| letter.is_alphanumeric() || "-_./=,:@%+".contains(letter);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_where_a_shell_needs_it() {
        assert_eq!(
            ["a.csv", "W=white,B=black", "two words", "it's", ""].map(quoted).join(" "),
            "a.csv W=white,B=black 'two words' 'it'\\''s' ''"
        );
    }

    #[test]
    fn a_file_has_the_sha256_that_others_compute() {
        let folder = tempfile::TempDir::new().unwrap();
        let path = folder.path().join("abc");
        std::fs::write(&path, "abc").unwrap();
        assert_eq!(sha256(&path).unwrap(), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    }
}
