//! What `src/perm/reach.rs` keeps to itself.

use super::*;
use crate::perm::gather::Gather;
use crate::puzzle::Window;

/// A window is carried out on the tables, group by group, with every source of one group marked.
#[test]
fn every_group_that_a_window_brings_anything_to_is_named() {
    let layout = Layout::new(9).unwrap();
    let rotation = |first: usize, len: usize| {
        let mut source: Vec<u8> = (0..len as u8).collect();
        source.rotate_left(1);
        Window::new(first, &source)
    };
    let windows = [(0, 3), (1, 3), (2, 3), (1, 5), (3, 5), (4, 5), (2, 7)];
    for (first, len) in windows {
        let gather = Gather::new(layout, &rotation(first, len));
        let reach = Reach::of(layout, &gather);
        let groups = layout.block_registers() / GROUP;
        assert_eq!(groups, 56);
        if let Reach::Table { targets, .. } = &reach {
            let blocks = gather.source_blocks.count();
            for variant in 0..gather.source_blocks.variants() {
                // Every group comes from somewhere, and what all of them lead to is everything.
                let held = |block| reach.targets(variant, block, (1 << groups) - 1);
                let all = (0..blocks).map(held).fold(0, |a, b| a | b);
                assert_eq!(all, (1 << groups) - 1);
            }
            let few = targets.iter().filter(|t| t.count_ones() < 56).count();
            assert!(few > targets.len() / 2, "{first} {len}");
        }
    }
}
