//! Provenance: how an output was made, as data. It contains the version, command, options, inputs with their SHA-256,
//! targets, decision and certificate, but no data of individual rows.

mod options;
mod read;
pub mod show;

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::thread::JoinHandle;

use apportion::Decision;
use apportion::audit::Section;
use apportion::decision::Fitted;
use apportion::learn::Model;
use apportion::rule::Joint;
use apportion::text::{Message, Setting, count};
use apportion_io::{Input, METADATA_KEY, is_same_file, refuse_overwrite, write_atomically};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};

pub use options::{Recorded, RecordedBound};
pub use read::{Found, find};

use crate::labels::RuleResult;
use crate::{Context, Error, Result};

/// The version of the format.
const FORMAT: u32 = 2;

/// Maximum number of groups for which targets and prices by group are recorded, to limit the size.
const MOST_GROUPS: usize = 4096;

/// How an output was made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct Provenance {
    /// The version of this format.
    pub provenance: u32,
    /// The version of the program.
    pub apportion: String,
    /// The job: `label`, `apply`, `predict`, `calibrate` or `fit`.
    pub job: String,
    /// The complete command, quoted for a shell; empty if there was no command.
    pub command: String,
    /// The settings on which the result depends, including defaults.
    #[serde(default)]
    pub options: Recorded,
    /// The files that were read.
    #[serde(default)]
    pub inputs: Vec<InputFile>,
    /// The built-in tables that `predict` used.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tables: Vec<String>,
    /// The number of rows of the output, if it was known before the output was written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows: Option<u64>,
    /// The number of people with each label, in class order; if there are several draws, for the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counts: Option<Vec<u64>>,
    /// The number of people without a label.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unlabeled: Option<u64>,
    /// The targets of the labels, if the rule has a reference.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub targets: Option<Targets>,
    /// The share of each class in the reference, if it was estimated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference_shares: Option<Vec<f64>>,
    /// The decision, as saved by `fit`, unless it is large.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<Decision>"))]
    pub decision: Option<Value>,
    /// The reason why the decision is omitted, if it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decision_omitted: Option<String>,
    /// The certificate of optimality, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub certificate: Option<SavedCertificate>,
}

/// A file that was read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct InputFile {
    /// The name, as given by the user.
    pub name: String,
    /// The role: `scores`, `people`, `reference`, `training shares`, `decision`, `calibration`, `margin`, `table`,
    /// `outlines` or `config`.
    pub role: String,
    /// The number of rows, if it is a table.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows: Option<u64>,
    /// The SHA-256 of the file; null for a table in memory and for a pipe.
    pub sha256: Option<String>,
}

/// The reference in whole people.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct Targets {
    /// The target of each class, for all rows.
    pub overall: Vec<u64>,
    /// The target of each class, by group, if there are at most 4,096 groups.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub groups: BTreeMap<String, Vec<u64>>,
}

/// A certificate of optimality: the labels are proved optimal if both sides are equal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields, rename = "Certificate"))]
pub struct SavedCertificate {
    /// The objective of the labels, a whole number of units of 2^-40 as text.
    pub primal: String,
    /// The upper bound for all labels with these counts, in the same units.
    pub dual: String,
    /// The difference between both, in scores.
    pub gap: f64,
}

/// Returns whether two paths, of files that may not exist yet, lead to the same file.
fn is_same_target(one: &Path, other: &Path) -> bool {
    let place = |path: &Path| {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        Some((folder.canonicalize().ok()?, path.file_name()?.to_owned()))
    };
    one == other || place(one).is_some_and(|own| Some(own) == place(other))
}

/// Whether and where provenance is written.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ProvenanceSettings {
    /// A JSON file for the provenance. Parquet and Arrow outputs contain it.
    pub provenance: Option<PathBuf>,
    /// Whether to skip provenance, including the SHA-256 of the inputs.
    pub no_provenance: bool,
}

impl ProvenanceSettings {
    /// Refuses a file that must not be written, before any rows are read.
    ///
    /// # Errors
    /// If the file is the output or an input, exists, or does not end in `.json`.
    pub fn check(&self, inputs: &[&Input], others: &[ExtraFile], output: &Path, force: bool) -> Result<()> {
        let Some(path) = &self.provenance else { return Ok(()) };
        if self.no_provenance {
            return Err(Error::settings(
                Message::from(Setting::Provenance) + " cannot be used with " + Setting::NoProvenance,
            ));
        }
        if !path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("json")) {
            return Err(Error::settings(
                Message::from(Setting::Provenance) + ": the name of the file must end in .json",
            ));
        }
        if is_same_target(path, output) {
            let same = Message::from(Setting::Provenance) + " and " + Setting::Output;
            return Err(Error::settings(same + " name the same file; choose different files"));
        }
        inputs.iter().try_for_each(|input| refuse_overwrite(path, Some(input), force))?;
        if others.iter().any(|other| is_same_file(&other.path, path)) {
            let problem = "this is an input, and inputs are never overwritten; choose another output";
            return Err(apportion_io::Error::file(path, problem).into());
        }
        refuse_missing_folder(path)
    }

    /// Returns whether provenance is collected, given whether the output can contain it.
    pub fn is_wanted(&self, output_holds_it: bool) -> bool {
        !self.no_provenance && (output_holds_it || self.provenance.is_some())
    }

    /// Writes the requested file.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn write(&self, provenance: Option<&Provenance>) -> Result<()> {
        let (Some(path), Some(provenance)) = (&self.provenance, provenance) else { return Ok(()) };
        Ok(write_atomically(path, format!("{}\n", pretty(provenance)?).as_bytes())?)
    }
}

/// Refuses a file in a folder that does not exist, before any work is done.
///
/// # Errors
/// If the folder does not exist.
pub fn refuse_missing_folder(path: &Path) -> Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if folder.is_dir() {
        return Ok(());
    }
    Err(apportion_io::Error::missing_folder(folder).into())
}

fn pretty(value: &impl Serialize) -> Result<String> {
    serde_json::to_string_pretty(value).map_err(|error| Error::data(error.to_string()))
}

/// Returns whether a file with this name can contain metadata.
pub fn holds_metadata(path: &str) -> bool {
    let path = path.to_lowercase();
    [".parquet", ".pq", ".arrow", ".arrows", ".feather", ".ipc"].iter().any(|ending| path.ends_with(ending))
}

impl Provenance {
    /// Creates the provenance with the information that all jobs have.
    pub fn new(job: &str, context: &Context, options: Recorded, mut inputs: Vec<InputFile>) -> Provenance {
        inputs.extend(context.config.clone());
        Provenance {
            provenance: FORMAT,
            apportion: env!("CARGO_PKG_VERSION").into(),
            job: job.into(),
            command: context.command.clone(),
            options,
            inputs,
            tables: Vec::new(),
            rows: None,
            counts: None,
            unlabeled: None,
            targets: None,
            reference_shares: None,
            decision: None,
            decision_omitted: None,
            certificate: None,
        }
    }

    /// Adds the counts of labels, their targets and their certificate.
    pub fn with_labels(
        mut self,
        summary: &Section,
        targets: Option<&[u64]>,
        joint: Option<&Joint>,
        groups: Option<&[String]>,
    ) -> Provenance {
        self.counts = Some(summary.counts());
        self.unlabeled = Some(summary.people - summary.labeled);
        self.targets = targets.map(|overall| {
            let by_group = joint.map_or(&[][..], |joint| &joint.group_targets);
            let groups = groups.filter(|groups| groups.len() <= MOST_GROUPS).unwrap_or_default();
            Targets {
                overall: overall.to_vec(),
                groups: groups.iter().cloned().zip(by_group.iter().cloned()).collect(),
            }
        });
        self.certificate = joint.map(SavedCertificate::of);
        self
    }

    /// Adds the counts, targets and certificate of a result.
    pub fn with_result(self, result: &RuleResult, groups: Option<&[String]>) -> Provenance {
        self.with_labels(&result.summary, result.targets.as_deref(), result.joint.as_ref(), groups)
    }

    /// Adds the decision, unless it is large.
    pub fn with_decision(mut self, decision: &Decision) -> Result<Provenance> {
        self.decision_omitted = match decision.fitted() {
            Fitted::Prices(groups) if groups.len() > MOST_GROUPS => Some(format!(
                "it has prices for {} groups, and at most {} are kept here",
                count(groups.len() as u64),
                count(MOST_GROUPS as u64)
            )),
            Fitted::Learned(Model::Forest(_)) => Some("it is a forest, which is too large".into()),
            Fitted::Argmax
            | Fitted::Threshold { .. }
            | Fitted::Thompson
            | Fitted::TopK { .. }
            | Fitted::Prices(_)
            | Fitted::Learned(Model::Svm(_) | Model::Logistic(_)) => None,
        };
        if self.decision_omitted.is_none() {
            self.decision = Some(serde_json::to_value(decision).map_err(|error| Error::data(error.to_string()))?);
        }
        Ok(self)
    }

    /// Returns the provenance as metadata of a Parquet or Arrow file.
    pub fn metadata(&self) -> Result<Vec<(String, String)>> {
        Ok(vec![(METADATA_KEY.into(), serde_json::to_string(self).map_err(|error| Error::data(error.to_string()))?)])
    }
}

impl SavedCertificate {
    /// Returns the certificate of a joint rule.
    pub fn of(joint: &Joint) -> SavedCertificate {
        let certificate = joint.certificate;
        SavedCertificate {
            primal: certificate.primal.to_string(),
            dual: certificate.dual.to_string(),
            gap: certificate.gap(),
        }
    }
}

/// A file that is read in addition to the main tables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExtraFile {
    /// The file.
    pub path: PathBuf,
    /// Its description, such as "the reference".
    pub what: &'static str,
    /// Its number of rows, if it is a table.
    pub rows: Option<u64>,
}

impl ExtraFile {
    /// Returns its role, in one word.
    fn role(&self) -> &'static str {
        self.what.strip_prefix("the ").unwrap_or(self.what)
    }
}

/// The SHA-256 of each file, or the file that could not be read.
type Hashes = std::result::Result<Vec<Option<String>>, (PathBuf, io::Error)>;

/// Files whose SHA-256 is computed by another thread while they are read.
#[derive(Debug)]
pub struct InputHashes {
    names: Vec<String>,
    role: &'static str,
    extra: Vec<ExtraFile>,
    hashes: JoinHandle<Hashes>,
}

impl InputHashes {
    /// Starts hashing the files of a table, which have this role, and other files.
    pub fn start(input: &Input, role: &'static str, extra: Vec<ExtraFile>) -> InputHashes {
        // A table in memory has no file to hash, and a pipe cannot be read twice.
        let place = |file: usize| input.memory_table(file).is_none().then(|| input.path(file).to_owned());
        let places = (0..input.names().len()).map(place);
        let regular = |own: &ExtraFile| own.path.is_file().then(|| own.path.clone());
        let places: Vec<Option<PathBuf>> = places.chain(extra.iter().map(regular)).collect();
        let names = input.names().map(|name| name.display().to_string()).collect();
        let hash = |place: &Option<PathBuf>| match place {
            Some(place) => sha256(place).map(Some).map_err(|error| (place.clone(), error)),
            None => Ok(None),
        };
        InputHashes { names, role, extra, hashes: std::thread::spawn(move || places.iter().map(hash).collect()) }
    }

    /// Waits for the hashes and returns all files; `rows` are the row counts of the table's files.
    ///
    /// # Errors
    /// If a file cannot be read.
    pub fn finish(self, rows: Option<&[u64]>) -> Result<Vec<InputFile>> {
        let hashes =
            self.hashes.join().map_err(|_| Error::data("the files could not be read again; run the command again"))?;
        let hashes = hashes.map_err(|(path, error)| apportion_io::Error::io(&path, &error))?;
        let role = self.role;
        let own = self.names.into_iter().enumerate().map(|(file, name)| {
            let rows = rows.and_then(|rows| rows.get(file).copied());
            (name, role, rows)
        });
        let extra = self.extra.iter().map(|own| (own.path.display().to_string(), own.role(), own.rows));
        let all = own.chain(extra).zip(hashes);
        Ok(all.map(|((name, role, rows), sha256)| InputFile { name, role: role.into(), rows, sha256 }).collect())
    }
}

/// Returns the SHA-256 of a file, in hexadecimal.
///
/// # Errors
/// If the file cannot be read.
pub fn sha256(path: &Path) -> io::Result<String> {
    let (mut file, mut hash, mut buffer) = (File::open(path)?, Sha256::new(), vec![0; 1 << 20]);
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()),
            read => hash.update(&buffer[..read]),
        }
    }
}

/// Returns a command, quoted for a shell.
pub fn shell_command(line: &[String]) -> String {
    line.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
}

/// Returns a word, quoted for a shell.
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
