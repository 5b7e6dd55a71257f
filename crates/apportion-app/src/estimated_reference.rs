//! References estimated from the table: `em`, from scores and training shares, and `pacc`, from rows with truth.

use std::path::Path;

use apportion::audit::{Bootstrap, Interval};
use apportion::calibrate::{ShareEstimate, ShareMethod};
use apportion::text::{Message, Setting};
use apportion::{PerGroup, Scores};
use apportion_io::{MemoryTable, Table};
use serde::{Deserialize, Serialize};

use crate::protect::SideInput;
use crate::provenance::ExtraFile;
use crate::reference::{self, SHARES_IN_MEMORY};
use crate::{Context, Error, Result, text};

/// The number of bootstrap replicates of the intervals.
const REPLICATES: u32 = 400;

/// If an interval is wider than this, a warning says that the scores hardly identify the share.
const WIDE: f64 = 0.2;

/// The class shares of the population for which the scores are calibrated.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct TrainingShares {
    /// A file of shares.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub training_shares: Option<String>,
    /// Shares in memory, instead of the file; `training_shares` may be empty.
    #[serde(skip)]
    pub training_table: Option<MemoryTable>,
}

/// An estimated reference with the intervals of its shares.
#[derive(Clone, Debug, PartialEq)]
pub struct EstimatedReference {
    /// The estimate.
    pub estimate: ShareEstimate,
    /// The training shares, if they were used.
    training: Option<Vec<f64>>,
}

/// Returns the method of a reference that is estimated; `None` for other references.
pub fn method(reference: &str) -> Option<ShareMethod> {
    [ShareMethod::Em, ShareMethod::Pacc].into_iter().find(|method| method.name() == reference)
}

impl TrainingShares {
    /// Returns whether training shares are given.
    pub fn is_given(&self) -> bool {
        self.training_shares.is_some() || self.training_table.is_some()
    }

    /// Returns the name or path of the training shares.
    pub fn name(&self) -> &str {
        self.training_shares.as_deref().unwrap_or(SHARES_IN_MEMORY)
    }

    /// Refuses a reference that cannot be estimated with these settings.
    ///
    /// # Errors
    /// If training shares or truth are missing or not used, or there are groups.
    pub fn check(&self, reference: &str, by: Option<Setting>, has_truth: bool) -> Result<()> {
        let own = || Message::from(Setting::Reference.with(reference));
        let method = method(reference);
        if self.is_given() && method != Some(ShareMethod::Em) {
            let problem = Message::from(Setting::TrainingShares) + " requires " + Setting::Reference.with("em");
            return Err(Error::Settings(problem));
        }
        match (method, by) {
            (None, _) => Ok(()),
            (Some(_), Some(by)) => {
                let problem = own() + " estimates the shares of all rows, not of groups; leave out " + by;
                Err(Error::Settings(problem + ", or write the estimated shares of each group to a file and use it"))
            }
            (Some(ShareMethod::Em), None) if !self.is_given() => {
                let needs = own() + " needs " + Setting::TrainingShares.with("FILE");
                Err(Error::Settings(needs + ", the class shares of the population that the scores describe"))
            }
            (Some(ShareMethod::Pacc), None) if !has_truth => {
                let needs = own() + " needs " + Setting::Truth.with("COL");
                Err(Error::Settings(needs + ", the true class of some rows"))
            }
            (Some(ShareMethod::Em | ShareMethod::Pacc), None) => Ok(()),
        }
    }

    /// Estimates a reference, and sends its shares and intervals as a note; `None` if the reference is not estimated.
    ///
    /// # Errors
    /// If the training shares cannot be read, or the shares cannot be estimated.
    pub fn estimate(
        &self,
        reference: &str,
        table: &Table,
        scores: &Scores<'_>,
        seed: u64,
        context: &Context,
    ) -> Result<Option<EstimatedReference>> {
        let bootstrap = Bootstrap { replicates: REPLICATES, seed, ..Bootstrap::default() };
        let Some(estimated) = self.estimate_with(reference, table, scores, Some(&bootstrap), context)? else {
            return Ok(None);
        };
        context.note(estimated.text(table.classes().names()));
        if let Some(warning) = estimated.warning(table.classes().names()) {
            context.warn(warning);
        }
        Ok(Some(estimated))
    }

    /// Estimates a reference; `None` if the reference is not estimated.
    ///
    /// # Errors
    /// If the training shares cannot be read, or the shares cannot be estimated.
    pub fn estimate_with(
        &self,
        reference: &str,
        table: &Table,
        scores: &Scores<'_>,
        bootstrap: Option<&Bootstrap>,
        context: &Context,
    ) -> Result<Option<EstimatedReference>> {
        let Some(method) = method(reference) else { return Ok(None) };
        let working = context.working("estimating the reference");
        let (estimate, training) = match method {
            ShareMethod::Em => {
                let training = self.read(table)?;
                (ShareEstimate::em(scores, &training, bootstrap), Some(training))
            }
            ShareMethod::Pacc => (ShareEstimate::pacc(scores, bootstrap), None),
        };
        drop(working);
        let estimate = estimate.map_err(|error| table.locate(error))?;
        Ok(Some(EstimatedReference { estimate, training }))
    }

    /// Reads the training shares.
    ///
    /// # Errors
    /// If they cannot be read, are given by group, or a class has no share.
    pub fn read(&self, table: &Table) -> Result<Vec<f64>> {
        let (setting, name) = (Setting::TrainingShares, self.name());
        let refuse = |problem: String| Err(Error::Data(Message::from(setting.with(name)) + ": " + problem));
        let (shares, missing) =
            reference::read_shares(setting, name, self.training_table.as_ref(), table.classes(), &[])?;
        if let Some(class) = missing.first() {
            return refuse(format!("there is no share for {class:?}; add it"));
        }
        match shares {
            PerGroup::Overall(shares) => Ok(shares),
            PerGroup::ByGroup(_) => refuse("it has shares of groups; use one share per class".into()),
        }
    }

    /// Returns the file of the training shares, if they are in a file.
    pub fn side_inputs(&self) -> Vec<SideInput> {
        let file = self.training_shares.iter().filter(|_| self.training_table.is_none());
        file.map(|path| SideInput::new(Setting::TrainingShares, path)).collect()
    }

    /// Returns the file of the training shares for provenance.
    pub fn extra_files(&self) -> Vec<ExtraFile> {
        let files = self.side_inputs().into_iter().filter(|file| Path::new(&file.path).is_file());
        files.map(|file| ExtraFile { path: file.path, what: "the training shares", rows: None }).collect()
    }
}

impl EstimatedReference {
    /// Returns the estimated shares.
    pub fn shares(&self) -> Vec<f64> {
        self.estimate.shares.clone()
    }

    /// Returns the intervals of the shares.
    pub fn intervals(&self) -> Vec<Interval> {
        self.estimate.intervals.clone()
    }

    /// Returns the shares and their intervals as text.
    fn text(&self, classes: &[String]) -> String {
        let percent = |share: f64| format!("{:.2}%", 100.0 * share);
        let people = text::counted(self.estimate.people, "person", "people");
        let (from, assumes) = match self.estimate.method {
            ShareMethod::Em => (
                format!("the scores of {people} and the training shares (em)"),
                "em assumes that the scores are calibrated for the training shares, and that people of a class have the same \
                 scores there and here",
            ),
            ShareMethod::Pacc => {
                let known = text::count(self.estimate.with_truth.unwrap_or_default());
                let from = format!("the scores of {people}, {known} of them with known truth (pacc)");
                (from, "pacc assumes that people of a class have the same scores whether their truth is known or not")
            }
        };
        let mut rows = Vec::with_capacity(classes.len());
        for (class, name) in classes.iter().enumerate() {
            let mut row = vec![name.clone()];
            row.extend(self.training.as_ref().map(|training| percent(training[class])));
            row.push(percent(self.estimate.shares[class]));
            row.extend(
                self.estimate.intervals.get(class).map(|own| format!("{} to {}", percent(own.low), percent(own.high))),
            );
            rows.push(row);
        }
        let header: &[&str] = match self.training {
            Some(_) => &["class", "training", "reference", "95% interval"],
            None => &["class", "reference", "95% interval"],
        };
        let table = text::columns(header, &rows);
        format!("reference estimated from {from}:\n{table}\n{assumes}. Labels match the estimate, not the interval")
    }

    /// Returns a warning for classes whose share is hardly identified.
    fn warning(&self, classes: &[String]) -> Option<Message> {
        let is_wide = |own: &Interval| own.high - own.low > WIDE;
        let wide = classes.iter().zip(&self.estimate.intervals).filter(|(_, own)| is_wide(own));
        let wide: Vec<&str> = wide.map(|(class, _)| class.as_str()).collect();
        (!wide.is_empty()).then(|| {
            let problem = format!("the scores hardly identify the share of {}: ", wide.join(", "));
            Message::from(problem)
                + "the 95% interval is wider than 20 points; merge similar classes, or use a file of known \
                                      shares as the reference"
        })
    }
}
