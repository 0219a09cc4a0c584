//! What `src/bfs/chunks.rs` keeps to itself.

use super::*;

#[test]
fn chunks_and_frames_cover_the_lines() {
    for (n, digits) in [
        (9, 0),
        (9, 1),
        (9, 2),
        (9, 3),
        (11, 1),
        (11, 3),
        (14, 1),
        (14, 2),
    ] {
        let chunks = Chunks::new(Layout::new(n).unwrap(), digits).unwrap();
        assert_eq!(
            chunks.count as u64 * chunks.lines(),
            crate::perm::lehmer::even_count(n)
        );
        assert!(chunks.frames() * chunks.frame_blocks >= chunks.blocks);
        assert!((chunks.frames() - 1) * chunks.frame_blocks < chunks.blocks);
    }
    let chunks = Chunks::new(Layout::new(14).unwrap(), 1).unwrap();
    assert_eq!(
        (chunks.count, chunks.frame_registers() * LANES),
        (14, 181_440)
    );
    assert_eq!(Chunks::new(Layout::new(9).unwrap(), 4), None);
    let large = Layout::new(15).unwrap();
    let cuts = (0..large.prefix()).filter_map(|k| Chunks::new(large, k));
    assert_eq!(cuts.map(|cut| cut.count).max(), Some(360_360));
}
