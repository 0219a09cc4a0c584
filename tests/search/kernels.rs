//! Every kernel against the scalar one, and the scalar one against the definition of a level step.

use proptest::prelude::*;
use tilewave::perm::checksum;
use tilewave::perm::kernel::{Block, Kernel, Program, Tally, Transfer};
use tilewave::perm::layout::{LANES, Layout, Register};
use tilewave::puzzle::tiles::{Path, Size};
use tilewave::puzzle::{Puzzle, Window};

/// The transfers of a board from one colour to the other: bit k for the k-th cell of a colour.
fn transfers(puzzle: &Puzzle, from: usize) -> Vec<Transfer> {
    let mut transfers = Vec::new();
    for (i, window) in puzzle.windows().iter().enumerate() {
        let edges = puzzle
            .edges()
            .iter()
            .filter(|e| e.window == i && e.from % 2 == from);
        let bits: Vec<(u8, u8)> = edges.map(|e| (e.from as u8 / 2, e.to as u8 / 2)).collect();
        if !bits.is_empty() {
            transfers.push(Transfer {
                window: window.clone(),
                bits,
            });
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
    (0..count)
        .map(|_| std::array::from_fn(|lane| if lane < LANES { byte() } else { 0 }))
        .collect()
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
        let program = Program::new(kernel, self.layout, &self.transfers).unwrap();
        let size = self.layout.block_registers();
        let cur = registers(size * 5, self.seed | 1, self.sparsity);
        let mut next = registers(size, self.seed | 2, 1);
        let slots: usize = program.gathers().iter().map(|g| g.outside.slots()).sum();
        let sources: Vec<usize> = (0..slots).map(|i| i * 7 % 5 * size).collect();
        let gathers = program.gathers().iter().enumerate();
        let downs: Vec<usize> = gathers
            .map(|(i, g)| (self.seed >> i) as usize % g.outside.downs())
            .collect();
        let live: Vec<bool> = (0..downs.len()).map(|i| self.live >> i & 1 == 1).collect();
        let tally = program.step(Block {
            cur: &cur,
            next: &mut next,
            own: size * 2,
            register: self.seed >> 20,
            parity: (self.seed >> 9 & 1) as usize,
            sources: &sources,
            downs: &downs,
            live: &live,
            carried: &[],
            ahead: &[],
        });
        let states: u32 = next.iter().flatten().map(|byte| byte.count_ones()).sum();
        assert_eq!(tally.states, u64::from(states), "{kernel}");
        let sum = next
            .iter()
            .zip(self.seed >> 20..)
            .fold(0u64, |sum, (register, r)| {
                let words = register.as_chunks::<8>().0.iter().enumerate();
                words.fold(sum, |sum, (j, word)| {
                    sum.wrapping_add(checksum::word(
                        checksum::mix(r),
                        j,
                        u64::from_le_bytes(*word),
                    ))
                })
            });
        assert_eq!(tally.checksum, sum, "{kernel}");
        assert!(
            next.iter().all(|register| register[LANES..] == [0; 4]),
            "padding stays zero"
        );
        (next, tally)
    }

    fn check(&self) {
        let scalar = self.run(Kernel::Scalar);
        for kernel in Kernel::ALL.into_iter().filter(|k| k.is_supported()) {
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
        let puzzle = Path::new(Size::new(rows, cols).unwrap()).puzzle();
        let layout = Layout::new(puzzle.line_len()).unwrap();
        Case { layout, transfers: transfers(&puzzle, from), seed, sparsity, live }.check();
    }

    #[test]
    fn kernels_are_equal_on_windows_and_bits_that_no_board_has(
        n in 6usize..=9,
        by in 1usize..=4,
        bits in prop::collection::vec((0u8..8, 0u8..8), 1..20),
        seed in any::<u64>(),
    ) {
        let layout = Layout::new(n).unwrap();
        let len = if n % 2 == 1 { n } else { n - 1 };
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
    let transfers = [Transfer {
        window: Window::identity(),
        bits,
    }];
    for kernel in Kernel::ALL.into_iter().filter(|k| k.is_supported()) {
        let program = Program::new(kernel, layout, &transfers).unwrap();
        let mut cur = vec![[0; 64]; 6];
        cur[4][17] = 1 << 3;
        cur[5][18] = 1 << 2 | 1;
        let mut next = vec![[0; 64]; 6];
        next[5][18] = 1;
        let tally = program.step(Block {
            cur: &cur,
            next: &mut next,
            own: 0,
            register: 0,
            parity: 0,
            sources: &[0],
            downs: &[0],
            live: &[true],
            carried: &[],
            ahead: &[],
        });
        let mut expected = vec![[0; 64]; 6];
        expected[4][17] = 1 << 1 | 1 << 7;
        expected[5][18] = 1 << 1;
        assert!(next == expected, "{kernel}");
        assert_eq!(tally.states, 3);
    }
}
