//! Gather tables shared by several steps.
//!
//! Invariant: equal windows have one table.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use rayon::prelude::*;

use super::gather::Gather;
use super::layout::Layout;
use crate::puzzle::Window;

/// Returns the most elements that a window takes at once into a block or into the lanes: tables grow with its
/// powers.
pub fn crossing(layout: Layout, window: &Window) -> usize {
    let into = |border: usize| {
        let inside = border..layout.len().min(window.last() + 1).max(border);
        inside.filter(|&y| window.source(y) < border).count()
    };
    into(layout.block_prefix()).max(into(layout.prefix()))
}

/// Gather tables that several steps share.
#[derive(Debug)]
pub struct Gathers {
    layout: Layout,
    known: Mutex<HashMap<Window, Arc<Gather>>>,
}

impl Gathers {
    /// Returns no tables yet.
    pub fn new(layout: Layout) -> Gathers {
        let known = Mutex::default();
        Gathers { layout, known }
    }

    /// Makes the tables of some windows, on all threads of the current pool.
    pub fn make(&self, windows: &[Window]) {
        windows.par_iter().for_each(|window| {
            self.get(window);
        });
    }

    /// Returns the tables of a window. Cost: that of [`Gather::new`] at the first time.
    pub fn get(&self, window: &Window) -> Arc<Gather> {
        let known = || self.known.lock().unwrap_or_else(|e| e.into_inner());
        if let Some(gather) = known().get(window) {
            return gather.clone();
        }
        let made = Arc::new(Gather::new(self.layout, window));
        known().entry(window.clone()).or_insert(made).clone()
    }

    /// Returns the layout that the tables are for.
    pub fn layout(&self) -> Layout {
        self.layout
    }
}
