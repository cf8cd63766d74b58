//! The body of an answer: in memory while it is small, on disk when it is large (D15).
//!
//! **Invariant:** a body on disk takes no memory until it is read, and then only while the reader holds the bytes. Its
//! file has no name, so it disappears when the last copy is dropped or the process dies.

use std::any::Any;
use std::borrow::Cow;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::Arc;

/// The bytes of a body as they were received.
#[derive(Clone)]
pub struct Body(Kept);

#[derive(Clone)]
enum Kept {
    Memory {
        bytes: Vec<u8>,
        /// Only held, so that it is dropped with the body.
        _share: Option<Share>,
    },
    Disk {
        file: Arc<File>,
        length: usize,
        _share: Option<Share>,
    },
}

/// A share of a budget that is released when the body is dropped.
pub type Share = Arc<dyn Any + Send + Sync>;

impl Body {
    /// A body in memory that holds `share` of a budget as long as it lives.
    #[must_use]
    pub fn within(bytes: Vec<u8>, share: Share) -> Self {
        Self(Kept::Memory { bytes, _share: Some(share) })
    }
    /// A body that is the first `length` bytes of `file`, with its share of a budget for the disk.
    #[must_use]
    pub fn on_disk(file: File, length: usize, share: Option<Share>) -> Self {
        Self(Kept::Disk { file: Arc::new(file), length, _share: share })
    }
    /// Number of bytes.
    #[must_use]
    pub fn len(&self) -> usize {
        match &self.0 {
            Kept::Memory { bytes, .. } => bytes.len(),
            Kept::Disk { length, .. } => *length,
        }
    }
    /// Whether the body is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// Whether the body is on disk, so that reading it takes time and memory for all of its bytes.
    #[must_use]
    pub fn is_on_disk(&self) -> bool {
        matches!(self.0, Kept::Disk { .. })
    }
    /// All of its bytes.
    ///
    /// # Errors
    /// When the body is on disk and cannot be read back.
    pub fn read(&self) -> io::Result<Cow<'_, [u8]>> {
        match &self.0 {
            Kept::Memory { bytes, .. } => Ok(Cow::Borrowed(bytes)),
            Kept::Disk { file, length, .. } => {
                let mut bytes = vec![0; *length];
                file.read_exact_at(&mut bytes, 0)?;
                Ok(Cow::Owned(bytes))
            }
        }
    }
}

impl From<Vec<u8>> for Body {
    fn from(bytes: Vec<u8>) -> Self {
        Self(Kept::Memory { bytes, _share: None })
    }
}

impl std::fmt::Debug for Body {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let place = if self.is_on_disk() { "on disk" } else { "in memory" };
        write!(f, "Body of {} bytes {place}", self.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn a_body_reads_the_same_from_memory_and_from_disk() {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(b"body and more").unwrap();
        let on_disk = Body::on_disk(file, 4, None);
        let in_memory = Body::from(b"body".to_vec());
        assert_eq!(on_disk.read().unwrap(), in_memory.read().unwrap());
        assert_eq!((on_disk.len(), on_disk.is_on_disk(), in_memory.is_on_disk()), (4, true, false));
        assert!(Body::on_disk(tempfile::tempfile().unwrap(), 1, None).read().is_err());
    }

    #[test]
    fn its_share_is_released_with_the_last_copy() {
        let share: Share = Arc::new(());
        let body = Body::within(vec![1], Arc::clone(&share));
        let copy = body.clone();
        drop(body);
        assert_eq!(Arc::strong_count(&share), 2);
        drop(copy);
        assert_eq!(Arc::strong_count(&share), 1);
    }
}
