//! A connection: input that was read and not yet used, buffered output, and the time-outs of both.
//!
//! **Invariant:** the input holds at most one request head more than is being answered; buffers are kept from
//! request to request and never stay large.

use super::request::HEAD_BYTES_MAX;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::time::{sleep, timeout};

/// What a connection runs over: TCP, or TLS on it.
pub(super) trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}
impl<S: AsyncRead + AsyncWrite + Send + Unpin> Stream for S {}

const INPUT_BYTES: usize = 4 * 1024;
const OUTPUT_BYTES_KEPT: usize = 64 * 1024;
/// Maximum bytes and time of reading and discarding input, so that a reset does not destroy the last response.
const LINGER_BYTES_MAX: usize = 256 * 1024;
const LINGER_TIME_MAX: Duration = Duration::from_secs(1);

/// Why a connection ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Gone {
    /// The response was the last on this connection; it is closed cleanly.
    Finished,
    /// It is dropped at once.
    Cut,
}

/// A connection.
#[derive(Debug)]
pub(super) struct Wire<S> {
    stream: S,
    input: Vec<u8>,
    output: Vec<u8>,
    patience: Duration,
}

impl<S: Stream> Wire<S> {
    /// A connection on which `input` has been read already, with the time-out `patience`.
    pub(super) fn new(stream: S, input: Vec<u8>, patience: Duration) -> Self {
        Self { stream, input, output: Vec::new(), patience }
    }
    /// Input that was read and not yet used.
    pub(super) fn input(&self) -> &[u8] {
        &self.input
    }
    /// Removes the first `bytes` bytes of the input.
    pub(super) fn used(&mut self, bytes: usize) {
        self.input.drain(..bytes);
    }
    /// The stream and the unused input.
    pub(super) fn into_parts(self) -> (S, Vec<u8>) {
        (self.stream, self.input)
    }

    /// Reads some more.
    pub(super) async fn read(&mut self) -> Result<(), Gone> {
        self.input.reserve(INPUT_BYTES);
        match timeout(self.patience, self.stream.read_buf(&mut self.input)).await {
            Ok(Ok(bytes)) if bytes > 0 => Ok(()),
            _ => Err(Gone::Cut),
        }
    }

    /// Writes everything.
    pub(super) async fn write(&mut self, bytes: &[u8]) -> Result<(), Gone> {
        let write = async {
            self.stream.write_all(bytes).await?;
            self.stream.flush().await
        };
        match timeout(self.patience, write).await {
            Ok(Ok(())) => Ok(()),
            _ => Err(Gone::Cut),
        }
    }

    /// Waits, unless the client disconnects meanwhile. A client that closes its half counts as disconnected.
    pub(super) async fn wait(&mut self, time: Duration) -> Result<(), Gone> {
        let sleep = sleep(time);
        tokio::pin!(sleep);
        while self.input.len() < HEAD_BYTES_MAX {
            self.input.reserve(INPUT_BYTES);
            tokio::select! {
                () = &mut sleep => return Ok(()),
                read = self.stream.read_buf(&mut self.input) => {
                    if !read.is_ok_and(|bytes| bytes > 0) {
                        return Err(Gone::Cut);
                    }
                }
            }
        }
        sleep.await;
        Ok(())
    }

    /// Closes cleanly: shuts down the write half and reads on for a short time, so that the last response arrives.
    pub(super) async fn finish(mut self) {
        self.input.clear();
        let farewell = async {
            let _ = self.stream.shutdown().await;
            let mut read = 0;
            while read < LINGER_BYTES_MAX {
                self.input.clear();
                match self.stream.read_buf(&mut self.input).await {
                    Ok(bytes) if bytes > 0 => read += bytes,
                    _ => break,
                }
            }
        };
        let _ = timeout(LINGER_TIME_MAX, farewell).await;
    }

    /// The output buffer, empty; to be given back.
    pub(super) fn take_output(&mut self) -> Vec<u8> {
        let mut output = std::mem::take(&mut self.output);
        output.clear();
        output
    }
    /// Takes the output buffer back, unless it has grown large.
    pub(super) fn give_back(&mut self, output: Vec<u8>) {
        if output.capacity() <= OUTPUT_BYTES_KEPT {
            self.output = output;
        }
    }
}
