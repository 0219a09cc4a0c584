use super::{join_planes, split_planes};
use crate::perm::kernel::Kernel;
use crate::random::SplitMix64;

#[test]
fn planes_are_bits_of_bytes_and_come_back_from_them() {
    let mut random = SplitMix64::new(7);
    for count in [1, 8, 21] {
        let words: Vec<[u8; 8]> = (0..count)
            .map(|_| (random.draw() >> 4).to_le_bytes())
            .collect();
        for kernel in Kernel::ALL
            .into_iter()
            .filter(|kernel| kernel.is_supported())
        {
            let mut registers = vec![[0xff; 64]; words.len().div_ceil(8)];
            join_planes(kernel, &words, &mut registers);
            for (j, word) in words.iter().enumerate() {
                for lane in 0..64 {
                    let bit = u64::from_le_bytes(*word) >> lane & 1;
                    let byte = registers[j / 8][lane];
                    assert_eq!(
                        u64::from(byte >> (j % 8) & 1),
                        bit,
                        "{kernel}, word {j}, lane {lane}"
                    );
                }
            }
            let mut again = vec![[0; 8]; count];
            again[0] = [1; 8];
            split_planes(kernel, &registers, &mut again);
            let first = u64::from_le_bytes(words[0]) | u64::from_le_bytes([1; 8]);
            assert_eq!(again[0], first.to_le_bytes());
            assert_eq!(again[1..], words[1..]);
        }
    }
}
