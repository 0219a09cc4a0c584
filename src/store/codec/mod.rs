//! The bytes of a frame: registers without their padding lanes, coded.
//!
//! Invariant: decoding what was encoded gives the same registers; anything else is an error, never a
//! panic, and takes no more memory than the frame's registers.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod bytes;
mod fastest;
mod rans;
mod rows;
mod scalar;
mod sparse;
mod table;
mod zstd;

use super::memory::MemoryError;
use crate::perm::kernel::Kernel;
use crate::perm::layout::Register;
pub use zstd::DEFAULT_LEVEL;

/// How frames are coded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Codec {
    /// zstd, a very fast level with compression of literals.
    Zstd,
    /// Interleaved range asymmetric numeral systems, a table for each density of registers.
    Rans,
}

impl Codec {
    /// All codecs.
    pub const ALL: [Codec; 2] = [Codec::Zstd, Codec::Rans];

    /// Returns the fastest codec for a kernel: without AVX-512 zstd is faster.
    pub fn best(kernel: Kernel) -> Codec {
        match kernel {
            Kernel::Avx512 => Codec::Rans,
            Kernel::Avx2 | Kernel::Scalar => Codec::Zstd,
        }
    }

    /// Returns its number in a level file.
    pub fn number(self) -> u8 {
        match self {
            Codec::Zstd => 1,
            Codec::Rans => 2,
        }
    }

    /// Returns the codec with a number.
    pub fn numbered(number: u8) -> Option<Codec> {
        Codec::ALL
            .into_iter()
            .find(|codec| codec.number() == number)
    }

    /// Returns its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Codec::Zstd => "zstd",
            Codec::Rans => "rans",
        }
    }
}

/// Encodes frames with one codec.
pub enum Encoder {
    /// See [`Codec::Zstd`].
    Zstd(zstd::Encoder),
    /// See [`Codec::Rans`].
    Rans(Box<rans::Encoder>),
}

impl Encoder {
    /// Returns an encoder; `level` is zstd's (-131072 to 22; below 0 faster and larger).
    ///
    /// # Errors
    /// [`MemoryError::Codec`].
    pub fn new(codec: Codec, level: i32, kernel: Kernel) -> Result<Encoder, MemoryError> {
        Ok(match codec {
            Codec::Zstd => Encoder::Zstd(zstd::Encoder::new(level)?),
            Codec::Rans => Encoder::Rans(Box::new(rans::Encoder::new(kernel))),
        })
    }

    /// Returns the coded bytes of registers, which stay until the next call.
    ///
    /// # Errors
    /// What zstd says; memory, in practice.
    pub fn encode(&mut self, registers: &[Register]) -> Result<&[u8], &'static str> {
        match self {
            Encoder::Zstd(encoder) => encoder.encode(registers),
            Encoder::Rans(encoder) => Ok(encoder.encode(registers)),
        }
    }
}

/// Decodes frames of all codecs.
pub struct Decoder {
    zstd: zstd::Decoder,
    rans: rans::Decoder,
}

impl Decoder {
    /// Returns a decoder.
    ///
    /// # Errors
    /// [`MemoryError::Codec`].
    pub fn new(kernel: Kernel) -> Result<Decoder, MemoryError> {
        Ok(Decoder {
            zstd: zstd::Decoder::new()?,
            rans: rans::Decoder::new(kernel),
        })
    }

    /// Writes the registers that were coded as `bytes`; `empty` says that they hold nothing yet, which saves time where few
    /// will. Returns the numbers of the registers that hold states now, `None` for any.
    ///
    /// # Errors
    /// What is wrong with the bytes.
    pub fn decode(
        &mut self,
        codec: Codec,
        bytes: &[u8],
        registers: &mut [Register],
        empty: bool,
    ) -> Result<Option<&[u32]>, &'static str> {
        match codec {
            Codec::Zstd => self.zstd.decode(bytes, registers).map(|()| None),
            Codec::Rans => self.rans.decode(bytes, registers, empty),
        }
    }
}

#[cfg(test)]
#[path = "../../../tests/unit/codec.rs"]
mod tests;
