//! The frame of a page, how text is inserted into it, and what several pages have.

use serde_json::Value;

use crate::{
    puzzle::Board,
    report::{counted, one_key_per_line},
};

/// Returns a page with a plain title, styles in addition to those that all pages share, a body as HTML, a script that
/// runs after the body has been read, and `data` as JSON in the element `script#data`.
pub(super) fn page(title: &str, style: &str, body: &str, script: &str, data: &Value) -> String {
    let style = [include_str!("base.css"), style].concat();
    // The name of an element would end the script; in JSON, a `<` occurs only in strings.
    let data = one_key_per_line(data).replace('<', "\\u003c");
    fill(
        include_str!("page.html"),
        &[
            ("version", env!("CARGO_PKG_VERSION")),
            ("title", &escape(title)),
            ("style", &style),
            ("body", body),
            ("data", &data),
            ("script", script),
        ],
    )
}

/// Returns a template with each `{{name}}` replaced by its value. Values are not expanded again: text in them that
/// looks like a name is left as it is.
pub(crate) fn fill(template: &str, values: &[(&str, &str)]) -> String {
    let mut parts = template.split("{{");
    let mut text = parts.next().unwrap_or_default().to_string();
    for part in parts {
        let (name, rest) = part.split_once("}}").unwrap_or((part, ""));
        let value = values.iter().find(|(known, _)| *known == name);
        text += value.map_or("", |(_, value)| value);
        text += rest;
    }
    text
}

/// Escapes text so that HTML reads it back as the same text, in elements and in quoted attributes.
pub(crate) fn escape(text: &str) -> String {
    // The ampersand first: the others bring their own.
    [('&', "&amp;"), ('<', "&lt;"), ('>', "&gt;"), ('"', "&quot;"), ('\'', "&#39;")]
        .into_iter()
        .fold(text.to_string(), |text, (c, escaped)| text.replace(c, escaped))
}

/// Returns a small picture of a board.
pub(crate) fn miniature(board: &Board) -> String {
    tray(board.tiles(), board.size().cols(), 0, &board.to_string())
}

/// Returns a small picture of some tiles in columns; of those of a number of colours, each tile is the number of one.
pub(super) fn tray(tiles: &[u16], cols: usize, colours: u16, label: &str) -> String {
    let hue = |tile: u16| match colours {
        0 => String::new(),
        _ => format!(r#" class="hue" style="--hue:{}""#, 330 * tile / colours),
    };
    let span = |&tile: &u16| match tile {
        0 => r#"<span class="gap"></span>"#.to_string(),
        tile => format!("<span{}>{tile}</span>", hue(tile)),
    };
    let spans: String = tiles.iter().map(span).collect();
    let fit = if tiles.len() <= 100 { 40 } else { 31 };
    format!(
        r#"<div class="mini" role="img" aria-label="{label}" style="--cols:{cols};--fit:{fit}">{spans}</div>"#
    )
}

/// Maximum number of solutions that are drawn without scripts.
pub(super) const PLAIN: usize = 60;

/// Solutions that are drawn without scripts, and how many of all of them are not.
pub(super) fn more_solutions(drawn: String, all: usize) -> String {
    let more = match all.saturating_sub(PLAIN) {
        0 => String::new(),
        more => {
            let more = counted(more as u64, "more solution");
            format!("<p>JavaScript is needed to show {more}.</p>")
        }
    };
    format!("<section class=\"card\"><div class=\"pairs\">{drawn}</div>{more}</section>")
}

/// The list of boards or states without solutions, each with a picture and the reason; empty if there are none.
pub(super) fn refusals<'a>(noun: &str, refused: impl Iterator<Item = (String, &'a str)>) -> String {
    let one = |(picture, reason): (String, &str)| {
        format!("<div class=\"pair\">{picture}<p>{}</p></div>\n", escape(reason))
    };
    let pairs: Vec<String> = refused.map(one).collect();
    if pairs.is_empty() {
        return String::new();
    }
    let (count, pairs) = (counted(pairs.len() as u64, noun), pairs.concat());
    format!(
        "<section aria-label=\"Without a solution\">\
         <details class=\"card refused\" open><summary>{count} without a solution</summary>\
         <div class=\"pairs\">{pairs}</div></details></section>\n"
    )
}
