//! Every kernel against the scalar one, and the scalar one against the definition of a level step.

use proptest::prelude::*;
use tilewave::internals::layout::{LANES, Layout, LinePlace, Register};
use tilewave::internals::move_table::MoveTable;
use tilewave::internals::{
    ByteBlock, Kernel, Rule, StepProgram, Tally, Transfer, collect, layout, spread,
};
use tilewave::puzzle::{Metric, MoveGraph, Size, SnakePath, Window};

/// The transfers of a board from one colour to the other: bit k for the k-th cell of a colour.
fn transfers(puzzle: &MoveGraph, from: usize) -> Vec<Transfer> {
    let mut transfers = Vec::new();
    for (i, window) in puzzle.windows().iter().enumerate() {
        let edges = puzzle.edges().iter().filter(|e| e.window == i && e.from % 2 == from);
        let bits: Vec<(u8, u8)> = edges.map(|e| (e.from as u8 / 2, e.to as u8 / 2)).collect();
        if !bits.is_empty() {
            transfers.push(Transfer { window: window.clone(), bits });
        }
    }
    transfers
}

/// Registers with about one bit in `2^sparsity` set, padding lanes zero.
fn registers(count: usize, mut seed: u64, sparsity: u32) -> Vec<Register> {
    let mut random = || {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        seed
    };
    let mut byte = || (0..sparsity).fold(0xff, |byte, _| byte & (random() >> 24) as u8);
    (0..count).map(|_| std::array::from_fn(|lane| if lane < LANES { byte() } else { 0 })).collect()
}

fn kernels() -> impl Iterator<Item = Kernel> {
    Kernel::ALL.into_iter().filter(|kernel| kernel.is_supported())
}

/// Steps into the registers of a block: its number of registers before it, its parity, its own place in the array, and
/// its sources with their variants, each of which is live or not.
fn step(
    program: &StepProgram,
    (cur, next): (&[Register], &mut [Register]),
    (register, parity, own): (u64, usize, usize),
    (source_blocks, variants, live): (&[usize], &[usize], &[bool]),
) -> Tally {
    program.step(ByteBlock {
        cur,
        next,
        rule: Rule::Reverse,
        seen: &mut [],
        own: &vec![own; program.gathers().len()],
        register,
        parity,
        source_blocks,
        variants,
        live,
        halo: &[],
        ahead: &[],
        ahead_by: 0,
    })
}

struct Case {
    layout: Layout,
    transfers: Vec<Transfer>,
    seed: u64,
    sparsity: u32,
    live: u64,
}

impl Case {
    /// Runs one block whose sources are any blocks of a small array: the kernels must not care.
    fn run(&self, kernel: Kernel) -> (Vec<Register>, Tally) {
        let program = StepProgram::new(kernel, self.layout, &self.transfers).unwrap();
        let size = self.layout.block_registers();
        let cur = registers(size * 5, self.seed | 1, self.sparsity);
        let mut next = registers(size, self.seed | 2, 1);
        let of = |g: &MoveTable| (g.source_blocks.count(), g.source_blocks.variants());
        let blocks: usize = program.gathers().iter().map(|g| of(g).0).sum();
        let source_blocks: Vec<usize> = (0..blocks).map(|i| i * 7 % 5 * size).collect();
        let gathers = program.gathers().iter().enumerate();
        let variants: Vec<usize> =
            gathers.map(|(i, g)| (self.seed >> (i % 64)) as usize % of(g).1).collect();
        let live: Vec<bool> = (0..variants.len()).map(|i| self.live >> (i % 64) & 1 == 1).collect();
        let place = (self.seed >> 20, (self.seed >> 9 & 1) as usize, size * 2);
        let sources = (&source_blocks[..], &variants[..], &live[..]);
        let tally = step(&program, (&cur, &mut next), place, sources);
        let states: u32 = next.iter().flatten().map(|byte| byte.count_ones()).sum();
        assert_eq!(tally.states, u64::from(states), "{kernel}");
        let sum = next.iter().zip(self.seed >> 20..).fold(0u64, |sum, (register, r)| {
            let words = register.as_chunks::<8>().0.iter().enumerate();
            words.fold(sum, |sum, (j, word)| {
                sum.wrapping_add(layout::word(layout::mix(r), j, u64::from_le_bytes(*word)))
            })
        });
        assert_eq!(tally.checksum, sum, "{kernel}");
        assert!(next.iter().all(|register| register[LANES..] == [0; 4]), "padding stays zero");
        (next, tally)
    }

    fn check(&self) {
        let scalar = self.run(Kernel::Scalar);
        for kernel in kernels() {
            assert!(self.run(kernel) == scalar, "{kernel}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    #[test]
    fn kernels_are_equal_on_every_board(
        (rows, cols) in prop::sample::select(vec![
            (2, 4), (3, 3), (2, 5), (3, 4), (2, 6), (2, 7), (3, 5), (2, 8), (4, 4), (5, 3),
        ]),
        from in 0usize..2,
        seed in any::<u64>(),
        sparsity in 0u32..6,
        live in any::<u64>(),
    ) {
        let puzzle = SnakePath::new(Size::new(rows, cols).unwrap()).puzzle(Metric::Stm);
        let layout = Layout::new(puzzle.line_len()).unwrap();
        Case { layout, transfers: transfers(&puzzle, from), seed, sparsity, live }.check();
    }

    #[test]
    fn kernels_are_equal_on_windows_and_bits_that_no_board_has(
        n in 6usize..=9,
        odd: bool,
        by in 1usize..=4,
        bits in prop::collection::vec((0u8..8, 0u8..8), 1..20),
        seed in any::<u64>(),
    ) {
        let layout = Layout::new(n).unwrap();
        let len = if odd == (n % 2 == 0) { n } else { n - 1 };
        let source: Vec<u8> = (0..len).map(|i| ((i + by) % len) as u8).collect();
        let transfers = vec![
            Transfer { window: Window::new(n - len, &source), bits: bits.clone() },
            Transfer { window: Window::identity(), bits },
        ];
        Case { layout, transfers, seed, sparsity: 2, live: 3 }.check();
    }
}

#[test]
fn bits_move_as_transfers_say() {
    // One state, identity window: every target of its bit and nothing else.
    let layout = Layout::new(6).unwrap();
    let bits = vec![(3, 1), (3, 7), (2, 1), (0, 0)];
    let transfers = [Transfer { window: Window::identity(), bits }];
    for kernel in kernels() {
        let program = StepProgram::new(kernel, layout, &transfers).unwrap();
        let mut cur = vec![[0; 64]; 6];
        cur[4][17] = 1 << 3;
        cur[5][18] = 1 << 2 | 1;
        let mut next = vec![[0; 64]; 6];
        next[5][18] = 1;
        let tally = step(&program, (&cur, &mut next), (0, 0, 0), (&[0], &[0], &[true]));
        let mut expected = vec![[0; 64]; 6];
        expected[4][17] = 1 << 1 | 1 << 7;
        expected[5][18] = 1 << 1;
        assert!(next == expected, "{kernel}");
        assert_eq!(tally.states, 3);
    }
}

/// One level by its definition: unrank, permute, rank.
fn naive(
    layout: Layout,
    transfers: &[Transfer],
    parity: usize,
    cur: &[Vec<Register>; 2],
) -> Vec<Register> {
    let size = layout.block_registers();
    let mut next = vec![[0; 64]; size * layout.blocks()];
    for (register, lane) in (0..next.len()).flat_map(|r| (0..LANES).map(move |l| (r, l))) {
        let place = LinePlace { parity, block: register / size, register: register % size, lane };
        let mut line = vec![0; layout.len()];
        layout.line(place, &mut line);
        for transfer in transfers {
            let mut from = line.clone();
            transfer.window.inverse().apply(&mut from);
            let from = layout.place(&from);
            let byte = cur[from.parity][from.block * size + from.register][from.lane];
            for &(a, b) in &transfer.bits {
                next[register][lane] |= (byte >> a & 1) << b;
            }
        }
    }
    next
}

/// One level by a kernel, block by block.
fn stepped(
    program: &StepProgram,
    layout: Layout,
    parity: usize,
    cur: &[Register],
    prev: &[Register],
) -> Vec<Register> {
    let size = layout.block_registers();
    let mut next = prev.to_vec();
    for (block, next) in next.chunks_mut(size).enumerate() {
        let mut digits = [0; 20];
        layout.block_digits(block, &mut digits);
        let (mut source_blocks, mut variants) = (Vec::new(), Vec::new());
        for gather in program.gathers() {
            let mut blocks = vec![0; gather.source_blocks.count()];
            variants.push(gather.source_blocks.find(block, &digits, &mut blocks));
            source_blocks.extend(blocks.iter().map(|block| block * size));
        }
        let (own, live) = (block * size, vec![true; variants.len()]);
        let place = (own as u64, parity ^ layout.block_parity(block), own);
        step(program, (cur, next), place, (&source_blocks, &variants, &live));
    }
    next
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    #[test]
    fn kernels_do_what_unranking_and_ranking_do(
        n in 6usize..=8,
        sliced: bool,
        odd: bool,
        parity in 0usize..2,
        windows in prop::collection::vec((0usize..8, 2usize..9, 1usize..8), 1..5),
        bits in prop::collection::vec((0u8..8, 0u8..8), 1..4),
        seed in any::<u64>(),
    ) {
        let layout = if sliced { Layout::sliced(n) } else { Layout::new(n) }.unwrap();
        // All windows of a program here are rotations of one parity: they come from one array.
        let transfers: Vec<Transfer> = windows.into_iter().map(|(first, len, by)| {
            let first = first % (n - 2);
            let len = len.clamp(2, n - first);
            let len = if odd { len & !1 } else { (len - 1) | 1 };
            let by = if odd { by | 1 } else { by };
            let source: Vec<u8> = (0..len).map(|i| ((i + by) % len) as u8).collect();
            Transfer { window: Window::new(first, &source), bits: bits.clone() }
        }).collect();
        let size = layout.block_registers() * layout.blocks();
        let cur = [registers(size, seed | 1, 3), registers(size, seed | 2, 3)];
        let prev = registers(size, seed | 4, 2);
        let mut truth = naive(layout, &transfers, parity, &cur);
        for (byte, prev) in truth.as_flattened_mut().iter_mut().zip(prev.as_flattened()) {
            *byte &= !prev;
        }
        for kernel in kernels() {
            let program = StepProgram::new(kernel, layout, &transfers).unwrap();
            let from = parity ^ usize::from(odd);
            assert!(stepped(&program, layout, parity, &cur[from], &prev) == truth, "{kernel}");
        }
    }
}

#[test]
fn programs_may_have_any_number_of_transfers() {
    let layout = Layout::new(6).unwrap();
    let rotation = |i: usize| match i % 3 {
        0 => Window::rotate_left(0, 2),
        1 => Window::rotate_right(1, 5 - i % 2 * 2),
        _ => Window::identity(),
    };
    let transfers: Vec<Transfer> = (0..200)
        .map(|i| Transfer { window: rotation(i), bits: vec![((i % 8) as u8, (i / 25) as u8)] })
        .collect();
    Case { layout, transfers, seed: 5, sparsity: 3, live: u64::MAX }.check();
}

#[test]
fn planes_are_the_bits_of_the_bytes_on_every_kernel() {
    let registers = registers(5, 9, 1);
    for kernel in kernels() {
        for bit in 0..8 {
            let mut words = [u64::MAX; 5];
            assert!(collect(kernel, &registers, bit, &mut words));
            let mut back = [[9; 64]; 5];
            spread(kernel, &words, &mut back);
            for (r, lane) in (0..5).flat_map(|r| (0..64).map(move |lane| (r, lane))) {
                let set = registers[r][lane] >> bit & 1;
                assert_eq!(u64::from(set), words[r] >> lane & 1);
                assert_eq!(set, back[r][lane]);
            }
        }
        assert!(!collect(kernel, &[[0xfe; 64]], 0, &mut [7]));
    }
}
