//! A few pieces of a long text, spread over all of it, without knowing its length in advance.

/// The maximum size of a sample, in bytes.
const SAMPLE_BYTES_MAX: usize = 8 * 1024;
/// The size of a piece: a sentence or two.
const PIECE_BYTES: usize = 255;
/// Pieces are joined by a line break each.
const PIECES_MAX: usize = SAMPLE_BYTES_MAX / (PIECE_BYTES + 1);

/// Collects a sample: every nth piece, where n doubles whenever there are too many.
#[derive(Debug, Default)]
pub(super) struct Sample {
    /// The pieces kept, each followed by a line break.
    text: String,
    /// The number of pieces kept.
    kept: usize,
    /// The number of pieces seen.
    seen: usize,
    /// One less than n, which is a power of two.
    mask: usize,
}

impl Sample {
    /// Adds a block of the text, which contains no line break.
    pub(super) fn add(&mut self, mut block: &str) {
        while !block.is_empty() {
            let (piece, rest) = block.split_at(block.floor_char_boundary(PIECE_BYTES));
            if self.kept == PIECES_MAX && self.seen & self.mask == 0 {
                self.thin();
            }
            if self.seen & self.mask == 0 {
                self.text.push_str(piece);
                self.text.push('\n');
                self.kept += 1;
            }
            self.seen += 1;
            block = rest;
        }
    }

    /// Keeps every other piece.
    fn thin(&mut self) {
        let lines = self.text.lines().step_by(2).flat_map(|line| [line, "\n"]);
        self.text = lines.collect();
        self.kept = self.kept.div_ceil(2);
        self.mask = self.mask * 2 + 1;
    }

    /// The pieces, one per line.
    pub(super) fn finish(mut self) -> String {
        self.text.pop();
        self.text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_text_is_its_own_sample() {
        let mut sample = Sample::default();
        sample.add("one");
        sample.add("");
        sample.add("二");
        assert_eq!(sample.finish(), "one\n二");
    }

    #[test]
    fn a_long_text_is_sampled_from_front_to_end_within_the_bound() {
        for blocks in [1, 31, 32, 33, 1_000, 20_000_usize] {
            let mut sample = Sample::default();
            (0..blocks).for_each(|n| sample.add(&format!("{n:>6} {}", "あ".repeat(100))));
            let text = sample.finish();
            assert!(text.len() <= SAMPLE_BYTES_MAX, "{}", text.len());
            let numbers: Vec<usize> =
                text.lines().filter_map(|line| line.split_whitespace().next()?.parse().ok()).collect();
            assert!(*numbers.last().unwrap() >= blocks * 9 / 10 || blocks < 10, "{numbers:?}");
            assert!(numbers.iter().any(|n| *n <= blocks / 2) && numbers.is_sorted());
        }
    }
}
