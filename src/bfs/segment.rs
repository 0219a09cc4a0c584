//! A segment: the bits that one chunk gives to another one through one plane.
//!
//! Invariant: it takes what it has to say. On its way it is coded as frames of a level are, since bits of levels
//! cluster as their states do; what it was coded with stands in front.

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
    /// Appends the lowest `bits` bits of a word, at most 64.
    pub fn push(&mut self, word: u64, bits: u32) {
        let bytes = bits.div_ceil(8) as usize;
        self.bytes.extend(&word.to_le_bytes()[..bytes]);
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

/// Reads a segment.
pub(super) struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    pub fn new(bytes: &'a [u8]) -> Reader<'a> {
        Reader(bytes)
    }

    /// The next bits, at most 64; zeros beyond the end.
    pub fn take(&mut self, bits: u32) -> u64 {
        let bytes = bits.div_ceil(8) as usize;
        let (taken, rest) = self.0.split_at(bytes.min(self.0.len()));
        self.0 = rest;
        let mut word = [0; 8];
        word[..taken.len()].copy_from_slice(taken);
        u64::from_le_bytes(word)
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
    /// and its bytes.
    pub fn pack(&mut self, segment: &Segment) -> Result<Vec<u8>, Error> {
        let bytes = &segment.bytes;
        if bytes.len() < SHORT {
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
    pub fn unpack(&mut self, packed: &[u8]) -> Option<Vec<u8>> {
        let (&codec, rest) = packed.split_first()?;
        if codec == 0 {
            return Some(rest.to_vec());
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
        rest.is_empty().then_some(bytes)
    }
}

#[cfg(test)]
#[path = "../../tests/unit/segment.rs"]
mod tests;
