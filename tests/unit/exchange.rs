//! What `src/bfs/exchange.rs` keeps to itself.

use super::*;

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
    let bytes = segment.bits.into_vec();
    // Numbers of one and of two bytes.
    assert_eq!(bytes.len(), (189usize + 8 * (2 + 4 * 2)).div_ceil(8));
    let mut reader = Reader::new(&bytes);
    for (i, (value, bits)) in values.into_iter().enumerate() {
        assert_eq!(reader.number(), Some(i * i * 100));
        assert_eq!(reader.take(bits), value);
    }
    assert_eq!(reader.number(), None);
    assert_eq!(reader.take(60), 0);
}
