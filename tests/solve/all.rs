//! All solutions, against plain searches that count paths.

use std::collections::BTreeSet;

use tilewave::{
    NoProgress, Optimal, Resources,
    pdb::Build,
    pruning::{CosetTable, PruningTable},
    puzzle::{
        Arrangement, Board, Direction, Goal, Metric, MoveMetric, MoveStyle, Moves, Puzzle,
        PuzzleSpec, Transformation, Turns, Variant, named,
    },
    random::SplitMix64,
    solve::{PuzzleSolver, Scrambler, SolutionRange, StateSolver, default_patterns},
    table::TableEncoding,
};

use super::{board, goal, mixed, walked};
use crate::plain::{HashMap, HashSet, of_boards, of_puzzle, search};

/// The words from a state that end at the first solved state they come to, with exactly so many moves. `far` returns a
/// lower bound.
fn paths<S: Clone>(
    at: &S,
    left: usize,
    moves: &dyn Fn(&S) -> Vec<(usize, S)>,
    far: &dyn Fn(&S) -> usize,
    word: &mut Vec<usize>,
    all: &mut Vec<Vec<usize>>,
) {
    let distance = far(at);
    if distance == 0 || left == 0 {
        if (distance, left) == (0, 0) {
            all.push(word.clone());
        }
        return;
    }
    for (one, next) in moves(at).into_iter().filter(|_| distance <= left) {
        word.push(one);
        paths(&next, left - 1, moves, far, word, all);
        word.pop();
    }
}

/// What all solutions of a puzzle are compared with: nothing but the effects of its moves.
struct Oracle<'a> {
    puzzle: &'a Puzzle,
    far: &'a dyn Fn(&Arrangement) -> usize,
    /// For each move, the first one of the same axis: the names of its moves differ in their suffixes.
    axis: Vec<usize>,
    /// Which moves commute with all of their axes.
    commute: Vec<Vec<bool>>,
    /// The effects of one move or of none; for each axis, those of up to two of its moves.
    short: HashSet<Transformation>,
    short_of_axis: Vec<HashSet<Transformation>>,
}

impl<'a> Oracle<'a> {
    fn new(puzzle: &'a Puzzle, far: &'a dyn Fn(&Arrangement) -> usize) -> Oracle<'a> {
        let (axis, commute) = (Vec::new(), Vec::new());
        let (short, short_of_axis) = (HashSet::default(), Vec::new());
        let mut oracle = Oracle { puzzle, far, axis, commute, short, short_of_axis };
        let moves = 0..puzzle.moves().len();
        let name = |one: usize| puzzle.moves()[one].name.trim_end_matches(['\'', '2', '3', '4']);
        oracle.axis =
            moves.clone().map(|one| (0..=one).find(|&at| name(at) == name(one)).unwrap()).collect();
        let of = |axis| moves.clone().filter(move |&one| name(one) == name(axis));
        let same = |a, b| oracle.effect(&[a, b]) == oracle.effect(&[b, a]);
        let all = |a, b| oracle.is_free() && of(a).all(|a| of(b).all(|b| same(a, b)));
        oracle.commute =
            moves.clone().map(|a| moves.clone().map(|b| all(a, b)).collect()).collect();
        let single = moves.clone().map(|one| oracle.effect(&[one]));
        oracle.short = single.chain([oracle.effect(&[])]).collect();
        let pairs = |axis: usize| {
            let pairs = of(axis).flat_map(|a| of(axis).map(move |b| (a, b)));
            let all = pairs.flat_map(|(a, b)| [oracle.effect(&[a]), oracle.effect(&[a, b])]);
            all.chain([oracle.effect(&[])]).collect()
        };
        oracle.short_of_axis = moves.clone().map(pairs).collect();
        oracle
    }

    fn is_free(&self) -> bool {
        self.puzzle.moves().iter().all(|one| one.requires.is_none())
    }

    fn effect(&self, word: &[usize]) -> Transformation {
        let sets = self.puzzle.sets();
        let moves = self.puzzle.moves();
        let none = Transformation::identity(sets);
        word.iter().fold(none, |all, &one| all.then(&moves[one].transformation, sets))
    }

    /// The words that count as one with a word: pairs of moves that commute are exchanged, and pairs of one axis
    /// replaced by others with the same effect.
    fn class(&self, word: &[usize]) -> BTreeSet<Vec<usize>> {
        let mut class = BTreeSet::from([word.to_vec()]);
        let mut open = vec![word.to_vec()];
        let count = self.puzzle.moves().len();
        while let Some(word) = open.pop() {
            for at in 1..word.len() {
                let (a, b) = (word[at - 1], word[at]);
                let mut pairs = Vec::new();
                if self.axis[a] == self.axis[b] {
                    let own: Vec<usize> =
                        (0..count).filter(|&one| self.axis[one] == self.axis[a]).collect();
                    pairs.extend(own.iter().flat_map(|&c| own.iter().map(move |&d| (c, d))));
                    pairs.retain(|&(c, d)| self.effect(&[c, d]) == self.effect(&[a, b]));
                } else if self.commute[a][b] {
                    pairs.push((b, a));
                }
                for (c, d) in pairs {
                    let mut other = word.clone();
                    (other[at - 1], other[at]) = (c, d);
                    if class.insert(other.clone()) {
                        open.push(other);
                    }
                }
            }
        }
        class
    }

    /// Whether some moves next to each other can be written as fewer: two as one or none, or, of one axis, three as two.
    fn is_long(&self, word: &[usize]) -> bool {
        let none = self.effect(&[]);
        let pairs = word.windows(2).map(|pair| self.effect(pair));
        if !self.is_free() {
            return pairs.into_iter().any(|effect| effect == none);
        }
        let same = |part: &&[usize]| part.iter().all(|&one| self.axis[one] == self.axis[part[0]]);
        let mut triples = word.windows(3).filter(same);
        pairs.into_iter().any(|effect| self.short.contains(&effect))
            || triples.any(|part| self.short_of_axis[part[0]].contains(&self.effect(part)))
    }

    /// The solutions of a length, each as the first of its class.
    fn solutions(&self, state: &Arrangement, length: usize, longer: bool) -> BTreeSet<Vec<usize>> {
        let moves = |at: &Arrangement| {
            let all = 0..self.puzzle.moves().len();
            all.filter_map(|one| Some((one, self.puzzle.moved(at, one)?))).collect()
        };
        let mut all = Vec::new();
        paths(state, length, &moves, self.far, &mut Vec::new(), &mut all);
        // A class with such a word does not count.
        all.retain(|word| !longer || !self.is_long(word));
        let (mut known, mut found) = (HashSet::default(), BTreeSet::new());
        for word in all {
            if known.contains(&word) {
                continue;
            }
            let class = self.class(&word);
            known.extend(class.iter().cloned());
            let order = |word: &&Vec<usize>| -> Vec<(usize, usize)> {
                word.iter().map(|&one| (self.axis[one], one)).collect()
            };
            let first = class.iter().min_by_key(order).unwrap();
            let (mut at, mut seen) = (state.clone(), HashSet::from_iter([state.clone()]));
            let is_simple = first.iter().all(|&one| {
                at = self.puzzle.moved(&at, one).unwrap();
                seen.insert(at.clone())
            });
            if !longer || is_simple && !class.iter().any(|word| self.is_long(word)) {
                found.insert(first.clone());
            }
        }
        found
    }
}

/// Compares all solutions of some states; returns how many there were.
fn compare(
    oracle: &Oracle<'_>,
    solver: &PuzzleSolver,
    states: &[Arrangement],
    slack: usize,
) -> u64 {
    let (puzzle, mut total) = (oracle.puzzle, 0);
    for state in states {
        let range = SolutionRange { slack, most: None, kept: true };
        let all = solver.solve_all_with(state, &range, &NoProgress).unwrap();
        let shortest = all.shortest.moves.as_ref().unwrap().len();
        assert!(all.is_complete);
        let slack = if shortest == 0 { 0 } else { slack };
        let mut expected = Vec::new();
        let mut counts = Vec::new();
        for length in shortest..=shortest + slack {
            let words = oracle.solutions(state, length, length > shortest);
            counts.push(words.len() as u64);
            expected.extend(words.iter().map(|word| {
                let names = word.iter().map(|&one| puzzle.moves()[one].name.clone());
                names.collect::<Vec<String>>()
            }));
        }
        let text = puzzle.text(state);
        assert_eq!(all.counts, counts, "{puzzle} {text}");
        assert_eq!(all.moves.as_ref().unwrap(), &expected, "{puzzle} {text}");
        // A limit leaves the same ones, whatever the number of threads.
        let counted = SolutionRange { kept: false, ..range };
        let number = solver.solve_all_with(state, &counted, &NoProgress).unwrap();
        assert_eq!((&number.counts, &number.moves), (&counts, &None));
        let sum: u64 = counts.iter().sum();
        for most in [1, sum.div_ceil(2), sum, sum + 1] {
            let range = SolutionRange { most: Some(most), ..range };
            let of = |threads| {
                let resources = Resources::new().threads(threads);
                let solve = || solver.solve_all_with(state, &range, &NoProgress).unwrap();
                resources.install(solve).unwrap()
            };
            let (some, one) = (of(3), of(1));
            assert_eq!(
                (&some.moves, &some.counts, some.shortest.nodes, some.is_complete),
                (&one.moves, &one.counts, one.shortest.nodes, most >= sum),
                "{puzzle} {text} {most}"
            );
            let some = some.moves.unwrap();
            assert_eq!(some.len() as u64, most.min(sum));
            assert!(some.iter().all(|moves| expected.contains(moves)), "{puzzle} {text} {most}");
        }
        total += sum;
    }
    total
}

fn part(name: &str, turns: Turns, pieces: &[&str]) -> Puzzle {
    let puzzle = named::parse(name).unwrap().counting(turns).unwrap();
    let pieces: Vec<String> = pieces.iter().map(|&piece| piece.into()).collect();
    if pieces.is_empty() { puzzle } else { puzzle.keeping(&pieces).unwrap() }
}

/// A board some of whose tiles look alike.
fn colours(size: &str, metric: Metric, same: &[&str]) -> Puzzle {
    let same = same.iter().map(|&tiles| tiles.into()).collect();
    let variant = Variant { same, ..Variant::default() };
    let metric = Some(MoveMetric::Slides(metric));
    PuzzleSpec { metric, variant, ..PuzzleSpec::of(size) }.listed().unwrap()
}

/// Through tables of all states and of parts, of puzzles whose moves commute, whose pieces look alike, whose moves
/// cannot be reversed, or depend on a piece.
#[test]
fn all_solutions_are_those_of_a_plain_search() {
    let graph = "graph:0-1,1-2,3-4,4-5,6-7,7-8,0-3,1-4,2-5,3-6,4-7,5-8";
    let mut most = 0;
    for (puzzle, parts, slack) in [
        (part("2x2x2", Turns::Powers, &[]), &["corners:1-4", "corners:4-7"][..], 1),
        (part("2x2x2", Turns::Quarter, &["corners:1-5"]), &["corners"], 2),
        (part("2x2x2", Turns::Directed, &["corners:1-3"]), &["corners"], 2),
        // Moves of opposite faces commute, and pieces look alike.
        (part("3x3x3", Turns::Powers, &["edges:1-3"]), &["edges:1-2", "edges"], 1),
        (part("3x3x3", Turns::Quarter, &["corners:1-2"]), &["corners"], 2),
        // A commutes with B and B with C, but A not with C.
        (part("megaminx", Turns::Powers, &["corners:1-2"]), &["corners"], 0),
        (part("kilominx", Turns::Quarter, &["corners:1-2"]), &["corners"], 1),
        (part("skewb", Turns::Powers, &["corners", "corners2"]), &["corners", "corners2"], 1),
        (part("4x4x4", Turns::Powers, &["corners:1-2"]), &["corners"], 0),
        (Puzzle::of_graph(graph).unwrap().unwrap(), &["1-4", "5-8"], 2),
        (colours("3x3", Metric::Stm, &["1-4", "5-8"]), &["1", "2"], 1),
        (colours("2x4", Metric::Mtm, &["2-3", "4-6"]), &["1-2", "2-4"], 1),
        (colours("3x3", Metric::Mtm, &[]), &["1-4", "5-8"], 0),
    ] {
        let name = |word: &str| match word.contains(char::is_alphabetic) {
            true => word.to_string(),
            false => format!("tiles:{word}"),
        };
        let truth = PruningTable::build(&puzzle, TableEncoding::Byte, Resources::new()).unwrap();
        let far = |state: &Arrangement| truth.depth(state).unwrap().unwrap();
        let oracle = Oracle::new(&puzzle, &far);
        let mut random = SplitMix64::new(11);
        let build = |of: &Puzzle| PruningTable::build(of, TableEncoding::Byte, Resources::new());
        let tables = parts.iter().map(|part| {
            let of = puzzle.clone().keeping(&[name(part)]);
            build(&of.unwrap_or_else(|error| panic!("{puzzle}: {error}"))).unwrap()
        });
        let solver = PuzzleSolver::new(puzzle.clone(), tables).unwrap();
        // Those that do not have thousands.
        let range = SolutionRange { slack, most: Some(20), kept: false };
        let has_few = |state: &Arrangement| {
            solver.solve_all_with(state, &range, &NoProgress).unwrap().is_complete
        };
        let mixed = (0..10).map(|moves| mixed(&puzzle, moves, &mut random)).filter(has_few);
        let states: Vec<Arrangement> = mixed.take(5).collect();
        let total = compare(&oracle, &solver, &states, slack);
        assert!(states.len() > 2, "{puzzle}: {}", states.len());
        most = most.max(total);
        let whole = PuzzleSolver::new(puzzle.clone(), [build(&puzzle).unwrap()]).unwrap();
        assert_eq!(compare(&oracle, &whole, &states, slack), total, "{puzzle}");
    }
    assert!(most > 10, "{most}");
}

/// A solution ends at the first of several goals.
#[test]
fn solutions_of_several_goals_end_at_the_first_one() {
    let goals = ["U U'", "U", "U2", "U'", "R U"].map(String::from).to_vec();
    let pieces = vec!["corners:1-4".into()];
    let variant = Variant { pieces, goals, ..Variant::default() };
    let puzzle = variant.of(named::parse("2x2x2").unwrap(), Turns::Powers).unwrap();
    assert_eq!(puzzle.goals().len(), 5);
    let truth = PruningTable::build(&puzzle, TableEncoding::Byte, Resources::new()).unwrap();
    let far = |state: &Arrangement| truth.depth(state).unwrap().unwrap();
    let oracle = Oracle::new(&puzzle, &far);
    let mut random = SplitMix64::new(2);
    let states: Vec<Arrangement> = (3..9).map(|moves| mixed(&puzzle, moves, &mut random)).collect();
    let table = PruningTable::build(&puzzle, TableEncoding::Byte, Resources::new()).unwrap();
    let solver = PuzzleSolver::new(puzzle.clone(), [table]).unwrap();
    assert!(compare(&oracle, &solver, &states, 1) > 20);
}

/// From both ends: states that symmetries keep, whose subtrees are usually searched once for all of them.
#[test]
fn all_solutions_from_both_ends_are_those_of_a_plain_search() {
    for (turns, slack) in [(Turns::Powers, 1), (Turns::Quarter, 0)] {
        let puzzle = part("3x3x3", turns, &[]);
        let near = of_puzzle(&puzzle, vec![puzzle.solved()], 4).0;
        let far = |state: &Arrangement| near.get(state).copied().unwrap_or(5);
        let oracle = Oracle::new(&puzzle, &far);
        let table = CosetTable::build(&puzzle, 4 << 20, Resources::new()).unwrap();
        let solver = PuzzleSolver::two_sided(table).unwrap();
        let words = ["", "R", "U D", "R2 L2 U2 D2", "U D R L", "R U R' U'", "R2 U2 R2 U2 R2 U2"];
        let read = |word: &&str| puzzle.read(word).unwrap().0;
        let states: Vec<Arrangement> = words.iter().map(read).collect();
        let states = &states[..if turns == Turns::Powers { 7 } else { 5 }];
        let total = compare(&oracle, &solver, states, slack);
        // Some states have several.
        assert!(total > states.len() as u64, "{turns:?}: {total}");
    }
}

#[test]
fn all_solutions_of_boards_are_those_of_a_plain_search() {
    for (size, blank, slack) in [("2x3", "last", 4), ("3x3", "last", 2), ("3x3", "first", 0)] {
        let goal = goal(blank, size.parse().unwrap());
        let far = of_boards(&goal);
        let build = |pattern| Build::new(pattern).run().unwrap();
        let pdbs = default_patterns(&goal).unwrap().into_iter().map(build);
        let solver = Optimal::new(&goal, pdbs).unwrap();
        let mut random = SplitMix64::new(4);
        let mut boards: Vec<Board> = Scrambler::new(goal.clone(), 3).take(3).collect();
        boards.push(goal.clone());
        // One of the two that take most moves.
        boards.extend((size == "3x3" && blank == "last").then(|| board("8 6 7/2 5 4/3 0 1")));
        boards.extend((0..8).map(|moves| walked(&goal, 2 * moves, &mut random)));
        let mut total = 0;
        for start in &boards {
            let shortest = far[start];
            let slack = if shortest == 0 { 0 } else { slack };
            let moves = |at: &Board| {
                at.neighbours().map(|(direction, next)| (direction as usize, next)).collect()
            };
            let distance = |at: &Board| far[at];
            let (mut expected, mut counts) = (Vec::new(), Vec::new());
            for length in shortest..=shortest + slack {
                let mut all = Vec::new();
                paths(start, length, &moves, &distance, &mut Vec::new(), &mut all);
                let is_simple = |word: &Vec<usize>| {
                    let (mut at, mut seen) = (start.clone(), HashSet::from_iter([start.clone()]));
                    word.iter().all(|&one| {
                        at = at.slide(Direction::ALL[one]).unwrap();
                        seen.insert(at.clone())
                    })
                };
                all.retain(is_simple);
                all.sort_unstable();
                counts.push(all.len() as u64);
                expected.extend(
                    all.iter()
                        .map(|word| Moves(word.iter().map(|&one| Direction::ALL[one]).collect())),
                );
            }
            let range = SolutionRange { slack, most: None, kept: true };
            let all = solver.solve_all_with(start, &range, &NoProgress).unwrap();
            assert_eq!((&all.counts, all.is_complete), (&counts, true), "{start}");
            assert_eq!(all.moves.unwrap(), expected, "{start}");
            total += counts.iter().sum::<u64>();
        }
        assert!(total > boards.len() as u64, "{size}: {total}");
    }
}

/// Project Euler 244: from three columns of colours to a chequerboard, by counting paths in the whole graph. The checksum is
/// that of the problem, whose answer is known.
#[test]
fn the_slider_of_project_euler_has_one_shortest_solution() {
    let goal = Goal::Board("0 8 1 9/10 2 11 3/4 12 5 13/14 6 15 7".into());
    let variant =
        Variant { same: ["1-7", "8-15"].map(String::from).to_vec(), ..Variant::default() };
    let spec = PuzzleSpec { goal: Some(goal), variant, ..PuzzleSpec::of("4x4") };
    let puzzle = spec.listed().unwrap();
    let (start, _) = puzzle.read("0 1 2 2/1 1 2 2/1 1 2 2/1 1 2 2").unwrap();
    let colours = |state: &Arrangement| -> Vec<u8> { state.0[0].iter().map(|t| t.kind).collect() };
    let (from, to) = (colours(&start), colours(&puzzle.solved()));
    let mut level = HashMap::from_iter([(from.clone(), 1u64)]);
    let (mut seen, mut depth) = (HashSet::from_iter([from]), 0);
    while !level.contains_key(&to) {
        let mut next: HashMap<Vec<u8>, u64> = HashMap::default();
        for (state, ways) in &level {
            let blank = state.iter().position(|&tile| tile == 0).unwrap();
            let (row, col) = (blank / 4, blank % 4);
            let cells = [
                (row > 0).then(|| blank - 4),
                (row < 3).then(|| blank + 4),
                (col > 0).then(|| blank - 1),
                (col < 3).then(|| blank + 1),
            ];
            for cell in cells.into_iter().flatten() {
                let mut after = state.clone();
                after.swap(blank, cell);
                if !seen.contains(&after) {
                    *next.entry(after).or_default() += ways;
                }
            }
        }
        seen.extend(next.keys().cloned());
        (level, depth) = (next, depth + 1);
    }
    let table = PruningTable::build(&puzzle, TableEncoding::Byte, Resources::new()).unwrap();
    assert_eq!(table.depth(&start).unwrap(), Some(depth));
    let solver = PuzzleSolver::new(puzzle.clone(), [table]).unwrap();
    let range = SolutionRange { slack: 0, most: None, kept: true };
    let all = solver.solve_all_with(&start, &range, &NoProgress).unwrap();
    assert_eq!((all.counts[0], depth), (level[&to], 32));
    let text = puzzle.sequence_style().text(&all.moves.unwrap()[0]);
    let moves = Moves::parse(&text, MoveStyle::Tile).unwrap().long(MoveStyle::Tile);
    let checksum =
        moves.bytes().fold(0u64, |sum, letter| (sum * 243 + u64::from(letter)) % 100_000_007);
    assert_eq!((moves.len(), checksum), (32, 96_356_848));
}

/// The T permutation of the last layer: a plain search from both ends, whose words are those in which moves of opposite faces
/// stand in order.
#[test]
fn the_t_permutation_has_the_solutions_of_a_plain_search() {
    let cube = part("3x3x3", Turns::Powers, &[]);
    type Row = [u8; 20];
    let row = |state: &Arrangement| -> Row {
        let codes = state.0.iter().flatten().map(|piece| piece.kind * 3 + piece.turn);
        codes.collect::<Vec<u8>>().try_into().unwrap()
    };
    let moduli: Vec<u8> =
        cube.sets().iter().flat_map(|set| vec![set.orientations; set.positions()]).collect();
    let moves: Vec<Vec<(usize, u8)>> = cube
        .moves()
        .iter()
        .map(|one| {
            let mut all = Vec::new();
            for turn in &one.transformation.0 {
                let first = all.len();
                let sources = turn.source.iter().map(|&from| first + usize::from(from));
                all.extend(sources.zip(turn.twist.iter().copied()).collect::<Vec<_>>());
            }
            all
        })
        .collect();
    let after = |at: &Row, one: usize| -> Row {
        std::array::from_fn(|place| {
            let (from, twist) = moves[one][place];
            let (piece, turn) = (at[from] / 3, at[from] % 3);
            piece * 3 + (turn + twist) % moduli[place]
        })
    };
    let (start, _) = cube.read("R U R' U' R' F R2 U' R' U' R U R' F'").unwrap();
    let solved = row(&cube.solved());
    // That is what the moves do.
    for one in 0..moves.len() {
        assert_eq!(after(&solved, one), row(&cube.moved(&cube.solved(), one).unwrap()));
    }
    let around = |at: &[u8; 20]| (0..moves.len()).map(|one| after(at, one)).collect::<Vec<_>>();
    let near = search([solved], |depth, _| depth <= 5, around).0;
    // For each move, its face, and the axis of the face.
    let face: Vec<usize> =
        cube.moves().iter().map(|one| "UDFBLR".find(&one.name[..1]).unwrap()).collect();
    let in_order = |word: &[usize]| {
        word.windows(2).all(|pair| {
            let (one, next) = (face[pair[0]], face[pair[1]]);
            one != next && (one / 2 != next / 2 || one < next)
        })
    };
    let mut words: BTreeSet<Vec<usize>> = BTreeSet::new();
    let mut length = usize::MAX;
    let mut open: Vec<(Row, Vec<usize>)> = vec![(row(&start), Vec::new())];
    while let Some((at, word)) = open.pop() {
        if let Some(&left) = near.get(&at)
            && (word.len() == 6 || left == 0)
            && word.len() + left <= length
        {
            if word.len() + left < length {
                (words, length) = (BTreeSet::new(), word.len() + left);
            }
            // All ways down from there.
            let mut ends = vec![(at, word.clone())];
            while let Some((at, word)) = ends.pop() {
                let left = near[&at];
                if left == 0 && in_order(&word) {
                    words.insert(word);
                    continue;
                }
                for one in 0..moves.len() {
                    let to = after(&at, one);
                    if near.get(&to).is_some_and(|&next| next + 1 == left) {
                        ends.push((to, [&word[..], &[one]].concat()));
                    }
                }
            }
        }
        if word.len() < 6 {
            for one in 0..moves.len() {
                let next = [&word[..], &[one]].concat();
                if in_order(&next) {
                    open.push((after(&at, one), next));
                }
            }
        }
    }
    let table = CosetTable::build(&cube, 4 << 20, Resources::new()).unwrap();
    let solver = PuzzleSolver::two_sided(table).unwrap();
    let range = SolutionRange { slack: 0, most: None, kept: true };
    let all = solver.solve_all_with(&start, &range, &NoProgress).unwrap();
    let number = |name: &String| cube.moves().iter().position(|one| one.name == *name).unwrap();
    let mut found: BTreeSet<Vec<usize>> = BTreeSet::new();
    for moves in all.moves.unwrap() {
        let mut word: Vec<usize> = moves.iter().map(number).collect();
        // The same solution with moves of opposite faces in order.
        while let Some(at) = (1..word.len()).find(|&at| {
            let (one, next) = (face[word[at - 1]], face[word[at]]);
            one / 2 == next / 2 && one > next
        }) {
            word.swap(at - 1, at);
        }
        assert!(found.insert(word), "{moves:?} is there twice");
    }
    assert_eq!((length, words.len()), (11, 20));
    assert_eq!(found, words);
}
