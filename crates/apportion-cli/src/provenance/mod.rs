//! Options of provenance, and provenance as people read it.

mod text;

use std::path::PathBuf;

use apportion_app::provenance::ProvenanceSettings;
use clap::Args;

pub(crate) use text::text;

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
    /// The same as settings of a job.
    pub(crate) fn settings(&self) -> ProvenanceSettings {
        ProvenanceSettings { provenance: self.provenance.clone(), no_provenance: self.no_provenance }
    }
}

/// A side file, which is JSON and is called so.
fn json_file(text: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(text);
    let is_json = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("json"));
    if is_json { Ok(path) } else { Err("its name must end in .json".into()) }
}
