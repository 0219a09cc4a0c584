//! Version 1 of the files, byte for byte.

use super::*;
use tilewave::Kernel;
use tilewave::internals::{Codec, Decoder, LevelReader, Manifest};

/// A level file and a manifest of 2x4, as version 1 writes them. `TILEWAVE_WRITE_GOLDEN=1` writes them anew,
/// which is only right together with a new version number.
const LEVEL: &str = "../../tests/data/golden/level-v1";
/// The same level in codec 2, every byte of which is ours.
const RANS: &str = "../../tests/data/golden/level-v1-rans";
const MANIFEST: &str = "../../tests/data/golden/manifest-v1";

fn golden(path: &str, bytes: &[u8]) -> Vec<u8> {
    if std::env::var_os("TILEWAVE_WRITE_GOLDEN").is_some() {
        std::fs::create_dir_all("../../tests/data/golden").unwrap();
        std::fs::write(path, bytes).unwrap();
    }
    std::fs::read(path).unwrap()
}

/// Depth 20 of 2x4, chunk 3 of 7, with a fixed run number and without the times.
fn written(codec: Codec) -> (Vec<u8>, Vec<u8>) {
    let search = search("2x4").max_depth(20);
    let directory = Simulated::default();
    let disk = on(&directory, 1).codec(codec);
    disk.run(&search).unwrap();
    let mut manifest = Manifest::read(&directory).unwrap().unwrap();
    manifest.run = 0x0123_4567_89ab_cdef;
    (manifest.seconds, manifest.level_seconds) = (1.5, 0.0);
    for level in &mut manifest.levels {
        level.seconds = 0.25;
    }
    let mut level = Vec::new();
    directory.damage("level-020.chunk-00003", |bytes| {
        bytes[16..24].copy_from_slice(&manifest.run.to_le_bytes());
        let hash = xxhash_rust::xxh3::xxh3_64(&bytes[..120]);
        bytes[120..128].copy_from_slice(&hash.to_le_bytes());
        level = bytes.clone();
    });
    (level, manifest.text().into_bytes())
}

#[test]
fn files_of_version_1_are_read_and_written() {
    let (level, manifest) = written(Codec::Zstd);
    let old = golden(LEVEL, &level);
    // The compressed bytes are the codec's; what they hold and everything around them are ours.
    assert_eq!(old[..128], level[..128], "header");
    let reader = LevelReader::open(Box::new(old.clone())).unwrap();
    let new = LevelReader::open(Box::new(level)).unwrap();
    assert_eq!((&reader.header, reader.sum), (&new.header, new.sum));
    assert_eq!(reader.header.label, "1 2 3 4/5 6 7 0");
    let decoded = |reader: &LevelReader| {
        let mut registers = vec![[0; 64]; 6];
        let frames = reader.read(0..1).unwrap();
        let mut decoder = Decoder::new(Kernel::best()).unwrap();
        frames.decode(0, &mut decoder, &mut registers, false).unwrap();
        registers
    };
    assert_eq!(decoded(&reader), decoded(&new));
    let (rans, _) = written(Codec::Rans);
    assert_eq!(golden(RANS, &rans), rans);
    let rans = LevelReader::open(Box::new(rans)).unwrap();
    assert_eq!(decoded(&reader), decoded(&rans));
    let old = golden(MANIFEST, &manifest);
    let old = Manifest::parse(&old).unwrap();
    let new = Manifest::parse(&manifest).unwrap();
    assert_eq!(
        old.levels,
        new.levels
            .iter()
            .zip(&old.levels)
            .map(|(n, o)| tilewave::internals::LevelRecord { bytes: o.bytes, ..n.clone() })
            .collect::<Vec<_>>()
    );
    assert_eq!(
        (old.run, &old.identity.board, old.chunks),
        (new.run, &new.identity.board, new.chunks)
    );
}

#[test]
fn other_versions_are_refused_by_number() {
    let (level, manifest) = written(Codec::Zstd);
    let mut newer = level;
    newer[8] = 2;
    let error = LevelReader::open(Box::new(newer)).err().unwrap().to_string();
    assert!(error.contains("format version 2, but this program reads version 1"), "{error}");
    let text = String::from_utf8(manifest).unwrap().replacen("tilewave-run 1", "tilewave-run 7", 1);
    let error = Manifest::parse(text.as_bytes()).unwrap_err().to_string();
    assert!(error.contains("format version 7"), "{error}");
}
