//! The frame of a page, and how text gets into it.

use serde_json::Value;

use super::super::one_key_per_line;
use crate::puzzle::tiles::Board;

/// What differs between pages.
pub(super) struct Page<'a> {
    /// Title of the window, plain text.
    pub title: &'a str,
    /// Styles beyond those that all pages share.
    pub style: &'a str,
    /// What stands on the page, HTML.
    pub body: &'a str,
    /// The program, which runs after the body has been read.
    pub script: &'a str,
}

impl Page<'_> {
    /// Returns the page, with `data` as JSON in the element `script#data`.
    pub fn render(&self, data: &Value) -> String {
        let style = [include_str!("base.css"), self.style].concat();
        // The name of an element would end the script; in JSON a `<` occurs in strings only.
        let data = one_key_per_line(data).replace('<', "\\u003c");
        fill(
            include_str!("page.html"),
            &[
                ("version", env!("CARGO_PKG_VERSION")),
                ("title", &escape(self.title)),
                ("style", &style),
                ("body", self.body),
                ("data", &data),
                ("script", self.script),
            ],
        )
    }
}

/// Returns a template with each `{{name}}` replaced by its value. Values are not read again: what looks
/// like a name in them stays.
pub(super) fn fill(template: &str, values: &[(&str, &str)]) -> String {
    let mut text = String::with_capacity(template.len());
    let mut parts = template.split("{{");
    text.push_str(parts.next().unwrap_or_default());
    for part in parts {
        let (name, rest) = part.split_once("}}").unwrap_or((part, ""));
        let value = values.iter().find(|(known, _)| *known == name);
        text.push_str(value.map_or("", |(_, value)| value));
        text.push_str(rest);
    }
    text
}

/// Returns text in a form that HTML reads back as this text, in elements and in quoted attributes.
pub(super) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            c => escaped.push(c),
        }
    }
    escaped
}

/// Returns a small picture of a board.
pub(super) fn miniature(board: &Board) -> String {
    let spans: String = board
        .tiles()
        .iter()
        .map(|&tile| match tile {
            0 => r#"<span class="gap"></span>"#.to_string(),
            tile => format!("<span>{tile}</span>"),
        })
        .collect();
    let (cols, cells) = (board.size().cols(), board.size().cells());
    let fit = if cells <= 100 { 40 } else { 31 };
    format!(
        r#"<div class="mini" role="img" aria-label="{board}" style="--cols:{cols};--fit:{fit}">{spans}</div>"#
    )
}
