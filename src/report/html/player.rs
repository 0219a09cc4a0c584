//! The solution player: boards whose solutions can be watched, stepped through and tried by hand.

use serde_json::json;

use super::super::{ReportError, counted};
use super::page::{Page, escape, fill, miniature};
use crate::puzzle::tiles::{Board, MoveStyle, Moves};

/// Solutions that are drawn where no program runs.
const PLAIN: usize = 60;

/// A solved board, as the player shows it.
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
    /// What to call it, for example `Korf 12`; its size when there is none.
    pub label: Option<String>,
}

/// A board without a solution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// The board.
    pub board: Board,
    /// Why it has no solution.
    pub reason: String,
}

/// Returns a page that plays solutions and lists the boards that have none; `style` says what its letters stand for at first.
///
/// The page is one file of 34 kB, 1 byte per move and 8 per cell, and needs no network. It shows
/// the board with a slider over the moves, playback, the moves to click on and the Manhattan distance;
/// tiles can also be slid by hand. Many solutions share a page and are chosen from a list.
///
/// # Errors
/// [`ReportError::NoSolution`] when there is no board at all, [`ReportError::Solution`] when the moves of one do not
/// lead to its goal.
///
/// ```
/// use tilewave::puzzle::tiles::{Board, MoveStyle, Moves};
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
) -> Result<String, ReportError> {
    for (index, solution) in solutions.iter().enumerate() {
        check(solution).map_err(|reason| ReportError::Solution {
            number: index + 1,
            reason,
        })?;
    }
    let title = match solutions {
        [] if refused.is_empty() => return Err(ReportError::NoSolution),
        [] => {
            let title = format!(
                "{} without a solution",
                counted(refused.len() as u64, "board")
            );
            let page = Page {
                title: &title,
                style: include_str!("player.css"),
                body: &refusals(refused),
                script: "",
            };
            return Ok(page.render(&json!({"solutions": []})));
        }
        [only] => title(only),
        many => format!("{} solutions", many.len()),
    };
    let page = Page {
        title: &title,
        style: include_str!("player.css"),
        body: &fill(
            include_str!("player.html"),
            &[
                ("solutions", &plain(solutions, style)),
                ("refused", &refusals(refused)),
            ],
        ),
        script: concat!(include_str!("walk.js"), "\n", include_str!("player.js")),
    };
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
    Ok(page.render(&json!({
        "style": match style {
            MoveStyle::Tile => "tile",
            MoveStyle::Blank => "blank",
        },
        "version": env!("CARGO_PKG_VERSION"),
        "solutions": solutions.collect::<Vec<_>>(),
    })))
}

/// Says what is wrong with a solution.
fn check(solution: &Solution) -> Result<(), String> {
    let (start, goal) = (&solution.start, &solution.goal);
    let end = solution.moves.apply(start).map_err(|e| e.to_string())?;
    if end == *goal {
        return Ok(());
    }
    Err(format!("its moves end at '{end}', not at '{goal}'"))
}

fn title(solution: &Solution) -> String {
    let size = solution.start.size();
    let name = match &solution.label {
        Some(label) => label.clone(),
        None => format!("{size} board"),
    };
    let moves = counted(solution.moves.len() as u64, "move");
    format!("{name}, solved in {moves}")
}

/// The solutions as a page without a program shows them.
fn plain(solutions: &[Solution], style: MoveStyle) -> String {
    let one = |solution: &Solution| {
        let (title, start) = (escape(&title(solution)), miniature(&solution.start));
        let moves = solution.moves.short(style);
        format!("<div class=\"pair\"><h2>{title}</h2>{start}<p class=\"mono\">{moves}</p></div>\n")
    };
    let drawn: String = solutions.iter().take(PLAIN).map(one).collect();
    let more = match solutions.len().saturating_sub(PLAIN) {
        0 => String::new(),
        more => format!("<p>{more} more need JavaScript to be shown.</p>"),
    };
    format!("<section class=\"card\"><div class=\"pairs\">{drawn}</div>{more}</section>")
}

/// The list of boards without a solution, or nothing.
fn refusals(refused: &[Refused]) -> String {
    if refused.is_empty() {
        return String::new();
    }
    let one = |Refused { board, reason }: &Refused| {
        let (picture, reason) = (miniature(board), escape(reason));
        format!("<div class=\"pair\">{picture}<p>{reason}</p></div>\n")
    };
    let pairs: String = refused.iter().map(one).collect();
    let count = counted(refused.len() as u64, "board");
    format!(
        "<details class=\"card refused\" open><summary>{count} without a solution</summary>\
         <div class=\"pairs\">{pairs}</div></details>\n"
    )
}
