//! The report of a search as a page: summary, chart, table, the boards of the last depth, provenance.

use std::fmt::Write;

use serde_json::json;

use super::super::histogram::share;
use super::super::{Report, counted, thousands, title};
use super::page::{Page, escape, fill, miniature};
use crate::Error;
use crate::bfs::{Outcome, StateSpace};
use crate::puzzle::tiles::{Board, Metric, Size};

/// The most boards of the last depth that a page draws: ask the search to keep as many
/// ([`crate::bfs::Search::keep_last`]).
pub const LAST_DRAWN: usize = 60;

/// Boards that are not folded away.
const SHOWN: usize = 6;

/// The facts that head the page; the others stand at its end.
const NUMBERS: [&str; 4] = ["states", "diameter", "antipodes", "mean depth"];

impl Report<'_> {
    /// Returns the report as a page: one file of 17 kB, 160 bytes per depth and 400 per board
    /// drawn, which needs no network.
    ///
    /// It draws the boards of the last depth, and lists the states of other puzzles, as far as the search kept them, at
    /// most [`LAST_DRAWN`], and says how many are left out. Scripts find all figures in the element `script#data`, as
    /// JSON: the object of [`Report::json`] under `search`, these boards or states under `last`.
    ///
    /// # Errors
    /// What [`StateSpace::new`] returns.
    pub fn html(&self) -> Result<String, Error> {
        let outcome = self.outcome;
        let title = title(
            &outcome.subject.to_string(),
            &outcome.counts,
            outcome.complete,
        );
        let last = last_states(outcome)?;
        let mood = match (self.published, self.difference) {
            (_, Some(_)) => "bad",
            (Some(_), None) => "good",
            (None, None) => "",
        };
        let (numbers, mut facts): (Vec<_>, Vec<_>) = self
            .facts()
            .into_iter()
            .partition(|(name, _)| NUMBERS.contains(name));
        let machine = &self.machine;
        let cpu = machine.cpu.as_deref().unwrap_or(machine.arch);
        let cores = counted(machine.cores as u64, "core");
        facts.push(("machine", format!("{cpu}, {cores}, {}", machine.os)));
        facts.push(("version", format!("tilewave {}", env!("CARGO_PKG_VERSION"))));
        #[cfg(feature = "plot")]
        let chart = crate::report::Chart::of(outcome).svg();
        #[cfg(not(feature = "plot"))]
        let chart = String::from("<p>The chart needs JavaScript; the table has its numbers.</p>");
        let body = fill(
            include_str!("search.html"),
            &[
                ("title", &escape(&title)),
                ("moves", moves(outcome)),
                ("mood", mood),
                ("agreement", &escape(&self.published_line())),
                ("boards", &ends(outcome)),
                ("numbers", &definitions(&numbers)),
                ("chart", &chart),
                ("last", &gallery(outcome, &last)),
                ("rows", &rows(outcome)),
                ("facts", &definitions(&facts)),
            ],
        );
        let page = Page {
            title: &title,
            style: include_str!("search.css"),
            body: &body,
            script: concat!(include_str!("chart.js"), "\n", include_str!("search.js")),
        };
        let last: Vec<&str> = last.iter().map(|(text, _)| text.as_str()).collect();
        Ok(page.render(&json!({"search": self.json(), "last": last})))
    }
}

/// What counts as one move.
fn moves(outcome: &Outcome) -> &'static str {
    match outcome.subject.metric() {
        Some(Metric::Stm) => "one tile a move",
        Some(Metric::Mtm) => "any number of tiles a move",
        None => "one generator a move",
    }
}

/// A state in the puzzle's own words, and as HTML.
type Shown = (String, String);

/// The states of the last depth that are shown: boards drawn, others written.
fn last_states(outcome: &Outcome) -> Result<Vec<Shown>, Error> {
    let space = StateSpace::of(outcome.subject.clone())?;
    let states = outcome.last.iter().take(LAST_DRAWN);
    let shown = states.map(|&state| {
        let text = space.text(state);
        let picture = match space.board(state) {
            Some(board) => miniature(&board),
            None => format!("<code>{}</code>", escape(&text)),
        };
        (text, picture)
    });
    Ok(shown.collect())
}

/// Pictures of the goal and, where it is another board, of the start.
fn ends(outcome: &Outcome) -> String {
    let figure = |name: &str, board: &Board| {
        let picture = miniature(board);
        format!("<figure>{picture}<figcaption>{name}</figcaption></figure>")
    };
    let mut figures = String::new();
    let Some((goal, start)) = outcome.subject.boards() else {
        return figures;
    };
    if start != goal {
        figures += &figure("Start", start);
    }
    figures += &figure("Goal", goal);
    format!(r#"<div class="ends">{figures}</div>"#)
}

fn definitions(facts: &[(&'static str, String)]) -> String {
    let line = |(name, value): &(&str, String)| {
        let value = escape(value);
        format!("      <div><dt>{name}</dt><dd>{value}</dd></div>\n")
    };
    facts.iter().map(line).collect()
}

/// The states of the last depth, or nothing when the search kept none.
fn gallery(outcome: &Outcome, states: &[Shown]) -> String {
    if states.is_empty() {
        return String::new();
    }
    // A number of a state that is written takes less room than a tile.
    let (one, many, cols) = match (outcome.subject.size(), outcome.subject.definition()) {
        (None, Some(of)) => ("state", "states", of.positions().div_ceil(2)),
        (size, _) => ("board", "boards", size.map_or(1, Size::cols)),
    };
    let depth = outcome.counts.len().saturating_sub(1);
    let count = outcome.counts.last().copied().unwrap_or(0);
    let noun = match (outcome.complete, count) {
        (true, 1) => "antipode",
        (true, _) => "antipodes",
        (false, 1) => one,
        (false, _) => many,
    };
    let reason = match outcome.complete {
        true => format!("no {one} is farther away"),
        false => "the search stopped here".into(),
    };
    let pictures = |states: &[Shown]| {
        let pictures: String = states.iter().map(|(_, html)| html.as_str()).collect();
        format!("<div class=\"gallery\" style=\"--cols:{cols}\">{pictures}</div>")
    };
    // On a phone dozens of boards would bury the table below them.
    let (shown, folded) = states.split_at(states.len().min(SHOWN));
    let shown = pictures(shown);
    let folded = match folded.len() {
        0 => String::new(),
        more => format!(
            "<details class=\"more\"><summary>{more} more</summary>{}</details>",
            pictures(folded)
        ),
    };
    let left_out = match count.saturating_sub(states.len() as u64) {
        0 => String::new(),
        more => format!(
            r#"<p class="soft more">{} more are not {}.</p>"#,
            thousands(more),
            if one == "board" { "drawn" } else { "listed" }
        ),
    };
    let count = thousands(count);
    format!(
        "<section class=\"card\" aria-labelledby=\"last-title\">\n    \
         <h2 id=\"last-title\">{count} {noun} at depth {depth}</h2>\n    \
         <p class=\"soft\">{depth} moves from the start: {reason}.</p>\n    \
         {shown}{folded}\n    {left_out}\n  </section>"
    )
}

/// The rows of the table: depth, states, share, cumulative share, checksum.
fn rows(outcome: &Outcome) -> String {
    let all = outcome.states;
    let mut cumulative = 0;
    let mut text = String::new();
    let levels = outcome.counts.iter().zip(&outcome.checksums);
    for (depth, (&count, checksum)) in levels.enumerate() {
        cumulative += count;
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "          <tr><td>{depth}</td><td>{}</td><td>{} %</td><td>{} %</td><td class=\"sum\">{checksum:016x}</td></tr>",
            thousands(count),
            share(count, all),
            share(cumulative, all),
        );
    }
    text
}
