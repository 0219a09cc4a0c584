//! What `src/store/names.rs` keeps to itself.

use super::*;

#[test]
fn names_come_back_and_others_are_nobodys() {
    let (run, depth, chunk) = (0x0123_4567_89ab_cdef, 12, 34567);
    for file in [
        RunFile::Level { depth, chunk },
        RunFile::Uncommitted { run, depth, chunk },
        RunFile::Scratch { run, depth, chunk },
        RunFile::NewManifest { run },
        RunFile::NewMarker { run },
    ] {
        assert_eq!(RunFile::parse(&file.name()), Some(file), "{}", file.name());
    }
    for other in [
        "cross-validation.csv",
        "cross-012.chunk-00003",
        "level-notes.txt",
        "level-12.chunk-00003",
        "level-012.chunk-3",
        "level-+12.chunk-00003",
        "level-012.chunk-00003.txt",
        "level-012.chunk-00003.0123456789ABCDEF.new",
        "manifest",
        "manifest.new",
        "",
    ] {
        assert_eq!(RunFile::parse(other), None, "{other}");
    }
}
