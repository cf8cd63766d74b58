//! Tests of the public interface.

#![expect(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "tests fail by panicking, and say what they could not test"
)]

mod hostile;
mod mecab;
mod rhoknp;
mod shared;
mod syntax;
