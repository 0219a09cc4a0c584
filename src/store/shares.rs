//! How the chunks of a run are dealt out to its directories.
//!
//! Invariant: with equal shares chunk c lies in directory c modulo their number; with others every stretch of chunks
//! is dealt out as nearly in proportion as whole chunks can be.

/// The largest share of a directory.
const LARGEST: u32 = 32;

/// Rooms that differ by less than one part in so many are alike.
const ALIKE: u64 = 5;

/// Which chunks lie in which directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shares {
    /// The directory of each chunk, again and again.
    order: Vec<usize>,
    /// The shares themselves.
    shares: Vec<u32>,
}

impl Shares {
    /// Returns the shares that are written as this list for a number of directories: an empty list, or one of another
    /// length, stands for equal shares.
    pub fn new(shares: &[u32], directories: usize) -> Shares {
        let shares = match Shares::are_valid(shares, directories) {
            true => shares.to_vec(),
            false => vec![1; directories],
        };
        let all: i64 = shares.iter().map(|share| i64::from(*share)).sum();
        // Every turn each directory is owed its share, and the one that is owed most has the chunk.
        let mut owed = vec![0i64; shares.len()];
        let order = (0..all).map(|_| {
            for (owed, share) in owed.iter_mut().zip(&shares) {
                *owed += i64::from(*share);
            }
            let most = (0..owed.len()).rev().max_by_key(|&place| owed[place]);
            let place = most.unwrap_or(0);
            owed[place] -= all;
            place
        });
        Shares {
            order: order.collect(),
            shares,
        }
    }

    /// Returns whether these are shares of so many directories.
    pub fn are_valid(shares: &[u32], directories: usize) -> bool {
        let most = shares.iter().max();
        shares.len() == directories && most.is_some_and(|most| (1..=LARGEST).contains(most))
    }

    /// Returns the shares that fit the room in directories, each given with a number that those on one disk share;
    /// an empty list when nobody knows, or the rooms are much alike.
    pub fn by_room(rooms: &[(Option<u64>, Option<u64>)]) -> Vec<u32> {
        let on = |device: Option<u64>| {
            rooms
                .iter()
                .filter(move |(_, d)| device.is_some() && *d == device)
        };
        let room = |&(free, device): &(Option<u64>, Option<u64>)| {
            Some(free? / (on(device).count().max(1) as u64))
        };
        let Some(rooms) = rooms.iter().map(room).collect::<Option<Vec<u64>>>() else {
            return Vec::new();
        };
        let (most, least) = (rooms.iter().max(), rooms.iter().min());
        let (Some(&most), Some(&least)) = (most, least) else {
            return Vec::new();
        };
        if most - least <= most / ALIKE {
            return Vec::new();
        }
        let share =
            |room: &u64| (u128::from(*room) * u128::from(LARGEST) / u128::from(most)) as u32;
        rooms.iter().map(share).collect()
    }

    /// Returns the place of the directory of a chunk, from 0.
    pub fn place(&self, chunk: usize) -> usize {
        self.order[chunk % self.order.len()]
    }

    /// Returns the share of the directory at a place, and that of all.
    pub fn share(&self, place: usize) -> (u32, u32) {
        (self.shares[place], self.shares.iter().sum())
    }
}

#[cfg(test)]
#[path = "../../tests/unit/shares.rs"]
mod tests;
