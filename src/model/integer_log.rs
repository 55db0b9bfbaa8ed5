//! Integer logarithms, identical on every machine.

/// Resolution: steps per power of two.
const STEPS: u64 = 16;

/// Returns 16 times the base-2 logarithm of a ratio, rounded down; 0 for ratios below one.
pub fn log2_16(numerator: u64, denominator: u64) -> u32 {
    if denominator == 0 || numerator <= denominator {
        return 0;
    }
    let whole = (numerator / denominator).ilog2();
    // The remaining factor between one and two, with 32 fractional bits. Each squaring gives one
    // more bit of the logarithm.
    let mut rest = ((u128::from(numerator) << 32) >> whole) / u128::from(denominator);
    let mut bits = 0;
    for _ in 0..STEPS.ilog2() {
        rest = (rest * rest) >> 32;
        bits <<= 1;
        if rest >= 2 << 32 {
            rest >>= 1;
            bits |= 1;
        }
    }
    whole * STEPS as u32 + bits
}

/// Returns the natural logarithm of a ratio in thousandths, in steps of a sixteenth of ln 2.
pub fn ratio(numerator: u64, denominator: u64) -> i32 {
    let doublings = log2_16(numerator, denominator) as i32 - log2_16(denominator, numerator) as i32;
    doublings * 693 / STEPS as i32
}

#[cfg(test)]
mod tests {
    use super::{log2_16, ratio};

    #[test]
    fn grows_by_sixteen_with_every_power_of_two() {
        assert_eq!(log2_16(1, 1), 0);
        assert_eq!(log2_16(2, 1), 16);
        assert_eq!(log2_16(1024, 1), 160);
        assert_eq!(log2_16(3, 2), 9);
        assert_eq!(log2_16(5, 0), 0);
        assert_eq!(log2_16(1, 5), 0);
        assert_eq!((ratio(3, 3), ratio(2, 1), ratio(1, 2)), (0, 693, -693));
        assert!((1..5_000u64).all(|n| log2_16(n, 7) <= log2_16(n + 1, 7)));
    }
}
