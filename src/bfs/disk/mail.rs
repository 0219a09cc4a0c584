//! The exchange between ranks: segments wait in memory and travel when all ranks meet.
//!
//! Invariant: a segment for a chunk of this rank never leaves it; one for another rank travels once, in
//! the order in which it was sent. Between two meetings the letters for other ranks are at most 1 bit per
//! line and plane of the chunks computed meanwhile; those that have arrived are at most 1 bit per line
//! and plane of this rank's chunks for the step in progress, and as much for the next.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard};

use super::DiskError;
use crate::Error;
use crate::bfs::{Exchange, Team};

/// A segment on its way: from chunk, plane, bits.
type Letter = (usize, usize, Vec<u8>);

/// The letters of a rank.
#[derive(Clone)]
pub(super) struct Mail(Arc<Mutex<Letters>>);

struct Letters {
    rank: usize,
    /// Rank of each chunk.
    owners: Vec<usize>,
    /// For each rank what it is to get.
    out: Vec<Vec<u8>>,
    /// What has arrived, by depth and receiving chunk.
    held: HashMap<(u32, usize), Vec<Letter>>,
    /// Bytes sent to other ranks for the step to each depth.
    sent: BTreeMap<u32, u64>,
}

impl Mail {
    /// Returns an empty mail; `owners` are the ranks of the chunks.
    pub fn new(team: &dyn Team, owners: Vec<usize>) -> Mail {
        Mail(Arc::new(Mutex::new(Letters {
            rank: team.rank(),
            owners,
            out: vec![Vec::new(); team.size()],
            held: HashMap::new(),
            sent: BTreeMap::new(),
        })))
    }

    fn letters(&self) -> MutexGuard<'_, Letters> {
        self.0.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// Brings all letters to their ranks; a meeting of all ranks.
    pub fn deliver(&self, team: &dyn Team) -> Result<(), Error> {
        let none = vec![Vec::new(); team.size()];
        let out = std::mem::replace(&mut self.letters().out, none);
        let arrived = team.swap(out);
        let mut letters = self.letters();
        for (rank, bytes) in arrived.iter().enumerate() {
            let mut rest = &bytes[..];
            while !rest.is_empty() {
                let letter = letters.open(&mut rest);
                letter.ok_or_else(|| DiskError::Elsewhere {
                    rank,
                    reason: "it sends what this rank cannot read: start the same program on all machines".into(),
                })?;
            }
        }
        Ok(())
    }

    /// Returns the bytes that left this rank for the step to each depth below `depths`.
    pub fn sent(&self, depths: usize) -> Vec<u64> {
        let letters = self.letters();
        let of = |depth: usize| letters.sent.get(&(depth as u32)).copied();
        (0..depths).map(|depth| of(depth).unwrap_or(0)).collect()
    }
}

impl Letters {
    /// Takes one letter from the front of `rest`.
    fn open(&mut self, rest: &mut &[u8]) -> Option<()> {
        let mut header = [0; 5];
        for value in &mut header {
            *value = take_number(rest)?;
        }
        let [depth, from, to, plane, len] = header;
        let (depth, len) = (u32::try_from(depth).ok()?, usize::try_from(len).ok()?);
        let (from, to) = (from as usize, to as usize);
        if self.owners.get(to) != Some(&self.rank) || from >= self.owners.len() {
            return None;
        }
        let (segment, others) = rest.split_at_checked(len)?;
        *rest = others;
        let letter = (from, plane as usize, segment.to_vec());
        self.held.entry((depth, to)).or_default().push(letter);
        Some(())
    }
}

impl Exchange for Mail {
    fn send(
        &mut self,
        depth: u32,
        from: usize,
        to: usize,
        plane: usize,
        segment: &[u8],
    ) -> Result<(), Error> {
        let letters = &mut *self.letters();
        let owner = letters.owners[to];
        if owner == letters.rank {
            let held = letters.held.entry((depth, to)).or_default();
            held.push((from, plane, segment.to_vec()));
            return Ok(());
        }
        let out = &mut letters.out[owner];
        let before = out.len();
        let header = [
            u64::from(depth),
            from as u64,
            to as u64,
            plane as u64,
            segment.len() as u64,
        ];
        header.into_iter().for_each(|value| put_number(value, out));
        out.extend(segment);
        *letters.sent.entry(depth).or_default() += (out.len() - before) as u64;
        Ok(())
    }

    fn receive(&mut self, depth: u32, to: usize) -> Result<Vec<Letter>, Error> {
        Ok(self.letters().held.remove(&(depth, to)).unwrap_or_default())
    }

    fn forget(&mut self, depth: u32) -> Result<(), Error> {
        self.letters().held.retain(|(d, _), _| *d != depth);
        Ok(())
    }
}

/// Appends a number, seven bits a byte, lowest first: headers of small segments would outweigh them.
fn put_number(mut value: u64, bytes: &mut Vec<u8>) {
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
}

/// Takes a number from the front.
fn take_number(rest: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let (&byte, others) = rest.split_first()?;
        *rest = others;
        value |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some(value);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back() {
        let values = [0, 1, 127, 128, 300, 1 << 35, u64::MAX];
        let mut bytes = Vec::new();
        values.iter().for_each(|&v| put_number(v, &mut bytes));
        let mut rest = &bytes[..];
        for value in values {
            assert_eq!(take_number(&mut rest), Some(value));
        }
        assert_eq!(take_number(&mut rest), None);
        assert_eq!(take_number(&mut &[0x80; 12][..]), None);
    }

    #[test]
    fn letters_that_make_no_sense_are_refused() {
        let mut letters = Letters {
            rank: 0,
            owners: vec![0, 1],
            out: vec![Vec::new(); 2],
            held: HashMap::new(),
            sent: BTreeMap::new(),
        };
        // Depth 3, from chunk 1, to chunk 0, plane 0, one byte.
        assert_eq!(letters.open(&mut &[3, 1, 0, 0, 1, 9][..]), Some(()));
        assert_eq!(letters.held[&(3, 0)], [(1, 0, vec![9])]);
        for wrong in [
            &[3, 1, 0, 0, 2, 9][..],
            &[3, 1, 1, 0, 1, 9],
            &[3, 2, 0, 0, 1, 9],
            &[3, 1, 0],
        ] {
            assert_eq!(letters.open(&mut &wrong[..]), None, "{wrong:?}");
        }
    }
}
