//! Names of families: any text is read or refused. `cargo +nightly fuzz run --fuzz-dir tools/fuzz family`
#![no_main]

use libfuzzer_sys::fuzz_target;
use tilewave::puzzle::families;
use tilewave::puzzle::formats::Format;

fuzz_target!(|text: &str| {
    if let Ok(puzzle) = families::parse(text) {
        assert_eq!(families::parse(puzzle.name()), Ok(puzzle));
    }
    let _ = Format::of(text);
});
