//! Manifests: any bytes are read or refused. `cargo +nightly fuzz run --fuzz-dir tools/fuzz manifest`
#![no_main]

use libfuzzer_sys::fuzz_target;
use tilewave::internals::Manifest;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(manifest) = Manifest::parse(bytes) {
        let again = Manifest::parse(manifest.text().as_bytes()).expect("what is written is read");
        assert_eq!(again.files, manifest.files);
    }
});
