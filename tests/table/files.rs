//! Tables in files.

use std::path::Path;

use tilewave::progress::StopWhen;
use tilewave::puzzle::Board;
use tilewave::table::{DistanceTable, TableEncoding};

use super::{goal, table};
use crate::pdb::{seal, seal_all};
use crate::plain::of_boards;

fn saved(dir: &Path, size: &str, encoding: TableEncoding) -> std::path::PathBuf {
    let path = dir.join(format!("{size}_{encoding}.table"));
    let table = table(&goal(size, "last"), encoding);
    table.save(&path, false).unwrap();
    path
}

#[test]
fn a_file_answers_as_the_table_that_it_was_written_from() {
    let dir = tempfile::tempdir().unwrap();
    for (size, encoding) in
        TableEncoding::ALL.map(|e| (if e.max_depth() < 31 { "2x2" } else { "3x3" }, e))
    {
        let path = saved(dir.path(), size, encoding);
        let opened = DistanceTable::open(&path).unwrap();
        opened.check().unwrap();
        assert_eq!(opened.encoding(), encoding);
        assert_eq!(opened.goal().unwrap(), &goal(size, "last"));
        for (board, depth) in of_boards(opened.goal().unwrap()) {
            assert_eq!(opened.depth(&board).unwrap(), Some(depth));
        }
        // Its blocks are written as they are read.
        let before = std::fs::read(&path).unwrap();
        opened.save(&path, true).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), before);
        let error = opened.save_with(&path, true, &StopWhen(|| true)).unwrap_err().to_string();
        assert_eq!(error, "interrupted: nothing was written");
    }
}

/// The file pins version 1 of the format; TILEWAVE_UPDATE=1 writes it again.
#[test]
fn version_1_is_what_it_was() {
    let golden = crate::program::root().join("tests/data/table_v1.table");
    let dir = tempfile::tempdir().unwrap();
    let fresh = std::fs::read(saved(dir.path(), "2x3", TableEncoding::Mod3)).unwrap();
    if std::env::var_os("TILEWAVE_UPDATE").is_some() {
        std::fs::write(&golden, &fresh).unwrap();
    }
    assert!(std::fs::read(&golden).unwrap() == fresh, "the format changed: raise its version");
    let table = DistanceTable::open(&golden).unwrap();
    let far = Board::parse("4 5 0/1 2 3", None).unwrap();
    assert_eq!(table.depth(&far).unwrap(), Some(of_boards(table.goal().unwrap())[&far]));
}

#[test]
fn damage_is_found_and_named() {
    let dir = tempfile::tempdir().unwrap();
    let path = saved(dir.path(), "3x3", TableEncoding::Mod3);
    let whole = std::fs::read(&path).unwrap();
    let open = |bytes: &[u8]| {
        std::fs::write(&path, bytes).unwrap();
        DistanceTable::open(&path).map_err(|error| error.to_string())
    };
    let changed = |at: usize, value: u8| {
        let mut bytes = whole.clone();
        bytes[at] = value;
        bytes
    };
    let error = open(&changed(0, b'X')).unwrap_err();
    assert!(error.contains("not a distance table"), "{error}");
    let error = open(&changed(8, 3)).unwrap_err();
    assert!(error.contains("version 3"), "{error}");
    // A later version of the same board says nothing more: version 1 is what it is written as.
    let mut later = changed(8, 2);
    seal(&mut later);
    let error = open(&later).unwrap_err();
    assert!(error.contains("contradictory fields"), "{error}");
    // The rest before the entries is checked as that of databases: see `pdb::files::damage_is_found`.
    for (at, told) in [(24, "wrong checksum of the header"), (4096, "block checksums")] {
        let error = open(&changed(at, !whole[at])).unwrap_err();
        assert!(error.contains(told), "{error}");
    }
    // Damaged entries open, as entries are not read yet, but answer nothing.
    let last = whole.len() - 1;
    let far = Board::parse("8 6 7/2 5 4/3 0 1", None).unwrap();
    let table = open(&changed(last, !whole[last])).unwrap();
    for error in [
        table.check().unwrap_err().to_string(),
        table.depth(&far).unwrap_err().to_string(),
        table.solve(&far).unwrap_err().to_string(),
        DistanceTable::from_bytes(&changed(last, !whole[last])).unwrap_err().to_string(),
    ] {
        assert!(error.contains("damaged in block 1 of 1"), "{error}");
    }
    // A walk never goes in circles: with every remainder the same and all sums right, no neighbour is closer.
    let mut flat = whole.clone();
    flat[8192..].fill(0x55);
    seal_all(&mut flat, (4096, 8192), 88);
    let error = open(&flat).unwrap().depth(&far).unwrap_err().to_string();
    assert!(error.contains("no neighbour of state"), "{error}");
}

#[test]
fn a_header_that_lies_with_a_right_checksum_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let path = saved(dir.path(), "2x4", TableEncoding::Byte);
    let whole = std::fs::read(&path).unwrap();
    for (at, value) in
        [(16, 200), (18, 7), (19, 1), (20, 255), (24, 3), (64, 1), (104, 9), (263, 0xff)]
    {
        let mut bytes = whole.clone();
        assert_ne!(bytes[at], value, "{at}");
        bytes[at] = value;
        seal(&mut bytes);
        std::fs::write(&path, bytes).unwrap();
        let error = DistanceTable::open(&path).unwrap_err().to_string();
        assert!(error.contains("is damaged ("), "{at}: {error}");
    }
}
