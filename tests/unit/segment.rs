//! What `src/bfs/segment.rs` keeps to itself.

use super::*;
use crate::random::SplitMix64;

#[test]
fn bits_and_numbers_come_back() {
    let values = [
        (1, 1),
        (u64::MAX >> 4, 60),
        (0, 1),
        (5, 3),
        (u64::MAX, 64),
        (9, 60),
    ];
    let mut segment = Segment::default();
    for (i, &(value, bits)) in values.iter().enumerate() {
        segment.push_number(i * i * 100);
        segment.push(value, bits);
    }
    // Numbers of one and of two bytes.
    assert_eq!(segment.bytes.len(), 27 + 2 + 4 * 2);
    let mut reader = Reader::new(&segment.bytes);
    for (i, (value, bits)) in values.into_iter().enumerate() {
        assert_eq!(reader.number(), Some(i * i * 100));
        assert_eq!(reader.take(bits), value);
    }
    assert_eq!(reader.number(), None);
    assert_eq!(reader.take(60), 0);
}

#[test]
fn segments_of_any_length_come_back_smaller() {
    let mut random = SplitMix64::new(5);
    let full = FRAME * LANES;
    for len in [
        0,
        1,
        SHORT - 1,
        SHORT,
        600,
        601,
        full - 1,
        full,
        full + 1,
        3 * full + 77,
    ] {
        let mut segment = Segment::default();
        for _ in 0..len {
            // One bit in ten.
            let bits = (0..8).filter(|_| random.below(10) == 0);
            segment.bytes.push(bits.map(|bit| 1 << bit).sum());
        }
        for kernel in [Kernel::Scalar, Kernel::best()] {
            let packed = Packer::new(kernel).unwrap().pack(&segment).unwrap();
            let mut unpacker = Unpacker::new(kernel).unwrap();
            assert_eq!(unpacker.unpack(&packed).unwrap(), segment.bytes);
            assert!(
                len < 10_000 || packed.len() * 2 < len,
                "{len} {}",
                packed.len()
            );
            let short = packed.len() - usize::from(len >= SHORT);
            assert_eq!(unpacker.unpack(&packed[..short]).is_some(), len < SHORT);
        }
    }
}
