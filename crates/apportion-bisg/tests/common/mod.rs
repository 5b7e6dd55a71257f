//! Data files outside the repository, for tests against the original tables.

use std::path::PathBuf;

/// Returns the path of a data file outside the repository. If it is missing, prints that the test is skipped; in CI it
/// fails.
pub(crate) fn shared(name: &str) -> Option<PathBuf> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data").join(name);
    if !path.exists() {
        assert!(std::env::var_os("CI").is_none(), "{name} is not beside the checkout");
        eprintln!("skipped: {name} is not beside the checkout");
    }
    path.exists().then_some(path)
}
