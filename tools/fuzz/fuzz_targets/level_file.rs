//! Level files: any bytes are read or refused. `cargo +nightly fuzz run --fuzz-dir tools/fuzz level_file`
#![no_main]

use libfuzzer_sys::fuzz_target;
use tilewave::Kernel;
use tilewave::internals::{Codec, Decoder, LevelReader};

fuzz_target!(|bytes: &[u8]| {
    let mut decoder = Decoder::new(Kernel::best()).expect("memory");
    if let Ok(reader) = LevelReader::open(Box::new(bytes.to_vec())) {
        let mut registers = vec![[0; 64]; 336];
        for entry in 0..reader.index.len() {
            if let Ok(frames) = reader.read(entry..entry + 1)
                && let Ok(frame) = frames.bytes(0)
            {
                let _ = decoder.decode(reader.header.codec, frame, &mut registers, false);
            }
        }
    }
    // A frame by itself, without the checksums in front of it.
    for codec in Codec::ALL {
        let _ = decoder.decode(codec, bytes, &mut [[0; 64]; 336], false);
    }
});
