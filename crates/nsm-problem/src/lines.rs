//! Files of whole lines: after a kill, and after a disk that ran full, the last line is complete.

use std::fs::File;
use std::io::{self, Seek, Write};

/// What lines are written to.
pub(crate) trait Store {
    /// Writes all of it at the end; if that fails, some of it may be there.
    fn append(&mut self, bytes: &[u8]) -> io::Result<()>;
    /// Cuts off what lies behind so many bytes.
    fn cut(&mut self, length: u64) -> io::Result<()>;
}

impl Store for File {
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.write_all(bytes)
    }

    fn cut(&mut self, length: u64) -> io::Result<()> {
        self.set_len(length)?;
        self.seek(io::SeekFrom::Start(length)).map(|_| ())
    }
}

/// Lines on their way into a store.
pub(crate) struct Lines<S> {
    store: S,
    pending: String,
    /// Bytes of whole lines in the store.
    whole: u64,
    /// Whether the store refused something: nothing more is written then.
    full: bool,
}

impl<S: Store> Lines<S> {
    /// Lines are kept back until there are this many bytes of them.
    const ENOUGH: usize = 8192;

    pub(crate) fn new(store: S) -> Self {
        Self { store, pending: String::new(), whole: 0, full: false }
    }

    /// Adds a line.
    pub(crate) fn push(&mut self, line: impl FnOnce(&mut String)) -> io::Result<()> {
        if self.full {
            return Ok(());
        }
        line(&mut self.pending);
        self.pending.push('\n');
        if self.pending.len() >= Self::ENOUGH { self.flush() } else { Ok(()) }
    }

    /// Writes what was kept back, in one piece. The first failure is reported, and leaves whole lines.
    pub(crate) fn flush(&mut self) -> io::Result<()> {
        if self.full || self.pending.is_empty() {
            return Ok(());
        }
        let written = self.store.append(self.pending.as_bytes());
        if written.is_ok() {
            self.whole += self.pending.len() as u64;
        } else {
            self.full = true;
            // A store that can neither take nor give back is no file; there is nothing to mend then.
            let _ = self.store.cut(self.whole);
        }
        self.pending.clear();
        written
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write;

    use super::*;

    /// A disk with room for so many bytes.
    struct Disk {
        room: usize,
        held: Vec<u8>,
    }

    impl Store for &mut Disk {
        fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
            let taken = bytes.len().min(self.room - self.held.len());
            self.held.extend_from_slice(&bytes[..taken]);
            if taken < bytes.len() { Err(io::ErrorKind::StorageFull.into()) } else { Ok(()) }
        }

        fn cut(&mut self, length: u64) -> io::Result<()> {
            self.held.truncate(usize::try_from(length).unwrap());
            Ok(())
        }
    }

    #[test]
    fn a_full_disk_leaves_whole_rows_and_is_reported_once() {
        let mut disk = Disk { room: 100, held: Vec::new() };
        let mut lines = Lines::new(&mut disk);
        let mut failures = 0;
        for k in 0..50 {
            lines.push(|line| write!(line, "{k},{}", 2 * k).unwrap()).unwrap();
            failures += usize::from(lines.flush().is_err());
        }
        assert_eq!(failures, 1);
        let text = String::from_utf8(disk.held).unwrap();
        assert!(text.ends_with('\n') && text.len() > 80, "{text}");
        for (k, line) in text.lines().enumerate() {
            assert_eq!(line, format!("{k},{}", 2 * k));
        }
    }
}
