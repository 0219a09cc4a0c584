//! Level files: any bytes are read or refused. `cargo +nightly fuzz run --fuzz-dir tools/fuzz level_file`
#![no_main]

use libfuzzer_sys::fuzz_target;
use tilewave::store::{Decoder, LevelReader};

fuzz_target!(|bytes: &[u8]| {
    if let Ok(reader) = LevelReader::open(Box::new(bytes.to_vec())) {
        let mut registers = vec![[0; 64]; 336];
        for entry in 0..reader.index().len() {
            if let Ok(frames) = reader.read(entry..entry + 1)
                && let Ok(frame) = frames.bytes(0)
            {
                let _ = Decoder::default().decode(frame, &mut registers);
            }
        }
    }
    // A frame by itself, without the checksums in front of it.
    let _ = Decoder::default().decode(bytes, &mut [[0; 64]; 336]);
});
