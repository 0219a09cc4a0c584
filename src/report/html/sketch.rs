//! How puzzles are drawn whose positions are points in the plane: the vertices of a graph, or places around a ring.

use std::{collections::VecDeque, f64::consts::TAU};

use crate::{puzzle::Puzzle, random::SplitMix64};

type Dot = [f64; 2];

/// Where the positions of a puzzle with one set lie, and the edges between them.
pub(super) struct Sketch {
    /// In widths of a piece, as far as possible to the left and up.
    pub at: Vec<Dot>,
    pub edges: Vec<[usize; 2]>,
}

/// Families whose permuted things lie around a ring.
const RINGS: [&str; 4] = ["topspin:", "lrx:", "lx:", "cyclic-coxeter:"];

/// The least distance of two vertices.
const APART: f64 = 1.7;

impl Sketch {
    pub fn of(puzzle: &Puzzle) -> Option<Sketch> {
        let [set] = puzzle.sets() else { return None };
        let count = set.positions();
        if let Some(edges) = puzzle.edges() {
            return Some(Sketch { at: drawn(count, &edges)?, edges });
        }
        let is_ring = count > 2 && RINGS.iter().any(|family| puzzle.name().starts_with(family));
        let radius = (0.56 / (TAU / 2.0 / count as f64).sin()).max(1.0);
        is_ring.then(|| Sketch { at: cornered(circle(count, radius)), edges: Vec::new() })
    }

    /// A picture of the number at each position; a graph has no tile where it is 0.
    pub fn picture(&self, numbers: &[usize], most: usize) -> String {
        let at: Vec<Dot> = self.at.iter().map(|at| at.map(|x| 100.0 * x)).collect();
        let [mut lines, mut tiles] = [String::new(), String::new()];
        for [[ax, ay], [bx, by]] in self.edges.iter().map(|edge| edge.map(|end| at[end])) {
            lines += &format!("<path d=\"M{ax} {ay}L{bx} {by}\"/>");
        }
        for (&number, [x, y]) in numbers.iter().zip(&at) {
            let hue = 330 * number / most.max(1);
            if number == 0 && !self.edges.is_empty() {
                tiles += &format!("<circle cx=\"{x}\" cy=\"{y}\" r=\"48\"/>");
                continue;
            }
            tiles += &format!(
                "<circle class=\"hue\" style=\"--hue:{hue}\" cx=\"{x}\" cy=\"{y}\" r=\"48\"/>\
                 <text x=\"{x}\" y=\"{y}\">{number}</text>"
            );
        }
        let [width, height] = [0, 1].map(|axis| {
            at.iter().map(|at| at[axis]).fold(110.0, |all, x| f64::max(all, x + 110.0))
        });
        format!(
            "<div class=\"sketch\"><svg viewBox=\"-55 -55 {width} {height}\" aria-hidden=\"true\">{lines}{tiles}</svg></div>"
        )
    }
}

/// Points around a circle, clockwise from the top.
fn circle(count: usize, radius: f64) -> Vec<Dot> {
    let angles = (0..count).map(|i| TAU * i as f64 / count as f64);
    angles.map(|angle| [radius * angle.sin(), -radius * angle.cos()]).collect()
}

/// The points moved to the left and up, rounded to hundredths.
fn cornered(points: Vec<Dot>) -> Vec<Dot> {
    let least = [0, 1].map(|axis| points.iter().map(|at| at[axis]).fold(f64::INFINITY, f64::min));
    let moved = |at: Dot| [0, 1].map(|axis| ((at[axis] - least[axis]) * 100.0).round() / 100.0);
    points.into_iter().map(moved).collect()
}

/// The vertices of a graph, so that distances in the picture are as nearly as possible those in the graph; `None` if it is
/// not connected. Of several attempts, the best one is taken; turned so that most edges are level or upright if there are
/// such, otherwise so that vertex 0 is at the top.
///
/// T. Kamada, S. Kawai, An algorithm for drawing general undirected graphs, Inf. Process. Lett. 31 (1989). Cost: for 128
/// vertices half a second.
fn drawn(count: usize, edges: &[[usize; 2]]) -> Option<Vec<Dot>> {
    let far = distances(count, edges);
    if far.iter().flatten().any(|far| far.is_infinite()) {
        return None;
    }
    let mut random = SplitMix64::new(1);
    let radius = count as f64 / TAU;
    let mut place = || (random.below(1 << 20) as f64 / f64::from(1 << 19) - 1.0) * radius;
    let attempts = (0..8).map(|attempt| match attempt {
        0 => circle(count, radius),
        _ => (0..count).map(|_| [place(), place()]).collect(),
    });
    let all = attempts.map(|at| relaxed(at, &far));
    let (_, mut at) = all.min_by(|(a, _), (b, _)| a.total_cmp(b))?;
    let middle = [0, 1].map(|axis| at.iter().map(|at| at[axis]).sum::<f64>() / count as f64);
    at.iter_mut().for_each(|at| *at = [at[0] - middle[0], at[1] - middle[1]]);
    let between = |[a, b]: [usize; 2]| [at[b][0] - at[a][0], at[b][1] - at[a][1]];
    let fours = edges.iter().map(|&edge| {
        let [x, y] = between(edge);
        let four = 4.0 * y.atan2(x);
        [four.cos(), four.sin()]
    });
    let [cos, sin] = fours.fold([0.0; 2], |sum, four| [sum[0] + four[0], sum[1] + four[1]]);
    let squared = cos.hypot(sin) > 0.5 * edges.len() as f64;
    let up = at[0][1].atan2(at[0][0]) + TAU / 4.0;
    let by = if squared { sin.atan2(cos) / 4.0 } else { up };
    let turned = |at: &Dot, by: f64| {
        let [cos, sin] = [by.cos(), by.sin()];
        [at[0] * cos + at[1] * sin, at[1] * cos - at[0] * sin]
    };
    let quarters = if squared { 4 } else { 1 };
    let ways = (0..2 * quarters).map(|way| {
        let by = by + f64::from(way / 2) * TAU / 4.0;
        let side = |at: &Dot| {
            let [x, y] = turned(at, by);
            if way % 2 == 0 { [x, y] } else { [-x, y] }
        };
        at.iter().map(side).collect::<Vec<Dot>>()
    });
    // Wide rather than high, vertex 0 at the left and at the top, vertex 1 to the right.
    let order = |at: &Vec<Dot>| {
        let [x, y] = [0, 1].map(|axis| {
            let on = at.iter().map(|at| at[axis]);
            on.clone().fold(f64::MIN, f64::max) - on.fold(f64::MAX, f64::min)
        });
        let [first, second] = [at[0], at[1]];
        [f64::from(y > x + 0.01), first[0] + first[1], second[1] - second[0]]
            .map(|key| (key * 100.0).round() as i64)
    };
    let mut at = ways.min_by_key(order)?;
    let pairs = (0..count).flat_map(|a| (0..a).map(move |b| (a, b)));
    let apart = |(a, b): (usize, usize)| (at[a][0] - at[b][0]).hypot(at[a][1] - at[b][1]);
    let least = pairs.map(apart).fold(f64::INFINITY, f64::min).max(1e-3);
    at.iter_mut().for_each(|at| *at = at.map(|x| x * APART / least));
    Some(cornered(at))
}

/// The number of edges between all vertices.
fn distances(count: usize, edges: &[[usize; 2]]) -> Vec<Vec<f64>> {
    let mut beside: Vec<Vec<usize>> = vec![Vec::new(); count];
    for &[a, b] in edges {
        beside[a].push(b);
        beside[b].push(a);
    }
    let from = |start: usize| {
        let mut far = vec![f64::INFINITY; count];
        far[start] = 0.0;
        let mut next = VecDeque::from([start]);
        while let Some(at) = next.pop_front() {
            for &to in &beside[at] {
                if far[to].is_infinite() {
                    far[to] = far[at] + 1.0;
                    next.push_back(to);
                }
            }
        }
        far
    };
    (0..count).map(from).collect()
}

/// Moves each point in turn to where its distances to the others are best; the last deviation, and the points.
fn relaxed(mut at: Vec<Dot>, far: &[Vec<f64>]) -> (f64, Vec<Dot>) {
    let others = |i| (0..far.len()).filter(move |&j| j != i);
    for _ in 0..200 {
        for i in 0..at.len() {
            let (mut sum, mut weights) = ([0.0; 2], 0.0);
            for j in others(i) {
                let [x, y] = [at[i][0] - at[j][0], at[i][1] - at[j][1]];
                let (length, weight) = (x.hypot(y).max(1e-9), far[i][j].powi(-2));
                let wanted = far[i][j] / length;
                sum = [
                    sum[0] + weight * (at[j][0] + x * wanted),
                    sum[1] + weight * (at[j][1] + y * wanted),
                ];
                weights += weight;
            }
            at[i] = sum.map(|sum| sum / weights);
        }
    }
    let deviation = |(i, j): (usize, usize)| {
        let length = (at[i][0] - at[j][0]).hypot(at[i][1] - at[j][1]);
        (length / far[i][j] - 1.0).powi(2)
    };
    let deviation = (0..at.len()).flat_map(|i| others(i).map(move |j| (i, j))).map(deviation).sum();
    (deviation, at)
}

#[cfg(test)]
mod tests {
    use super::drawn;

    fn edges(text: &str) -> Vec<[usize; 2]> {
        let ends = |edge: &str| {
            edge.split_once('-').map(|(a, b)| [a.parse().unwrap(), b.parse().unwrap()])
        };
        text.split(',').filter_map(ends).collect()
    }

    #[test]
    fn a_board_is_drawn_as_a_board_and_a_ring_as_a_ring() {
        let board = drawn(6, &edges("0-1,1-2,3-4,4-5,0-3,1-4,2-5")).unwrap();
        let close = |a: f64, b: f64| (a - b).abs() < 0.15;
        for (vertex, [x, y]) in board.iter().enumerate() {
            let [column, row] = [vertex % 3, vertex / 3].map(|i| 1.75 * i as f64);
            assert!(close(*x, column) && close(*y, row), "{vertex}: {x} {y}");
        }
        let ring = drawn(5, &edges("0-1,1-2,2-3,3-4,4-0")).unwrap();
        let top = ring.iter().map(|at| at[1]).fold(f64::INFINITY, f64::min);
        assert_eq!((ring[0][1], ring[1][0] > ring[0][0]), (top, true), "{ring:?}");
    }

    #[test]
    fn vertices_are_apart() {
        assert_eq!(drawn(4, &edges("0-1,2-3")), None, "some distances are infinite");
        for (count, text) in [
            (2, "0-1"),
            (4, "0-1,0-2,0-3,1-2,1-3,2-3"),
            (7, "0-1,1-2,2-3,3-4,4-5,5-0,0-6,6-3"),
            (5, "0-1,0-2,0-3,0-4"),
            (5, "0-2,0-3,0-4,1-2,1-3,1-4"),
        ] {
            let at = drawn(count, &edges(text)).unwrap();
            for (i, a) in at.iter().enumerate() {
                let far = |b: &[f64; 2]| (a[0] - b[0]).hypot(a[1] - b[1]) > 1.5;
                assert!(at[..i].iter().all(far), "{text}: {at:?}");
            }
        }
    }
}
