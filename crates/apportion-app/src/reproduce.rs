//! The job `reproduce`: computes the paper's simulations, figures and tables.

use std::path::PathBuf;

use apportion::text::{Message, Setting};
use apportion_io::write_folder_atomically;
use apportion_paper::{Plan, Reproduction};
use serde::{Deserialize, Serialize};

use crate::protect::refuse_filled_folder;
use crate::provenance::refuse_missing_folder;
use crate::{Context, Error, Result, public_voters};

/// The size of the computation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Request {
    /// The folder for the page and the numbers.
    pub output: PathBuf,
    /// The number of datasets over which means are taken, at least 2.
    pub datasets: u64,
    /// The number of people in each dataset, at least 100.
    pub rows: u64,
    /// The number of simulated voters for the tables, at least 100.
    pub voters: u64,
    /// The public file of Greengard and Gelman, which replaces the simulated voters of their tables and figures.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub public: Option<PathBuf>,
    /// The seed.
    pub seed: u64,
    /// Whether to write into a folder that contains files.
    pub force: bool,
}

impl Default for Request {
    fn default() -> Request {
        let Plan { datasets, rows, voters, seed } = Plan::default();
        Request { output: PathBuf::new(), datasets, rows, voters, public: None, seed, force: false }
    }
}

/// The reproduced results of the paper.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct Response {
    /// The folder.
    pub written: PathBuf,
    /// The names of the files in it.
    pub files: Vec<String>,
}

/// Computes the paper's results and writes them to a folder.
///
/// # Errors
/// If the folder cannot be written, a number is too small, or the public file is not as expected.
pub fn run(request: &Request, context: &Context) -> Result<Response> {
    let folder = &request.output;
    if folder.as_os_str().is_empty() {
        return Err(Error::Settings(Message::from(Setting::Output) + " is required: name a folder"));
    }
    refuse_missing_folder(folder)?;
    refuse_filled_folder(folder, request.force)?;
    let &Request { datasets, rows, voters, seed, .. } = request;
    let plan = Plan { datasets, rows, voters, seed };
    let public = request.public.as_ref().map(|path| public_voters::read(path, context)).transpose()?;
    let reproduction = context.install(|| Ok(Reproduction::of(&plan, public.as_ref(), |step| context.note(step))?))?;
    let files = reproduction.files(&context.command);
    write_folder_atomically(folder, &files)?;
    Ok(Response { written: folder.clone(), files: files.into_iter().map(|(name, _)| name).collect() })
}
