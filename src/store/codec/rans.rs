//! Frames encoded with interleaved range asymmetric numeral systems (Duda 2013; interleaved: Giesen 2014).
//!
//! States cluster on lines, so registers differ greatly in how many lines contain any states, and this number says more
//! about a byte than its neighbours do. Registers are therefore sorted into classes by this number, and each class has
//! its own table. The classes themselves are encoded as rows of symbols, and so are the bytes that are too rare for a
//! share in their table.

#![allow(unsafe_code)]

use crate::{
    kernel::{Kernel, dispatch},
    perm::{LANES, Register},
    store::codec::rans_table::{
        self, Backward, Forward, RansIsa, RansStates, RowSource, RowTarget, Streams, SymbolTable,
        take_u32,
    },
};

/// Maximum number of classes of registers that contain states; class 0 is for the others.
const CLASSES: usize = 4;

/// The table of the bytes that are not in the tables of their classes; it comes after those of the classes.
const RARE: usize = CLASSES + 1;

/// Minimum number of registers whose bytes are counted: more tell little more, and counting costs as much as encoding.
const SAMPLE: usize = 384;

/// Maximum number of bytes that are listed one by one: up to this number, states and tables would be longer.
const FEW: usize = 128;

/// Kinds of frames.
const SPARSE: u8 = 0;

const CODED: u8 = 1;

const PLAIN: u8 = 2;

type Tables = [SymbolTable; CLASSES + 2];

/// The registers that contain states, each with the table of its class.
struct LiveRegisters<'a, R> {
    registers: R,
    live: &'a [u32],
    class: &'a [u8],
    tables: &'a Tables,
}

impl<'a, R> LiveRegisters<'a, R> {
    #[inline(always)]
    fn at(&self, i: usize) -> (usize, &'a SymbolTable) {
        let at = self.live[i] as usize;
        (at, &self.tables[usize::from(self.class[at])])
    }
}

impl RowSource for LiveRegisters<'_, &[Register]> {
    fn rows(&self) -> usize {
        self.live.len()
    }

    #[inline(always)]
    fn row(&self, i: usize) -> (&Register, &SymbolTable) {
        let (at, table) = self.at(i);
        (&self.registers[at], table)
    }
}

impl RowTarget for LiveRegisters<'_, &mut [Register]> {
    fn rows(&self) -> usize {
        self.live.len()
    }

    #[inline(always)]
    fn row(&mut self, i: usize) -> (&mut Register, &SymbolTable) {
        let (at, table) = self.at(i);
        (&mut self.registers[at], table)
    }
}

/// Bytes with one table, 60 per row, with four bytes after the last row.
struct List<'a, B>(B, &'a SymbolTable);

/// Resizes a list to `bytes` bytes, or more to fill its last row.
fn fit(list: &mut Vec<u8>, bytes: usize, fill: u8) {
    list.resize(bytes.next_multiple_of(LANES) + 64 - LANES, fill);
}

impl RowSource for List<'_, &[u8]> {
    fn rows(&self) -> usize {
        self.0.len() / LANES
    }

    #[inline(always)]
    fn row(&self, i: usize) -> (&Register, &SymbolTable) {
        let row = self.0[i * LANES..].first_chunk();
        (row.expect("four bytes behind the last row"), self.1)
    }
}

impl RowTarget for List<'_, &mut [u8]> {
    fn rows(&self) -> usize {
        self.0.len() / LANES
    }

    #[inline(always)]
    fn row(&mut self, i: usize) -> (&mut Register, &SymbolTable) {
        let row = self.0[i * LANES..].first_chunk_mut();
        (row.expect("four bytes behind the last row"), self.1)
    }
}

/// Counts how often each byte occurs.
fn count(bytes: &[u8]) -> [u32; 256] {
    // Four sums: with one, a byte that occurs repeatedly would have to wait for itself.
    let mut counts = [[0u32; 256]; 4];
    let (fours, rest) = bytes.as_chunks::<4>();
    for four in fours {
        for (counts, &byte) in counts.iter_mut().zip(four) {
            counts[usize::from(byte)] += 1;
        }
    }
    for &byte in rest {
        counts[0][usize::from(byte)] += 1;
    }
    std::array::from_fn(|byte| counts.iter().map(|counts| counts[byte]).sum())
}

// The functions of the codec, with the instructions of a kernel.

fn encode(kernel: Kernel, source: &impl RowSource, to: &mut Streams<Backward>) {
    dispatch!(kernel, I::encode(source: &impl RowSource, to: &mut Streams<Backward>))
}

fn decode(kernel: Kernel, target: &mut impl RowTarget, from: &mut Streams<Forward>) {
    dispatch!(kernel, I::decode(target: &mut impl RowTarget, from: &mut Streams<Forward>))
}

fn count_held(kernel: Kernel, registers: &[Register], held: &mut [u8]) {
    dispatch!(kernel, I::count_held(registers: &[Register], held: &mut [u8]))
}

fn gather_held(kernel: Kernel, register: &Register, to: &mut Register) {
    dispatch!(kernel, I::gather_held(register: &Register, to: &mut Register))
}

fn list(kernel: Kernel, bytes: &[u8], zeros: bool, to: &mut Vec<u32>) {
    dispatch!(kernel, I::list(bytes: &[u8], zeros: bool, to: &mut Vec<u32>))
}

pub struct RansEncoder {
    kernel: Kernel,
    tables: Tables,
    /// The number of nonzero bytes of each register, and its class.
    held: Vec<u8>,
    class: Vec<u8>,
    live: Vec<u32>,
    /// For each class, nonzero bytes.
    samples: [Vec<u8>; CLASSES],
    rare: Vec<u8>,
    escaped: [Backward; 2],
    stream: Backward,
    bytes: Vec<u8>,
}

impl RansEncoder {
    pub fn new(kernel: Kernel) -> RansEncoder {
        let (tables, held, class, live, samples) = Default::default();
        let (rare, escaped, stream, bytes) = Default::default();
        RansEncoder { kernel, tables, held, class, live, samples, rare, escaped, stream, bytes }
    }

    pub fn encode(&mut self, registers: &[Register]) -> &[u8] {
        self.held.resize(registers.len(), 0);
        count_held(self.kernel, registers, &mut self.held);
        let few = self.held.iter().map(|&held| usize::from(held)).sum();
        list(self.kernel, &self.held, false, &mut self.live);
        if few <= FEW {
            self.begin(SPARSE, registers);
            rans_table::encode(registers, &self.live, few, &mut self.bytes);
            return &self.bytes;
        }
        self.begin(CODED, registers);
        self.code(registers);
        if self.bytes.len() > registers.len() * LANES {
            self.begin(PLAIN, registers);
            for register in registers {
                self.bytes.extend(&register[..LANES]);
            }
        }
        &self.bytes
    }

    /// Begins a frame: its kind, and its number of registers.
    fn begin(&mut self, kind: u8, registers: &[Register]) {
        self.bytes.clear();
        self.bytes.push(kind);
        self.bytes.extend((registers.len() as u32).to_le_bytes());
    }

    fn code(&mut self, registers: &[Register]) {
        let (classes, counts) = self.classify();
        self.bytes.push(classes as u8);
        self.tables[0].encode(&counts, &mut self.bytes);
        self.sample(registers, classes);
        fit(&mut self.class, registers.len(), 0);
        // Every row takes at most one byte per lane.
        let rows = self.live.len() * 2 + registers.len() / LANES + 4;
        self.stream.clear(rows * LANES);
        let [rare, rarest] = &mut self.escaped;
        rare.clear(self.live.len() * LANES);
        let mut states = [RansStates::FIRST; 2];
        let (kernel, stream) = (self.kernel, &mut self.stream);
        // What is decoded first is encoded last.
        let live =
            LiveRegisters { registers, live: &self.live, class: &self.class, tables: &self.tables };
        encode(kernel, &live, &mut Streams { states: &mut states, stream, escaped: rare });
        let rare = rare.written();
        rarest.clear(rare.len() + 2 * LANES);
        self.rare.clear();
        self.rare.extend(rare);
        let table = &mut self.tables[RARE];
        self.bytes.push(u8::from(!rare.is_empty()));
        if !rare.is_empty() {
            table.encode(&count(rare), &mut self.bytes);
            // The symbol that fills the last row should cost least.
            fit(&mut self.rare, rare.len(), table.likeliest());
            let mut to = Streams { states: &mut states, stream, escaped: rarest };
            encode(kernel, &List(&self.rare[..], &self.tables[RARE]), &mut to);
        }
        let mut to = Streams { states: &mut states, stream, escaped: rarest };
        encode(kernel, &List(&self.class[..], &self.tables[0]), &mut to);
        self.bytes.extend((rare.len() as u32).to_le_bytes());
        let rarest = rarest.written();
        self.bytes.extend((rarest.len() as u32).to_le_bytes());
        self.bytes.extend(rarest);
        for RansStates { low, high } in states {
            self.bytes.extend(&low[..LANES]);
            self.bytes.extend(&high[..LANES]);
        }
        self.bytes.extend(self.stream.written());
    }

    /// Sorts registers into classes of equal size by the number of their nonzero bytes; returns the number of classes,
    /// and how often each occurs.
    fn classify(&mut self) -> (usize, [u32; 256]) {
        let widths = count(&self.held);
        let mut counts = [0; 256];
        counts[0] = widths[0];
        let live = self.live.len();
        let classes = match live {
            0..200 => 1,
            200..800 => 2,
            _ => CLASSES,
        };
        let mut class = [0u8; LANES + 1];
        let mut before = 0;
        for (class, width) in class.iter_mut().zip(widths).skip(1) {
            let middle = before + width as usize / 2;
            *class = 1 + (middle * classes / live).min(classes - 1) as u8;
            counts[usize::from(*class)] += width;
            before += width as usize;
        }
        self.class.clear();
        let classes_of = self.held.iter().map(|&held| class[usize::from(held)]);
        self.class.extend(classes_of);
        (classes, counts)
    }

    /// Makes the tables of the classes from some of their registers.
    fn sample(&mut self, registers: &[Register], classes: usize) {
        let mut counts = [(0, 0); CLASSES];
        let step = (self.live.len() / SAMPLE).max(1);
        for &at in self.live.iter().step_by(step) {
            let at = at as usize;
            let class = usize::from(self.class[at]) - 1;
            let (next, none) = &mut counts[class];
            let sample = &mut self.samples[class];
            if sample.len() < *next + 64 {
                sample.resize(*next + 64 * SAMPLE, 0);
            }
            let room = sample[*next..].first_chunk_mut();
            gather_held(self.kernel, &registers[at], room.expect("room"));
            *next += usize::from(self.held[at]);
            *none += LANES as u32 - u32::from(self.held[at]);
        }
        for (class, (held, none)) in counts.into_iter().enumerate().take(classes) {
            let mut counts = count(&self.samples[class][..held]);
            counts[0] = none;
            self.tables[1 + class].encode(&counts, &mut self.bytes);
        }
    }
}

pub struct RansDecoder {
    kernel: Kernel,
    tables: Tables,
    class: Vec<u8>,
    live: Vec<u32>,
    rare: Vec<u8>,
}

impl RansDecoder {
    pub fn new(kernel: Kernel) -> RansDecoder {
        let (tables, class, live, rare) = Default::default();
        RansDecoder { kernel, tables, class, live, rare }
    }

    /// As `Decoder::decode`.
    pub fn decode(
        &mut self,
        bytes: &[u8],
        registers: &mut [Register],
        empty: bool,
    ) -> Result<Option<&[u32]>, &'static str> {
        let (kind, mut rest) = bytes.split_at(bytes.len().min(1));
        if take_u32(&mut rest) != Some(registers.len() as u32) {
            return Err("the data has the wrong length");
        }
        let decoded = match *kind {
            [SPARSE] => {
                if !empty {
                    registers.fill([0; 64]);
                }
                rans_table::decode(rest, registers, &mut self.live)
            }
            [CODED] => self.coded(rest, registers, empty),
            [PLAIN] => plain(rest, registers),
            _ => None,
        };
        decoded.ok_or("the data is not valid output of the encoder")?;
        Ok((*kind != [PLAIN]).then_some(&self.live))
    }

    fn coded(&mut self, mut bytes: &[u8], registers: &mut [Register], empty: bool) -> Option<()> {
        let bytes = &mut bytes;
        let classes = usize::from(*bytes.split_off_first()?);
        if classes == 0 || classes > CLASSES {
            return None;
        }
        for table in &mut self.tables[..=classes] {
            table.decode(bytes)?;
        }
        let has_rare = *bytes.split_off_first()? == 1;
        if has_rare {
            self.tables[RARE].decode(bytes)?;
        }
        let rare = take_u32(bytes)? as usize;
        if rare > registers.len() * LANES || has_rare != (rare > 0) {
            return None;
        }
        let rarest = take_u32(bytes)? as usize;
        let mut rarest = Forward::new(bytes.split_off(..rarest)?);
        let mut states = [RansStates::FIRST; 2];
        for RansStates { low, high } in &mut states {
            low[..LANES].copy_from_slice(bytes.split_off(..LANES)?);
            high[..LANES].copy_from_slice(bytes.split_off(..LANES)?);
        }
        let mut stream = Forward::new(bytes);
        let kernel = self.kernel;
        let mut read = |bytes: &mut [u8], table| {
            let mut from =
                Streams { states: &mut states, stream: &mut stream, escaped: &mut rarest };
            decode(kernel, &mut List(bytes, table), &mut from);
        };
        fit(&mut self.class, registers.len(), 0);
        read(&mut self.class, &self.tables[0]);
        fit(&mut self.rare, rare, 0);
        read(&mut self.rare, &self.tables[RARE]);
        let class = &self.class[..registers.len()];
        // All of them, which is faster than stopping at the first.
        if usize::from(class.iter().fold(0, |a, &b| a.max(b))) > classes {
            return None;
        }
        if !empty {
            list(kernel, class, true, &mut self.live);
            for &dead in &self.live {
                registers[dead as usize] = [0; 64];
            }
        }
        list(kernel, class, false, &mut self.live);
        let mut rare = Forward::new(&self.rare[..rare]);
        let mut live = LiveRegisters { registers, live: &self.live, class, tables: &self.tables };
        let mut from = Streams { states: &mut states, stream: &mut stream, escaped: &mut rare };
        decode(kernel, &mut live, &mut from);
        let whole = [&stream, &rare, &rarest].iter().all(|part| part.is_done());
        (whole && states.iter().all(RansStates::are_first)).then_some(())
    }
}

fn plain(bytes: &[u8], registers: &mut [Register]) -> Option<()> {
    if bytes.len() != registers.len() * LANES {
        return None;
    }
    for (register, bytes) in registers.iter_mut().zip(bytes.chunks(LANES)) {
        register[..LANES].copy_from_slice(bytes);
        register[LANES..].fill(0);
    }
    Some(())
}
