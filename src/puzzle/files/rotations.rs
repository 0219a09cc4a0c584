//! Rotations of a whole puzzle, which twsearch does not count as moves.

use crate::puzzle::Generator;

/// Whether a name is that of a rotation: x, y or z, or capitals and a v.
fn is_rotation(name: &str) -> bool {
    let axis = name.strip_prefix(['x', 'y', 'z']);
    let grip = name.strip_suffix('v').filter(|grip| !grip.is_empty());
    let capital = |c: char| c.is_ascii_uppercase() || c == '_';
    axis.is_some_and(|rest| matches!(rest, "" | "2" | "'"))
        || grip.is_some_and(|grip| grip.chars().all(capital))
}

/// Returns the moves that are no rotations.
pub(super) fn without_rotations(mut generators: Vec<Generator>) -> Vec<Generator> {
    generators.retain(|generator| !is_rotation(&generator.name));
    generators
}
