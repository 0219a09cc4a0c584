use super::*;
use crate::progress::NoProgress;
use crate::random::SplitMix64;

#[test]
fn every_bit_is_where_it_belongs() {
    // More slots and arrangements than squares hold, and numbers that fill none.
    for (slots, arrangements) in [(1, 24), (700, 24), (513, 720), (40, 5040), (1500, 1528)] {
        let mut random = SplitMix64::new(slots);
        let bytes = slots * arrangements / 8;
        let bits: Vec<u8> = (0..bytes).map(|_| random.draw() as u8).collect();
        let arranged = Arranged::new(&bits, slots, arrangements, &NoProgress).unwrap();
        let bit = |bytes: &[u8], at: u64| bytes[(at / 8) as usize] >> (at % 8) & 1;
        for slot in 0..slots {
            for arrangement in 0..arrangements {
                let at = arrangement * arranged.stride() + slot;
                let expected = bit(&bits, slot * arrangements + arrangement);
                assert_eq!(bit(arranged.bytes(), at), expected, "{slot} {arrangement}");
            }
        }
    }
}

#[test]
fn whoever_interrupts_gets_no_copy() {
    struct Impatient;
    impl Progress for Impatient {
        fn interrupted(&self) -> bool {
            true
        }
    }
    assert!(Arranged::new(&[0; 300], 100, 24, &Impatient).is_none());
    assert!(Arranged::new(&[0; 300], 400, 6, &NoProgress).is_none());
}
