//! Puzzles other than boards in files of this program: everything that a reader needs, as JSON.
//!
//! Invariant: what is read numbers the states as what was written did.

use serde::{Deserialize, Serialize};

use super::{Definition, Generator, Permutation, Reading, States};

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

impl States {
    /// Returns the states of a puzzle, but for the start, as text.
    pub fn to_text(&self) -> Vec<u8> {
        let (definition, reading) = (self.definition(), self.reading());
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
            home: self.home(),
        };
        serde_json::to_vec(&text).expect("numbers and names are JSON")
    }

    /// Returns the states of a puzzle from text, `None` when it is not what [`States::to_text`] writes.
    pub fn from_text(bytes: &[u8]) -> Option<States> {
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
        (states.home() == text.home && states.to_text() == bytes).then_some(states)
    }
}
