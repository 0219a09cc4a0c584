"""The atlas: one page over all searches, in the frame and with the chart, boards and player of the program's pages."""
import html
import json
import re

DRAWN = 60
FAMILIES = {"pancake": "Pancakes", "lrx": "LRX", "lx": "LX, directed", "coxeter": "Swaps of neighbours", "topspin": "TopSpin",
            "cyclic-coxeter": "Swaps on a ring", "stars": "Swaps with the first", "reversals": "Reversals", "dino": "Dino cube"}


METRICS = {"stm": "single-tile", "mtm": "multi-tile"}


def place(rows, columns, cell):
    return f"row {cell // columns + 1}, column {cell % columns + 1}"


def fill(template, values):
    """A template with each {{name}} replaced; values are not read again."""
    return re.sub(r"\{\{(.*?)\}\}", lambda found: values.get(found[1], ""), template)


def as_data(value):
    """JSON that can stand in a script element."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")


def entry(search, result, truth, known):
    """What the page knows of a search."""
    found = {"name": search.name, "puzzle": result["puzzle"], "counts": result["counts"], "mean": result["mean_depth"],
             "goal": result["goal"], "last": result.get("last", [])[:DRAWN], "solutions": result.get("solutions", []),
             "confirmed": [[c["how"], c["equal"]] for c in result["confirmed"]], "cite": truth["cite"] if truth else [], "known": known,
             # The option had another name when older results were computed.
             "command": result["command"].replace(" --last ", " --list "), "seconds": result["seconds"], "cpu": result["machine"]["cpu"],
             "engine": ", ".join(filter(None, [result["engine"], result["kernel"] and f"{result['kernel']} kernel",
                                               f"{result['threads']} thread{'s' * (result['threads'] > 1)}"]))}
    if search.board:
        rows, cols, cell = search.shape()
        return found | {"group": "Boards", "rows": rows, "cols": cols, "blank": cell, "metric": search.kind}
    return found | {"group": FAMILIES[search.kind]}


def atlas(root, results, truths, known):
    """The page."""
    html_of = root / "src/report/html"
    own = root / "tools/atlas"
    version = max(result["version"] for _, result in results)

    def text(*names):
        return "\n".join((html_of / name if (html_of / name).exists() else own / name).read_text() for name in names)

    def page(title, style, body, script, data):
        parts = {"version": version, "title": title, "style": style, "body": body, "script": script, "data": data}
        return fill(text("page.html"), parts)

    # The player is a page in a frame of this one; its solution is put in when it is opened.
    player = page("Solution", text("base.css", "player.css"), fill(text("player.html"), {}), text("walk.js", "player.js", "board.js"), "{{solution}}")
    rows = "".join(
        f'        <tr><td><a href="#{s.name}">{html.escape(r["puzzle"])}</a></td><td>{place(*s.shape()) if s.board else ""}</td>'
        f'<td>{METRICS[s.kind] if s.board else ""}</td><td>{r["total"]:,}</td><td>{r["diameter"]}</td><td>{r["antipodes"]:,}</td>'
        f'<td class="sum">{", ".join(c["by"] for c in r["confirmed"])}</td></tr>\n' for s, r in results)
    data = {"version": version, "player": player, "searches": [entry(s, r, truths.get(s.name), known.get(s.kind)) for s, r in results]}
    return page("Atlas of complete searches", text("base.css", "search.css", "atlas.css"), fill(text("atlas.html"), {"rows": rows}),
                text("chart.js", "atlas.js"), as_data(data))
