//! What `src/bfs/disk/outbox.rs` keeps to itself.

use super::*;
use crate::bfs::communicator::{OneProcess, Reduce};

/// Rank 1 of two, when rank 0 owns these chunks.
struct Other;

impl Communicator for Other {
    fn rank(&self) -> usize {
        1
    }

    fn size(&self) -> usize {
        2
    }

    fn all_to_all(&self, parts: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
        parts
    }

    fn all_reduce(&self, _: Reduce, _: &mut [u64]) {}
}

/// What rank 1 sends to rank 0 when it takes chunks 0 and 1 for rank 0's.
fn message(from: usize, to: usize) -> Vec<u8> {
    let mut outbox = Outbox::new(&Other, vec![0, 0]);
    outbox.send(3, from, to, 0, vec![9]).unwrap();
    std::mem::take(&mut outbox.messages().out[0])
}

#[test]
fn messages_that_make_no_sense_are_refused() {
    let inbox = Outbox::new(&OneProcess, vec![0, 1]);
    let open = |bytes: &[u8]| inbox.messages().open(&mut &*bytes);
    let good = message(1, 0);
    assert_eq!(open(&good), Some(()));
    assert_eq!(inbox.messages().held[&(3, 0)], [(1, 0, vec![9])]);
    assert_eq!(open(&message(1, 1)), None);
    assert_eq!(open(&message(2, 0)), None);
    assert_eq!(open(&good[..good.len() - 1]), None);
    assert_eq!(open(&good[..5]), None);
}
