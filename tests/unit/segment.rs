//! What `src/bfs/segment.rs` keeps to itself.

use super::*;
use crate::random::SplitMix64;

#[test]
fn bits_and_numbers_come_back() {
    // Words, and the lanes that say how many bits each has.
    let parts: [&[(u64, u64)]; 4] = [
        &[(1, 1 << 40), (u64::MAX >> 4, u64::MAX >> 4), (0, 2)],
        &[],
        &[(5, 0b1011), (u64::MAX, u64::MAX)],
        &[(9, u64::MAX << 4)],
    ];
    let mut segment = Segment::default();
    for (i, part) in parts.iter().enumerate() {
        let (words, lanes): (Vec<u64>, Vec<u64>) = part.iter().copied().unzip();
        segment.push_number(i * i * 100);
        segment.push(&words, &lanes);
    }
    // Numbers of one and of two bytes.
    assert_eq!(segment.bytes.len(), 27 + 2 + 2 * 2);
    let mut reader = Reader::new(&segment.bytes);
    for (i, part) in parts.iter().enumerate() {
        let (words, lanes): (Vec<u64>, Vec<u64>) = part.iter().copied().unzip();
        let mut taken = vec![7; words.len()];
        assert_eq!(reader.number(), Some(i * i * 100));
        reader.take(&lanes, &mut taken);
        // Above the bits of a word is what follows it.
        for ((taken, word), lanes) in taken.iter().zip(words).zip(lanes) {
            let bits = u64::MAX >> (64 - lanes.count_ones());
            assert_eq!(taken & bits, word);
        }
    }
    assert_eq!(reader.number(), None);
    let mut beyond = [7];
    reader.take(&[u64::MAX], &mut beyond);
    assert_eq!(beyond, [0]);
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
            let mut packer = Packer::new(kernel).unwrap();
            let mut unpacker = Unpacker::new(kernel).unwrap();
            let plain = packer.pack(&segment, false).unwrap();
            assert_eq!(*unpacker.unpack(&plain).unwrap(), segment.bytes);
            assert_eq!(plain.len(), len + 1);
            let packed = packer.pack(&segment, true).unwrap();
            assert_eq!(*unpacker.unpack(&packed).unwrap(), segment.bytes);
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
