//! Colors: one per class throughout the report, suitable for color-blind readers and for light and dark backgrounds.

use serde_json::{Value, json};

/// The colors of Okabe and Ito that are visible on white and on black, and three by Paul Tol.
const CLASSES: [&str; 9] =
    ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#AA4499", "#999933", "#BB5566"];

/// Returns the color of a class. After nine classes the colors repeat; hatches and markers then distinguish the classes.
pub fn class(class: usize) -> &'static str {
    CLASSES[class % CLASSES.len()]
}

/// Returns how many earlier classes have the same color.
fn round(class: usize) -> usize {
    class / CLASSES.len()
}

/// Returns a color of the form #RRGGBB with an opacity.
pub(crate) fn faded(color: &str, opacity: f64) -> String {
    let channel = |at: usize| color.get(at..at + 2).and_then(|hex| u8::from_str_radix(hex, 16).ok()).unwrap_or(0);
    format!("rgba({}, {}, {}, {opacity})", channel(1), channel(3), channel(5))
}

/// Returns the hatch of a class's bars.
fn hatch(class: usize) -> &'static str {
    ["", "/", "x", "."][round(class) % 4]
}

/// Returns the Plotly pattern of a class's bars: white lines over the color, which are also visible on pale bars.
pub(crate) fn pattern(class: usize) -> Value {
    json!({ "shape": hatch(class), "fillmode": "overlay", "fgcolor": "#fff", "size": 6, "solidity": 0.35 })
}

/// Returns the marker next to a class's name, as a CSS style: filled, a ring, a ring with a dot, or half filled.
pub(crate) fn dot(own: usize) -> String {
    let color = class(own);
    match round(own) % 4 {
        0 => format!("background:{color}"),
        1 => format!("border:.19em solid {color}"),
        2 => format!("border:.1em solid {color};background:radial-gradient({color} 35%,transparent 40%)"),
        _ => format!("border:.1em solid {color};background:linear-gradient(90deg,{color} 50%,transparent 50%)"),
    }
}

/// The color of unlabeled people.
pub(crate) const UNCODED: &str = "#8A8F98";

/// The color of reference lines.
pub const GUIDE: &str = "#8A8F98";

/// The accent color.
pub const ACCENT: &str = "#6A5ACD";

/// Markers that can be distinguished without color.
const SYMBOLS: [&str; 10] =
    ["circle", "square", "diamond", "triangle-up", "triangle-down", "cross", "x", "star", "hexagon", "pentagon"];

/// Returns the marker of a rule.
pub fn symbol(index: usize) -> &'static str {
    SYMBOLS[index % SYMBOLS.len()]
}

/// Color scale from undercounted to overcounted: orange to purple.
pub const DIVERGING: [(f64, &str); 7] = [
    (0.0, "#B35806"),
    (0.2, "#E08214"),
    (0.4, "#FDD9A8"),
    (0.5, "#F4F3F1"),
    (0.6, "#D3D0E6"),
    (0.8, "#8073AC"),
    (1.0, "#542788"),
];

/// Color scale from none to all: white to purple.
pub const SEQUENTIAL: [(f64, &str); 4] = [(0.0, "#F4F3F1"), (0.2, "#D3D0E6"), (0.6, "#8073AC"), (1.0, "#542788")];

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn colors_fade() {
        assert_eq!(faded("#0072B2", 0.5), "rgba(0, 114, 178, 0.5)");
    }

    #[test]
    fn no_two_of_twenty_classes_look_alike() {
        let all = |look: fn(usize) -> String| (0..20).map(look).collect::<BTreeSet<_>>().len();
        assert_eq!(all(|own| format!("{} {}", class(own), hatch(own))), 20);
        assert_eq!(all(dot), 20);
    }
}
