//! Board notation: any text is read or refused. `cargo +nightly fuzz run --fuzz-dir tools/fuzz board`
#![no_main]

use libfuzzer_sys::fuzz_target;
use tilewave::puzzle::{Board, Goal, Size};

fuzz_target!(|text: &str| {
    if let Ok(board) = Board::parse(text, None) {
        let again = Board::parse(&board.to_string(), None).expect("what is written is read");
        assert_eq!(again, board);
    }
    let _ = text.parse::<Size>();
    let _ = text.parse::<Goal>();
});
