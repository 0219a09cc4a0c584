//! Puzzles other than boards in table files: everything that a reader needs, as JSON.
//!
//! Invariant: what is read numbers the states as what was written did.

use serde::{Deserialize, Serialize};

use crate::puzzle::{Definition, Generator, Permutation, Reading, States};

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Text {
    name: String,
    labels: Vec<usize>,
    generators: Vec<Move>,
    path: Vec<usize>,
    orders: Vec<Vec<usize>>,
    home: usize,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Move {
    name: String,
    images: Vec<usize>,
}

/// Returns the states of a puzzle as text.
pub(super) fn encode(states: &States) -> Vec<u8> {
    let (definition, reading) = (states.definition(), states.reading());
    let images = |g: &Generator| {
        (0..g.permutation.len())
            .map(|p| g.permutation.image(p))
            .collect()
    };
    let generators = definition.generators().iter();
    let text = Text {
        name: definition.name().into(),
        labels: definition.labels().to_vec(),
        generators: generators
            .map(|g| Move {
                name: g.name.clone(),
                images: images(g),
            })
            .collect(),
        path: reading.path().to_vec(),
        orders: (0..definition.positions())
            .map(|cell| reading.order(cell).to_vec())
            .collect(),
        home: states.home(),
    };
    serde_json::to_vec(&text).expect("numbers and names are JSON")
}

/// Returns the states of a puzzle from text, `None` when it is not what [`encode`] writes.
pub(super) fn decode(bytes: &[u8]) -> Option<States> {
    let text: Text = serde_json::from_slice(bytes).ok()?;
    let generator = |of: Move| {
        let permutation = Permutation::new(&of.images).ok()?;
        let name = of.name;
        Some(Generator { name, permutation })
    };
    let generators = text.generators.into_iter().map(generator);
    let positions = text.labels.len();
    let definition = Definition::new(text.name, positions, generators.collect::<Option<_>>()?);
    let definition = definition.ok()?.labelled(&text.labels).ok()?;
    let reading = Reading::from_orders(text.path, text.orders)?;
    if reading.path().len() != positions {
        return None;
    }
    let states = States::read_by(definition, reading);
    (states.home() == text.home && encode(&states) == bytes).then_some(states)
}
