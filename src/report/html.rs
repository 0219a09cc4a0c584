//! Reports as web pages: the solution player and the report of a search. `puzzles` has the player for puzzles other than
//! boards, and `frame` what all pages have.
//!
//! Invariant: a page is one file that loads nothing. Its styles and scripts are inline, a content security policy
//! forbids every request, and all external data (labels, boards, machine names) is escaped when it is inserted.

mod frame;
mod puzzles;
mod sketch;

use std::fmt::Write;

use serde_json::json;

use crate::{
    Error,
    outcome::Outcome,
    puzzle::{Board, MoveStyle, Moves, Searched, StateSpace},
    report::{
        Report, counted,
        html::puzzles::Drawing,
        identity,
        text::{GODS_NUMBER, searched, share_of},
        thousands, title,
    },
};

use crate::report::html::frame::{PLAIN, more_solutions, page, refusals};
pub(crate) use crate::report::html::frame::{escape, fill, miniature};
pub use crate::report::html::puzzles::{RefusedState, SolvedState, puzzle_player};

// The solution player: boards whose solutions can be watched, stepped through and tried by hand.

/// A solved board for the player.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Solution {
    /// The board that was to be solved.
    pub start: Board,
    /// The board that the moves lead to.
    pub goal: Board,
    /// The moves from start to goal.
    pub moves: Moves,
    /// Whether no shorter solution exists.
    pub optimal: bool,
    /// Label of the board, for example `Korf 12`; if there is none, the size is shown.
    pub label: Option<String>,
}

/// A board without a solution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// The board.
    pub board: Board,
    /// The reason why it has no solution.
    pub reason: String,
}

/// Returns a page that plays solutions and lists the boards that have none; `style` determines the initial meaning of
/// its letters.
///
/// The page is one file of 37 kB, plus 1 byte per move and 8 per cell, and needs no network. It shows the board with a
/// slider over the moves, playback, clickable moves and the Manhattan distance; tiles can also be slid by hand. Several
/// solutions share a page and are chosen from a list.
///
/// # Errors
/// [`Error::Report`] if there is no board at all, or if the moves of one do not lead to its goal.
///
/// ```
/// use tilewave::puzzle::{Board, MoveStyle, Moves};
/// use tilewave::report::html::{Solution, player};
/// let solution = Solution {
///     start: Board::parse("1 2 3/4 0 6/7 5 8", None)?,
///     goal: Board::parse("1 2 3/4 5 6/7 8 0", None)?,
///     moves: Moves::parse("UL", MoveStyle::Tile)?,
///     optimal: true,
///     label: None,
/// };
/// let page = player(&[solution], &[], MoveStyle::Tile)?;
/// assert!(page.contains("<title>3x3 board, solved in 2 moves</title>"));
/// # Ok::<(), tilewave::Error>(())
/// ```
pub fn player(
    solutions: &[Solution],
    refused: &[Refused],
    style: MoveStyle,
) -> Result<String, Error> {
    for (number, Solution { start, goal, moves, .. }) in (1..).zip(solutions) {
        let wrong = match moves.apply(start) {
            Ok(end) if end == *goal => continue,
            Ok(end) => format!("the moves end at '{end}', not at '{goal}'"),
            Err(error) => error.to_string(),
        };
        return Err(Error::Report(format!("cannot show solution {number}: {wrong}")));
    }
    let pairs = refused.iter().map(|Refused { board, reason }| (miniature(board), &reason[..]));
    let (css, without) = (include_str!("html/player.css"), refusals("board", pairs));
    let title = match solutions {
        [] if refused.is_empty() => return Err(Error::Report("there is no board to show".into())),
        [] => {
            let title = format!("{} without a solution", counted(refused.len() as u64, "board"));
            return Ok(page(&title, css, &without, "", &json!({"solutions": []})));
        }
        [only] => solution_title(only),
        many => format!("{} solutions", many.len()),
    };
    let body = fill(
        include_str!("html/player.html"),
        &[("solutions", &plain(solutions, style)), ("refused", &without)],
    );
    let script = concat!(
        include_str!("html/walk.js"),
        "\n",
        include_str!("html/player.js"),
        "\n",
        include_str!("html/board.js")
    );
    let solutions = solutions.iter().map(|solution| {
        json!({
            "label": solution.label,
            "cols": solution.start.size().cols(),
            "start": solution.start.tiles(),
            "goal": solution.goal.tiles(),
            "moves": solution.moves.long(MoveStyle::Tile),
            "optimal": solution.optimal,
        })
    });
    let data = json!({
        "style": style.name(),
        "version": env!("CARGO_PKG_VERSION"),
        "solutions": solutions.collect::<Vec<_>>(),
    });
    Ok(page(&title, css, &body, script, &data))
}

fn solution_title(solution: &Solution) -> String {
    let name = || format!("{} board", solution.start.size());
    let name = solution.label.clone().unwrap_or_else(name);
    format!("{name}, solved in {}", counted(solution.moves.len() as u64, "move"))
}

/// The solutions in the form for a page without scripts.
fn plain(solutions: &[Solution], style: MoveStyle) -> String {
    let one = |solution: &Solution| {
        let (title, start) = (escape(&solution_title(solution)), miniature(&solution.start));
        let moves = solution.moves.short(style);
        format!("<div class=\"pair\"><h2>{title}</h2>{start}<p class=\"mono\">{moves}</p></div>\n")
    };
    more_solutions(solutions.iter().take(PLAIN).map(one).collect(), solutions.len())
}

// The report of a search as a page: summary, chart, table, the boards of the last depth, provenance.

/// The maximum number of boards of the last depth that a page draws: set [`crate::search::Search::keep_last`] to this
/// number.
pub const LAST_DRAWN: usize = 60;

/// Number of boards that are not folded away.
const SHOWN: usize = 6;

/// How many terms of a sequence are searched for.
const OEIS_TERMS: usize = 9;
/// The width of an unfolded solid, in tiles.
const NET_COLUMNS: usize = 6;

/// The facts at the top of the page; the others are at the end.
const NUMBERS: [&str; 5] = ["states", GODS_NUMBER, "last depth", "antipodes", "mean depth"];

impl Report<'_> {
    /// Returns the report as a page: one file of 17 kB, plus 160 bytes per depth and 400 per board drawn, which needs
    /// no network.
    ///
    /// It draws the states of the last depth (of puzzles that are neither boards nor named solids, it lists them), as far as
    /// the search kept them and at most [`LAST_DRAWN`], and says how many are left out. Scripts find all figures in the element
    /// `script#data`, as JSON: the object of [`Report::json`] under `search`, and these boards or states under `last`.
    ///
    /// # Errors
    /// Same errors as [`crate::puzzle::StateSpace::start`].
    pub fn html(&self) -> Result<String, Error> {
        let outcome = self.outcome;
        let complete = outcome.complete && outcome.begins_at_goal();
        let title = title(&searched(outcome), &outcome.counts, complete);
        let how = match outcome.among[..] {
            [] => "Breadth-first search",
            _ => "Shortest solutions, state by state",
        };
        let agreement = match (self.truth().is_empty(), &outcome.among[..]) {
            (false, _) => self.published_line(),
            (true, []) => format!("published: {}", self.published_line()),
            (true, _) => "only some states were solved".into(),
        };
        let last = last_states(outcome);
        let mood = match (&self.published, self.difference) {
            (_, Some(_)) => "bad",
            (Some(_), None) => "good",
            (None, None) => "",
        };
        let (numbers, mut facts): (Vec<_>, Vec<_>) =
            self.facts().into_iter().partition(|(name, _)| NUMBERS.contains(name));
        let machine = &self.machine;
        let cpu = machine.cpu.as_deref().unwrap_or(machine.arch);
        let cores = counted(machine.cores as u64, "core");
        facts.push(("machine", format!("{cpu}, {cores}, {}", machine.os)));
        facts.push(("version", format!("tilewave {}", env!("CARGO_PKG_VERSION"))));
        #[cfg(feature = "plot")]
        let chart = crate::report::Chart::of(outcome).svg();
        #[cfg(not(feature = "plot"))]
        let chart =
            String::from("<p>The chart needs JavaScript; the table has the same numbers.</p>");
        let body = fill(
            include_str!("html/search.html"),
            &[
                ("title", &escape(&title)),
                ("how", how),
                ("moves", moves(outcome)),
                ("mood", mood),
                ("agreement", &escape(&agreement)),
                ("oeis", &oeis(&outcome.counts)),
                ("boards", &ends(outcome)),
                ("numbers", &definitions(&numbers)),
                ("chart", &chart),
                ("last", &gallery(outcome, &last)),
                ("rows", &rows(outcome)),
                ("facts", &definitions(&facts)),
            ],
        );
        let script = concat!(include_str!("html/chart.js"), "\n", include_str!("html/search.js"));
        let last: Vec<&str> = last.iter().map(|(text, _)| text.as_str()).collect();
        let data = json!({"search": self.json(), "last": last});
        Ok(page(&title, include_str!("html/search.css"), &body, script, &data))
    }
}

/// A link to a search for the first terms in the On-Line Encyclopedia of Integer Sequences, where there are enough.
fn oeis(counts: &[u64]) -> String {
    let terms: Vec<String> = counts.iter().take(OEIS_TERMS).map(u64::to_string).collect();
    if terms.len() < 5 {
        return String::new();
    }
    let terms = terms.join(",");
    format!(
        r#"<a href="https://oeis.org/search?q={terms}" rel="noreferrer">Search OEIS for {terms}</a>"#
    )
}

/// The definition of a move.
fn moves(outcome: &Outcome) -> &'static str {
    match identity(&outcome.searched)["metric"].as_str() {
        Some("stm") => "one tile per move",
        Some("mtm") => "any number of tiles per move",
        Some("htm") => "any turn of a face per move",
        Some("qtm") => match &outcome.searched {
            Searched::Listed(puzzle) if puzzle.layers().is_some() => "a quarter turn per move",
            _ => "one generator or its inverse per move",
        },
        Some("slice") => "any turn of one layer per move",
        Some("axial") => "any turns of layers of one axis per move",
        _ => "one generator per move",
    }
}

/// A state in the puzzle's own notation, and as HTML.
type Shown = (String, String);

/// The states of the last depth that are shown: boards and solids with stickers are drawn, others are written.
fn last_states(outcome: &Outcome) -> Vec<Shown> {
    let drawing = match &outcome.searched {
        Searched::Listed(puzzle) => Some(Drawing::of(puzzle)),
        Searched::Numbered(_) => None,
    };
    let size = outcome.searched.size();
    let shown = |text: String| {
        let board = size.and_then(|_| Board::parse(&text, size).ok());
        let drawn = || drawing.as_ref().and_then(|drawing| drawing.labelled(&text));
        let written = || format!("<code>{}</code>", escape(&text));
        let picture = board.as_ref().map(miniature).or_else(drawn);
        let picture = picture.unwrap_or_else(written);
        (text, picture)
    };
    outcome.last_texts(LAST_DRAWN).into_iter().map(shown).collect()
}

/// Pictures of the goal and, if it is a different board, of the start.
fn ends(outcome: &Outcome) -> String {
    let figure = |name: &str, board: &Board| {
        let picture = miniature(board);
        format!("<figure>{picture}<figcaption>{name}</figcaption></figure>")
    };
    let Some((goal, start)) = outcome.space().and_then(StateSpace::boards) else {
        return String::new();
    };
    let start = if start == goal { String::new() } else { figure("Start", start) };
    format!(r#"<div class="ends">{start}{}</div>"#, figure("Goal", goal))
}

fn definitions(facts: &[(&'static str, String)]) -> String {
    let line = |(name, value): &(&str, String)| {
        let value = escape(value);
        format!("      <div><dt>{name}</dt><dd>{value}</dd></div>\n")
    };
    facts.iter().map(line).collect()
}

/// The states of the last depth; empty if the search kept none.
fn gallery(outcome: &Outcome, states: &[Shown]) -> String {
    if states.is_empty() {
        return String::new();
    }
    // A written state takes less room per number than a tile.
    let is_drawn = !states[0].1.starts_with("<code>");
    let (one, cols) = match outcome.searched.size() {
        None if is_drawn => ("state", NET_COLUMNS),
        None => ("state", states[0].0.split(' ').count().div_ceil(2)),
        Some(size) => ("board", size.cols()),
    };
    let depth = outcome.counts.len().saturating_sub(1);
    let count = outcome.counts.last().copied().unwrap_or(0);
    let (noun, reason) = match outcome.complete {
        true => ("antipode", format!("no {one} is farther away")),
        false => (one, "the search stopped here".into()),
    };
    let pictures = |states: &[Shown]| {
        let pictures: String = states.iter().map(|(_, html)| html.as_str()).collect();
        format!("<div class=\"gallery\" style=\"--cols:{cols}\">{pictures}</div>")
    };
    // On a phone, dozens of boards would hide the table below them.
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
            r#"<p class="soft more">{} more {} not {}.</p>"#,
            thousands(more),
            if more == 1 { "is" } else { "are" },
            if is_drawn { "drawn" } else { "listed" }
        ),
    };
    let count = counted(count, noun);
    format!(
        "<section class=\"card\" aria-labelledby=\"last-title\">\n    \
         <h2 id=\"last-title\">{count} at depth {depth}</h2>\n    \
         <p class=\"soft\">{} from the start: {reason}.</p>\n    \
         {shown}{folded}\n    {left_out}\n  </section>",
        counted(depth as u64, "move")
    )
}

/// The rows of the table: depth, states, share, cumulative share, checksum.
fn rows(outcome: &Outcome) -> String {
    let all = outcome.states.as_ref().and_then(|all| all.to_string().parse().ok());
    let share = |part: u64| all.map_or(String::new(), |all| format!("{} %", share_of(part, all)));
    let mut cumulative = 0;
    let mut text = String::new();
    let levels = outcome.counts.iter().zip(&outcome.checksums);
    for (depth, (&count, checksum)) in levels.enumerate() {
        cumulative += count;
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "          <tr><td>{depth}</td><td>{}</td><td>{}</td><td>{}</td><td class=\"sum\">{checksum:016x}</td></tr>",
            thousands(count),
            share(count),
            share(cumulative),
        );
    }
    text
}
