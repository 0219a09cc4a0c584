//! Text that somebody wrote, in errors.

/// Returns the beginning of a text, at most `most` characters: control characters are escaped, so that they do
/// nothing to a terminal.
pub(in crate::puzzle) fn shown(text: &str, most: usize) -> String {
    let mut shown = String::new();
    for c in text.chars().take(most) {
        match c.is_control() {
            true => shown.extend(c.escape_default()),
            false => shown.push(c),
        }
    }
    shown
}
