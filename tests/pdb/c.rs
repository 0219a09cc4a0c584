//! The C interface: the header, the installed files, the examples, and every function under
//! AddressSanitizer.

use std::path::{Path, PathBuf};
use std::process::Command;

use tilewave::Resources;
use tilewave::pdb::Kind;
use tilewave::pruning::{CosetTable, PruningTable};
use tilewave::puzzle::{MoveStyle, Moves, Turns, named};
use tilewave::random::SplitMix64;
use tilewave::search::Search;
use tilewave::solve::Scrambler;
use tilewave::table::TableEncoding;

use super::interop::{cases, run, skipped, tools};
use super::{Random, database, goal};

/// The header is made from tools/c/library.rs; TILEWAVE_UPDATE=1 writes it again.
#[test]
fn c_header_is_up_to_date() {
    let config = cbindgen::Config::from_file(tools("c/cbindgen.toml")).unwrap();
    let bindings = cbindgen::Builder::new()
        .with_config(config)
        .with_src(tools("c/library.rs"))
        .generate()
        .unwrap();
    let mut header = Vec::new();
    bindings.write(&mut header);
    let path = tools("c/tilewave.h");
    if std::env::var_os("TILEWAVE_UPDATE").is_some() {
        std::fs::write(&path, &header).unwrap();
    }
    let checked_in = std::fs::read(&path).unwrap();
    assert!(
        checked_in == header,
        "tools/c/tilewave.h differs from tools/c/library.rs: run TILEWAVE_UPDATE=1 cargo test --test suite c_header"
    );
}

/// Runs a compiler; panics with what it complains of.
fn compile(command: &mut Command) {
    let compiled = command.output().unwrap();
    let said = String::from_utf8_lossy(&compiled.stderr);
    assert!(compiled.status.success() && said.is_empty(), "{command:?}: {said}");
}

/// The header is C99 and C++, and no name in it can be a user's.
#[test]
fn the_header_compiles_as_c_and_as_cpp_and_has_no_foreign_names() {
    let header = std::fs::read_to_string(tools("c/tilewave.h")).unwrap();
    let code: String = header.split("/*").map(|part| part.rsplit("*/").next().unwrap()).collect();
    let words = code.split(|c: char| !(c.is_alphanumeric() || c == '_'));
    let known = "const int char void size_t uint8_t uint16_t uint64_t typedef struct extern C ifdef ifndef endif \
                 define include stddef stdint h __cplusplus int16_t enum unsigned param out flags boards threads \
                 status pdb table path capacity tiles count values cells blank bytes moves depths state";
    let known: Vec<&str> = known.split(' ').chain([""]).collect();
    for word in words.filter(|word| !word.starts_with(|c: char| c.is_ascii_digit())) {
        let own =
            ["tilewave_", "TILEWAVE_", "Tilewave"].iter().any(|prefix| word.starts_with(prefix));
        assert!(own || known.contains(&word), "'{word}' is in the header");
    }
    assert!(!header.contains("# Safety") && !header.contains("[`"));
    let dir = tempfile::tempdir().unwrap();
    assert!(header.contains("@param") && header.contains("/**"));
    for (compiler, name, standard) in [("cc", "x.c", "-std=c99"), ("c++", "x.cc", "-std=c++11")] {
        if Command::new(compiler).arg("--version").output().is_err() {
            skipped("there is no C or C++ compiler (cc, c++)");
            continue;
        }
        let source = dir.path().join(name);
        let text = "#include \"tilewave.h\"\ntypedef int Encoding;\nint main(void) { return 0; }\n";
        std::fs::write(&source, text).unwrap();
        let warnings = ["-Wall", "-Wextra", "-Werror", "-pedantic", "-c", "-o"];
        compile(
            Command::new(compiler)
                .arg(standard)
                .arg("-I")
                .arg(tools("c"))
                .args(warnings)
                .arg(dir.path().join("x.o"))
                .arg(source),
        );
    }
}

/// A file like another one, the last byte of which is another one.
fn damaged(file: &Path) -> PathBuf {
    let mut bytes = std::fs::read(file).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    let path = file.with_extension("damaged");
    std::fs::write(&path, bytes).unwrap();
    path
}

/// What a user does: install, build with pkg-config's flags, run.
#[test]
fn the_installed_interface_serves_c_and_cpp_programs() {
    if Command::new("cc").arg("--version").output().is_err() {
        skipped("there is no C compiler (cc)");
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let prefix = dir.path().join("usr");
    // The library is compiled for these tests already: this links it, below the target directory that holds
    // target/release/deps/pdb-0123.
    let target = std::env::current_exe().unwrap();
    let target = target.ancestors().nth(3).unwrap();
    let install = || {
        let mut command = Command::new(tools("c-install"));
        command.env("CARGO", env!("CARGO")).env("CARGO_TARGET_DIR", target);
        command.env("CARGO_TERM_QUIET", "true");
        command
    };
    compile(install().arg(&prefix));
    // As a packager does: nothing lies under the prefix itself, and no path says where it was put together.
    let stage = dir.path().join("stage");
    compile(install().args(["--libdir", "lib/x", "/opt/tilewave"]).env("DESTDIR", &stage));
    let staged = stage.join("opt/tilewave");
    assert!(!Path::new("/opt/tilewave").exists() && staged.join("include/tilewave.h").exists());
    for file in ["pkgconfig/tilewave.pc", "cmake/tilewave/tilewave-config.cmake"] {
        let text = std::fs::read_to_string(staged.join("lib/x").join(file)).unwrap();
        assert!(!text.contains("stage") && !text.contains('@') && text.contains("lib/x"), "{text}");
    }
    let wrong = install().arg("--prefix").output().unwrap();
    assert_eq!(wrong.status.code(), Some(2));
    let lib = prefix.join("lib");
    let soname = std::fs::read_link(lib.join("libtilewave.so")).unwrap();
    assert_eq!(soname, Path::new("libtilewave.so.0.1"));
    let config = std::fs::read_to_string(lib.join("pkgconfig/tilewave.pc")).unwrap();
    assert!(config.contains(&format!("Version: {}\n", env!("CARGO_PKG_VERSION"))));
    let build =
        |compiler: &str, standard: &str, source: &str, libraries: &[&str], sanitized: bool| {
            let program = dir.path().join(format!("{source}{}", libraries.len()));
            let mut command = Command::new(compiler);
            command.args([standard, "-Wall", "-Wextra", "-Werror", "-pedantic", "-g", "-I"]);
            command.arg(prefix.join("include"));
            if compiler == "c++" {
                command.args(["-x", "c++"]);
            }
            command.arg(tools("c").join(source));
            command.args(["-x", "none"]).args(sanitized.then_some("-fsanitize=address,undefined"));
            command.arg("-L").arg(&lib).args(libraries);
            command.arg(format!("-Wl,-rpath,{}", lib.display())).arg("-o").arg(&program);
            compile(&mut command);
            program
        };
    let archive = lib.join("libtilewave.a");
    let archive = [archive.to_str().unwrap(), "-lpthread", "-ldl", "-lm"];
    let example = build("cc", "-std=c99", "example.c", &["-ltilewave"], false);
    for (path, boards, values) in cases(dir.path()) {
        let lines = run(Command::new(&example).arg(&path), &boards);
        let expected = values.iter().map(|v| v.map_or("-2".to_string(), |v| v.to_string()));
        assert_eq!(lines, expected.collect::<Vec<_>>(), "{}", path.display());
        let wrong = Random(SplitMix64::new(1)).board("2x2".parse().unwrap());
        assert_eq!(run(Command::new(&example).arg(&path), &[wrong]), ["-1"]);
    }
    let missing = Command::new(&example).arg("none.pdb").output().unwrap();
    assert_eq!(missing.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&missing.stderr).contains("cannot open 'none.pdb'"));

    let first = goal("3x3", "first");
    let table =
        tilewave::DistanceTable::build(&Search::new(first.clone()), TableEncoding::Mod3).unwrap();
    let table_file = dir.path().join("3x3.table");
    table.save(&table_file, false).unwrap();
    let example = build("cc", "-std=c99", "table.c", &archive, false);
    let boards: Vec<_> = Scrambler::new(first.clone(), 3).take(40).collect();
    for (line, board) in run(Command::new(&example).arg(&table_file), &boards).iter().zip(&boards) {
        let moves = table.solve(board).unwrap().unwrap();
        assert_eq!(*line, format!("{0} {0} {1}", moves.len(), moves.long(MoveStyle::Tile)));
    }

    // An optimal solver in C, with databases of every kind that adds up.
    for (compiler, standard) in [("cc", "-std=c99"), ("c++", "-std=c++11")] {
        let solver = build(compiler, standard, "ida.c", &["-ltilewave"], true);
        for kind in [Kind::Minimum, Kind::Regions] {
            let files = [&[1u16, 2, 3, 4][..], &[5, 6, 7, 8]].map(|tiles| {
                let file = dir.path().join(format!("ida-{}.pdb", tiles[0]));
                database(&first, tiles, kind).save(&file, true).unwrap();
                file
            });
            let lines = run(Command::new(&solver).args(&files), &boards);
            for (line, board) in lines.iter().zip(&boards) {
                let words: Vec<&str> = line.split(' ').collect();
                let depth = table.depth(board).unwrap().unwrap();
                assert_eq!(words[0].parse(), Ok(depth), "{line}");
                let moves = Moves::parse(words[1], MoveStyle::Tile).unwrap();
                assert!(moves.len() == depth && moves.apply(board).unwrap() == first, "{line}");
            }
            let wrong = Random(SplitMix64::new(1)).board("2x2".parse().unwrap());
            assert_eq!(run(Command::new(&solver).args(&files), &[wrong]), ["invalid"]);
        }
    }

    // The blank and some tiles; the blank and as many tiles as there are cells beside it.
    let all_moves =
        [("3x3", &[1u16, 2, 3, 4, 5][..]), ("2x3", &[1, 2, 3, 4, 5])].map(|(size, tiles)| {
            let file = dir.path().join(format!("all-{size}.pdb"));
            let pdb = database(&goal(size, "last"), tiles, Kind::AllMoves);
            pdb.save(&file, false).unwrap();
            file
        });
    let partial = crate::program::root().join("tests/data/table_partial.table");
    let pruning = dir.path().join("pruning.table");
    let cube = named::parse("2x2x2").unwrap().counting(Turns::Powers).unwrap();
    let corners = cube.keeping(&["corners:1-3".into()]).unwrap();
    let built = PruningTable::build(&corners, TableEncoding::Nibble, Resources::new()).unwrap();
    built.save(&pruning, false).unwrap();
    let example = build("cc", "-std=c99", "pruning.c", &["-ltilewave"], false);
    let lines = run(Command::new(&example).arg(&pruning), &["R R'", "R", "R X"]);
    assert_eq!(lines[..2], ["0", "1"]);
    assert!(lines[2].starts_with("invalid: 'X' is not a move"), "{lines:?}");
    // The bounds of a coset table, which are exact near the solved state.
    let cosets = dir.path().join("skewb.cosets");
    let skewb = named::parse("skewb").unwrap().counting(Turns::Powers).unwrap();
    CosetTable::build(&skewb, 1 << 20, Resources::new()).unwrap().save(&cosets, false).unwrap();
    let states = ["", "URF", "URF ULB'", "X", "corners 2 1 3 4 5 6 7 8; centers 1"];
    let lines = run(Command::new(&example).arg(&cosets), &states);
    assert_eq!(lines[..3], ["0", "1", "2"]);
    assert!(lines[3..].iter().all(|line| line.starts_with("invalid: ")), "{lines:?}");
    for (kind, number) in [(Kind::Minimum, 0), (Kind::Regions, 1)] {
        let file = dir.path().join(format!("{number}.pdb"));
        database(&first, &[1, 2, 5], kind).save(&file, false).unwrap();
        for (compiler, standard) in [("cc", "-std=c99"), ("c++", "-std=c++11")] {
            for libraries in [&archive[..], &["-ltilewave"]] {
                let program = build(compiler, standard, "test.c", libraries, true);
                let checked = Command::new(&program)
                    .arg(&file)
                    .args([&table_file, &partial])
                    .args([damaged(&file), damaged(&table_file), pruning.clone()])
                    .args(&all_moves)
                    .output()
                    .unwrap();
                let said = String::from_utf8_lossy(&checked.stderr);
                assert!(checked.status.success() && said.is_empty(), "{compiler}: {said}");
            }
        }
    }
    the_cmake_package_is_found(&prefix, dir.path());

    // Every function of the header is called by the test program.
    let header = std::fs::read_to_string(tools("c/tilewave.h")).unwrap();
    let program = std::fs::read_to_string(tools("c/test.c")).unwrap();
    for name in header.split(|c: char| !(c.is_alphanumeric() || c == '_')) {
        assert!(
            !name.starts_with("tilewave_")
                || program.contains(&format!("{name}("))
                || name == "tilewave_h",
            "{name}"
        );
    }
}

/// Configures, builds and runs a project that finds the package with CMake.
fn the_cmake_package_is_found(prefix: &Path, dir: &Path) {
    if Command::new("cmake").arg("--version").output().is_err() {
        skipped("cmake is not installed");
        return;
    }
    let (project, build) = (dir.join("project"), dir.join("build"));
    std::fs::create_dir(&project).unwrap();
    let lists = format!(
        "cmake_minimum_required(VERSION 3.13)\nproject(client C)\nfind_package(tilewave 0.1 REQUIRED)\n\
         foreach(how tilewave static)\nadd_executable(client-${{how}} {})\n\
         target_link_libraries(client-${{how}} PRIVATE tilewave::${{how}})\nendforeach()\n",
        tools("c/example.c").display()
    );
    std::fs::write(project.join("CMakeLists.txt"), lists).unwrap();
    compile(
        Command::new("cmake")
            .arg("-S")
            .arg(&project)
            .arg("-B")
            .arg(&build)
            .arg(format!("-DCMAKE_PREFIX_PATH={}", prefix.display())),
    );
    compile(Command::new("cmake").arg("--build").arg(&build));
    for how in ["tilewave", "static"] {
        let ran = Command::new(build.join(format!("client-{how}"))).output().unwrap();
        assert_eq!(ran.status.code(), Some(2), "{ran:?}");
    }
}
