//! GAP files: any text is read or refused. `cargo +nightly fuzz run --fuzz-dir tools/fuzz gap tests/data/puzzles`
#![no_main]

use libfuzzer_sys::fuzz_target;
use tilewave::puzzle::{Permutation, formats};

fuzz_target!(|text: &str| match formats::read("x.gap", text, None) {
    Ok(puzzle) if puzzle.labels().is_empty() => assert!(!puzzle.moves().is_empty()),
    Ok(puzzle) => {
        let solved = Permutation::identity(puzzle.labels().len());
        let read = puzzle.arrangement(&puzzle.show(&solved));
        assert_eq!(read.expect("what is written is read"), solved);
        assert!(puzzle.group_order() > 1);
    }
    Err(error) => assert!(!error.to_string().contains(char::is_control)),
});
