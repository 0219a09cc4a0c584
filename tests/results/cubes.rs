//! The cube with three colours: its page, its file and its first levels agree.

use super::*;
use serde_json::{Value, json};
use tilewave::frontier::FrontierSearch;

/// Depth, positions, and positions up to symmetry, from the table of the page.
fn told() -> Vec<Vec<u64>> {
    let page = fs::read_to_string(results().join("three-colour-cube.md")).unwrap();
    let row = |line: &str| {
        let cells = line.split('|').map(|cell| cell.trim().replace(',', ""));
        cells.filter_map(|cell| cell.parse().ok()).collect::<Vec<u64>>()
    };
    page.lines().map(row).filter(|row| row.len() == 3).collect()
}

#[test]
fn the_three_colour_cube_is_as_its_page_says() {
    let told = told();
    assert!(told.iter().zip(0..).all(|(row, depth)| row[0] == depth));
    let [counts, reduced] = [1, 2].map(|column| told.iter().map(|row| row[column]).collect());
    let (counts, reduced): (Vec<u64>, Vec<u64>) = (counts, reduced);
    let path = results().join("cubes/three-colour-cube.json");
    let file: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    assert_eq!(file["counts"], json!(counts));
    assert_eq!(file["lists"]["reduced"], json!(reduced));
    assert_eq!(file["complete"], true);
    assert_eq!(file["diameter"], told.len() - 1);
    // Tetrads and orientations of corners, places and orientations of edges; classes by Burnside's lemma.
    assert_eq!(counts.iter().sum::<u64>(), 70 * 3u64.pow(7) * 34_650 * 2048);
    assert_eq!(reduced.iter().sum::<u64>(), 226_331_259_372);
    // A search that has another representation of everything.
    let word = results().join("cubes/three-colour-cube.tws").to_str().unwrap().into();
    let cube = PuzzleSpec { word, ..PuzzleSpec::default() }.listed().unwrap();
    assert_eq!(cube.states().unwrap().to_string(), counts.iter().sum::<u64>().to_string());
    let found = FrontierSearch::new(cube).max_depth(5).run().unwrap();
    assert_eq!(found.counts, counts[..6]);
    assert_eq!(found.reduced().unwrap(), &reduced[..6]);
}
