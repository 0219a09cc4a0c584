//! The sums that a partition gives: its patterns as they are and through the symmetries of the board.
//!
//! Invariant: the patterns of a sum have no tile in common, so their values may be added.

use super::database::Database;
use super::view::View;
use crate::pdb::{Kind, Pattern};
use crate::puzzle::tiles::Board;

/// Patterns of a partition, seen through one symmetry of the board.
pub(super) struct Lens {
    pub view: View,
    /// The databases of the view's patterns.
    pub databases: Vec<Database>,
    /// Whether its values are added to those of the lens before it: they are about other tiles.
    pub joined: bool,
}

impl Lens {
    /// Returns the lenses of a partition, one sum after the other: the partition through each symmetry that takes the goal's
    /// blank to that of the patterns' goal. Tiles that this leaves out are those of its patterns through other symmetries
    /// as far as they fit: a pattern and its mirror image need one database. Sums about the same sets of tiles are one.
    pub fn of_partition(goal: &Board, databases: &[Database]) -> Vec<Lens> {
        let all: Vec<usize> = (0..databases.len()).collect();
        let whole = Lens::of_some(goal, databases, &all);
        let additive = !databases.iter().any(Database::has_blank);
        let (mut lenses, mut known) = (Vec::new(), Vec::new());
        for (v, lens) in whole.iter().enumerate() {
            let mut parts: Vec<_> = all.iter().map(|&p| lens.part(p)).collect();
            let mut sum = vec![(v, all.clone())];
            for (w, other) in whole.iter().enumerate().filter(|_| additive) {
                let taken: Vec<u8> = parts.iter().flat_map(|(_, tiles)| tiles).copied().collect();
                let fits = |&p: &usize| !other.part(p).1.iter().any(|tile| taken.contains(tile));
                let more: Vec<usize> = all.iter().copied().filter(fits).collect();
                parts.extend(more.iter().map(|&p| other.part(p)));
                sum.extend((!more.is_empty()).then_some((w, more)));
            }
            parts.sort_unstable();
            if known.contains(&parts) {
                continue;
            }
            known.push(parts);
            for (i, (w, some)) in sum.into_iter().enumerate() {
                let mut lens = Lens::of_some(goal, databases, &some).swap_remove(w);
                lens.joined = i > 0;
                lenses.push(lens);
            }
        }
        lenses
    }

    /// Some databases, through each symmetry.
    fn of_some(goal: &Board, databases: &[Database], some: &[usize]) -> Vec<Lens> {
        let databases = some.iter().map(|&p| databases[p].clone());
        let databases: Vec<Database> = databases.collect();
        let pattern = |database: &Database| database.pdb.pattern().clone();
        let patterns: Vec<Pattern> = databases.iter().map(pattern).collect();
        let kinds: Vec<Kind> = databases.iter().map(|d| d.pdb.kind()).collect();
        let views = View::of_kinds(goal, &patterns, &kinds).into_iter();
        let lens = |view| Lens {
            view,
            databases: databases.clone(),
            joined: false,
        };
        views.map(lens).collect()
    }

    /// What the values of a pattern are about: what is counted of which tiles, in their order.
    fn part(&self, pattern: usize) -> (&'static str, Vec<u8>) {
        let mut tiles = self.view.tiles(pattern).to_vec();
        tiles.sort_unstable();
        (self.databases[pattern].pdb.kind().name(), tiles)
    }
}

#[cfg(test)]
#[path = "../../tests/unit/lens.rs"]
mod tests;
