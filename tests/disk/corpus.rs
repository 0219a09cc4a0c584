//! Parsers of untrusted bytes on a fixed set of broken inputs: no panic, no allocation beyond the input.
//! `tools/fuzz` looks for more of them.

use super::*;
use tilewave::Kernel;
use tilewave::internals::{Codec, Decoder, LevelReader, Manifest};
use tilewave::puzzle::Board;
use tilewave::random::SplitMix64;

struct Dice(SplitMix64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0.draw()
    }

    /// Changes, cuts, doubles or mixes bytes.
    fn break_bytes(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut bytes = bytes.to_vec();
        for _ in 0..=self.next() % 4 {
            if bytes.is_empty() {
                break;
            }
            let at = (self.next() % bytes.len() as u64) as usize;
            match self.next() % 6 {
                0 => bytes[at] ^= 1 << (self.next() % 8),
                1 => bytes[at] = [0, 0xff, 0x7f, 0x80][(self.next() % 4) as usize],
                2 => bytes.truncate(at),
                3 => bytes.insert(at, self.next() as u8),
                4 => bytes.extend_from_within(at..),
                _ => {
                    let value = self.next().to_le_bytes();
                    let end = (at + 8).min(bytes.len());
                    bytes[at..end].copy_from_slice(&value[..end - at]);
                }
            }
        }
        bytes
    }
}

/// Makes the checksums of a level file right again, so that the checks behind them are reached too.
pub fn mend(bytes: &mut [u8]) {
    use xxhash_rust::xxh3::xxh3_64;
    let len = bytes.len();
    if len < 192 {
        return;
    }
    let hash = xxh3_64(&bytes[..120]);
    bytes[120..128].copy_from_slice(&hash.to_le_bytes());
    let start = u64::from_le_bytes(bytes[len - 64..len - 56].try_into().unwrap()) as usize;
    if let Some(index) = bytes.get(start..len - 64) {
        let hash = xxh3_64(index);
        bytes[len - 32..len - 24].copy_from_slice(&hash.to_le_bytes());
    }
    let hash = xxh3_64(&bytes[len - 64..len - 8]);
    bytes[len - 8..].copy_from_slice(&hash.to_le_bytes());
}

#[test]
fn broken_level_files_are_errors() {
    Codec::ALL.into_iter().for_each(broken_level_files);
}

fn broken_level_files(codec: Codec) {
    let (search, directory) = (search("3x3"), Simulated::default());
    let disk = on(&directory, 1).codec(codec);
    run_some(&search, &disk, 8 * 15);
    let mut decoder = Decoder::new(Kernel::best()).unwrap();
    let mut dice = Dice(SplitMix64::new(1));
    let (mut refused, mut read) = (0, 0);
    for name in directory.list().unwrap().iter().filter(|n| Manifest::is_file_name(n)) {
        let mut whole = Vec::new();
        directory.damage(name, |bytes| whole = bytes.clone());
        for round in 0..400 {
            let mut bytes = dice.break_bytes(&whole);
            if round % 2 == 0 {
                mend(&mut bytes);
            }
            let Ok(reader) = LevelReader::open(Box::new(bytes)) else {
                refused += 1;
                continue;
            };
            let mut registers = vec![[0; 64]; 42];
            for i in 0..reader.index.len() {
                let Ok(frames) = reader.read(i..i + 1) else {
                    continue;
                };
                if let Ok(bytes) = frames.bytes(0) {
                    let codec = reader.header.codec;
                    let decoded = decoder.decode(codec, bytes, &mut registers, false);
                    read += u32::from(decoded.is_ok());
                }
            }
        }
    }
    assert!(refused > 1000 && read > 10, "{codec:?}: {refused} refused, {read} frames read");
}

#[test]
fn broken_manifests_are_errors() {
    let (search, directory) = (search("3x3"), Simulated::default());
    run_some(&search, &on(&directory, 1), 8 * 15);
    let mut whole = Vec::new();
    directory.damage("manifest", |bytes| whole = bytes.clone());
    assert!(Manifest::parse(&whole).is_ok());
    let mut dice = Dice(SplitMix64::new(2));
    let mut parsed = 0;
    for round in 0..16000 {
        let mut bytes = dice.break_bytes(&whole);
        // With its checksum made right again, the content is what must be refused.
        if let (true, Some(end)) = (round % 2 == 0, bytes.iter().position(|&b| b == b'\n')) {
            let json = bytes[end + 1..].strip_suffix(b"\n").unwrap_or(&bytes[end + 1..]).to_vec();
            let hash = xxhash_rust::xxh3::xxh3_64(&json);
            bytes = format!("tilewave-run 1 {hash:016x}\n").into_bytes();
            bytes.extend(json);
            bytes.push(b'\n');
        }
        if let Ok(manifest) = Manifest::parse(&bytes) {
            parsed += 1;
            // Whatever passes the checks can be run into an error, but not into a panic.
            directory.damage("manifest", |b| *b = bytes);
            let copy = directory.copy();
            let _ = disk::verify(&on(&copy, 1).directories);
            if manifest.shared_digits == 1 && round % 8 == 0 {
                let _ = on(&copy, 1).run_with(&search, &StopAfter::asks(2));
            }
        }
    }
    assert!(parsed > 5, "{parsed} manifests with other content");
}

#[test]
fn broken_boards_are_errors() {
    let mut dice = Dice(SplitMix64::new(3));
    let mut boards = 0;
    for text in [
        "1 2 3/4 5 6/7 8 0",
        "1,2,3\n4,5,6\n7,8,x",
        "1 2 3 4/5 6 7 8/9 10 11 12/13 14 15 _",
        "0 1",
        "2x2",
    ] {
        for _ in 0..5000 {
            let bytes = dice.break_bytes(text.as_bytes());
            let text = String::from_utf8_lossy(&bytes);
            if let Ok(board) = Board::parse(&text, None) {
                boards += 1;
                assert_eq!(Board::parse(&board.to_string(), None).unwrap(), board);
            }
            let _ = text.parse::<tilewave::puzzle::Size>();
            let _ = text.parse::<tilewave::puzzle::Goal>();
        }
    }
    assert!(boards > 20, "{boards}");
}
