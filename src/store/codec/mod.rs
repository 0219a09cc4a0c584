//! The encoding of a frame: registers without their padding lanes.
//!
//! Searches on disk, builds of databases, and segments between chunks use [`Encoder`] and [`Decoder`]. Frames are
//! encoded by zstd or by the codec in `rans`: `rans` sorts registers into classes, `rans_table` has the tables and the
//! plain loops, and `rans_avx512` has the fast loops.
//!
//! Invariant: decoding encoded data gives the same registers; anything else gives an error, never a panic, and takes no
//! more memory than the frame's registers.

pub(crate) mod rans;
#[cfg(target_arch = "x86_64")]
pub(crate) mod rans_avx512;
pub(crate) mod rans_table;

use zstd::zstd_safe::{CCtx, CParameter, DCtx, ParamSwitch, compress_bound, get_error_name};

use crate::{
    kernel::Kernel,
    perm::{LANES, Register},
    system::SystemError,
    units::names,
};

pub(crate) use crate::store::codec::rans_table::{push_number, take_number, take_u32};

/// The codecs for frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Codec {
    /// Interleaved range asymmetric numeral systems, with a table for each density of registers.
    Rans,
    /// zstd, at a very fast level with compression of literals.
    Zstd,
}

names! { Codec:
    "rans" = Rans, "Asymmetric numeral systems: the faster codec with AVX-512; files are 10 % \
                    smaller than with zstd";
    "zstd" = Zstd, "Zstandard: the faster codec without AVX-512";
}

impl Codec {
    /// Returns the fastest codec for a kernel: without AVX-512, zstd is faster.
    pub fn best(kernel: Kernel) -> Codec {
        match kernel {
            Kernel::Avx512 => Codec::Rans,
            Kernel::Avx2 | Kernel::Neon | Kernel::Scalar => Codec::Zstd,
        }
    }

    pub fn number(self) -> u8 {
        match self {
            Codec::Zstd => 1,
            Codec::Rans => 2,
        }
    }

    pub fn numbered(number: u8) -> Option<Codec> {
        Codec::ALL.into_iter().find(|codec| codec.number() == number)
    }
}

pub enum Encoder {
    Zstd(ZstdEncoder),
    Rans(Box<rans::RansEncoder>),
}

impl Encoder {
    /// Returns an encoder; `level` is the zstd level (-131072 to 22; levels below 0 are faster, with larger output).
    pub fn new(codec: Codec, level: i32, kernel: Kernel) -> Result<Encoder, SystemError> {
        Ok(match codec {
            Codec::Zstd => Encoder::Zstd(ZstdEncoder::new(level)?),
            Codec::Rans => Encoder::Rans(Box::new(rans::RansEncoder::new(kernel))),
        })
    }

    /// Returns the encoded bytes of registers, which remain valid until the next call.
    pub fn encode(&mut self, registers: &[Register]) -> Result<&[u8], &'static str> {
        match self {
            Encoder::Zstd(encoder) => encoder.encode(registers),
            Encoder::Rans(encoder) => Ok(encoder.encode(registers)),
        }
    }
}

pub struct Decoder {
    zstd: ZstdDecoder,
    rans: rans::RansDecoder,
}

impl Decoder {
    pub fn new(kernel: Kernel) -> Result<Decoder, SystemError> {
        Ok(Decoder { zstd: ZstdDecoder::new()?, rans: rans::RansDecoder::new(kernel) })
    }

    /// Writes the registers that were encoded as `bytes`. `empty` says that they are zero, which saves time if few of
    /// them will be nonzero. Returns the numbers of the registers that contain states now, or `None` if it may be any
    /// of them.
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

// Frames compressed with zstd.
//
// Dense levels contain 7 to 15 % ones without repetitions: match search finds nothing there, and Huffman codes of
// single bytes come within 4 % of their entropy. So the default level is a very fast one with compression of literals
// enabled (measurements: `docs/notebook/disk.md`).

pub const DEFAULT_LEVEL: i32 = -500;

/// What leaves out a checksum and the length.
pub(crate) const SUMLESS: [CParameter; 2] =
    [CParameter::ChecksumFlag(false), CParameter::ContentSizeFlag(false)];

/// Returns a compressor of zstd; `None` if there is no memory for it.
pub(crate) fn compressor(level: i32, parameters: &[CParameter]) -> Option<CCtx<'static>> {
    let mut context = CCtx::try_create()?;
    for &parameter in [CParameter::CompressionLevel(level)].iter().chain(parameters) {
        // zstd itself clamps levels to the valid range and accepts the others.
        let _ = context.set_parameter(parameter);
    }
    Some(context)
}

pub struct ZstdEncoder {
    context: CCtx<'static>,
    packed: Vec<u8>,
    bytes: Vec<u8>,
}

impl ZstdEncoder {
    pub fn new(level: i32) -> Result<ZstdEncoder, SystemError> {
        // Frames have their own checksum and their length is known.
        let literals = CParameter::LiteralCompressionMode(ParamSwitch::Enable);
        let context = compressor(level, &[literals, SUMLESS[0], SUMLESS[1]]);
        let context = context.ok_or(SystemError::CodecMemory)?;
        Ok(ZstdEncoder { context, packed: Vec::new(), bytes: Vec::new() })
    }

    pub fn encode(&mut self, registers: &[Register]) -> Result<&[u8], &'static str> {
        // Each register overwrites the padding of the previous one.
        self.packed.resize(registers.len() * LANES + 4, 0);
        for (i, register) in registers.iter().enumerate() {
            self.packed[i * LANES..i * LANES + 64].copy_from_slice(register);
        }
        let packed = &self.packed[..registers.len() * LANES];
        self.bytes.clear();
        self.bytes.reserve(compress_bound(packed.len()));
        self.context.compress2(&mut self.bytes, packed).map_err(get_error_name)?;
        Ok(&self.bytes)
    }
}

pub struct ZstdDecoder {
    context: DCtx<'static>,
    packed: Vec<u8>,
}

impl ZstdDecoder {
    pub fn new() -> Result<ZstdDecoder, SystemError> {
        let context = DCtx::try_create().ok_or(SystemError::CodecMemory)?;
        Ok(ZstdDecoder { context, packed: Vec::new() })
    }

    pub fn decode(&mut self, bytes: &[u8], registers: &mut [Register]) -> Result<(), &'static str> {
        let len = registers.len() * LANES;
        // Four more bytes, so that every register can be copied whole.
        self.packed.resize(len + 4, 0);
        let written = self.context.decompress(&mut self.packed[..len], bytes);
        if written.map_err(get_error_name)? != len {
            return Err("the data has fewer lines than a frame");
        }
        for (i, register) in registers.iter_mut().enumerate() {
            register.copy_from_slice(&self.packed[i * LANES..i * LANES + 64]);
            register[LANES..].fill(0);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::SplitMix64;

    /// Registers of all kinds: empty, thin, dense, with equal bytes, and with arbitrary bytes.
    fn frames() -> Vec<Vec<Register>> {
        let mut random = SplitMix64::new(7);
        let mut below = |n: u64| random.below(n);
        let mut frames = vec![vec![[0; 64]; 100], vec![[0; 64]; 1]];
        for (count, thin) in [(3024, 1), (3024, 200), (500, 9), (1000, 3), (1, 1), (61, 2), (3, 1)]
        {
            for bits in [1, 3, 8] {
                let mut registers = vec![[0; 64]; count];
                for register in &mut registers {
                    let full = below(thin) == 0;
                    let wide = below(60) + 1;
                    for byte in &mut register[..LANES] {
                        if full && below(60) < wide {
                            let any = 0..bits;
                            *byte = any.map(|_| 1u8 << below(8)).fold(0, |a, b| a | b);
                        }
                    }
                }
                frames.push(registers);
            }
        }
        let mut noise = vec![[0; 64]; 700];
        for byte in noise.iter_mut().flat_map(|register| &mut register[..LANES]) {
            *byte = below(256) as u8;
        }
        frames.push(noise);
        frames.push([[[255; 60].as_slice(), &[0; 4]].concat().try_into().unwrap(); 300].to_vec());
        let mut one = vec![[0; 64]; 3024];
        one[3023][59] = 128;
        frames.push(one);
        frames
    }

    fn kernels() -> impl Iterator<Item = Kernel> {
        Kernel::ALL.into_iter().filter(|kernel| kernel.is_supported())
    }

    #[test]
    fn frames_come_back_and_damage_is_an_error() {
        for (codec, level) in [(Codec::Zstd, -100), (Codec::Zstd, 19), (Codec::Rans, 0)] {
            for kernel in kernels() {
                let mut encoder = Encoder::new(codec, level, kernel).unwrap();
                let mut decoder = Decoder::new(kernel).unwrap();
                for registers in frames() {
                    let bytes = encoder.encode(&registers).unwrap();
                    let mut back = vec![[9u8; 64]; registers.len()];
                    decoder.decode(codec, bytes, &mut back, false).unwrap();
                    assert!(back == registers, "{codec:?} {kernel}");
                    let less = &bytes[..bytes.len() - 1];
                    assert!(decoder.decode(codec, less, &mut back, false).is_err());
                    assert!(decoder.decode(codec, &[], &mut back, false).is_err());
                }
                let registers = &frames()[4];
                let bytes = encoder.encode(registers).unwrap();
                let mut other = vec![[0; 64]; registers.len() + 1];
                assert!(decoder.decode(codec, bytes, &mut other, false).is_err());
                let fewer = &mut other[..registers.len() - 1];
                assert!(decoder.decode(codec, bytes, fewer, false).is_err());
            }
        }
    }

    /// Neither the encoded bytes of a frame nor the result of decoding damaged bytes depends on the kernel.
    #[test]
    fn kernels_are_equal_bit_for_bit() {
        let mut random = SplitMix64::new(11);
        for registers in frames() {
            let mut coded = Vec::new();
            for kernel in kernels() {
                let mut encoder = rans::RansEncoder::new(kernel);
                coded.push(encoder.encode(&registers).to_vec());
            }
            assert!(coded.windows(2).all(|two| two[0] == two[1]));
            for _ in 0..30 {
                let mut bytes = coded[0].clone();
                for _ in 0..=random.below(3) {
                    let at = random.below(bytes.len() as u64) as usize;
                    bytes[at] ^= 1 << random.below(8);
                }
                bytes.truncate(bytes.len() - random.below(2) as usize);
                let decoded = kernels().map(|kernel| {
                    let mut back = vec![[0; 64]; registers.len()];
                    let result = rans::RansDecoder::new(kernel)
                        .decode(&bytes, &mut back, false)
                        .map(|live| live.map(<[u32]>::to_vec));
                    result.map(|live| (live, back))
                });
                let decoded: Vec<_> = decoded.collect();
                assert!(decoded.windows(2).all(|two| two[0] == two[1]));
            }
        }
    }

    /// States cluster on lines, which zstd does not exploit: this is worth a tenth; thin frames cost almost nothing.
    #[test]
    fn classes_make_frames_smaller() {
        let registers = &frames()[2 + 3];
        let size = |codec| {
            let mut encoder = Encoder::new(codec, DEFAULT_LEVEL, Kernel::Scalar).unwrap();
            encoder.encode(registers).unwrap().len()
        };
        assert!(size(Codec::Rans) * 10 < size(Codec::Zstd) * 9);
        let mut encoder = rans::RansEncoder::new(Kernel::Scalar);
        assert_eq!(encoder.encode(&frames()[0]).len(), 9);
        assert_eq!(encoder.encode(frames().last().unwrap()).len(), 9 + 4);
    }
}
