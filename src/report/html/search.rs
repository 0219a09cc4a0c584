//! The report of a search as a page: summary, chart, table, the boards of the last depth, provenance.

use std::fmt::Write;

use serde::Serialize;

use super::super::histogram::share;
use super::super::{Agreement, Chart, Report, ReportError, SearchJson, thousands};
use super::page::{Page, escape, fill, miniature};
use crate::Error;
use crate::bfs::{Outcome, StateSpace};
use crate::puzzle::tiles::Board;

/// The most boards of the last depth that a page draws: ask the search to keep as many
/// ([`crate::bfs::Search::keep_last`]).
pub const LAST_DRAWN: usize = 60;

/// The facts that head the page; the others stand at its end.
const NUMBERS: [&str; 4] = ["states", "diameter", "antipodes", "mean depth"];

impl Report<'_> {
    /// Returns the report as a page: one file of 17 kB, 160 bytes per depth and 400 per board
    /// drawn, which needs no network.
    ///
    /// It draws the boards of the last depth as far as the search kept them, at most [`LAST_DRAWN`], and
    /// says how many are left out. Scripts find all figures in the element `script#data`, as JSON: the
    /// object of [`Report::json`] under `search`, the boards drawn under `last`.
    ///
    /// # Errors
    /// What [`StateSpace::new`] returns.
    pub fn html(&self) -> Result<String, Error> {
        let outcome = self.outcome;
        let title = Chart::of(outcome).title();
        let last = last_boards(outcome)?;
        let mood = match self.agreement {
            Agreement::Agrees(_) => "good",
            Agreement::Differs(..) => "bad",
            Agreement::Unpublished => "",
        };
        let (numbers, mut facts): (Vec<_>, Vec<_>) = self
            .facts()
            .into_iter()
            .partition(|(name, _)| NUMBERS.contains(name));
        let machine = &self.machine;
        let cpu = machine.cpu.as_deref().unwrap_or(machine.arch);
        let cores = machine.cores;
        let plural = if cores == 1 { "" } else { "s" };
        facts.push((
            "machine",
            format!("{cpu}, {cores} core{plural}, {}", machine.os),
        ));
        facts.push(("version", format!("tilewave {}", env!("CARGO_PKG_VERSION"))));
        let body = fill(
            include_str!("search.html"),
            &[
                ("title", &escape(&title)),
                ("mood", mood),
                ("agreement", &escape(&self.published_line())),
                ("boards", &ends(outcome)),
                ("numbers", &definitions(&numbers)),
                ("last", &gallery(outcome, &last)),
                ("rows", &rows(outcome)),
                ("facts", &definitions(&facts)),
            ],
        );
        let page = Page {
            title: &title,
            style: include_str!("search.css"),
            body: &body,
            script: include_str!("search.js"),
        };
        let data = Data {
            search: self.json(),
            last: last.iter().map(Board::to_string).collect(),
        };
        let page = page.render(&data);
        Ok(page.map_err(|e| ReportError::Json(e.to_string()))?)
    }
}

/// What the page holds for programs, its own and others.
#[derive(Serialize)]
struct Data<'a> {
    search: SearchJson<'a>,
    last: Vec<String>,
}

/// The boards of the last depth that are drawn.
fn last_boards(outcome: &Outcome) -> Result<Vec<Board>, Error> {
    let space = StateSpace::new(outcome.goal.clone())?;
    let states = outcome.last.iter().take(LAST_DRAWN);
    Ok(states.map(|&state| space.board(state)).collect())
}

/// Pictures of the goal and, where it is another board, of the start.
fn ends(outcome: &Outcome) -> String {
    let figure = |name: &str, board: &Board| {
        let picture = miniature(board);
        format!("<figure>{picture}<figcaption>{name}</figcaption></figure>")
    };
    let mut figures = String::new();
    if outcome.start != outcome.goal {
        figures += &figure("Start", &outcome.start);
    }
    figures += &figure("Goal", &outcome.goal);
    format!(r#"<div class="ends">{figures}</div>"#)
}

fn definitions(facts: &[(&'static str, String)]) -> String {
    let line = |(name, value): &(&str, String)| {
        let value = escape(value);
        format!("      <div><dt>{name}</dt><dd>{value}</dd></div>\n")
    };
    facts.iter().map(line).collect()
}

/// The boards of the last depth, or nothing when the search kept none.
fn gallery(outcome: &Outcome, boards: &[Board]) -> String {
    if boards.is_empty() {
        return String::new();
    }
    let depth = outcome.counts.len().saturating_sub(1);
    let count = outcome.counts.last().copied().unwrap_or(0);
    let (noun, reason) = match (outcome.complete, count) {
        (true, 1) => ("antipode", "no board is farther away"),
        (true, _) => ("antipodes", "no board is farther away"),
        (false, 1) => ("board", "the search stopped here"),
        (false, _) => ("boards", "the search stopped here"),
    };
    let pictures: String = boards.iter().map(miniature).collect();
    let left_out = match count.saturating_sub(boards.len() as u64) {
        0 => String::new(),
        more => format!(
            r#"<p class="soft more">{} more are not drawn.</p>"#,
            thousands(more)
        ),
    };
    let count = thousands(count);
    let cols = outcome.size().cols();
    format!(
        "<section class=\"card\" aria-labelledby=\"last-title\">\n    \
         <h2 id=\"last-title\">{count} {noun} at depth {depth}</h2>\n    \
         <p class=\"soft\">{depth} moves from the start: {reason}.</p>\n    \
         <div class=\"gallery\" style=\"--cols:{cols}\">{pictures}</div>\n    {left_out}\n  </section>"
    )
}

/// The rows of the table: depth, states, share, cumulative share, checksum.
fn rows(outcome: &Outcome) -> String {
    let all = outcome.size().states().unwrap_or_else(|| outcome.total());
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bfs::{self, Search, Silent};
    use crate::puzzle::tiles::{Goal, Size};
    use crate::report::one_key_per_line;

    fn outcome(change: impl Fn(&mut Search)) -> Outcome {
        let goal = Goal::Last.board(Size::new(2, 3).unwrap()).unwrap();
        let mut search = Search::new(goal);
        search.keep_last = LAST_DRAWN;
        change(&mut search);
        bfs::run(&search, &Silent).unwrap()
    }

    fn page(outcome: &Outcome) -> String {
        Report::new(outcome).html().unwrap()
    }

    #[test]
    fn the_page_says_what_was_found() {
        let outcome = outcome(|_| {});
        let text = page(&outcome);
        for part in [
            "<title>2x3: 360 states, diameter 21</title>",
            r#"<span class="tag good">all 22 levels equal to OEIS A090034"#,
            "<dt>diameter</dt><dd>21</dd>",
            "<h2 id=\"last-title\">1 antipode at depth 21</h2>",
            r#"aria-label="4 5 0/1 2 3""#,
            "<td>12</td><td>28</td><td>7.7777 %</td>",
            "<td>21</td><td>1</td><td>0.2777 %</td><td>100.0000 %</td>",
        ] {
            assert!(text.contains(part), "{part}");
        }
        assert!(!text.contains("{{"));
        assert!(!text.contains("<figcaption>Start"));
        assert!(!text.contains("not drawn"));
        let rows = text.matches("<tr><td>").count();
        assert_eq!(rows, outcome.counts.len());
    }

    #[test]
    fn programs_find_the_figures() {
        let outcome = outcome(|_| {});
        let report = Report::new(&outcome);
        let text = report.html().unwrap();
        assert_eq!(text, report.html().unwrap());
        let (_, json) = text.split_once("id=\"data\">").unwrap();
        let (json, _) = json.split_once("</script>").unwrap();
        let data: serde_json::Value = serde_json::from_str(json).unwrap();
        let expected = one_key_per_line(&report.json()).unwrap();
        assert_eq!(
            data["search"],
            serde_json::from_str::<serde_json::Value>(&expected).unwrap()
        );
        assert_eq!(data["last"], serde_json::json!(["4 5 0/1 2 3"]));
    }

    #[test]
    fn what_is_not_drawn_is_counted() {
        let limited = outcome(|search| {
            search.max_depth = Some(12);
            search.keep_last = 20;
        });
        let text = page(&limited);
        assert!(text.contains("28 boards at depth 12"));
        assert!(text.contains("8 more are not drawn."));
        assert!(!text.contains("<dt>antipodes</dt>"));
        assert!(!page(&outcome(|search| search.keep_last = 0)).contains("last-title"));
    }

    #[test]
    fn a_wrong_level_is_seen_at_once() {
        let mut outcome = outcome(|_| {});
        outcome.counts[7] += 1;
        let text = page(&outcome);
        assert!(text.contains(r#"<span class="tag bad">DISAGREES with OEIS A090034"#));
    }

    #[test]
    fn another_start_is_drawn() {
        let text = page(&outcome(|search| {
            search.start = Board::parse("1 0 2/3 4 5", None).unwrap();
        }));
        assert!(text.contains("<figcaption>Start</figcaption>"));
    }
}
