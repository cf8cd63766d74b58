//! A feature is a 32-bit hash of its template's number and up to three values.

/// Hands features to `sink`, numbering the templates in the order of the calls.
pub(super) struct Features<F> {
    template: u32,
    sink: F,
}

impl<F: FnMut(u32)> Features<F> {
    pub(super) fn new(sink: F) -> Self {
        Self { template: 0, sink }
    }

    /// Continues with this template, so that what comes after features left out keeps its numbers.
    #[inline]
    pub(super) fn skip_to(&mut self, template: u32) {
        debug_assert!(self.template <= template, "templates would share a number");
        self.template = template;
    }

    #[inline]
    pub(super) fn one(&mut self, a: u32) {
        self.two(a, 0);
    }

    #[inline]
    pub(super) fn two(&mut self, a: u32, b: u32) {
        self.template += 1;
        (self.sink)(hash(self.template, a, b));
    }

    #[inline]
    pub(super) fn three(&mut self, a: u32, b: u32, c: u32) {
        self.two(a, joined(b, c));
    }
}

/// Two values as one.
#[inline]
pub(super) fn joined(a: u32, b: u32) -> u32 {
    a.rotate_left(11).wrapping_mul(0x85EB_CA6B) ^ b.wrapping_mul(0x27D4_EB2F)
}

#[inline]
fn hash(template: u32, a: u32, b: u32) -> u32 {
    let sum = u64::from(a)
        .wrapping_mul(0x9E37_79B9_7F4A_7C15)
        .wrapping_add(u64::from(b).wrapping_mul(0xC2B2_AE3D_27D4_EB4F))
        .wrapping_add(u64::from(template).wrapping_mul(0x1656_67B1_9E37_79F9));
    high_half((sum ^ (sum >> 31)).wrapping_mul(0xD6E8_FEB8_6659_FD93))
}

/// The hash of a text: FNV-1a, mixed once more.
#[inline]
pub(super) fn hash_text(text: &str) -> u32 {
    let hash = text.bytes().fold(0xCBF2_9CE4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3)
    });
    high_half((hash ^ (hash >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9))
}

/// The hash of a number.
#[inline]
pub(super) fn hash_number(number: u32) -> u32 {
    hash(0, number, 1)
}

fn high_half(hash: u64) -> u32 {
    (hash >> 32) as u32
}
