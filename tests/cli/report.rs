//! Reports through the library: words, tables, comparisons, pages.

use tilewave::frontier::FrontierSearch;
use tilewave::puzzle::{
    Board, Goal, Metric, MoveStyle, Moves, PuzzleSpec, Size, StateSpace, Variant,
};
use tilewave::report::html::{LAST_DRAWN, Refused, Solution, player};
use tilewave::report::{
    Difference, Machine, Report, bytes, counted, duration, histogram, one_key_per_line, published,
    published_all, rate, thousands,
};
use tilewave::search::{Outcome, Search};

fn size(text: &str) -> Size {
    text.parse().unwrap()
}

fn outcome(change: impl Fn(&mut Search)) -> Outcome {
    let mut search = Search::new(Goal::Last.board(size("2x3")).unwrap());
    search.keep_last = LAST_DRAWN;
    change(&mut search);
    search.run().unwrap()
}

#[test]
fn numbers_are_written_for_people() {
    let cases = [
        (thousands(0), "0"),
        (thousands(999), "999"),
        (thousands(10_461_394_944_000), "10,461,394,944,000"),
        (counted(0, "chunk"), "0 chunks"),
        (counted(1, "entry"), "1 entry"),
        (counted(1_000, "entry"), "1,000 entries"),
        (bytes(1023), "1023 B"),
        (bytes(1024), "1.00 KiB"),
        (bytes(1_047_000), "0.998 MiB"),
        (bytes(u64::MAX), "16.0 EiB"),
        (rate(999_600_000.0), "1.00 G"),
        (rate(3.0), "3.00"),
        (duration(59.97), "1 min 00 s"),
        (duration(3599.9), "1 h 00 min"),
    ];
    for (found, expected) in cases {
        assert_eq!(found, expected);
    }
}

#[test]
fn columns_align_shares_end_at_100_and_bars_never_vanish() {
    let board = size("2x7");
    let counts = published(board, 0, Metric::Stm).unwrap().counts();
    let table = histogram(counts, board.states().unwrap());
    let lines: Vec<&str> = table.lines().collect();
    assert_eq!(lines.len(), 1 + 109);
    let column = lines[0].find("cumulative").unwrap() + "cumulative".len();
    for line in &lines[1..] {
        assert_eq!(line.find('%'), Some(column - 1), "{line}");
        assert!(line.chars().count() <= 80, "{line}");
    }
    assert!(lines[109].contains(" 100.0000 %") && lines[108].contains(" 99.9999 %"));
    let full = "█".repeat(26);
    assert_eq!(lines.iter().filter(|l| l.ends_with(&full)).count(), 1);
    for (counts, bar) in [([8, 1], "  ███▎"), ([1_000_000, 1], "  ▏"), ([8, 0], " %")] {
        assert!(histogram(&counts, 9).trim_end().ends_with(bar), "{counts:?}");
    }
    assert!(
        histogram(&[1, 1], 3).contains("33.3333 %") && histogram(&[2], 3).contains("66.6667 %")
    );
}

#[test]
fn only_the_outermost_keys_break_lines() {
    let value = serde_json::json!({"a": {"b": [1, {"c": 2, "d": null}]}, "e": "x"});
    let text = one_key_per_line(&value);
    let expected = "{\n  \"a\": {\"b\": [1, {\"c\": 2, \"d\": null}]},\n  \"e\": \"x\"\n}\n";
    assert_eq!(text, expected);
    assert_eq!(serde_json::from_str::<serde_json::Value>(&text).unwrap(), value);
    assert!(Machine::this().cores > 0);
}

#[test]
fn the_first_wrong_level_is_named() {
    let truth = [1, 2, 4, 8, 5];
    type Wrong = Option<(usize, u64, u64)>;
    let cases: [(&[u64], bool, Wrong); 7] = [
        (&truth, true, None),
        (&[1, 2, 3, 9, 5], true, Some((2, 3, 4))),
        (&[1, 2, 4, 8], true, Some((4, 0, 5))),
        (&[1, 2, 4, 8], false, None),
        (&[1, 2, 4, 8, 5, 1], true, Some((5, 1, 0))),
        (&[1, 2, 4, 8, 5, 1], false, Some((5, 1, 0))),
        (&[], true, Some((0, 0, 1))),
    ];
    for (found, complete, expected) in cases {
        let first = Difference::first(found, &truth, complete);
        assert_eq!(first.map(|d| (d.depth, d.found, d.expected)), expected, "{found:?}");
    }
}

#[test]
fn published_distributions_are_whole_and_known_by_symmetry() {
    let boards = published_all().filter(|p| p.board().is_some());
    assert_eq!((boards.count(), published_all().count()), (28, 115));
    for p in published_all() {
        // Those of other puzzles are held against the orders of their groups in tests/puzzles.
        if let Some((size, ..)) = p.board() {
            assert_eq!(Some(p.counts().iter().sum()), size.states(), "{size}");
        }
        assert!(p.counts()[0] == 1 && !p.name().is_empty(), "{p:?}");
        assert!(!p.citation().contains("recomputed"), "{}", p.citation());
    }
    let diameters = [
        ("2x2", 6),
        ("2x3", 21),
        ("2x4", 36),
        ("3x3", 31),
        ("2x5", 55),
        ("2x6", 80),
        ("3x4", 53),
        ("2x7", 108),
        ("3x5", 84),
        ("2x8", 140),
        ("4x4", 80),
    ];
    for (board, diameter) in diameters {
        assert_eq!(
            published(size(board), 0, Metric::Stm).unwrap().counts().len() - 1,
            diameter,
            "{board}"
        );
    }
    let same: [(&str, usize, &[usize]); 8] = [
        ("3x3", 0, &[0, 2, 6, 8]),
        ("3x3", 1, &[1, 3, 5, 7]),
        ("3x3", 4, &[4]),
        ("2x4", 0, &[0, 3, 4, 7]),
        ("2x4", 1, &[1, 2, 5, 6]),
        ("4x2", 1, &[2, 3, 4, 5]),
        ("4x3", 0, &[0, 2, 9, 11]),
        ("3x4", 0, &[0, 3, 8, 11]),
    ];
    for (board, blank, expected) in same {
        let board = size(board);
        let equal = |b: &usize| {
            published(board, *b, Metric::Stm).is_some_and(|p| p.board().unwrap().1 == blank)
        };
        assert_eq!((0..board.cells()).filter(equal).collect::<Vec<_>>(), expected, "{board}");
    }
    assert!(
        published(size("3x4"), 1, Metric::Stm).is_none()
            && published(size("5x5"), 0, Metric::Stm).is_none()
    );
    let cites = [
        (
            "2x4",
            0,
            "OEIS A090035; lightln2/SlidingTilesSolver@8db6d04; lightln2/PuzzleSearch@ddd4158",
        ),
        ("2x7", 0, "OEIS A346736 (the first 39 of 109 levels)"),
        ("4x4", 15, "dphdmn 15puzzleprob"),
    ];
    for (board, blank, expected) in cites {
        let citation = published(size(board), blank, Metric::Stm).unwrap().citation();
        assert!(citation.contains(expected), "{citation}");
    }
}

#[test]
fn summaries_claim_what_was_found() {
    let whole = outcome(|_| {});
    let mut wrong = whole.clone();
    wrong.counts[7] += 1;
    let limited = outcome(|search| search.max_depth = Some(5));
    let started = outcome(|search| {
        let start = Board::parse("1 0 2/3 4 5", None).unwrap();
        search.space = search.space.clone().from_board(start);
    });
    let cases = [
        (&whole, &["all 22 levels agree with OEIS A090034", "God's number  21"][..]),
        (
            &wrong,
            &[
                "DISAGREES with OEIS A090034",
                "first difference at depth 7: 13 states instead of 12",
            ],
        ),
        (&limited, &["God's number  more than 5 (the search", "the first 6 levels agree with"]),
        (
            &started,
            &["start         1 0 2/3 4 5", "all 22 levels agree with lightln2/PuzzleSearch"],
        ),
    ];
    for (outcome, parts) in cases {
        let summary = Report::new(outcome).summary();
        for part in parts {
            assert!(summary.contains(part), "{part}: {summary}");
        }
        assert_eq!(summary.contains("antipodes"), outcome.complete, "{summary}");
    }
    let summary = Report::new(&whole).summary();
    assert!(summary.lines().all(|line| line.len() <= 80), "{summary}");

    // In a word, beside each other.
    let variant = Variant { pieces: vec!["edges:1-4".into()], ..Variant::default() };
    let cross = PuzzleSpec { variant, ..PuzzleSpec::of("3x3x3") }.listed().unwrap();
    let mut longer = FrontierSearch::new(cross).run().unwrap();
    longer.counts.push(1);
    let graph = PuzzleSpec::of("graph:0-1,1-2,2-0").listed().unwrap();
    let unknown = FrontierSearch::new(graph).run().unwrap();
    for (outcome, word) in [
        (&whole, "agrees"),
        (&wrong, "DISAGREES"),
        (&limited, "agrees"),
        (&longer, "agrees to 8"),
        (&unknown, "none"),
    ] {
        assert_eq!(Report::new(outcome).agreement(), word);
    }
}

/// The JSON that a page holds.
fn data(page: &str) -> serde_json::Value {
    let (_, json) = page.split_once("id=\"data\">").unwrap();
    serde_json::from_str(json.split_once("</script>").unwrap().0).unwrap()
}

#[test]
fn the_page_of_a_search_says_what_was_found() {
    let page = |outcome: &Outcome| Report::new(outcome).html().unwrap();
    let whole = outcome(|_| {});
    let report = Report::new(&whole);
    let text = report.html().unwrap();
    for part in [
        "<title>2x3: 360 states, God&#39;s number 21</title>",
        r#"<span class="tag good">all 22 levels agree with OEIS A090034"#,
        "<dt>God's number</dt><dd>21</dd>",
        "<h2 id=\"last-title\">1 antipode at depth 21</h2>",
        r#"aria-label="4 5 0/1 2 3""#,
        "<td>12</td><td>28</td><td>7.7778 %</td>",
        "<td>21</td><td>1</td><td>0.2778 %</td><td>100.0000 %</td>",
        // Without a program the chart is a picture.
        "<noscript><svg",
    ] {
        assert!(text.contains(part), "{part}");
    }
    for part in ["{{", "<figcaption>Start", "not drawn", "<details class=\"more\">"] {
        assert!(!text.contains(part), "{part}");
    }
    assert_eq!(text.matches("<tr><td>").count(), whole.counts.len());
    let found = data(&text);
    let expected = one_key_per_line(&report.json());
    assert_eq!(found["search"], serde_json::from_str::<serde_json::Value>(&expected).unwrap());
    assert_eq!(found["last"], serde_json::json!(["4 5 0/1 2 3"]));

    let limited = page(&outcome(|search| (search.max_depth, search.keep_last) = (Some(12), 20)));
    for part in ["28 boards at depth 12", "8 more are not drawn.", "<summary>14 more</summary>"] {
        assert!(limited.contains(part), "{part}");
    }
    assert!(!limited.contains("<dt>antipodes</dt>"));
    assert!(!page(&outcome(|search| search.keep_last = 0)).contains("last-title"));
    let mut wrong = whole.clone();
    wrong.counts[7] += 1;
    assert!(page(&wrong).contains(r#"<span class="tag bad">DISAGREES with OEIS A090034"#));
    let started = outcome(|search| {
        let start = Board::parse("1 0 2/3 4 5", None).unwrap();
        search.space = search.space.clone().from_board(start);
    });
    assert!(page(&started).contains("<figcaption>Start</figcaption>"));
}

fn solution(moves: &str, label: Option<&str>) -> Solution {
    Solution {
        start: Board::parse("1 2 3/4 0 6/7 5 8", None).unwrap(),
        goal: Board::parse("1 2 3/4 5 6/7 8 0", None).unwrap(),
        moves: Moves::parse(moves, MoveStyle::Tile).unwrap(),
        optimal: true,
        label: label.map(String::from),
    }
}

#[test]
fn the_player_holds_its_solutions_and_what_has_none() {
    let label = "</script><b id='x'>&\"{{title}}";
    let solutions = [solution("UL", None), solution("UL", Some(label))];
    let refused = [Refused {
        board: Board::parse("1 2 3/4 5 6/8 7 0", None).unwrap(),
        reason: "its parity is <odd>".into(),
    }];
    let page = player(&solutions, &refused, MoveStyle::Blank).unwrap();
    assert_eq!(page, player(&solutions, &refused, MoveStyle::Blank).unwrap());
    for part in [
        "<title>2 solutions</title>",
        r#""style": "blank""#,
        r#"{"label": null, "cols": 3, "start": [1, 2, 3, 4, 0, 6, 7, 5, 8], "#,
        r#""goal": [1, 2, 3, 4, 5, 6, 7, 8, 0], "moves": "UL", "optimal": true}"#,
        "<summary>1 board without a solution</summary>",
        r#"aria-label="1 2 3/4 5 6/8 7 0""#,
        "its parity is &lt;odd&gt;",
        // Without a program boards and moves stand there, in the letters asked for.
        r#"<p class="mono">DR</p>"#,
        "default-src 'none'",
    ] {
        assert!(page.contains(part), "{part}");
    }
    // A label is text wherever it stands: data and program are the only scripts.
    assert_eq!(page.matches("</script>").count(), 2);
    assert_eq!(data(&page)["solutions"][1]["label"], label);
    assert!(page.contains(
        "&lt;/script&gt;&lt;b id=&#39;x&#39;&gt;&amp;&quot;{{title}}, solved in 2 moves"
    ));
    for page in [page, Report::new(&outcome(|_| {})).html().unwrap()] {
        // Nothing is loaded from a link that nobody follows.
        let page = page.replace("http://www.w3.org/2000/svg", "");
        let page = page.replace("<a href=\"https://oeis.org/search", "");
        for request in ["http:", "https:", "//cdn", "@import", "url(", "fetch(", "import("] {
            assert!(!page.contains(request), "{request}");
        }
    }
}

#[test]
fn moves_that_do_not_solve_are_refused() {
    let refused = |moves: &str| {
        let both = [solution("UL", None), solution(moves, None)];
        player(&both, &[], MoveStyle::Tile).unwrap_err().to_string()
    };
    assert_eq!(
        refused("U"),
        "cannot show solution 2: the moves end at '1 2 3/4 5 6/7 0 8', not at '1 2 3/4 5 6/7 8 0'"
    );
    assert!(refused("UU").contains("move 2 (U) is blocked"));
    let refused = player(&[], &[], MoveStyle::Tile).unwrap_err().to_string();
    assert_eq!(refused, "there is no board to show");
}

#[test]
fn a_search_that_contradicts_an_own_result_says_so() {
    let goal = Goal::Blank(1).board(size("2x5")).unwrap();
    let mut found = outcome(|search| search.space = StateSpace::of_board(goal.clone()));
    found.counts[5] += 1;
    found.counts[6] -= 1;
    let file = "this project's own result 2x5-blank1";
    let line = format!("DISAGREES with {file}: first difference at depth 5");
    let report = Report::new(&found);
    assert!(report.summary().contains(&line), "{}", report.summary());
    assert!(report.html().unwrap().contains("tag bad"));
}
