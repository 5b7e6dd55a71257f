//! States by the first three digits of ZIP codes.

/// The first and last prefix of a range, and the FIPS code of its state. A few ZIP codes near borders serve two states.
const RANGES: [(u64, u64, u64); 69] = [
    (5, 5, 36),
    (6, 7, 72),
    (8, 8, 78),
    (9, 9, 72),
    (10, 27, 25),
    (28, 29, 44),
    (30, 38, 33),
    (39, 49, 23),
    (50, 54, 50),
    (55, 55, 25),
    (56, 59, 50),
    (60, 69, 9),
    (70, 89, 34),
    (100, 149, 36),
    (150, 196, 42),
    (197, 199, 10),
    (200, 200, 11),
    (201, 201, 51),
    (202, 205, 11),
    (206, 219, 24),
    (220, 246, 51),
    (247, 268, 54),
    (270, 289, 37),
    (290, 299, 45),
    (300, 319, 13),
    (320, 339, 12),
    (341, 342, 12),
    (344, 344, 12),
    (346, 347, 12),
    (349, 349, 12),
    (350, 369, 1),
    (370, 385, 47),
    (386, 397, 28),
    (398, 399, 13),
    (400, 427, 21),
    (430, 459, 39),
    (460, 479, 18),
    (480, 499, 26),
    (500, 528, 19),
    (530, 549, 55),
    (550, 567, 27),
    (569, 569, 11),
    (570, 577, 46),
    (580, 588, 38),
    (590, 599, 30),
    (600, 629, 17),
    (630, 658, 29),
    (660, 679, 20),
    (680, 693, 31),
    (700, 714, 22),
    (716, 729, 5),
    (730, 732, 40),
    (733, 733, 48),
    (734, 749, 40),
    (750, 799, 48),
    (800, 816, 8),
    (820, 831, 56),
    (832, 838, 16),
    (840, 847, 49),
    (850, 865, 4),
    (870, 884, 35),
    (885, 885, 48),
    (889, 898, 32),
    (900, 961, 6),
    (967, 968, 15),
    (969, 969, 66),
    (970, 979, 41),
    (980, 994, 53),
    (995, 999, 2),
];

/// Returns the state of a three-digit prefix; `None` for prefixes that no state has, such as those of the military.
pub(super) fn state_of_prefix(prefix: u64) -> Option<u64> {
    let after = RANGES.partition_point(|(_, last, _)| *last < prefix);
    RANGES.get(after).filter(|(first, _, _)| *first <= prefix).map(|(_, _, state)| *state)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes_are_in_their_states() {
        assert!(RANGES.windows(2).all(|pair| pair[0].0 <= pair[0].1 && pair[0].1 < pair[1].0));
        for (prefix, state) in [(5, 36), (21, 25), (201, 51), (277, 37), (289, 37), (733, 48), (902, 6), (995, 2)] {
            assert_eq!(state_of_prefix(prefix), Some(state), "{prefix}");
        }
        for prefix in [0, 4, 90, 269, 340, 963, 1000, 99_999] {
            assert_eq!(state_of_prefix(prefix), None, "{prefix}");
        }
    }
}
