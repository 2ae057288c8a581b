//! `.npz`, the archive of NumPy: a zip file, not compressed, of one `.npy` per array.
//!
//! A `.npy` is a line that says type, order and shape, padded to a multiple of 64 bytes, and the numbers as they lie in memory
//! (NumPy Enhancement Proposal 1). Dates in the archive are the earliest that zip knows: equal results give equal bytes.

use std::io::{self, Write};

/// An array in an archive.
#[derive(Clone, Debug, PartialEq)]
pub enum Array {
    /// Numbers, row by row, and the shape.
    Numbers(Vec<f64>, Vec<usize>),
    /// Words.
    Texts(Vec<String>),
}

impl Array {
    /// Rows of equal length.
    pub fn matrix(rows: &[Vec<f64>], width: usize) -> Self {
        Self::Numbers(rows.iter().flatten().copied().collect(), vec![rows.len(), width])
    }

    /// A list of numbers.
    pub fn list(numbers: Vec<f64>) -> Self {
        let length = numbers.len();
        Self::Numbers(numbers, vec![length])
    }

    /// The bytes of its `.npy`.
    fn npy(&self) -> Vec<u8> {
        let (kind, shape) = match self {
            Self::Numbers(_, shape) => ("<f8".to_owned(), shape.clone()),
            Self::Texts(texts) => (format!("<U{}", width(texts)), vec![texts.len()]),
        };
        let lengths: Vec<String> = shape.iter().map(|n| format!("{n},")).collect();
        let mut head = format!(
            "{{'descr': '{kind}', 'fortran_order': False, 'shape': ({}), }}",
            lengths.join(" ")
        );
        while !(10 + head.len() + 1).is_multiple_of(64) {
            head.push(' ');
        }
        head.push('\n');
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        // Shapes have a few digits each: the head is far shorter than 2^16.
        bytes.extend(u16::try_from(head.len()).unwrap_or(u16::MAX).to_le_bytes());
        bytes.extend(head.bytes());
        match self {
            Self::Numbers(numbers, _) => numbers.iter().for_each(|x| bytes.extend(x.to_le_bytes())),
            Self::Texts(texts) => {
                for text in texts {
                    let letters = text.chars().map(u32::from).chain(std::iter::repeat(0));
                    letters.take(width(texts)).for_each(|c| bytes.extend(c.to_le_bytes()));
                }
            }
        }
        bytes
    }
}

fn width(texts: &[String]) -> usize {
    texts.iter().map(|t| t.chars().count()).max().unwrap_or(0).max(1)
}

/// Writes arrays under their names.
///
/// # Errors
/// If the writer fails, or the archive would be larger than 4 GB, which needs another form of zip.
pub fn write(out: &mut impl Write, arrays: &[(&str, Array)]) -> io::Result<()> {
    let too_large = || {
        io::Error::new(
            io::ErrorKind::FileTooLarge,
            "an .npz holds 4 GB at most: record fewer instants",
        )
    };
    let mut directory = Vec::new();
    let mut offset = 0_u32;
    for (name, array) in arrays {
        let (name, bytes) = (format!("{name}.npy"), array.npy());
        let size = u32::try_from(bytes.len()).map_err(|_| too_large())?;
        let length = u16::try_from(name.len()).map_err(|_| too_large())?;
        let mut head = Vec::new();
        // Version 2.0, no flags, stored, 1 January 1980.
        for half in [20_u16, 0, 0, 0, 0x21] {
            head.extend(half.to_le_bytes());
        }
        for word in [crc32(&bytes), size, size] {
            head.extend(word.to_le_bytes());
        }
        head.extend(length.to_le_bytes());
        head.extend([0; 2]);
        directory.extend(b"PK\x01\x02");
        directory.extend([20, 0]);
        directory.extend(&head);
        directory.extend([0; 10]);
        directory.extend(offset.to_le_bytes());
        directory.extend(name.bytes());
        out.write_all(b"PK\x03\x04")?;
        out.write_all(&head)?;
        out.write_all(name.as_bytes())?;
        out.write_all(&bytes)?;
        let written = 30 + u32::from(length);
        offset =
            offset.checked_add(written).and_then(|o| o.checked_add(size)).ok_or_else(too_large)?;
    }
    let count = u16::try_from(arrays.len()).map_err(|_| too_large())?;
    let size = u32::try_from(directory.len()).map_err(|_| too_large())?;
    out.write_all(&directory)?;
    out.write_all(b"PK\x05\x06\0\0\0\0")?;
    for half in [count, count] {
        out.write_all(&half.to_le_bytes())?;
    }
    for word in [size, offset] {
        out.write_all(&word.to_le_bytes())?;
    }
    out.write_all(&[0; 2])
}

/// The checksum of zip: the remainder by the polynomial 0xEDB88320, bits reflected.
fn crc32(bytes: &[u8]) -> u32 {
    let mut table = [0_u32; 256];
    for (entry, i) in table.iter_mut().zip(0_u32..) {
        *entry = (0..8).fold(i, |c, _| if c & 1 == 1 { 0xEDB8_8320 ^ (c >> 1) } else { c >> 1 });
    }
    !bytes.iter().fold(u32::MAX, |c, &b| table[(c.to_le_bytes()[0] ^ b) as usize] ^ (c >> 8))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_is_that_of_the_standard() {
        // The check value of CRC-32/ISO-HDLC.
        assert_eq!(crc32(b"123456789"), 0xCBF4_3926);
    }

    #[test]
    fn heads_are_padded_and_offsets_lead_to_entries() {
        let arrays =
            [("t", Array::list(vec![0.0, 0.5])), ("names", Array::Texts(vec!["é".into()]))];
        let npy = arrays[0].1.npy();
        assert_eq!((npy.len() - 16) % 64, 0);
        assert!(arrays[1].1.npy().ends_with(&[0xe9, 0, 0, 0]));
        let mut bytes = Vec::new();
        write(&mut bytes, &arrays).unwrap();
        let end = bytes.len() - 22;
        assert_eq!(&bytes[end..end + 4], b"PK\x05\x06");
        let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()) as usize;
        let directory = word(end + 16);
        assert_eq!(directory + word(end + 12), end);
        let second = directory + 46 + "t.npy".len();
        assert_eq!(&bytes[second..second + 4], b"PK\x01\x02");
        assert_eq!(&bytes[word(second + 42)..][..4], b"PK\x03\x04");
    }
}
