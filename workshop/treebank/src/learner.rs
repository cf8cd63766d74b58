//! A linear model that chooses among candidates: softmax, adaptive steps, averaged weights.

use japanese::Style;
use japanese::training::ModelEntry;

/// Features are counted and told apart by so many bits of their hash.
const KEY_BITS: u32 = 24;
/// Steps shrink with the square root of the squared gradients so far; this keeps the first ones small.
const DAMPING: f32 = 0.1;
/// Gradients smaller than this change nothing.
const GRADIENT_MIN: f32 = 1e-4;
/// One weight of so many is cut to what fits into a byte.
const CUT: usize = 2000;
/// A feature has a weight for both treebanks, and one more for each.
const SHARED: usize = 0;

/// Weights while they are learned.
pub struct Learner {
    rate: f32,
    /// By key: how often the feature was seen.
    counts: Vec<u8>,
    /// By key: the row of the feature; 0 if it was seen too rarely.
    rows_by_key: Vec<u32>,
    rows: Vec<[Weight; 3]>,
    steps: f32,
}

#[derive(Clone, Copy, Default)]
struct Weight {
    value: f32,
    squares: f32,
    /// The sum of all changes, each times its step.
    delayed: f32,
}

impl Learner {
    /// A model with this size of steps. Its features must be counted first.
    #[must_use]
    pub fn new(rate: f32) -> Self {
        let keys = 1 << KEY_BITS;
        Self { rate, counts: vec![0; keys], rows_by_key: vec![0; keys], rows: Vec::new(), steps: 0.0 }
    }

    /// Notes that features occur.
    pub fn count(&mut self, features: &[u32]) {
        for &feature in features {
            let count = &mut self.counts[key(feature)];
            *count = count.saturating_add(1);
        }
    }

    /// Ends counting: features seen less often than `count_min` get no weight.
    pub fn select(&mut self, count_min: u8) {
        let mut rows = 1;
        for (row, &count) in self.rows_by_key.iter_mut().zip(&self.counts) {
            if count >= count_min.max(1) {
                *row = rows;
                rows += 1;
            }
        }
        self.rows = vec![[Weight::default(); 3]; rows as usize];
    }

    /// The next step of averaging begins: one for each sentence.
    pub fn step(&mut self) {
        self.steps += 1.0;
    }

    /// Learns that of these candidates one is right. Without a style only the shared weights are used.
    pub fn choose(&mut self, candidates: &[Vec<u32>], right: usize, style: Option<Style>) {
        let scores: Vec<f32> = candidates.iter().map(|features| self.score(features, style)).collect();
        let max = scores.iter().copied().fold(f32::MIN, f32::max);
        let powers: Vec<f32> = scores.iter().map(|score| exp(score - max)).collect();
        let sum: f32 = powers.iter().sum();
        for (rank, features) in candidates.iter().enumerate() {
            let wanted = if rank == right { 1.0 } else { 0.0 };
            self.change(features, powers[rank] / sum - wanted, style);
        }
    }

    /// Learns that features speak for yes or for no.
    pub fn decide(&mut self, features: &[u32], yes: bool, style: Option<Style>) {
        let score = self.score(features, style);
        let power = exp(-score.abs());
        let likely = 1.0 / (1.0 + power);
        let probability = if score > 0.0 { likely } else { 1.0 - likely };
        self.change(features, probability - if yes { 1.0 } else { 0.0 }, style);
    }

    fn score(&self, features: &[u32], style: Option<Style>) -> f32 {
        let of_row = |&feature: &u32| {
            let row = &self.rows[self.row(feature)];
            row[SHARED].value + style.map_or(0.0, |style| row[place(style)].value)
        };
        features.iter().map(of_row).sum()
    }

    fn change(&mut self, features: &[u32], gradient: f32, style: Option<Style>) {
        if gradient.abs() < GRADIENT_MIN {
            return;
        }
        for &feature in features {
            let row = self.row(feature);
            if row == 0 {
                continue;
            }
            let (rate, steps) = (self.rate, self.steps);
            self.rows[row][SHARED].change(gradient, rate, steps);
            if let Some(style) = style {
                self.rows[row][place(style)].change(gradient, rate, steps);
            }
        }
    }

    fn row(&self, feature: u32) -> usize {
        self.rows_by_key[key(feature)] as usize
    }

    /// The averaged weights in one byte each; features whose weights are all 0 are left out.
    #[must_use]
    pub fn entries(&self) -> Vec<ModelEntry> {
        let averaged = |row: &[Weight; 3]| {
            let [shared, web, encyclopedia] =
                row.map(|weight| weight.value - weight.delayed / (self.steps + 1.0));
            [shared + web, shared + encyclopedia]
        };
        let max = most(self.rows.iter().flat_map(averaged).map(f32::abs).collect());
        let entry = |(key, &row): (u32, &u32)| {
            let [web, encyclopedia] = averaged(&self.rows[row as usize]).map(|weight| byte(weight / max));
            ModelEntry { feature: key << (32 - KEY_BITS), web, encyclopedia }
        };
        (0..)
            .zip(&self.rows_by_key)
            .map(entry)
            .filter(|entry| (entry.web, entry.encyclopedia) != (0, 0))
            .collect()
    }
}

impl Weight {
    fn change(&mut self, gradient: f32, rate: f32, steps: f32) {
        self.squares += gradient * gradient;
        let change = rate * gradient / (self.squares.sqrt() + DAMPING);
        self.value -= change;
        self.delayed -= change * steps;
    }
}

fn key(feature: u32) -> usize {
    (feature >> (32 - KEY_BITS)) as usize
}

fn place(style: Style) -> usize {
    match style {
        Style::Web => 1,
        Style::Encyclopedia => 2,
    }
}

/// The number that all but a few are below: what the largest byte stands for.
fn most(mut numbers: Vec<f32>) -> f32 {
    numbers.sort_by(f32::total_cmp);
    numbers
        .get(numbers.len().saturating_sub(1 + numbers.len() / CUT))
        .map_or(1.0, |most| most.max(f32::MIN_POSITIVE))
}

/// A number from -1 to 1 as a byte; what is outside is cut.
#[expect(clippy::cast_possible_truncation, reason = "it is rounded and within the bounds")]
fn byte(weight: f32) -> i8 {
    (weight * 127.0).round().clamp(-127.0, 127.0) as i8
}

/// The exponential function of a number that is not positive. The standard library's may differ between machines.
fn exp(x: f32) -> f32 {
    // Of exp(x / 1024) the first terms are enough; ten squarings follow.
    let small = f64::from(x.clamp(-80.0, 0.0)) / 1024.0;
    let mut power = 1.0 + small * (1.0 + small * (0.5 + small * (1.0 / 6.0 + small / 24.0)));
    for _ in 0..10 {
        power *= power;
    }
    narrow(power)
}

#[expect(clippy::cast_possible_truncation, reason = "the nearest number of less precision is wanted")]
fn narrow(number: f64) -> f32 {
    number as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_exponential_function_is_right() {
        for x in [0.0_f32, -0.001, -0.5, -1.0, -7.25, -30.0] {
            assert!((exp(x) / x.exp() - 1.0).abs() < 1e-5, "{x}");
        }
        assert!(exp(-1000.0) < 1e-30);
    }

    #[test]
    fn what_decides_gets_the_weight_and_rare_features_get_none() {
        let (yes, no, always, rare) = (1 << 20, 2 << 20, 3 << 20, 4 << 20);
        let mut learner = Learner::new(0.1);
        for features in [[yes, always], [no, always], [yes, always], [no, rare]] {
            learner.count(&features);
        }
        learner.select(2);
        for _ in 0..50 {
            learner.step();
            learner.decide(&[yes, always], true, Some(Style::Web));
            learner.decide(&[no, always], false, None);
            learner.choose(&[vec![yes], vec![no, rare]], 0, Some(Style::Encyclopedia));
        }
        let entries = learner.entries();
        let weight =
            |feature| entries.iter().find(|entry| entry.feature == feature).map_or(0, |entry| entry.web);
        assert!(weight(yes) > 50 && weight(no) < -50, "{entries:?}");
        assert_eq!(weight(rare), 0);
        assert!(weight(always) < weight(yes) / 2, "{entries:?}");
    }
}
