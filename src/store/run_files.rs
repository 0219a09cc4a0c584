//! The names of a run's files, and the distribution of its chunks to its directories.
//!
//! Invariant: a file is regarded as a run's file only if its name is exactly one that [`RunFile::name`] produces. Every
//! file that may be removed without being read has the run's number in its name.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunFile {
    /// The states of a chunk at a depth, once a manifest names it.
    Level { depth: u32, chunk: u32 },
    /// The same before a manifest names it.
    Uncommitted { run: u64, depth: u32, chunk: u32 },
    /// The bits that a chunk sends to others for the step to a depth.
    Scratch { run: u64, depth: u32, chunk: u32 },
    /// A manifest that is being written.
    NewManifest { run: u64 },
    /// A marker that is being written.
    NewMarker { run: u64 },
}

impl RunFile {
    /// The two names of the file of a chunk: once it is named by a manifest, and before that.
    pub(crate) fn level_names(run: u64, depth: u32, chunk: u32) -> [String; 2] {
        [RunFile::Level { depth, chunk }, RunFile::Uncommitted { run, depth, chunk }]
            .map(RunFile::name)
    }

    pub fn name(self) -> String {
        match self {
            RunFile::Level { depth, chunk } => format!("level-{depth:03}.chunk-{chunk:05}"),
            RunFile::Uncommitted { run, depth, chunk } => {
                format!("level-{depth:03}.chunk-{chunk:05}.{run:016x}.new")
            }
            RunFile::Scratch { run, depth, chunk } => {
                format!("cross-{depth:03}.chunk-{chunk:05}.{run:016x}")
            }
            RunFile::NewManifest { run } => format!("manifest.{run:016x}.new"),
            RunFile::NewMarker { run } => format!("tilewave-run.{run:016x}.new"),
        }
    }

    /// Returns the file with a name, if it belongs to a run.
    pub fn parse(name: &str) -> Option<RunFile> {
        let number = |text: &str| text.parse().ok();
        let hex = |text: &str| u64::from_str_radix(text, 16).ok();
        let words: Vec<&str> = name.split(['-', '.']).collect();
        let file = match words[..] {
            ["level", depth, "chunk", chunk] => {
                RunFile::Level { depth: number(depth)?, chunk: number(chunk)? }
            }
            ["level", depth, "chunk", chunk, run, "new"] => RunFile::Uncommitted {
                run: hex(run)?,
                depth: number(depth)?,
                chunk: number(chunk)?,
            },
            ["cross", depth, "chunk", chunk, run] => {
                RunFile::Scratch { run: hex(run)?, depth: number(depth)?, chunk: number(chunk)? }
            }
            ["manifest", run, "new"] => RunFile::NewManifest { run: hex(run)? },
            ["tilewave", "run", run, "new"] => RunFile::NewMarker { run: hex(run)? },
            _ => return None,
        };
        (file.name() == name).then_some(file)
    }

    /// Returns the run whose number is in the name.
    pub fn run(self) -> Option<u64> {
        match self {
            RunFile::Level { .. } => None,
            RunFile::Uncommitted { run, .. }
            | RunFile::Scratch { run, .. }
            | RunFile::NewManifest { run }
            | RunFile::NewMarker { run } => Some(run),
        }
    }
}

// The distribution of a run's chunks to its directories.
//
// Invariant: with equal shares, chunk c is in directory c modulo their number; with other shares, every range of chunks
// is distributed as nearly in proportion as whole chunks permit.

/// The largest share of a directory.
const LARGEST: u32 = 32;

/// Amounts of free space that differ by less than one part in this many are regarded as equal.
const ALIKE: u64 = 5;

/// The assignment of chunks to directories.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shares {
    /// The directories of consecutive chunks; the sequence is repeated.
    order: Vec<usize>,
    shares: Vec<u32>,
}

impl Shares {
    /// Returns the shares given by this list for a number of directories; an empty list, or one of a different length,
    /// stands for equal shares.
    pub fn new(shares: &[u32], directories: usize) -> Shares {
        let shares = if Shares::are_valid(shares, directories) {
            shares.to_vec()
        } else {
            vec![1; directories]
        };
        let all: i64 = shares.iter().map(|share| i64::from(*share)).sum();
        // In every turn, each directory is credited with its share, and the one with the largest credit gets the chunk.
        let mut owed = vec![0i64; shares.len()];
        let order = (0..all).map(|_| {
            for (owed, share) in owed.iter_mut().zip(&shares) {
                *owed += i64::from(*share);
            }
            let most = (0..owed.len()).rev().max_by_key(|&place| owed[place]);
            let place = most.unwrap_or(0);
            owed[place] -= all;
            place
        });
        Shares { order: order.collect(), shares }
    }

    pub fn are_valid(shares: &[u32], directories: usize) -> bool {
        let most = shares.iter().max();
        shares.len() == directories && most.is_some_and(|most| (1..=LARGEST).contains(most))
    }

    /// Returns the shares that correspond to the free space in directories, each given with a number that is the same
    /// for directories on one disk; an empty list if the free space is unknown or nearly equal.
    pub fn by_room(rooms: &[(Option<u64>, Option<u64>)]) -> Vec<u32> {
        let on = |device: Option<u64>| {
            rooms.iter().filter(move |(_, d)| device.is_some() && *d == device)
        };
        let room = |&(free, device): &(Option<u64>, Option<u64>)| {
            Some(free? / (on(device).count().max(1) as u64))
        };
        let Some(rooms) = rooms.iter().map(room).collect::<Option<Vec<u64>>>() else {
            return Vec::new();
        };
        let (most, least) = (rooms.iter().max(), rooms.iter().min());
        let (Some(&most), Some(&least)) = (most, least) else {
            return Vec::new();
        };
        if most - least <= most / ALIKE {
            return Vec::new();
        }
        let share =
            |room: &u64| (u128::from(*room) * u128::from(LARGEST) / u128::from(most)) as u32;
        rooms.iter().map(share).collect()
    }

    pub fn place(&self, chunk: usize) -> usize {
        self.order[chunk % self.order.len()]
    }

    pub fn share(&self, place: usize) -> (u32, u32) {
        (self.shares[place], self.shares.iter().sum())
    }
}

#[cfg(test)]
mod tests {
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

    #[test]
    fn equal_shares_go_round() {
        for shares in [vec![], vec![1, 1, 1], vec![7, 7, 7], vec![2, 1], vec![0, 0, 0]] {
            let shares = Shares::new(&shares, 3);
            assert!((0..1000).all(|chunk| shares.place(chunk) == chunk % 3));
        }
    }

    /// In any sequence of chunks from the first one on, every directory has its share, to within one chunk.
    #[test]
    fn chunks_are_dealt_out_in_proportion() {
        for list in [vec![32, 9], vec![1, 32, 17, 5], vec![0, 3], vec![32, 0, 31], vec![1]] {
            let shares = Shares::new(&list, list.len());
            let all: u32 = list.iter().sum();
            let mut dealt = vec![0u32; list.len()];
            for chunk in 0..500 {
                dealt[shares.place(chunk)] += 1;
                for (place, (dealt, share)) in dealt.iter().zip(&list).enumerate() {
                    let due = f64::from(*share) * (chunk + 1) as f64 / f64::from(all);
                    assert!((f64::from(*dealt) - due).abs() < 1.5, "{list:?} {chunk}");
                    assert_eq!(shares.share(place), (*share, all));
                }
            }
        }
    }

    #[test]
    fn shares_follow_the_room() {
        let on = |free: u64, device: u64| (Some(free), Some(device));
        let by_room = Shares::by_room;
        assert_eq!(by_room(&[on(2000, 1), on(500, 2)]), [32, 8]);
        // Directories on one disk share its free space.
        assert_eq!(by_room(&[on(1000, 1), on(1000, 1), on(1000, 2)]), [16, 16, 32]);
        assert_eq!(by_room(&[on(1000, 1), on(0, 2)]), [32, 0]);
        let alike = [
            vec![on(1000, 1), on(850, 2)],
            vec![on(1000, 1), on(1000, 1)],
            vec![(Some(5), None), (None, None)],
            vec![on(0, 1), on(0, 2)],
            vec![],
        ];
        assert!(alike.iter().all(|rooms| by_room(rooms).is_empty()));
        // Two directories whose disks are unknown are regarded as being on two disks.
        assert_eq!(by_room(&[(Some(4), None), (Some(1), None)]), [32, 8]);
    }
}
