//! The sliding-tile puzzles on all connected graphs in docs/results/graphs.csv are searched again, with other states:
//! places of three bits in one number, and a bit for each number.

use std::fs;

use rayon::prelude::*;

use super::{error, results, tool};

/// A line of the file.
struct Listed {
    graph: String,
    /// The vertices next to each.
    next: Vec<Vec<u32>>,
    states: usize,
    /// For each vertex that is free in the goal.
    farthest: Vec<(usize, usize)>,
}

/// The vertices next to each of a graph in graph6, which has a bit for each pair, by the greater vertex.
fn next(graph6: &str) -> Vec<Vec<u32>> {
    let mut letters = graph6.bytes().map(|letter| letter - 63);
    let vertices = letters.next().unwrap().into();
    let mut bits = letters.flat_map(|letter| (0..6).rev().map(move |i| letter >> i & 1 == 1));
    let mut next = vec![Vec::new(); vertices as usize];
    for (b, a) in (0..vertices).flat_map(|b| (0..b).map(move |a| (b, a))) {
        if bits.next().unwrap() {
            next[a as usize].push(b);
            next[b as usize].push(a);
        }
    }
    assert!(!bits.any(|bit| bit), "{graph6}");
    next
}

fn all() -> Vec<Listed> {
    let text = fs::read_to_string(results().join("graphs.csv")).unwrap();
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("graph6,vertices,edges,states,gods_numbers,antipodes"));
    let one = |line: &str| {
        let cells: Vec<&str> = line.split(',').collect();
        let numbers = |at: usize| cells[at].split(' ').map(|word| word.parse::<usize>().unwrap());
        let next = next(cells[0]);
        let edges: usize = next.iter().map(Vec::len).sum();
        assert_eq!(
            (next.len().to_string(), (edges / 2).to_string()),
            (cells[1].into(), cells[2].into())
        );
        let farthest: Vec<_> = numbers(4).zip(numbers(5)).collect();
        assert_eq!((numbers(4).count(), numbers(5).count()), (next.len(), next.len()), "{line}");
        Listed { graph: cells[0].into(), next, states: numbers(3).next().unwrap(), farthest }
    };
    lines.map(one).collect()
}

/// States, the greatest distance, and states at it, from the one with this vertex free; `seen` has no bit set, then as
/// now.
fn searched(next: &[Vec<u32>], free: u32, seen: &mut [u64]) -> (usize, (usize, usize)) {
    // The blank is piece 0, and begins on the free vertex.
    let piece = |v: u32| {
        if v == free {
            0
        } else if v == 0 {
            free
        } else {
            v
        }
    };
    let start = (0..next.len() as u32).fold(0, |state, v| state | piece(v) << (3 * v));
    let (mut states, mut begin, mut depth) = (vec![(start, free)], 0, 0);
    seen[start as usize / 64] |= 1 << (start % 64);
    loop {
        let end = states.len();
        for at in begin..end {
            let (state, blank) = states[at];
            for &to in &next[blank as usize] {
                let tile = state >> (3 * to) & 7;
                let new = state ^ (tile << (3 * to)) ^ (tile << (3 * blank));
                let word = &mut seen[new as usize / 64];
                if *word >> (new % 64) & 1 == 0 {
                    *word |= 1 << (new % 64);
                    states.push((new, to));
                }
            }
        }
        if states.len() == end {
            states.iter().for_each(|(state, _)| seen[*state as usize / 64] = 0);
            return (end, (depth, end - begin));
        }
        (begin, depth) = (end, depth + 1);
    }
}

fn search_again(listed: &[Listed]) {
    listed.par_iter().for_each_init(
        || vec![0; 1 << 18],
        |seen, Listed { graph, next, states, farthest }| {
            for (free, found) in farthest.iter().enumerate() {
                assert_eq!(
                    searched(next, free as u32, seen),
                    (*states, *found),
                    "{graph} from {free}"
                );
            }
        },
    );
}

#[test]
fn puzzles_on_small_graphs_are_found_again() {
    let all = all();
    // OEIS A001349.
    for (vertices, graphs) in (2..).zip([1, 2, 6, 21, 112, 853]) {
        assert_eq!(all.iter().filter(|one| one.next.len() == vertices).count(), graphs);
    }
    let (small, large): (Vec<_>, Vec<_>) = all.into_iter().partition(|one| one.next.len() < 8);
    search_again(&small);
    search_again(&large.into_iter().step_by(100).collect::<Vec<_>>());
}

/// What the page says of the hardest graphs: polygons with a chord that cuts off a triangle.
#[test]
fn polygons_with_a_chord_are_the_hardest_graphs() {
    let all = all();
    let hardest = |vertices: u32| {
        let edges = (0..vertices).map(|v| (v, (v + 1) % vertices)).chain([(0, 2)]);
        let mut next = vec![Vec::new(); vertices as usize];
        for (a, b) in edges {
            next[a as usize].push(b);
            next[b as usize].push(a);
        }
        let (_, (depth, _)) = searched(&next, 0, &mut vec![0; 1 << 18]);
        let of = all.iter().filter(|one| one.next.len() == vertices as usize);
        let mut depths: Vec<usize> = of.map(|one| one.farthest.iter().max().unwrap().0).collect();
        depths.sort_unstable();
        // No other graph is as hard.
        assert!(depths.ends_with(&[depth]) && depths[depths.len() - 2] < depth, "{vertices}");
        depth.to_string()
    };
    let found: Vec<String> = (4..=8).map(hardest).collect();
    let said = format!("{} and {} moves for N = 4 to 8", found[..4].join(", "), found[4]);
    assert!(fs::read_to_string(results().join("README.md")).unwrap().contains(&said), "{said}");
}

/// The second computation of all of them, which takes a minute.
#[test]
#[ignore = "takes a minute: cargo test --release --test suite -- --ignored all_graphs"]
fn puzzles_on_all_graphs_are_found_again() {
    search_again(&all());
}

/// The file is made again where it ends, and what is changed in it is found.
#[test]
fn a_file_of_graphs_is_continued_and_checked() {
    let dir = tempfile::tempdir().unwrap();
    let text = fs::read_to_string(results().join("graphs.csv")).unwrap();
    // The graphs of up to five vertices, without the last four.
    let whole: String = text.split_inclusive('\n').take(31).collect();
    let begun: String = text.split_inclusive('\n').take(27).collect();
    let to = dir.path().join("graphs.csv");
    fs::write(&to, begun.replacen("C^", "C~", 1)).unwrap();
    let Some(refused) = tool(dir.path(), &["graphs", "--vertices", "5"]) else { return };
    assert_eq!(refused.status.code(), Some(1));
    assert!(error(&refused).contains("graphs.csv: its graphs are others"), "{}", error(&refused));
    fs::write(&to, begun).unwrap();
    let made = tool(dir.path(), &["graphs", "--vertices", "5"]).unwrap();
    assert!(made.status.success(), "{}", error(&made));
    assert_eq!(fs::read_to_string(&to).unwrap(), whole);
    let check = || tool(dir.path(), &["check"]).unwrap();
    assert!(check().status.success(), "{}", error(&check()));
    // The pentagon has 20 states, of which the farthest is 10 moves away.
    let pentagon =
        whole.lines().find(|line| line.contains(",20,10 10 10 10 10,1 1 1 1 1")).unwrap();
    let square = whole.lines().find(|line| line.starts_with("C]")).unwrap();
    for (from, to_, told) in [
        (
            pentagon.to_string(),
            pentagon.replace("10 10 10", "10 11 10"),
            "a plain search finds other numbers",
        ),
        (square.into(), square.replacen(",4,4,", ",4,5,", 1), "has other vertices or edges"),
        (format!("{square}\n"), String::new(), "each of the 6 connected graphs of 4 vertices once"),
    ] {
        fs::write(&to, whole.replacen(&from, &to_, 1)).unwrap();
        let found = check();
        assert_eq!(found.status.code(), Some(1));
        assert!(error(&found).contains(told), "{}", error(&found));
    }
}
