//! What `src/perm/kernel/bits.rs` promises.

use super::*;

#[test]
fn bits_go_where_the_mask_is_and_come_back() {
    for kernel in Kernel::ALL.into_iter().filter(|k| k.is_supported()) {
        let masks = [0b1111, 0b1011_0100, 0, 1 << 63];
        let mut words = [0b1010, 0b1101, 0b101, 1];
        scatter_bits(kernel, &mut words, &masks);
        assert_eq!(words, [0b1010, 0b1010_0100, 0, 1 << 63]);
        words[2] = u64::MAX;
        gather_bits(kernel, &mut words, &masks);
        assert_eq!(words, [0b1010, 0b1101, 0, 1]);
    }
}

#[test]
fn all_kernels_take_the_same_bits() {
    // Three source words whose lanes are turned by 1, 2 and 3; each gives every third lane.
    let row = |turn: usize| {
        let mut from = [0; 64];
        for (lane, from) in from.iter_mut().enumerate() {
            *from = ((lane + turn) % 64) as u8;
        }
        let lanes = (0..64).filter(|lane| lane % 3 == turn - 1);
        BitRow {
            from,
            lanes: lanes.fold(0, |mask, lane| mask | 1 << lane),
        }
    };
    let rows: Vec<BitRow> = (1..4).map(row).collect();
    let piece = |row: u16| BitPiece {
        block: row,
        word: 2 * row,
        row,
    };
    let pieces = [piece(0), piece(1), piece(2), piece(1)];
    let sources = [0x0123_4567_89ab_cdef, 0xfedc_ba98_7654_3210, 0, 0, u64::MAX];
    for kernel in Kernel::ALL.into_iter().filter(|k| k.is_supported()) {
        let mut words = [7; 2];
        let load = |piece: BitPiece| sources[usize::from(piece.word)];
        take_bits(kernel, &rows, &[0, 3, 4], &pieces, load, &mut words);
        let of = |piece: BitPiece| {
            let row = &rows[usize::from(piece.row)];
            let turned = load(piece).rotate_right(u32::from(piece.row) + 1);
            turned & row.lanes
        };
        assert_eq!(words[0], of(pieces[0]) | of(pieces[1]) | of(pieces[2]));
        assert_eq!(words[1], of(pieces[3]));
    }
}
