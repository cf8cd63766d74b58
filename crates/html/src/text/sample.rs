//! A few pieces of a long text, spread over all of it, without knowing how long it will be.

/// The most that a sample holds, in bytes.
const SAMPLE_BYTES_MAX: usize = 8 * 1024;
/// The size of a piece: a sentence or two.
const PIECE_BYTES: usize = 255;
/// Pieces are joined by a line break each.
const PIECES_MAX: usize = SAMPLE_BYTES_MAX / (PIECE_BYTES + 1);

/// Gathers a sample: every nth piece, where n doubles whenever there are too many.
#[derive(Debug)]
pub(super) struct Sample {
    pieces: Vec<String>,
    seen: usize,
    stride: usize,
}

impl Default for Sample {
    fn default() -> Self {
        Self { pieces: Vec::new(), seen: 0, stride: 1 }
    }
}

impl Sample {
    /// Adds a block of the text.
    pub(super) fn add(&mut self, mut block: &str) {
        while !block.is_empty() {
            let (piece, rest) = block.split_at(block.floor_char_boundary(PIECE_BYTES));
            if self.seen.is_multiple_of(self.stride) {
                self.keep(piece);
            }
            self.seen += 1;
            block = rest;
        }
    }

    fn keep(&mut self, piece: &str) {
        if self.pieces.len() == PIECES_MAX {
            let mut place = 0;
            self.pieces.retain(|_| {
                place += 1;
                place % 2 == 1
            });
            self.stride *= 2;
            if !self.seen.is_multiple_of(self.stride) {
                return;
            }
        }
        self.pieces.push(piece.to_owned());
    }

    /// The pieces, one a line.
    pub(super) fn finish(self) -> String {
        self.pieces.join("\n")
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
