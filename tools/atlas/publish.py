"""Writes what is made from the files in docs/results: the table of README.md, results.csv, bfiles/ and atlas.html."""
import json
import os
from pathlib import Path

import depths
import graphs
import page
import pieces

# Families that are known in general: what tests/data does not have of them is not new.
KNOWN = {"coxeter": "OEIS A008302 (formula)", "stars": "OEIS A007799 (recurrence)"}
TABLES = "<!-- table: tools/results index -->\n", "<!-- end of table -->\n"
PIECES = "<!-- pieces: tools/results index -->\n", "<!-- end of pieces -->\n"
GRAPHS = "<!-- graphs: tools/results index -->\n", "<!-- end of graphs -->\n"
DEPTHS = "<!-- searches to a depth: tools/results index -->\n", "<!-- end of searches to a depth -->\n"


def write(path, text):
    """Puts a text in its place."""
    new = Path(f"{path}.new")
    with open(new, "w") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    new.replace(path)


def published(root):
    """What is published, by the names of the searches: counts, and where."""
    found = {}
    for key, entry in json.loads((root / "tests/data/distributions.json").read_text()).items():
        if not key.startswith("_"):
            found[key.replace("/", "-")] = {"counts": entry["counts"], "cite": entry["cite"]}
    for key, entry in json.loads((root / "tests/data/growth.json").read_text()).items():
        if key.startswith("_"):
            continue
        family, _, n = key.replace("_", "-").partition(":")
        name = {"topspin4": f"topspin-{n}-4", "full-reversals": f"reversals-{n}", "dino": "dino"}.get(family, f"{family}-{n.replace(',', '-')}")
        cite = ["cayleypy/cayleypy@7355621"] + ["OEIS A008302"] * (family == "coxeter")
        found[name] = {"counts": entry["counts"], "cite": cite}
    return found


def table(results, truths):
    """The index: a line for each search."""
    lines = ["| search | metric | states | God's number | antipodes | mean depth | confirmed by | published |", "|---|---|---:|---:|---:|---:|---|---|"]
    for search, result in results:
        by = ", ".join(c["by"] for c in result["confirmed"]) or "-"
        truth = truths.get(search.name)
        cited = truth["cite"][0] if truth else KNOWN.get(search.kind, "**not found**")
        metric = search.kind if search.board else "-"
        lines.append(f"| [{search.name}]({search.name}.json) | {metric} | {result['total']:,} | {result['diameter']} | "
                     f"{result['antipodes']:,} | {result['mean_depth']:.4f} | {by} | {cited} |")
    return "\n".join(lines) + "\n"


def csv(results):
    """All levels of all searches."""
    lines = ["search,puzzle,goal_blank,metric,depth,states,cumulative,checksum"]
    for search, result in results:
        blank, metric, seen = (search.shape()[2], search.kind, 0) if search.board else ("", "", 0)
        # The only puzzle with a comma in its name is a TopSpin.
        puzzle = f'"{result["puzzle"]}"' if "," in result["puzzle"] else result["puzzle"]
        for depth, (count, checksum) in enumerate(zip(result["counts"], result["checksums"])):
            seen += count
            lines.append(f"{search.name},{puzzle},{blank},{metric},{depth},{count},{seen},{checksum}")
    return "\n".join(lines) + "\n"


def levels(results):
    """What the program knows of them: name, puzzle, goal's blank, metric and counts of each search, one a line."""
    rows = [[search.name, result["puzzle"], *((search.shape()[2], search.kind) if search.board else (None, None)), result["counts"]]
            for search, result in results]
    return "[\n" + ",\n".join(json.dumps(row, separators=(",", ":")) for row in rows) + "\n]\n"


def bfiles(results):
    """Sequences as OEIS takes them, by name: the levels of each search, and God's numbers of each family."""
    files, families = {}, {}
    for search, result in results:
        rows = "".join(f"{depth} {count}\n" for depth, count in enumerate(result["counts"]))
        files[f"{search.name}.txt"] = f"# States of {result['puzzle']} at distance n{words(search)}\n{rows}"
        if getattr(search, "kind", "dino") != "dino" and not search.board:
            family = search.target.partition(":")[0] + "".join(f"-{k}" for k in search.target.split(",")[1:])
            families.setdefault(family, []).append((search.cells, result["diameter"]))
    for family, found in families.items():
        rows = "".join(f"{n} {diameter}\n" for n, diameter in found)
        files[f"{family}-diameter.txt"] = f"# Greatest distance in {family} of n elements\n{rows}"
    return files


def words(search):
    """What a search starts from, and what a move is."""
    if not search.board and search.metric == "-":
        return f"; {search.about}"
    if not search.board:
        return {"htm": "; any turn of a face is a move", "qtm": "; a quarter turn is a move"}.get(search.metric, "")
    _, cols, cell = search.shape()
    row, col = divmod(cell, cols)
    moves = "one tile a move" if search.metric == "stm" else "any number of tiles in a line a move"
    return f" from one with the blank in row {row + 1}, column {col + 1}; {moves}"


def between(text, marks, put):
    """A text with what stands between two marks replaced."""
    before, _, rest = text.partition(marks[0])
    _, _, after = rest.partition(marks[1])
    return before + marks[0] + put + marks[1] + after if rest else text


def publish(root, directory, results, listed, equal, only_check):
    """Writes all that differs, or says what would: names."""
    truths = published(root)
    readme = between((directory / "README.md").read_text(), TABLES, table(results, truths))
    readme = between(readme, DEPTHS, depths.table(listed, depths.published(root)))
    readme = between(readme, PIECES, pieces.table(equal, pieces.published(root)))
    of_graphs = graphs.read(directory / "graphs.csv")
    readme = between(readme, GRAPHS, graphs.table(of_graphs))
    files = {"README.md": readme, "results.csv": csv(results), "levels.json": levels(results),
             "depths.csv": depths.csv(listed), "pieces.csv": depths.csv(equal), "atlas.html": page.atlas(root, results, truths, KNOWN)}
    files |= {f"bfiles/{name}": text for name, text in bfiles([*results, *listed, *equal]).items()}
    files |= {"bfiles/graphs-diameter.txt": graphs.bfile(of_graphs)} if of_graphs else {}
    files |= {f"pieces/{search.name}.tws": search.text for search, _ in equal if search.text}
    stale = [name for name, text in files.items() if not (directory / name).exists() or (directory / name).read_text() != text]
    made = [*(directory / "bfiles").glob("*"), *(directory / "pieces").glob("*.tws")]
    left = [name for path in made if (name := f"{path.parent.name}/{path.name}") not in files]
    if not only_check:
        (directory / "bfiles").mkdir(exist_ok=True)
        for name in stale:
            write(directory / name, files[name])
        for name in left:
            (directory / name).unlink()
    return sorted(stale + left)
