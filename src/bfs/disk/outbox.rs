//! The exchange between ranks: segments wait in memory and travel between two supersteps.
//!
//! Invariant: a segment for a chunk of this rank never leaves it; one for another rank travels once, in
//! the order in which it was sent. In a superstep the messages for other ranks are at most 1 bit per
//! line and plane of the chunks computed meanwhile; those that have arrived are at most 1 bit per line
//! and plane of this rank's chunks for the step in progress, and as much for the next.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard};

use twox_hash::XxHash3_64;

use super::error::DiskError;
use crate::Error;
use crate::bfs::communicator::Communicator;
use crate::bfs::exchange::Exchange;

/// Bytes of the header of a message: depth, from chunk, to chunk, plane, length, 4 bytes each.
const HEADER: usize = 20;

/// A segment on its way: from chunk, plane, bits.
type Message = (usize, usize, Vec<u8>);

/// The messages of a rank.
#[derive(Clone)]
pub(super) struct Outbox(Arc<Mutex<Messages>>);

struct Messages {
    rank: usize,
    /// Rank of each chunk.
    owners: Vec<usize>,
    /// For each rank what it is to get.
    out: Vec<Vec<u8>>,
    /// What has arrived, by depth and receiving chunk.
    held: HashMap<(u32, usize), Vec<Message>>,
    /// Bytes sent to other ranks for the step to each depth.
    sent: BTreeMap<u32, u64>,
}

impl Outbox {
    /// Returns an empty outbox; `owners` are the ranks of the chunks.
    pub fn new(communicator: &dyn Communicator, owners: Vec<usize>) -> Outbox {
        Outbox(Arc::new(Mutex::new(Messages {
            rank: communicator.rank(),
            owners,
            out: vec![Vec::new(); communicator.size()],
            held: HashMap::new(),
            sent: BTreeMap::new(),
        })))
    }

    fn messages(&self) -> MutexGuard<'_, Messages> {
        self.0.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// Brings all messages to their ranks; a collective call.
    pub fn deliver(&self, communicator: &dyn Communicator) -> Result<(), Error> {
        let none = vec![Vec::new(); communicator.size()];
        let mut out = std::mem::replace(&mut self.messages().out, none);
        for part in &mut out {
            let hash = XxHash3_64::oneshot(part);
            part.extend(hash.to_le_bytes());
        }
        let arrived = communicator.all_to_all(out);
        let mut messages = self.messages();
        for (rank, bytes) in arrived.iter().enumerate() {
            let whole = |&(bytes, hash): &(&[u8], &[u8; 8])| {
                hash == &XxHash3_64::oneshot(bytes).to_le_bytes()
            };
            let part = bytes.split_last_chunk().filter(whole);
            let opened = part.and_then(|(mut rest, _)| {
                while !rest.is_empty() {
                    messages.open(&mut rest)?;
                }
                Some(())
            });
            opened.ok_or_else(|| DiskError::Elsewhere {
                rank,
                reason: "what it sends arrives damaged: check the network and the memory of the machines".into(),
            })?;
        }
        Ok(())
    }

    /// Returns the bytes that left this rank for the step to each depth below `depths`.
    pub fn sent(&self, depths: usize) -> Vec<u64> {
        let messages = self.messages();
        let of = |depth: usize| messages.sent.get(&(depth as u32)).copied();
        (0..depths).map(|depth| of(depth).unwrap_or(0)).collect()
    }
}

impl Messages {
    /// Takes one message from the front of `rest`.
    fn open(&mut self, rest: &mut &[u8]) -> Option<()> {
        let (header, others) = rest.split_first_chunk::<HEADER>()?;
        let number = |i: usize| Some(u32::from_le_bytes(*header[4 * i..].first_chunk()?));
        let (depth, plane) = (number(0)?, number(3)? as usize);
        let (from, to) = (number(1)? as usize, number(2)? as usize);
        let (segment, others) = others.split_at_checked(number(4)? as usize)?;
        if self.owners.get(to) != Some(&self.rank) || from >= self.owners.len() {
            return None;
        }
        *rest = others;
        let message = (from, plane, segment.to_vec());
        self.held.entry((depth, to)).or_default().push(message);
        Some(())
    }
}

impl Exchange for Outbox {
    fn leaves(&self, to: usize) -> bool {
        let messages = self.messages();
        messages.owners[to] != messages.rank
    }

    fn send(
        &mut self,
        depth: u32,
        from: usize,
        to: usize,
        plane: usize,
        segment: Vec<u8>,
    ) -> Result<(), Error> {
        let messages = &mut *self.messages();
        let owner = messages.owners[to];
        if owner == messages.rank {
            let held = messages.held.entry((depth, to)).or_default();
            held.push((from, plane, segment));
            return Ok(());
        }
        let out = &mut messages.out[owner];
        let start = out.len();
        let len = segment.len() as u32;
        for number in [depth, from as u32, to as u32, plane as u32, len] {
            out.extend(number.to_le_bytes());
        }
        out.extend(segment);
        *messages.sent.entry(depth).or_default() += (out.len() - start) as u64;
        Ok(())
    }

    fn receive(&mut self, depth: u32, to: usize) -> Result<Vec<Message>, Error> {
        Ok(self
            .messages()
            .held
            .remove(&(depth, to))
            .unwrap_or_default())
    }

    fn forget(&mut self, depth: u32) -> Result<(), Error> {
        self.messages().held.retain(|(d, _), _| *d != depth);
        Ok(())
    }
}

#[cfg(test)]
#[path = "../../../tests/unit/outbox.rs"]
mod tests;
