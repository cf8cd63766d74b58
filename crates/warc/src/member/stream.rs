//! Members of any length, decompressed piece by piece.
//!
//! **Invariant:** decompressing takes one window (for zstd also the window that the frame asks for, up to a limit); the
//! last bytes of a member are returned only after its checksum was checked.

use super::gzip::Inflate;
use super::zstandard::Zstd;
use super::{Fault, Form};
use std::io::BufRead;
use std::ops::Range;

const WINDOW_BYTES: usize = 64 * 1024;

/// The content of records or members, in order.
#[derive(Debug)]
pub(crate) struct Stream {
    form: Form,
    inflate: Inflate,
    window: Box<[u8]>,
    unread: Range<usize>,
    is_over: bool,
}

impl Stream {
    pub(crate) fn new() -> Self {
        let (inflate, window) = (Inflate::new(), Box::default());
        Self { form: Form::Plain, inflate, window, unread: 0..0, is_over: true }
    }
    pub(crate) fn form(&self) -> Form {
        self.form
    }

    /// Begins the member at the position of `input`.
    pub(crate) fn begin(
        &mut self,
        form: Form,
        input: &mut impl BufRead,
        zstd: &mut Zstd,
    ) -> Result<(), Fault> {
        (self.form, self.unread, self.is_over) = (form, 0..0, false);
        if form != Form::Plain && self.window.is_empty() {
            self.window = vec![0; WINDOW_BYTES].into_boxed_slice();
        }
        match form {
            Form::Plain => Ok(()),
            Form::Gzip => self.inflate.begin(input),
            Form::Zstd => zstd.begin(),
        }
    }

    /// The next bytes of the content; none at its end, and then the checksum of the member is right.
    pub(crate) fn fill<'a>(
        &'a mut self,
        input: &'a mut impl BufRead,
        zstd: &mut Zstd,
    ) -> Result<&'a [u8], Fault> {
        if self.form == Form::Plain {
            return Ok(input.fill_buf()?);
        }
        while self.unread.is_empty() && !self.is_over {
            self.unpack(input, zstd)?;
        }
        Ok(self.window.get(self.unread.clone()).unwrap_or_default())
    }
    /// Marks bytes of [`Stream::fill`] as read.
    pub(crate) fn consume(&mut self, bytes: usize, input: &mut impl BufRead) {
        match self.form {
            Form::Plain => input.consume(bytes),
            Form::Gzip | Form::Zstd => self.unread.start = (self.unread.start + bytes).min(self.unread.end),
        }
    }

    fn unpack(&mut self, input: &mut impl BufRead, zstd: &mut Zstd) -> Result<(), Fault> {
        let compressed = input.fill_buf()?;
        let is_input_over = compressed.is_empty();
        let step = match self.form {
            Form::Zstd => zstd.step(compressed, &mut self.window)?,
            Form::Plain | Form::Gzip => self.inflate.step(compressed, &mut self.window)?,
        };
        input.consume(step.taken);
        (self.unread, self.is_over) = (0..step.made, step.is_end);
        if step.is_end && self.form == Form::Gzip {
            self.inflate.finish(input)?;
        }
        let is_stuck = is_input_over && step.made == 0 && !step.is_end;
        if is_stuck { Err(Fault::Cut) } else { Ok(()) }
    }

    /// The content ends too early: damage in a member, whose end is known, else a cut file.
    pub(crate) fn ended(&self, what: &'static str) -> Fault {
        match self.form {
            Form::Plain => Fault::Cut,
            Form::Gzip | Form::Zstd => Fault::Damaged(what),
        }
    }
}
