//! Provenance: where an output comes from, as data. Version, command, options, inputs and their SHA-256, targets, decision and
//! certificate; nothing of any row.

mod options;
mod read;
mod text;

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::thread::JoinHandle;

use anyhow::{Result, anyhow};
use apportion::Decision;
use apportion::decision::Fitted;
use apportion::learn::Model;
use apportion::rule::Joint;
use apportion_io::{Error, Input, METADATA_KEY, is_same_file, refuse_overwrite, write_atomically};
use clap::Args;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};

pub(crate) use options::Recorded;
pub(crate) use read::find;

use crate::rule_result::RuleResult;
use crate::usage::usage;

/// The version of the format.
const FORMAT: u32 = 1;

/// Groups beyond which targets and prices by group are left out: they would be larger than many an output.
const MOST_GROUPS: usize = 4096;

/// Where an output comes from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Provenance {
    /// The version of this format.
    pub(crate) provenance: u32,
    /// The version of the program.
    pub(crate) apportion: String,
    /// The command that ran: label, apply, predict, fit.
    pub(crate) job: String,
    /// The whole command, as a shell takes it.
    pub(crate) command: String,
    #[serde(default)]
    pub(crate) options: Recorded,
    #[serde(default)]
    pub(crate) inputs: Vec<InputFile>,
    /// Tables inside the program that were used.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) tables: Vec<String>,
    /// Rows of the output, if they were known before it was written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) rows: Option<u64>,
    /// People with each class, in the order of the classes; of several draws, those of the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) counts: Option<Vec<u64>>,
    /// People without a label.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) unlabeled: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) targets: Option<Targets>,
    /// The decision, as `fit` saves it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) decision: Option<Value>,
    /// Why the decision is left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) decision_omitted: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) certificate: Option<SavedCertificate>,
}

/// A file that was read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct InputFile {
    /// Its name, as the user wrote it.
    pub(crate) name: String,
    /// scores, people, reference, decision, margin, table, outlines.
    pub(crate) role: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) rows: Option<u64>,
    /// None of a table in memory, and of a pipe that cannot be read twice.
    pub(crate) sha256: Option<String>,
}

/// The reference in whole people.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Targets {
    pub(crate) overall: Vec<u64>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) groups: BTreeMap<String, Vec<u64>>,
}

/// Both sides of the certificate, in units of 2^-40.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct SavedCertificate {
    pub(crate) primal: String,
    pub(crate) dual: String,
    pub(crate) gap: f64,
}

/// Whether two paths, of files that may not exist yet, lead to one place.
fn is_same_target(one: &Path, other: &Path) -> bool {
    let place = |path: &Path| {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        Some((folder.canonicalize().ok()?, path.file_name()?.to_owned()))
    };
    one == other || place(one).is_some_and(|own| Some(own) == place(other))
}

/// A side file, which is JSON and is called so.
fn json_file(text: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(text);
    let is_json = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("json"));
    if is_json { Ok(path) } else { Err("its name must end in .json".into()) }
}

/// Whether and where provenance is written.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct ProvenanceArgs {
    /// Writes where the output comes from (version, command, options, SHA-256 of the inputs, certificate) to a JSON file.
    /// Parquet and Arrow outputs hold it themselves.
    #[arg(long, value_name = "FILE.json", value_parser = json_file, conflicts_with = "no_provenance")]
    provenance: Option<PathBuf>,
    /// Computes no SHA-256 of the inputs and writes no provenance.
    #[arg(long)]
    no_provenance: bool,
}

impl ProvenanceArgs {
    /// Refuses a file that must not be written, before anything is read.
    pub(crate) fn check(&self, inputs: &[&Input], others: &[Beside], output: &Path, force: bool) -> Result<()> {
        let Some(path) = &self.provenance else { return Ok(()) };
        if is_same_target(path, output) {
            return Err(usage("--provenance and -o name the same file; choose two"));
        }
        inputs.iter().try_for_each(|input| refuse_overwrite(path, Some(input), force))?;
        if others.iter().any(|other| is_same_file(&other.path, path)) {
            return Err(
                Error::file(path, "it is one of the inputs, which are never overwritten; write elsewhere").into()
            );
        }
        crate::report::refuse_no_folder(path)
    }

    /// Whether provenance is collected, given whether the output can hold it.
    pub(crate) fn is_wanted(&self, output_holds_it: bool) -> bool {
        !self.no_provenance && (output_holds_it || self.provenance.is_some())
    }

    /// Writes the file that was asked for.
    pub(crate) fn write(&self, provenance: Option<&Provenance>) -> Result<()> {
        let (Some(path), Some(provenance)) = (&self.provenance, provenance) else { return Ok(()) };
        let json = serde_json::to_string_pretty(provenance)?;
        Ok(write_atomically(path, format!("{json}\n").as_bytes())?)
    }
}

/// Whether a file of this name holds metadata.
pub(crate) fn holds_metadata(path: &str) -> bool {
    let path = path.to_lowercase();
    [".parquet", ".pq", ".arrow", ".arrows", ".feather", ".ipc"].iter().any(|ending| path.ends_with(ending))
}

impl Provenance {
    /// What is known of every command.
    pub(crate) fn new(job: &str, line: &[String], options: Recorded, inputs: Vec<InputFile>) -> Provenance {
        Provenance {
            provenance: FORMAT,
            apportion: env!("CARGO_PKG_VERSION").into(),
            job: job.into(),
            command: command(line),
            options,
            inputs,
            tables: Vec::new(),
            rows: None,
            counts: None,
            unlabeled: None,
            targets: None,
            decision: None,
            decision_omitted: None,
            certificate: None,
        }
    }

    /// Adds what labels are.
    pub(crate) fn with_outcome(mut self, outcome: &RuleResult, groups: Option<&[String]>) -> Provenance {
        let summary = &outcome.summary;
        self.counts = Some(summary.counts());
        self.unlabeled = Some(summary.people - summary.labeled);
        self.targets = outcome.targets.clone().map(|overall| {
            let by_group = outcome.joint.as_ref().map_or(&[][..], |joint| &joint.group_targets);
            let groups = groups.filter(|groups| groups.len() <= MOST_GROUPS).unwrap_or_default();
            Targets { overall, groups: groups.iter().cloned().zip(by_group.iter().cloned()).collect() }
        });
        self.certificate = outcome.joint.as_ref().map(SavedCertificate::of);
        self
    }

    /// Adds the decision, unless it is large.
    pub(crate) fn with_decision(mut self, decision: &Decision) -> Result<Provenance> {
        self.decision_omitted = match decision.fitted() {
            Fitted::Prices(groups) if groups.len() > MOST_GROUPS => {
                Some(format!("it has prices for {} groups, and at most {MOST_GROUPS} are kept here", groups.len()))
            }
            Fitted::Learned(Model::Forest(_)) => Some("it is a forest, which is too large".into()),
            _ => None,
        };
        if self.decision_omitted.is_none() {
            self.decision = Some(serde_json::to_value(decision)?);
        }
        Ok(self)
    }

    /// As metadata of a Parquet or Arrow file.
    pub(crate) fn metadata(&self) -> Result<Vec<(String, String)>> {
        Ok(vec![(METADATA_KEY.into(), serde_json::to_string(self)?)])
    }
}

impl SavedCertificate {
    fn of(joint: &Joint) -> SavedCertificate {
        let certificate = joint.certificate;
        SavedCertificate {
            primal: certificate.primal.to_string(),
            dual: certificate.dual.to_string(),
            gap: certificate.gap(),
        }
    }
}

/// A file that is read beside the tables of people: what it is, and how many of what it is made of.
#[derive(Clone)]
pub(crate) struct Beside {
    pub(crate) path: PathBuf,
    pub(crate) what: &'static str,
    pub(crate) rows: Option<u64>,
}

impl Beside {
    /// Its role, in one word.
    fn role(&self) -> &'static str {
        self.what.strip_prefix("the ").unwrap_or(self.what)
    }
}

/// The SHA-256 of each file, or the file that could not be read.
type Hashes = Result<Vec<Option<String>>, (PathBuf, io::Error)>;

/// Files whose SHA-256 is computed by another thread while they are read.
pub(crate) struct Origin {
    names: Vec<String>,
    role: &'static str,
    beside: Vec<Beside>,
    hashes: JoinHandle<Hashes>,
}

impl Origin {
    /// Begins to read the files: tables in a role, and others.
    pub(crate) fn of(input: &Input, role: &'static str, beside: Vec<Beside>) -> Origin {
        // A table in memory has no bytes that could be hashed again, and a pipe no second reading.
        let place = |file: usize| input.memory_table(file).is_none().then(|| input.path(file).to_owned());
        let places = (0..input.names().len()).map(place);
        let regular = |own: &Beside| own.path.is_file().then(|| own.path.clone());
        let places: Vec<Option<PathBuf>> = places.chain(beside.iter().map(regular)).collect();
        let names = input.names().map(|name| name.display().to_string()).collect();
        let hash = |place: &Option<PathBuf>| match place {
            Some(place) => sha256(place).map(Some).map_err(|error| (place.clone(), error)),
            None => Ok(None),
        };
        Origin { names, role, beside, hashes: std::thread::spawn(move || places.iter().map(hash).collect()) }
    }

    /// All files, once their SHA-256 is known. Rows are those of the tables.
    pub(crate) fn files(self, rows: Option<&[u64]>) -> Result<Vec<InputFile>> {
        let hashes = self.hashes.join().map_err(|_| anyhow!("the files could not be read again; try again"))?;
        let hashes = hashes.map_err(|(path, error)| Error::io(&path, &error))?;
        let role = self.role;
        let own = self.names.into_iter().enumerate().map(|(file, name)| {
            let rows = rows.and_then(|rows| rows.get(file).copied());
            (name, role, rows)
        });
        let beside = self.beside.iter().map(|own| (own.path.display().to_string(), own.role(), own.rows));
        let all = own.chain(beside).zip(hashes);
        Ok(all.map(|((name, role, rows), sha256)| InputFile { name, role: role.into(), rows, sha256 }).collect())
    }
}

pub(crate) fn sha256(path: &Path) -> io::Result<String> {
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
