//! Argmax: the likeliest class. Cheapest and most accurate row by row; it undercounts every minority.

use crate::decision::Prices;

/// Argmax is the decision whose prices are all zero, where the first of equal classes is taken.
pub(crate) fn prices(classes: usize) -> Prices {
    vec![Some(0); classes]
}
