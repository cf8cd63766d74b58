//! Draws: pseudo-random numbers that are a function of a seed and a salt.
//!
//! **Invariant:** only whole numbers and the operations that IEEE 754 fixes exactly (+, ×, ÷, √) are used, so a seed
//! gives the same web on every machine.

use base::chance::mix;

/// The draw of `seed` and `salt`.
pub(crate) const fn draw(seed: u64, salt: u64) -> u64 {
    mix(seed.wrapping_add(mix(salt)))
}

/// A draw as a number in `0..bound`.
pub(crate) const fn below(draw: u64, bound: u64) -> u64 {
    ((draw as u128 * bound as u128) >> 64) as u64
}

/// A draw as an index into a list of `length`.
#[expect(clippy::cast_possible_truncation, reason = "the result is below `length`, a usize")]
pub(crate) const fn index(draw: u64, length: usize) -> usize {
    below(draw, length as u64) as usize
}

/// Whether a draw falls into this many thousandths.
pub(crate) const fn happens(draw: u64, per_mille: u16) -> bool {
    below(draw, 1_000) < per_mille as u64
}

/// A draw as a number in `[0, 1)`.
#[expect(clippy::cast_precision_loss, reason = "53 bits fit a double exactly")]
pub(crate) const fn unit(draw: u64) -> f64 {
    (draw >> 11) as f64 / (1_u64 << 53) as f64
}

/// A draw as a whole number between `from` and `from × 2^octaves`, evenly spread over the logarithm.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "seconds of a few years, in a double and back"
)]
pub(crate) fn log_uniform(draw: u64, from: u64, octaves: f64) -> u64 {
    let exponent = unit(draw) * octaves;
    (from as f64 * power_of_two(exponent)) as u64
}

/// `2^exponent` for a small exponent, from square roots alone.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the exponent is between 0 and 63"
)]
fn power_of_two(exponent: f64) -> f64 {
    let whole = exponent as u32;
    let mut power = 2_f64.powi(i32::try_from(whole).unwrap_or(0));
    let (mut rest, mut root) = (exponent - f64::from(whole), 2_f64);
    for _ in 0..20 {
        rest *= 2.0;
        root = root.sqrt();
        if rest >= 1.0 {
            rest -= 1.0;
            power *= root;
        }
    }
    power
}

/// Appends a number in decimal digits.
pub(crate) fn push_number(out: &mut String, number: u64) {
    let mut digits = [0; 20];
    let (mut rest, mut at) = (number, digits.len());
    loop {
        at -= 1;
        digits[at] = b'0' + u8::try_from(rest % 10).unwrap_or_default();
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    digits[at..].iter().for_each(|digit| out.push(char::from(*digit)));
}

/// Appends the lower 32 bits in eight hexadecimal digits.
pub(crate) fn push_hex(out: &mut String, number: u64) {
    for place in (0..8).rev() {
        out.push(char::from(b"0123456789abcdef"[(number >> (place * 4) & 15) as usize]));
    }
}

/// Appends several texts.
pub(crate) fn push_all(out: &mut String, parts: &[&str]) {
    parts.iter().for_each(|part| out.push_str(part));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_in_digits() {
        for number in [0, 7, 10, 90_210, u64::MAX] {
            let mut out = String::new();
            push_number(&mut out, number);
            assert_eq!(out, number.to_string());
        }
        let mut out = String::new();
        push_hex(&mut out, 0x1_0bad_cafe);
        assert_eq!(out, "0badcafe");
    }

    #[test]
    fn powers_of_two_are_close_to_the_library_s() {
        for exponent in [0.0, 0.5, 1.0, 3.3, 13.2288] {
            let (ours, theirs) = (power_of_two(exponent), 2_f64.powf(exponent));
            assert!((ours / theirs - 1.0).abs() < 1e-5, "{exponent}: {ours} {theirs}");
        }
    }

    #[test]
    fn half_of_a_log_uniform_lies_below_the_middle_octave() {
        let low = (0..10_000).filter(|n| log_uniform(mix(*n), 1_000, 10.0) < 32_000).count();
        assert!((4_800..5_200).contains(&low), "{low}");
    }
}
