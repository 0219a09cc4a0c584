//! What `src/perm/reach.rs` keeps to itself.

use super::*;
use crate::perm::gather::Gather;
use crate::perm::lehmer;
use crate::puzzle::Window;
use crate::random::SplitMix64;

/// Random lines are taken to where a window brings them: the group that each comes to is named, and few others are.
#[test]
fn every_group_that_a_window_brings_anything_to_is_named() {
    let layout = Layout::new(9).unwrap();
    let rotation = |first: usize, len: usize| {
        let mut source: Vec<u8> = (0..len as u8).collect();
        source.rotate_left(1);
        Window::new(first, &source)
    };
    let mut random = SplitMix64::new(5);
    let windows = [
        (0, 3),
        (1, 3),
        (2, 3),
        (1, 5),
        (3, 5),
        (4, 5),
        (2, 7),
        (6, 3),
    ];
    for (first, len) in windows {
        let window = rotation(first, len);
        let gather = Gather::new(layout, &window);
        let reach = Reach::of(layout, &gather);
        let (mut tried, mut named) = (0, 0);
        for _ in 0..2000 {
            let mut line = [0; 9];
            lehmer::unrank_even(random.below(lehmer::even_count(9)), &mut line);
            let (from, to) = (line, std::array::from_fn(|p| line[window.source(p)]));
            let to: [u8; 9] = to;
            let (to, from) = (layout.place(&to), layout.place(&from));
            let (group, held) = (to.register / GROUP, 1 << (from.register / GROUP));
            let mut digits = [0; 9];
            layout.block_digits(to.block, &mut digits);
            let mut sources = vec![0; gather.source_blocks.count()];
            let variant = gather.source_blocks.find(to.block, &digits, &mut sources);
            let targets = match reach {
                Reach::Own => {
                    assert_eq!(to.block, from.block);
                    held
                }
                Reach::Anywhere | Reach::Halo(_) => panic!("{first} {len}"),
                Reach::Block | Reach::Table { .. } => {
                    let block = sources.iter().position(|&source| source == from.block);
                    reach.targets(variant, block.unwrap(), held)
                }
            };
            assert!(targets >> group & 1 == 1, "{first} {len}: {line:?}");
            tried += 1;
            named += targets.count_ones();
        }
        assert!(
            named < tried * 20,
            "{first} {len}: {named} of {tried} times 56"
        );
    }
}
