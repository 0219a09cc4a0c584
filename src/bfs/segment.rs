//! A segment: the bits that one chunk gives to another one through one plane.
//!
//! Invariant: it takes what it has to say. On its way it is coded as frames of a level are, since bits of levels
//! cluster as their states do; what it was coded with stands in front.

use std::borrow::Cow;

use crate::Error;
use crate::perm::kernel::Kernel;
use crate::perm::layout::{LANES, Register};
use crate::store::{Codec, DEFAULT_LEVEL, Decoder, Encoder, MemoryError};

/// Registers of bytes that are coded together, as in a level.
const FRAME: usize = 3024;
/// Segments below this many bytes travel as they are.
const SHORT: usize = 256;

/// The numbers and bits of a segment, in whole bytes.
#[derive(Default)]
pub(super) struct Segment {
    bytes: Vec<u8>,
}

impl Segment {
    /// Appends the lowest bits of words, as many as there are lanes, in whole bytes.
    pub fn push(&mut self, words: &[u64], lanes: &[u64]) {
        self.bytes.reserve(8 * words.len());
        for (word, lanes) in words.iter().zip(lanes) {
            let len = self.bytes.len() + bytes(*lanes);
            self.bytes.extend(word.to_le_bytes());
            self.bytes.truncate(len);
        }
    }

    /// Appends seven bits at a time, the lowest first, each with a bit that says whether more follow.
    pub fn push_number(&mut self, mut number: usize) {
        while number >= 128 {
            self.bytes.push(number as u8 | 128);
            number /= 128;
        }
        self.bytes.push(number as u8);
    }

    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }
}

/// Bytes of as many bits as there are lanes.
fn bytes(lanes: u64) -> usize {
    lanes.count_ones().div_ceil(8) as usize
}

/// Reads a segment.
pub(super) struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    pub fn new(bytes: &'a [u8]) -> Reader<'a> {
        Reader(bytes)
    }

    /// Writes the next words, each of as many bits as there are lanes and what follows them; zeros beyond the end.
    pub fn take(&mut self, lanes: &[u64], words: &mut [u64]) {
        for (word, &lanes) in words.iter_mut().zip(lanes) {
            let mut next = [0; 8];
            if let Some(eight) = self.0.first_chunk() {
                next = *eight;
            } else {
                next[..self.0.len()].copy_from_slice(self.0);
            }
            *word = u64::from_le_bytes(next);
            self.0 = self.0.get(bytes(lanes)..).unwrap_or_default();
        }
    }

    /// The next number; `None` when there is none.
    pub fn number(&mut self) -> Option<usize> {
        let mut number = 0;
        for shift in (0..usize::BITS).step_by(7) {
            let (&part, rest) = self.0.split_first()?;
            self.0 = rest;
            number |= usize::from(part % 128) << shift;
            if part < 128 {
                break;
            }
        }
        Some(number)
    }
}

/// Codes segments.
pub(super) struct Packer {
    codec: Codec,
    encoder: Encoder,
    frame: Vec<Register>,
}

impl Packer {
    pub fn new(kernel: Kernel) -> Result<Packer, MemoryError> {
        let codec = Codec::best(kernel);
        Ok(Packer {
            codec,
            encoder: Encoder::new(codec, DEFAULT_LEVEL, kernel)?,
            frame: Vec::new(),
        })
    }

    /// Returns the bytes that travel: number of the codec or 0, number of the bytes, and for every frame its length
    /// and its bytes. What is short, or not to be coded, is as it is behind the 0.
    pub fn pack(&mut self, segment: &Segment, coded: bool) -> Result<Vec<u8>, Error> {
        let bytes = &segment.bytes;
        if !coded || bytes.len() < SHORT {
            return Ok([&[0], &bytes[..]].concat());
        }
        let mut packed = vec![self.codec.number()];
        packed.extend((bytes.len() as u64).to_le_bytes());
        for bytes in bytes.chunks(FRAME * LANES) {
            self.frame.clear();
            self.frame.extend(bytes.chunks(LANES).map(|bytes| {
                let mut register = [0; 64];
                register[..bytes.len()].copy_from_slice(bytes);
                register
            }));
            let coded = self.encoder.encode(&self.frame);
            let coded = coded.map_err(|_| MemoryError::Codec)?;
            packed.extend((coded.len() as u32).to_le_bytes());
            packed.extend(coded);
        }
        Ok(packed)
    }
}

/// Decodes segments.
pub(super) struct Unpacker {
    decoder: Decoder,
    frame: Vec<Register>,
}

impl Unpacker {
    pub fn new(kernel: Kernel) -> Result<Unpacker, MemoryError> {
        Ok(Unpacker {
            decoder: Decoder::new(kernel)?,
            frame: Vec::new(),
        })
    }

    /// Returns the bytes of a segment; `None` when they were not packed like this, which their hash rules out.
    pub fn unpack<'p>(&mut self, packed: &'p [u8]) -> Option<Cow<'p, [u8]>> {
        let (&codec, rest) = packed.split_first()?;
        if codec == 0 {
            return Some(rest.into());
        }
        let codec = Codec::numbered(codec)?;
        let (len, mut rest) = rest.split_first_chunk()?;
        let len = u64::from_le_bytes(*len) as usize;
        let mut bytes = Vec::new();
        while bytes.len() < len {
            let (coded, others) = rest.split_first_chunk()?;
            let (coded, others) = others.split_at_checked(u32::from_le_bytes(*coded) as usize)?;
            rest = others;
            let here = (len - bytes.len()).min(FRAME * LANES);
            self.frame.resize(here.div_ceil(LANES), [0; 64]);
            let decoded = self.decoder.decode(codec, coded, &mut self.frame, false);
            decoded.ok()?;
            for (register, left) in self.frame.iter().zip((0..=here).rev().step_by(LANES)) {
                bytes.extend(&register[..left.min(LANES)]);
            }
        }
        rest.is_empty().then_some(bytes.into())
    }
}

#[cfg(test)]
#[path = "../../tests/unit/segment.rs"]
mod tests;
