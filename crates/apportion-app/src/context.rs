//! The context of a job: receivers of progress and notices, and the threads to use.

use std::fmt;
use std::num::NonZero;
use std::sync::Arc;

use apportion::text::{Message, Part, Setting};
use apportion_io::{NoProgress, Progress};

use crate::provenance::InputFile;
use crate::{Error, Result};

/// The context of a job. By default, progress and notices are ignored, and all processors are used.
#[derive(Clone)]
pub struct Context {
    /// Receives progress reports, and can cancel the job.
    pub progress: Arc<dyn Progress>,
    /// Receives notices while the job runs.
    pub notices: Arc<dyn Fn(Notice) + Send + Sync>,
    /// The number of threads; if not set, the global pool is used.
    pub threads: Option<usize>,
    /// The command that started the job, quoted for a shell, for provenance; empty if there was no command.
    pub command: String,
    /// The file of options that the command line named, for provenance.
    pub config: Option<InputFile>,
    /// Formats a setting in the style of the front end, for reports and responses.
    pub name_setting: fn(Setting, Option<&str>) -> String,
}

/// A sentence from a job while it runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Notice {
    /// Information, such as which columns were recognized.
    Note(Message),
    /// A warning that the result may be misleading.
    Warning(Message),
}

impl Default for Context {
    fn default() -> Context {
        Context {
            progress: Arc::new(NoProgress),
            notices: Arc::new(|_| {}),
            threads: None,
            command: String::new(),
            config: None,
            name_setting: |setting, value| Message::from(Part::Setting(setting, value.map(str::to_owned))).to_string(),
        }
    }
}

impl fmt::Debug for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Context").field("threads", &self.threads).finish_non_exhaustive()
    }
}

impl Context {
    /// Returns a message with its settings in the style of the front end.
    pub fn render(&self, message: &Message) -> String {
        message.render(self.name_setting)
    }

    /// Sends a note.
    pub fn note(&self, message: impl Into<Message>) {
        (self.notices)(Notice::Note(message.into()));
    }

    /// Sends a warning that a result may be misleading.
    pub fn warn(&self, message: impl Into<Message>) {
        (self.notices)(Notice::Warning(message.into()));
    }

    /// Reports that work of unknown length is in progress, until the returned value is dropped.
    pub fn working(&self, what: &'static str) -> Working<'_> {
        self.progress.begin(what, 0);
        Working(self)
    }

    /// Returns an error if the job was cancelled.
    ///
    /// # Errors
    /// If the job was cancelled.
    pub fn check_cancelled(&self) -> Result<()> {
        if self.progress.is_cancelled() { Err(apportion_io::Error::Cancelled.into()) } else { Ok(()) }
    }

    /// Runs work on the threads of the job.
    ///
    /// # Errors
    /// If the system cannot start the threads, or the work fails.
    pub fn install<T: Send>(&self, work: impl FnOnce() -> Result<T> + Send) -> Result<T> {
        let Some(threads) = self.threads else { return work() };
        let processors = std::thread::available_parallelism().map_or(1, NonZero::get);
        let pool = rayon::ThreadPoolBuilder::new().num_threads(pool_size(threads, processors)).build();
        pool.map_err(|error| Error::Threads(error.to_string()))?.install(work)
    }
}

/// Threads per processor, at most. More threads only wait for each other: a thousand on two processors take seconds to start.
const THREADS_PER_PROCESSOR: usize = 4;

/// Returns the number of threads to start, of those that were requested.
fn pool_size(threads: usize, processors: usize) -> usize {
    threads.min(processors.saturating_mul(THREADS_PER_PROCESSOR))
}

/// Work of unknown length.
#[derive(Debug)]
pub struct Working<'a>(&'a Context);

impl Drop for Working<'_> {
    fn drop(&mut self) {
        self.0.progress.end();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_are_limited_by_processors() {
        assert_eq!([1, 2, 8, 9, 1024].map(|threads| pool_size(threads, 2)), [1, 2, 8, 8, 8]);
        let context = Context { threads: Some(1024), ..Context::default() };
        let processors = std::thread::available_parallelism().map_or(1, NonZero::get);
        let started = context.install(|| Ok(rayon::current_num_threads())).unwrap();
        assert_eq!(started, 1024.min(4 * processors));
    }
}
