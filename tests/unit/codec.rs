//! What `src/store/codec.rs` keeps to itself.

use super::*;

#[test]
fn frames_come_back_and_damage_is_an_error() {
    let mut registers = vec![[0u8; 64]; 100];
    for (i, register) in registers.iter_mut().enumerate() {
        for (l, byte) in register[..LANES].iter_mut().enumerate() {
            *byte = ((i * 7 + l) % 5 == 0) as u8 * (l as u8);
        }
    }
    for level in [-100, 1, 19] {
        let mut encoder = Encoder::new(level).unwrap();
        let bytes = encoder.encode(&registers).unwrap();
        let mut back = vec![[9u8; 64]; 100];
        let mut decoder = Decoder::new().unwrap();
        decoder.decode(bytes, &mut back).unwrap();
        assert_eq!(back, registers);
        assert!(decoder.decode(bytes, &mut back[..99]).is_err());
        assert!(decoder.decode(bytes, &mut vec![[0; 64]; 101]).is_err());
        assert!(
            decoder
                .decode(&bytes[..bytes.len() - 1], &mut back)
                .is_err()
        );
        assert!(decoder.decode(&[], &mut back).is_err());
    }
}
