//! The thresholds of a search: how many nodes each took, and how they grow.

use std::sync::Mutex;

use tilewave::solve::Stage;

/// The nodes of a search at the last look into each of its thresholds.
pub struct Thresholds {
    /// Nodes before the first look.
    before: u64,
    /// Threshold, and the nodes of the search up to then.
    seen: Mutex<Vec<(usize, u64)>>,
}

impl Thresholds {
    /// Returns those of a search that has generated some nodes before.
    pub fn new(before: u64) -> Thresholds {
        Thresholds {
            before,
            seen: Mutex::new(Vec::new()),
        }
    }

    /// Returns those of a search that goes on after iterations, each given by the stage that followed it.
    pub fn after(stages: &[Stage]) -> Thresholds {
        let first = stages.first().copied().unwrap_or_default();
        let thresholds = Thresholds::new(first.nodes - first.last);
        let mut threshold = first.threshold.saturating_sub(2);
        for stage in stages {
            thresholds.note(threshold, stage.nodes);
            threshold = stage.threshold;
        }
        thresholds
    }

    /// The iteration that was noted last is over, with so many nodes up to its end.
    pub fn close(&self, nodes: u64) {
        let mut seen = self.seen.lock().unwrap_or_else(|e| e.into_inner());
        if let Some((_, last)) = seen.last_mut() {
            *last = nodes;
        }
    }

    /// A search has come to a number of nodes within a threshold. Called by any thread.
    pub fn note(&self, threshold: usize, nodes: u64) {
        let mut seen = self.seen.lock().unwrap_or_else(|e| e.into_inner());
        match seen.last_mut() {
            Some((last, most)) if *last >= threshold => *most = nodes.max(*most),
            _ => seen.push((threshold, nodes)),
        }
    }

    /// Returns the thresholds and the nodes of each, the last of which may not be done.
    pub fn nodes(&self) -> Vec<(usize, u64)> {
        let seen = self.seen.lock().unwrap_or_else(|e| e.into_inner());
        let before = std::iter::once(self.before).chain(seen.iter().map(|&(_, nodes)| nodes));
        let pairs = seen.iter().zip(before);
        pairs
            .map(|(&(threshold, nodes), before)| (threshold, nodes.saturating_sub(before)))
            .collect()
    }

    /// Returns the nodes to expect of the threshold behind some, and by how many times they grow: as from the last
    /// but one to the last.
    pub fn next(done: &[(usize, u64)]) -> Option<(f64, f64)> {
        match done {
            [.., (_, before), (_, last)] if *before > 0 => {
                let growth = *last as f64 / *before as f64;
                Some((*last as f64 * growth, growth))
            }
            _ => None,
        }
    }
}

#[cfg(test)]
#[path = "../../tests/unit/thresholds.rs"]
mod tests;
