//! Searches by bitmap: their pages, their files and their first levels agree.

use super::*;
use serde_json::{Value, json};
use tilewave::{
    frontier::FrontierSearch,
    puzzle::{MoveMetric, Turns, Variant},
};

/// The numbers in the rows of the table below a heading of a page.
fn told(page: &str, heading: &str) -> Vec<Vec<u64>> {
    let page = fs::read_to_string(results().join(page)).unwrap();
    // All cells are numbers.
    let row = |line: &str| -> Option<Vec<u64>> {
        let cells = line.trim_matches('|').split('|');
        cells.map(|cell| cell.trim().replace(',', "").parse().ok()).collect()
    };
    let below = page.lines().skip_while(|line| *line != heading).skip(1);
    let section = below.take_while(|line| !line.starts_with('#'));
    section.filter_map(row).collect()
}

/// A table of a page with its report, the puzzle, and the numbers of all positions, as they are and up to symmetry. The
/// report has so many positions for each one of the table.
struct Told<'a> {
    page: &'a str,
    heading: &'a str,
    file: &'a str,
    spec: PuzzleSpec,
    each: u64,
    states: u64,
    /// If the search knows them.
    classes: Option<u64>,
}

impl Told<'_> {
    fn check(self) {
        let told = told(self.page, self.heading);
        assert!(told.len() > 8 && told.iter().zip(0..).all(|(row, depth)| row[0] == depth));
        let column = |at: usize| told.iter().map(|row| row.get(at).copied()).collect();
        let (counts, reduced): (Option<Vec<u64>>, Option<Vec<u64>>) = (column(1), column(2));
        let counts = counts.unwrap();
        let path = results().join("bitmaps").join(self.file);
        let file: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
        let all: Vec<u64> = counts.iter().map(|count| count * self.each).collect();
        assert_eq!(file["counts"], json!(all));
        assert_eq!(file["lists"]["reduced"], json!(reduced));
        assert_eq!(file["complete"], true);
        assert_eq!(file["diameter"], told.len() - 1);
        assert_eq!(counts.iter().sum::<u64>(), self.states);
        assert_eq!(reduced.as_ref().map(|reduced| reduced.iter().sum::<u64>()), self.classes);
        // A search that has another representation of everything.
        let puzzle = self.spec.listed().unwrap();
        assert_eq!(puzzle.states().unwrap(), (self.states * self.each).into());
        let found = FrontierSearch::new(puzzle).max_depth(5).run().unwrap();
        assert_eq!(found.counts, all[..6]);
        if let Some(reduced) = reduced {
            assert_eq!(found.reduced().unwrap(), &reduced[..6]);
        }
    }
}

#[test]
fn the_three_colour_cube_is_as_its_page_says() {
    for (heading, file, turns) in [
        ("## Quarter turns and half turns", "three-colour-cube.json", Turns::Powers),
        ("## Quarter turns", "three-colour-cube-qtm.json", Turns::Quarter),
    ] {
        let word = results().join("bitmaps/three-colour-cube.tws").to_str().unwrap().into();
        Told {
            page: "three-colour-cube.md",
            heading,
            file,
            spec: PuzzleSpec {
                word,
                metric: Some(MoveMetric::Turns(turns)),
                ..PuzzleSpec::default()
            },
            each: 1,
            // Tetrads and orientations of corners, places and orientations of edges; classes by Burnside's lemma.
            states: 70 * 3u64.pow(7) * 34_650 * 2048,
            classes: Some(226_331_259_372),
        }
        .check();
    }
}

#[test]
fn puzzles_searched_by_bitmap_are_as_their_page_says() {
    let of = |word: &str, variant: Variant| PuzzleSpec { variant, ..PuzzleSpec::of(word) };
    let names = |all: &[&str]| all.iter().map(|name| name.to_string()).collect::<Vec<_>>();
    let goals = fs::read_to_string(results().join("bitmaps/fto-goals.txt")).unwrap();
    let fto = |goals: Vec<String>| {
        of("fto", Variant { pieces: names(&["corners", "edges"]), goals, ..Variant::default() })
    };
    // Corners in even arrangements, their orientations, edges in even arrangements; classes by Burnside's lemma.
    let states = 360 * 32 * 239_500_800;
    let all = [
        (
            "## The octahedron without its centres",
            "fto-corners-edges",
            fto(Vec::new()),
            (1, 57_480_505_608),
        ),
        (
            "### However the octahedron lies",
            "fto-corners-edges-turned",
            fto(goals.lines().map(str::to_string).collect()),
            (12, 4_790_107_248),
        ),
    ];
    for (heading, file, spec, (each, classes)) in all {
        let told = Told {
            page: "bitmap-searches.md",
            heading,
            file: &format!("{file}.json"),
            spec,
            each,
            states: states / each,
            classes: Some(classes),
        };
        told.check();
    }
    let moves = names(&["U", "R", "F"]);
    Told {
        page: "bitmap-searches.md",
        heading: "## Three faces of the kilominx",
        file: "kilominx-urf.json",
        spec: of("kilominx", Variant { moves, ..Variant::default() }),
        each: 1,
        // Ten corners in even arrangements, and their orientations.
        states: 1_814_400 * 3u64.pow(9),
        classes: None,
    }
    .check();
}
