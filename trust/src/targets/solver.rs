//! Joint rules on small problems, against all labelings.

use crate::Outcome;
use crate::draw::Draw;
use crate::solver::small;

/// Makes a problem from bytes, solves it and compares it with exhaustive search.
pub(super) fn run(data: &[u8]) -> Outcome {
    small::check(&mut Draw::from_bytes(data))
}
