//! The solution player: boards whose solutions can be watched, stepped through and tried by hand.

use serde::Serialize;

use super::super::ReportError;
use super::page::Page;
use crate::puzzle::tiles::{Board, MoveStyle, Moves};

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

/// Returns a page that plays solutions; `style` says what its letters stand for at first.
///
/// The page is one file of 34 kB, 1 byte per move and 8 per cell, and needs no network. It shows
/// the board with a slider over the moves, playback, the moves to click on and the Manhattan distance;
/// tiles can also be slid by hand. Many solutions share a page and are chosen from a list.
///
/// # Errors
/// [`ReportError::NoSolution`] when there is none, [`ReportError::Solution`] when the moves of one do not
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
/// let page = player(&[solution], MoveStyle::Tile)?;
/// assert!(page.contains("<title>3x3 board, solved in 2 moves</title>"));
/// # Ok::<(), tilewave::Error>(())
/// ```
pub fn player(solutions: &[Solution], style: MoveStyle) -> Result<String, ReportError> {
    for (index, solution) in solutions.iter().enumerate() {
        check(solution).map_err(|reason| ReportError::Solution {
            number: index + 1,
            reason,
        })?;
    }
    let title = match solutions {
        [] => return Err(ReportError::NoSolution),
        [only] => title(only),
        many => format!("{} solutions", many.len()),
    };
    let page = Page {
        title: &title,
        style: include_str!("player.css"),
        body: include_str!("player.html"),
        script: concat!(include_str!("walk.js"), "\n", include_str!("player.js")),
    };
    page.render(&PlayerJson {
        style: match style {
            MoveStyle::Tile => "tile",
            MoveStyle::Blank => "blank",
        },
        version: env!("CARGO_PKG_VERSION"),
        solutions: solutions.iter().map(SolutionJson::of).collect(),
    })
    .map_err(|e| ReportError::Json(e.to_string()))
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
    match solution.moves.len() {
        1 => format!("{name}, solved in 1 move"),
        moves => format!("{name}, solved in {moves} moves"),
    }
}

/// What the program of the page reads.
#[derive(Serialize)]
struct PlayerJson<'a> {
    style: &'static str,
    version: &'static str,
    solutions: Vec<SolutionJson<'a>>,
}

#[derive(Serialize)]
struct SolutionJson<'a> {
    label: Option<&'a str>,
    cols: usize,
    start: &'a [u16],
    goal: &'a [u16],
    moves: String,
    optimal: bool,
}

impl<'a> SolutionJson<'a> {
    fn of(solution: &'a Solution) -> SolutionJson<'a> {
        SolutionJson {
            label: solution.label.as_deref(),
            cols: solution.start.size().cols(),
            start: solution.start.tiles(),
            goal: solution.goal.tiles(),
            moves: solution.moves.long(MoveStyle::Tile),
            optimal: solution.optimal,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn solution(label: Option<&str>) -> Solution {
        Solution {
            start: Board::parse("1 2 3/4 0 6/7 5 8", None).unwrap(),
            goal: Board::parse("1 2 3/4 5 6/7 8 0", None).unwrap(),
            moves: Moves::parse("UL", MoveStyle::Tile).unwrap(),
            optimal: true,
            label: label.map(String::from),
        }
    }

    #[test]
    fn a_page_holds_its_solutions_and_is_always_the_same() {
        let solutions = [solution(None), solution(Some("second"))];
        let page = player(&solutions, MoveStyle::Blank).unwrap();
        assert_eq!(page, player(&solutions, MoveStyle::Blank).unwrap());
        for text in [
            "<title>2 solutions</title>",
            r#""style": "blank""#,
            r#"{"label": null, "cols": 3, "start": [1, 2, 3, 4, 0, 6, 7, 5, 8], "#,
            r#""goal": [1, 2, 3, 4, 5, 6, 7, 8, 0], "moves": "UL", "optimal": true}"#,
            r#""label": "second""#,
        ] {
            assert!(page.contains(text), "{text}");
        }
    }

    #[test]
    fn a_label_is_text_wherever_it_stands() {
        let page = player(&[solution(Some("</script><b>&"))], MoveStyle::Tile).unwrap();
        assert!(page.contains("<title>&lt;/script&gt;&lt;b&gt;&amp;, solved in 2 moves</title>"));
        assert!(page.contains(r#""label": "\u003c/script>\u003cb>&""#));
    }

    #[test]
    fn moves_that_do_not_solve_are_refused() {
        let refused = |moves: &str| {
            let mut wrong = solution(None);
            wrong.moves = Moves::parse(moves, MoveStyle::Tile).unwrap();
            let both = [solution(None), wrong];
            player(&both, MoveStyle::Tile).unwrap_err().to_string()
        };
        assert_eq!(
            refused("U"),
            "cannot show solution 2: its moves end at '1 2 3/4 5 6/7 0 8', not at '1 2 3/4 5 6/7 8 0'"
        );
        assert!(refused("UU").contains("move 2 (U) is blocked"));
        assert_eq!(player(&[], MoveStyle::Tile), Err(ReportError::NoSolution));
    }
}
