//! The solution player for puzzles other than boards: stickers of named solids, and the pieces of all other puzzles.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::{
    Error,
    puzzle::{
        Arrangement, Move, MoveStyle, PieceSet, Placed, Puzzle, Size, Transformation,
        net::{Net, Shade},
    },
    report::{
        counted,
        html::{
            frame::{PLAIN, escape, fill, more_solutions, page, refusals, tray},
            sketch::Sketch,
        },
    },
};

/// A solved state for the player.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SolvedState {
    /// The state that was to be solved.
    pub start: Arrangement,
    /// What turns the whole puzzle back before the moves, such as `x' y`; the page shows the state as it was held.
    pub turned_back: String,
    /// The names of the moves from the state to a solved one.
    pub moves: Vec<String>,
    /// Whether no shorter solution exists.
    pub optimal: bool,
    /// Label of the state, for example the scramble; may be empty.
    pub label: String,
    /// The meaning of the letters of the moves of a board.
    pub style: MoveStyle,
}

/// A state without a solution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefusedState {
    /// The state.
    pub state: Arrangement,
    /// The reason why it has no solution.
    pub reason: String,
}

/// The colours of the faces of solids of four, six, eight and twelve faces.
const COLOURS: [&[&str]; 4] = [
    &["#f2cf2e", "#cf3a2b", "#2f6fd0", "#2f9e5a"],
    &["#fbfaf6", "#f4d33a", "#2f9e5a", "#2f6fd0", "#ee8433", "#cf3a2b"],
    &["#fbfaf6", "#cf3a2b", "#ee8433", "#e79bbf", "#7d4fa8", "#2f9e5a", "#2f6fd0", "#f4d33a"],
    &[
        "#fbfaf6", "#5d666d", "#2f9e5a", "#7fd0f0", "#cf3a2b", "#f6e7b0", "#2f6fd0", "#e79bbf",
        "#f4d33a", "#a5d65a", "#7d4fa8", "#ee8433",
    ],
];

/// How the states of a puzzle are drawn.
pub(super) struct Drawing<'a> {
    puzzle: &'a Puzzle,
    /// `None` for the pieces.
    net: Option<Net>,
    /// Where the pieces lie if not in rows.
    sketch: Option<Sketch>,
}

/// Returns a page that plays solutions of a puzzle and lists the states that have none.
///
/// The page is like that of [`crate::report::html::player`]. Of cubes and other named solids it shows the stickers,
/// unfolded, of graphs and rings the piece at each point, of all other puzzles the piece at each position. Pieces that
/// look alike have one colour or number; stickers of pieces that are left out have none. The page has 50 kB, plus up to
/// 60 bytes per sticker, and for each move 1 byte per sticker or 3 per piece.
///
/// # Errors
/// [`Error::Report`] if there is no state at all, or if the moves of one do not solve it.
///
/// ```
/// use tilewave::puzzle::{PuzzleSpec, Puzzle};
/// use tilewave::report::html::{SolvedState, puzzle_player};
/// let cube = PuzzleSpec::of("3x3x3").listed()?;
/// let solution = SolvedState {
///     start: cube.read("R U")?.0,
///     turned_back: String::new(),
///     moves: vec!["U'".into(), "R'".into()],
///     optimal: true,
///     label: "R U".into(),
///     style: Default::default(),
/// };
/// let page = puzzle_player(&cube, &[solution], &[])?;
/// assert!(page.contains("<title>3x3x3: R U, solved in 2 moves</title>"));
/// assert!(page.len() < 50_000 + 54 * (60 + 3)); // two moves, three states of 54 stickers
/// # Ok::<(), tilewave::Error>(())
/// ```
pub fn puzzle_player(
    puzzle: &Puzzle,
    solutions: &[SolvedState],
    refused: &[RefusedState],
) -> Result<String, Error> {
    let drawing = Drawing::of(puzzle);
    let played = (1..).zip(solutions).map(|(number, solution)| {
        let wrong = |why| Error::Report(format!("cannot show solution {number}: {why}"));
        drawing.played(solution).map_err(wrong)
    });
    let played = played.collect::<Result<Vec<_>, _>>()?;
    let css = concat!(include_str!("player.css"), include_str!("puzzle.css"));
    let pairs = refused.iter().map(|RefusedState { state, reason }| {
        let text = format!("<p class=\"mono\">{}</p>", escape(&puzzle.text(state)));
        let picture = drawing.picture(&drawing.shown(state));
        (picture.unwrap_or_default() + &text, &reason[..])
    });
    let without = refusals("state", pairs);
    let titled = |solution: &SolvedState| {
        let gap = if solution.label.is_empty() { "" } else { ": " };
        let moves = counted(solution.moves.len() as u64, "move");
        format!("{puzzle}{gap}{}, solved in {moves}", solution.label)
    };
    let title = match solutions {
        [] if refused.is_empty() => return Err(Error::Report("there is no state to show".into())),
        [] => {
            let title = format!("{} without a solution", counted(refused.len() as u64, "state"));
            return Ok(page(&title, css, &without, "", &json!({"solutions": []})));
        }
        [only] => titled(only),
        many => format!("{puzzle}: {} solutions", many.len()),
    };
    let plain = solutions.iter().zip(&played).take(PLAIN).map(|(solution, (states, _))| {
        let title = escape(&titled(solution));
        let picture = drawing.picture(&states[0]);
        let text = || format!("<p class=\"mono\">{}</p>", escape(&states[0]));
        let picture = picture.unwrap_or_else(text);
        let moves = escape(&notation(puzzle, solution));
        format!(
            "<div class=\"pair\"><h2>{title}</h2>{picture}<p class=\"mono\">{moves}</p></div>\n"
        )
    });
    let plain = more_solutions(plain.collect(), solutions.len());
    let body = fill(include_str!("player.html"), &[("solutions", &plain), ("refused", &without)]);
    let script = concat!(include_str!("player.js"), "\n", include_str!("puzzle.js"));
    let all = solutions.iter().zip(played).map(|(solution, (states, away))| {
        let turns: Vec<&str> = solution.turned_back.split_whitespace().collect();
        json!({
            "label": solution.label,
            "turns": turns.len(),
            "steps": turns.into_iter().chain(solution.moves.iter().map(|name| &name[..])).collect::<Vec<_>>(),
            "away": away,
            "notation": notation(puzzle, solution),
            "optimal": solution.optimal,
            "states": states,
        })
    });
    let data = json!({
        "version": env!("CARGO_PKG_VERSION"),
        "name": puzzle.to_string(),
        "pieces": puzzle.sets().iter().map(|set| set.positions()).sum::<usize>(),
        "sets": drawing.sets(),
        "net": drawing.net.as_ref().map(|net| drawing.sheet(net)),
        "changes": drawing.changes(solutions),
        "written": drawing.written(solutions),
        "solutions": all.collect::<Vec<_>>(),
    });
    Ok(page(&title, css, &body, script, &data))
}

fn notation(puzzle: &Puzzle, solution: &SolvedState) -> String {
    let style = puzzle.sequence_style().directed(solution.style).still();
    style.solution(&solution.turned_back, &solution.moves)
}

/// A letter for a face, a large one on a piece whose orientation does not count; `*` and `-` for what has no colour.
fn letter(shade: &Shade) -> char {
    let of = |first: u8, face: usize| char::from(first + face as u8);
    match *shade {
        Shade::Face(face) => of(b'a', face),
        Shade::Pale(face) => of(b'A', face),
        Shade::Marked => '*',
        Shade::Blank => '-',
    }
}

impl Drawing<'_> {
    pub fn of(puzzle: &Puzzle) -> Drawing<'_> {
        let net = puzzle.unfolded();
        let is_board = puzzle.board_size().is_some();
        let sketch = (net.is_none() && !is_board).then(|| Sketch::of(puzzle)).flatten();
        Drawing { puzzle, net, sketch }
    }

    /// A picture of a state with its text, if states of the puzzle can be drawn.
    pub fn labelled(&self, text: &str) -> Option<String> {
        let (state, _) = self.puzzle.read(text).ok()?;
        let picture = self.picture(&self.shown(&state))?;
        Some(match self.puzzle.board_size() {
            Some(_) => picture,
            None => format!(
                "<figure title=\"{0}\">{picture}<figcaption class=\"mono\">{0}</figcaption></figure>",
                escape(text)
            ),
        })
    }

    /// A state as the page has it: what each sticker shows, or the pieces as text.
    fn shown(&self, state: &Arrangement) -> String {
        match &self.net {
            Some(net) => net.shown(self.puzzle, state).iter().map(letter).collect(),
            None => self.puzzle.text(state),
        }
    }

    fn find(&self, name: &str) -> Result<(usize, &Move), String> {
        let mut moves = self.puzzle.moves().iter().enumerate();
        let found = moves.find(|(_, one)| one.name == name);
        found.ok_or_else(|| format!("'{name}' is not a move of {}", self.puzzle))
    }

    /// The states from the start of a solution to its end, as the puzzle is held, and how many pieces of each are not
    /// where they are at the end.
    fn played(&self, solution: &SolvedState) -> Result<(Vec<String>, Vec<usize>), String> {
        let sets = self.puzzle.sets();
        let fits = |(row, set): (&Vec<Placed>, &PieceSet)| {
            let is_there = |piece: &Placed| usize::from(piece.kind) < set.moduli.len();
            row.len() == set.positions() && row.iter().all(is_there)
        };
        let start = &solution.start.0;
        if start.len() != sets.len() || !start.iter().zip(sets).all(fits) {
            return Err(format!("it does not begin with a state of {}", self.puzzle));
        }
        let mut all = vec![solution.start.clone()];
        for name in &solution.moves {
            let (index, _) = self.find(name)?;
            let next = self.puzzle.moved(&all[all.len() - 1], index);
            all.push(next.ok_or_else(|| format!("'{name}' is not possible there"))?);
        }
        let end = all[all.len() - 1].clone();
        if !self.puzzle.is_goal(&end) {
            return Err("the moves do not solve the state".into());
        }
        let apart = |state: &Arrangement| {
            let pieces = state.0.iter().flatten().zip(end.0.iter().flatten());
            pieces.filter(|(piece, goal)| piece != goal).count()
        };
        let mut away: Vec<usize> = all.iter().map(apart).collect();
        let mut states: Vec<String> = all.iter().map(|state| self.shown(state)).collect();
        for word in solution.turned_back.split_whitespace().rev() {
            let to = self.net.as_ref().and_then(|net| net.turned(self.puzzle, word));
            let after: Vec<char> = states[0].chars().collect();
            let before = to.map(|to| to.into_iter().map(|to| after[to]).collect());
            states.insert(0, before.unwrap_or_else(|| states[0].clone()));
            away.insert(0, away[0]);
        }
        Ok((states, away))
    }

    fn sets(&self) -> Vec<Value> {
        let set = |(index, set): (usize, &PieceSet)| {
            json!({
                "name": set.name,
                "count": set.positions(),
                "kinds": set.moduli.len(),
                "first": self.puzzle.first_number(index),
                "at": self.sketch.as_ref().map(|sketch| &sketch.at),
                "edges": self.sketch.as_ref().map(|sketch| &sketch.edges).filter(|edges| !edges.is_empty()),
                "cols": self.puzzle.board_size().map(Size::cols),
            })
        };
        self.puzzle.sets().iter().enumerate().map(set).collect()
    }

    /// The net without a state: names and colours of the faces, and for each sticker its face and its outline.
    fn sheet(&self, net: &Net) -> Value {
        let stickers = net.faces.iter().zip(&net.outlines);
        let stickers: Vec<Value> =
            stickers.map(|(face, outline)| json!([face, path(outline)])).collect();
        let least = net.outlines.iter().map(|of| area(of)).fold(f64::INFINITY, f64::min);
        json!({
            "size": net.size,
            "faces": net.face_names(),
            "colours": colours(net),
            "letter": (0.5 * least.sqrt()).round(),
            "stickers": stickers,
        })
    }

    /// What each step changes: stickers, or where the piece of each position of each set came from.
    fn changes(&self, solutions: &[SolvedState]) -> BTreeMap<String, Value> {
        let changed = |of: &Transformation| match &self.net {
            Some(net) => json!(net.changed(of)),
            None => json!(of.0.iter().map(|turn| &turn.source).collect::<Vec<_>>()),
        };
        let one = |name: &String| {
            let (_, one) = self.find(name).ok()?;
            Some((name.clone(), changed(&one.transformation)))
        };
        solutions.iter().flat_map(|solution| &solution.moves).filter_map(one).collect()
    }

    /// How each move is written where that is not its name.
    fn written(&self, solutions: &[SolvedState]) -> BTreeMap<String, String> {
        let style = self.puzzle.sequence_style();
        let of = solutions.iter().filter(|_| style.is_by_move());
        let moves = of.flat_map(|of| of.moves.iter().map(|name| (name, of.style)));
        let text = |name: &String, of| style.directed(of).text(std::slice::from_ref(name));
        moves.map(|(name, of)| (name.clone(), text(name, of))).collect()
    }

    /// A picture of a state for pages without scripts, if states of the puzzle can be drawn.
    fn picture(&self, state: &str) -> Option<String> {
        if let Some(sketch) = &self.sketch {
            let (state, _) = self.puzzle.read(state).ok()?;
            let first = usize::from(self.puzzle.first_number(0));
            let numbers: Vec<usize> =
                state.0[0].iter().map(|piece| first + usize::from(piece.kind)).collect();
            return Some(sketch.picture(&numbers, first + self.puzzle.sets()[0].moduli.len() - 1));
        }
        let Some(net) = &self.net else {
            let tiles = state.split([' ', '/']).filter_map(|tile| tile.parse().ok());
            let colours = self.puzzle.sets()[0].moduli.len() as u16 - 1;
            let tray = |size: Size| tray(&tiles.collect::<Vec<u16>>(), size.cols(), colours, state);
            return self.puzzle.board_size().map(tray);
        };
        let colours = colours(net);
        let sticker = |(outline, shown): (&Vec<[f64; 2]>, char)| {
            let path = path(outline);
            let colour =
                |first: char| format!(" fill=\"{}\"", colours[shown as usize - first as usize]);
            let (class, fill) = match shown {
                '*' => ("marked", String::new()),
                '-' => ("blank", String::new()),
                'A'..='Z' => ("pale", colour('A')),
                _ => ("", colour('a')),
            };
            format!("<path class=\"{class}\"{fill} d=\"{path}\"/>")
        };
        let [width, height] = net.size.map(|length| length + 12.0);
        let stickers: String = net.outlines.iter().zip(state.chars()).map(sticker).collect();
        Some(format!(
            "<div class=\"net\"><svg viewBox=\"-6 -6 {width} {height}\" aria-hidden=\"true\">{stickers}</svg></div>"
        ))
    }
}

fn colours(net: &Net) -> &'static [&'static str] {
    let same = |colours: &&&[&str]| colours.len() == net.face_names().len();
    COLOURS.iter().find(same).copied().unwrap_or(COLOURS[3])
}

/// The outline of a sticker: `M0 0L100 0L100 100Z`.
fn path(outline: &[[f64; 2]]) -> String {
    let points: Vec<String> = outline.iter().map(|[x, y]| format!("{x} {y}")).collect();
    format!("M{}Z", points.join("L"))
}

fn area(outline: &[[f64; 2]]) -> f64 {
    let next = outline.iter().cycle().skip(1);
    let twice = outline.iter().zip(next).map(|([ax, ay], [bx, by])| ax * by - bx * ay);
    (twice.sum::<f64>() / 2.0).abs()
}
