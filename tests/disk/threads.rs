//! Ranks that are threads of one process.

use std::sync::{Barrier, Mutex};

use tilewave::search::{Communicator, Reduce};

/// What the ranks of a job share.
struct Table {
    /// What rank i has for rank j.
    parts: Vec<Vec<Mutex<Vec<u8>>>>,
    values: Mutex<Vec<Vec<u64>>>,
    meeting: Barrier,
}

/// A rank that is a thread.
struct Thread<'a> {
    rank: usize,
    table: &'a Table,
}

impl Communicator for Thread<'_> {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.table.parts.len()
    }

    fn all_to_all(&self, parts: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
        assert_eq!(parts.len(), self.size());
        for (to, part) in parts.into_iter().enumerate() {
            *self.table.parts[self.rank][to].lock().unwrap() = part;
        }
        self.table.meeting.wait();
        let here = (0..self.size()).map(|from| &self.table.parts[from][self.rank]);
        let arrived = here.map(|part| std::mem::take(&mut *part.lock().unwrap()));
        let arrived = arrived.collect();
        self.table.meeting.wait();
        arrived
    }

    fn all_reduce(&self, by: Reduce, values: &mut [u64]) {
        self.table.values.lock().unwrap()[self.rank] = values.to_vec();
        self.table.meeting.wait();
        let all = self.table.values.lock().unwrap().clone();
        self.table.meeting.wait();
        for (i, value) in values.iter_mut().enumerate() {
            let of_ranks = all.iter().map(|of| of[i]);
            *value = match by {
                Reduce::Sum => of_ranks.fold(0, u64::wrapping_add),
                Reduce::Max => of_ranks.fold(0, u64::max),
            };
        }
    }
}

/// Runs a closure on every rank and returns what each returns.
pub fn ranks<T: Send>(size: usize, run: impl Fn(&dyn Communicator) -> T + Sync) -> Vec<T> {
    let row = || (0..size).map(|_| Mutex::default()).collect();
    let table = Table {
        parts: (0..size).map(|_| row()).collect(),
        values: Mutex::new(vec![Vec::new(); size]),
        meeting: Barrier::new(size),
    };
    std::thread::scope(|scope| {
        let (table, run) = (&table, &run);
        let threads = (0..size).map(|rank| scope.spawn(move || run(&Thread { rank, table })));
        let threads: Vec<_> = threads.collect();
        threads.into_iter().map(|t| t.join().unwrap()).collect()
    })
}
