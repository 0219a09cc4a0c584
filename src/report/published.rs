//! The published depth distributions.
//!
//! Invariant: every entry is a complete state space, so its counts sum to N!/2.

use std::sync::LazyLock;

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::puzzle::tiles::Size;

/// A published depth distribution in the single-tile metric.
#[derive(Clone, Debug)]
pub struct Published {
    size: Size,
    blank: usize,
    counts: Vec<u64>,
    sources: Vec<String>,
}

impl Published {
    /// Returns the size that it was published for.
    pub fn size(&self) -> Size {
        self.size
    }

    /// Returns the row-major cell of the blank at depth 0.
    pub fn blank(&self) -> usize {
        self.blank
    }

    /// Returns the number of states at each depth.
    pub fn counts(&self) -> &[u64] {
        &self.counts
    }

    /// Returns the best-known source alone, for example `OEIS A090166`.
    pub fn name(&self) -> &str {
        self.sources.first().map_or("", String::as_str)
    }

    /// Returns all sources, for example `OEIS A090166; lightln2/SlidingTilesSolver@8db6d04`.
    pub fn citation(&self) -> String {
        self.sources.join("; ")
    }
}

/// Returns the published distribution of the states by their distance from a board whose blank stands
/// at row-major cell `blank`.
///
/// The distribution depends on nothing else: renaming the tiles maps any two boards with the blank in
/// the same place onto each other, and so do reflections and transposition of the board, which is why
/// 4x3 finds 3x4 and the last cell finds the first.
///
/// ```
/// use tilewave::puzzle::tiles::Size;
/// let found = tilewave::report::published(Size::new(4, 3)?, 11).unwrap();
/// assert_eq!(found.counts().len() - 1, 53);
/// assert_eq!(found.name(), "OEIS A090166");
/// # Ok::<(), tilewave::Error>(())
/// ```
pub fn published(size: Size, blank: usize) -> Option<&'static Published> {
    let images = images(size, blank);
    published_all()
        .iter()
        .find(|p| images.contains(&(p.size.rows(), p.size.cols(), p.blank)))
}

/// Returns all published distributions, small boards first.
pub fn published_all() -> &'static [Published] {
    static TABLE: LazyLock<Vec<Published>> = LazyLock::new(|| {
        parse(include_str!("../../tests/data/distributions.json"))
            .expect("the table of published results is part of the program")
    });
    &TABLE
}

/// The images (rows, columns, cell) of a cell under the symmetries of a rectangle.
fn images(size: Size, cell: usize) -> Vec<(usize, usize, usize)> {
    let (rows, cols) = (size.rows(), size.cols());
    let (row, col) = (cell / cols, cell % cols);
    let mut images = Vec::with_capacity(8);
    for r in [row, rows - 1 - row] {
        for c in [col, cols - 1 - col] {
            images.push((rows, cols, r * cols + c));
            images.push((cols, rows, c * rows + r));
        }
    }
    images
}

#[derive(Deserialize)]
struct Entry {
    rows: usize,
    cols: usize,
    metric: String,
    goal_blank: usize,
    counts: Vec<u64>,
    source: Vec<String>,
}

fn parse(text: &str) -> Result<Vec<Published>, Box<dyn std::error::Error>> {
    let table: Map<String, Value> = serde_json::from_str(text)?;
    let mut all = Vec::new();
    for (key, value) in table {
        if key.starts_with('_') {
            continue;
        }
        let entry = Entry::deserialize(value)?;
        if entry.metric == "single-tile" {
            all.push(Published {
                size: Size::new(entry.rows, entry.cols)?,
                blank: entry.goal_blank,
                counts: entry.counts,
                sources: citations(&entry.source),
            });
        }
    }
    Ok(all)
}

/// The publications among the sources, shortened, complete OEIS sequences first. A sequence of which
/// only some terms are listed says so.
fn citations(sources: &[String]) -> Vec<String> {
    let mut cited: Vec<(u8, String)> = Vec::new();
    for source in sources {
        let mut words = source.split_whitespace();
        let (first, second) = (words.next().unwrap_or(""), words.next().unwrap_or(""));
        match first {
            "recomputed" => {}
            "OEIS" => {
                let terms: Vec<&str> = source.split(['(', ' ']).filter(is_number).collect();
                match terms[..] {
                    [seen, all] if seen != all => {
                        cited.push((2, format!("OEIS {second} ({seen} of {all} terms)")));
                    }
                    _ => cited.push((0, format!("OEIS {second}"))),
                }
            }
            _ if first.contains('/') => cited.push((1, first.to_string())),
            _ => cited.push((1, format!("{first} {second}"))),
        }
    }
    cited.sort_by_key(|(order, _)| *order);
    cited.into_iter().map(|(_, text)| text).collect()
}

fn is_number(word: &&str) -> bool {
    !word.is_empty() && word.bytes().all(|b| b.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn size(rows: usize, cols: usize) -> Size {
        Size::new(rows, cols).unwrap()
    }

    #[test]
    fn every_distribution_is_a_whole_state_space_with_a_source() {
        assert_eq!(published_all().len(), 15);
        for p in published_all() {
            assert_eq!(Some(p.counts.iter().sum()), p.size.states(), "{}", p.size);
            assert_eq!(p.counts[0], 1, "{}", p.size);
            assert!(!p.name().is_empty(), "{}", p.size);
            assert!(!p.citation().contains("recomputed"), "{}", p.citation());
        }
    }

    #[test]
    fn gods_numbers_are_the_known_ones() {
        let known = [
            (2, 2, 6),
            (2, 3, 21),
            (2, 4, 36),
            (3, 3, 31),
            (2, 5, 55),
            (2, 6, 80),
        ];
        let larger = [(3, 4, 53), (2, 7, 108), (3, 5, 84), (2, 8, 140), (4, 4, 80)];
        for (rows, cols, diameter) in known.into_iter().chain(larger) {
            let found = published(size(rows, cols), 0).unwrap();
            assert_eq!(found.counts().len() - 1, diameter, "{rows}x{cols}");
        }
    }

    #[test]
    fn symmetric_cells_share_a_distribution_and_others_do_not() {
        let blanks = |rows, cols, wanted: usize| -> Vec<usize> {
            let board = size(rows, cols);
            let same = |&b: &usize| published(board, b).is_some_and(|p| p.blank() == wanted);
            (0..board.cells()).filter(same).collect()
        };
        assert_eq!(blanks(3, 3, 0), [0, 2, 6, 8]);
        assert_eq!(blanks(3, 3, 1), [1, 3, 5, 7]);
        assert_eq!(blanks(3, 3, 4), [4]);
        assert_eq!(blanks(2, 4, 0), [0, 3, 4, 7]);
        assert_eq!(blanks(2, 4, 1), [1, 2, 5, 6]);
        assert_eq!(blanks(4, 2, 1), [2, 3, 4, 5]);
        assert_eq!(blanks(4, 3, 0), [0, 2, 9, 11]);
        assert_eq!(blanks(3, 4, 0), [0, 3, 8, 11]);
        assert!(published(size(3, 4), 1).is_none());
        assert!(published(size(5, 5), 0).is_none());
    }

    #[test]
    fn sources_are_shortened_and_partial_sequences_say_so() {
        let corner = published(size(2, 4), 0).unwrap();
        assert_eq!(
            corner.citation(),
            "OEIS A090035; lightln2/SlidingTilesSolver@8db6d04; lightln2/PuzzleSearch@ddd4158"
        );
        let long = published(size(2, 7), 0).unwrap();
        assert_eq!(long.name(), "lightln2/SlidingTilesSolver@8db6d04");
        assert!(long.citation().ends_with("OEIS A346736 (39 of 109 terms)"));
        let square = published(size(4, 4), 15).unwrap();
        assert!(square.citation().contains("dphdmn 15puzzleprob"));
    }
}
