//! Which blocks are the main text.

use super::Outline;
use super::evidence::Evidence;

/// Marks the blocks of the main text.
pub(super) fn choose(outline: &mut Outline) {
    let has_main = outline.records.iter().any(|record| record.evidence.has(Evidence::MAIN));
    for record in &mut outline.records {
        let is_inside = !has_main || record.evidence.has(Evidence::MAIN);
        record.is_main = is_inside
            && !record.evidence.has(Evidence::FRAME)
            && !record.evidence.has(Evidence::CONTROL)
            && !record.evidence.has(Evidence::HIDDEN);
    }
}
