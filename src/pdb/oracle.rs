//! The plain builder: breadth-first over single states. Any pattern, slow; the oracle of the tests.
//!
//! Invariant: the value of a (placement, region) is the length of its shortest path to the goal when
//! only moves of pattern tiles count.

use crate::pdb::regions::{EntryOrder, Grid, bits, number};
use crate::pdb::{Kind, Pattern, PdbError};
use crate::perm::lehmer;
use crate::perm::placement::Subsets;
use crate::progress::{LevelDone, Progress};

/// The value of an entry that no board reaches.
pub(crate) const UNREACHED: u8 = u8::MAX;

/// Fills `values` (one byte per entry, in entry order) and returns the histogram.
///
/// Cost: about 200 ns per entry and tile on one core; 9 bytes of memory per entry and region.
pub(crate) fn build(
    pattern: &Pattern,
    kind: Kind,
    starts: &[u32],
    values: &mut [u8],
    observer: &dyn Progress,
) -> Result<Vec<u64>, PdbError> {
    let entries = EntryOrder::new(pattern, kind);
    let grid = Grid::new(pattern.size());
    let k = pattern.tiles().len();
    let subsets = Subsets::new(grid.cells(), k).expect("patterns are small");
    let start_of = |rank: usize| starts[rank];
    let lows: Vec<u64> = subsets.iter().map(|set| grid.lows(set)).collect();
    // States are numbered as the entries of a region-aware table, whatever the kind.
    let states = EntryOrder::new(pattern, Kind::Regions);
    let count = *starts.last().unwrap_or(&0) as usize * lehmer::count(k) as usize;
    let mut seen = vec![false; count];
    values.fill(UNREACHED);

    let blank = pattern.goal().blank() as u8;
    let goal: Vec<u8> = pattern.home().to_vec();
    seen[states.entry(&goal, blank, start_of) as usize] = true;
    let mut level = vec![(cells_word(&goal), blank)];
    let mut histogram = Vec::new();
    while !level.is_empty() {
        let begun = std::time::Instant::now();
        let value = u8::try_from(histogram.len())
            .ok()
            .filter(|&v| v < UNREACHED)
            .ok_or(PdbError::ValueTooLarge { max: usize::from(UNREACHED) - 1 })?;
        let (mut next, mut found) = (Vec::new(), 0);
        for (i, &(word, blank)) in level.iter().enumerate() {
            if i.is_multiple_of(1 << 16) && observer.interrupted() {
                return Err(PdbError::Interrupted);
            }
            let mut cells = [0; Pattern::MAX_TILES];
            for (x, cell) in cells[..k].iter_mut().enumerate() {
                *cell = (word >> (8 * x)) as u8;
            }
            let cells = &mut cells[..k];
            let entry = entries.entry(cells, blank, start_of) as usize;
            if values[entry] == UNREACHED {
                values[entry] = value;
                found += 1;
            }
            let set = cells.iter().fold(0u64, |set, &c| set | 1 << c);
            let region = grid.region(grid.free(set), usize::from(blank));
            for x in 0..k {
                let from = cells[x];
                for to in bits(grid.around(1 << from) & region) {
                    cells[x] = to as u8;
                    let moved = set ^ 1 << from ^ 1 << to;
                    let rank = subsets.rank(moved);
                    let to_region = grid.region(grid.free(moved), usize::from(from));
                    let slot = starts[rank] as usize + number(lows[rank], to_region);
                    let state = slot * lehmer::count(k) as usize
                        + crate::pdb::regions::arrangement_rank(moved, cells) as usize;
                    if !std::mem::replace(&mut seen[state], true) {
                        next.push((cells_word(cells), from));
                    }
                }
                cells[x] = from;
            }
        }
        if found > 0 {
            observer.level(&LevelDone {
                depth: histogram.len(),
                states: found,
                seconds: begun.elapsed().as_secs_f64(),
            });
        }
        histogram.push(found);
        level = next;
    }
    while histogram.last() == Some(&0) {
        histogram.pop();
    }
    Ok(histogram)
}

fn cells_word(cells: &[u8]) -> u64 {
    cells.iter().rev().fold(0, |word, &c| word << 8 | u64::from(c))
}
