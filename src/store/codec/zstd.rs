//! Frames as zstd compresses them.
//!
//! Dense levels hold 7 to 15 % ones without repetitions: match search finds nothing there, Huffman codes
//! of single bytes come within 4 % of their entropy. So the default level is a very fast one with
//! compression of literals forced on (measurements: `docs/performance.md`).

use zstd::zstd_safe::{CCtx, CParameter, DCtx, ParamSwitch, compress_bound, get_error_name};

use crate::perm::{LANES, Register};
use crate::store::MemoryError;

/// The default compression level.
pub const DEFAULT_LEVEL: i32 = -500;

/// Compresses frames.
pub struct ZstdEncoder {
    context: CCtx<'static>,
    packed: Vec<u8>,
    bytes: Vec<u8>,
}

impl ZstdEncoder {
    /// Returns an encoder with a zstd level (-131072 to 22; below 0 faster and larger).
    pub fn new(level: i32) -> Result<ZstdEncoder, MemoryError> {
        let mut context = CCtx::try_create().ok_or(MemoryError::Codec)?;
        for parameter in [
            CParameter::CompressionLevel(level),
            CParameter::LiteralCompressionMode(ParamSwitch::Enable),
            // Frames have their own checksum and their length is known.
            CParameter::ChecksumFlag(false),
            CParameter::ContentSizeFlag(false),
        ] {
            // zstd brings levels into range itself and knows the other three.
            let _ = context.set_parameter(parameter);
        }
        Ok(ZstdEncoder { context, packed: Vec::new(), bytes: Vec::new() })
    }

    /// Returns the compressed bytes of registers, which stay until the next call.
    pub fn encode(&mut self, registers: &[Register]) -> Result<&[u8], &'static str> {
        // Register after register overwrites the padding of the one before.
        self.packed.resize(registers.len() * LANES + 4, 0);
        for (i, register) in registers.iter().enumerate() {
            self.packed[i * LANES..i * LANES + 64].copy_from_slice(register);
        }
        let packed = &self.packed[..registers.len() * LANES];
        self.bytes.clear();
        self.bytes.reserve(compress_bound(packed.len()));
        match self.context.compress2(&mut self.bytes, packed) {
            Ok(_) => Ok(&self.bytes),
            Err(code) => Err(get_error_name(code)),
        }
    }
}

/// Decompresses frames.
pub struct ZstdDecoder {
    context: DCtx<'static>,
    packed: Vec<u8>,
}

impl ZstdDecoder {
    pub fn new() -> Result<ZstdDecoder, MemoryError> {
        Ok(ZstdDecoder {
            context: DCtx::try_create().ok_or(MemoryError::Codec)?,
            packed: Vec::new(),
        })
    }

    /// Writes the registers that were compressed to `bytes`.
    pub fn decode(&mut self, bytes: &[u8], registers: &mut [Register]) -> Result<(), &'static str> {
        let len = registers.len() * LANES;
        // Four more bytes, so that every register can be copied whole.
        self.packed.resize(len + 4, 0);
        let written = self.context.decompress(&mut self.packed[..len], bytes);
        match written {
            Ok(written) if written == len => {}
            Ok(_) => return Err("it holds fewer lines than a frame"),
            Err(code) => return Err(get_error_name(code)),
        }
        for (i, register) in registers.iter_mut().enumerate() {
            register.copy_from_slice(&self.packed[i * LANES..i * LANES + 64]);
            register[LANES..].fill(0);
        }
        Ok(())
    }
}
