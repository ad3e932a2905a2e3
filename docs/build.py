"""Build the site in _docs: nbdev's processors, a small adapter, then Sphinx. `python docs/build.py [--strict]`

1. Every notebook goes through nbdev's own processors: hidden and plain `#| export` cells go, directives are cut off.
2. The adapter turns the rest into what MyST-NB reads: subtitle, tags, links, an anchor at every exported name.
3. Sphinx writes the pages. A warning is an error, and every link of the result is followed once.

Whatever chapters exist are built. A link to a chapter that does not exist becomes plain text and is reported, as is a
second title on a page; with --strict these are errors. Nothing is executed: the pages show the outputs that the notebooks hold."""
import argparse, ast, re, shutil, sys
from functools import cache
from html.parser import HTMLParser
from importlib.metadata import distribution
from pathlib import Path
from urllib.parse import unquote, urldefrag

sys.dont_write_bytecode = True                  # a build leaves traces in _docs and _proc only
ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))                   # the checkout's own calnb, whatever is installed
NBS, PROC, SITE = ROOT/"nbs", ROOT/"_proc", ROOT/"_docs"

from execnb.nbio import mk_cell, read_nb, write_nb
from nbdev.config import get_config
from nbdev.process import NBProcessor
from nbdev.processors import FilterDefaults

PARTS = {"0": "Ground", "1": "Measure", "2": "All classes at once", "3": "One class at a time",
         "4": "Isotonic with normalisation", "5": "Use", "6": "Compare", "7": "Shell", "9": "House rules"}


# ---------------------------------------------------------------- the book

class Chapter:
    "A notebook as the site sees it: number, page, title, module, and the names that its visible cells define."

    def __init__(self, path):
        self.path, self.nb = path, read_nb(path)
        self.number, self.page = re.fullmatch(r"(?:(\d+)_)?(.+)", path.stem).groups()       # 01, simplex; as nbdev does
        cells = "\n".join(c.source for c in self.nb.cells)
        title, module = re.search(r"^# +(.+)", cells, re.M), re.search(r"^#\|\s*default_exp\s+(\S+)", cells, re.M)
        self.title, self.module = title[1].strip() if title else self.page, module and module[1]
        self.names = {n: value for c in self.nb.cells for n, value in names_defined(c).items()}


def names_defined(cell):
    "What a cell that is exported and shown defines: Class.method for methods; for constants also their value, as written."
    if cell.cell_type != "code" or not re.search(r"^#\|\s*exports\b", cell.source, re.M): return {}
    names = {}
    for node in ast.parse(cell.source).body:
        if isinstance(node, ast.Assign):
            value = ast.get_source_segment(cell.source, node.value)
            names |= {t.id: value for t in node.targets if isinstance(t, ast.Name)}
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)): names[node.name] = None
        if isinstance(node, ast.ClassDef):
            names |= {f"{node.name}.{m.name}": None for m in node.body if isinstance(m, ast.FunctionDef) and m.name[0] != "_"}
    return names


@cache
def book():
    "All chapters that exist, in the order of their numbers; the front page is not one of them."
    return [Chapter(p) for p in sorted(NBS.glob("[0-9]*.ipynb"))]


def anchor(name): return name.lower()           # `_modidx.py` and nbdev's `doc` say simplex.html#check_probs, in lower case


@cache
def anchors():
    "Public name, alone or with its module in front -> its place in the book."
    places = {n: f"{c.page}.html#{anchor(n)}" for c in reversed(book()) for n in c.names if n[0] != "_"}
    return places | {f"calnb.{c.module}.{n}": f"{c.page}.html#{anchor(n)}" for c in book() for n in c.names}


# ---------------------------------------------------------------- from notebook to page

class Procs(FilterDefaults):
    "nbdev's processors less those that serve Quarto, and less show_doc: it would repeat what the chapter shows."
    left_out = {"FrontmatterProc", "insert_warning", "add_show_docs", "exec_show_docs", "clean_show_doc", "add_links",
                "add_fold", "mv_exports"}

    def base_procs(self): return [p for p in super().base_procs() if p.__name__ not in self.left_out]


class Adapter:
    "Rewrites one processed notebook for MyST-NB. `notes` collects what is wrong with it."

    def __init__(self, chapter, notes):
        self.chapter, self.notes = chapter, notes
        self.pages = {c.path.name: c.page for c in book()} | {"index.ipynb": "index"}

    def notebook(self):
        marks = {c.id: names_defined(c) for c in self.chapter.nb.cells}
        nb = NBProcessor(nb=self.chapter.nb, procs=Procs().procs(), process=True).nb
        cells, titles, heading = [], 0, self.chapter.title
        for cell in nb.cells:
            if cell.cell_type == "markdown":
                found = re.findall(r"^#+ +(.+)", re.sub(r"(?ms)^```.*?^```", "", cell.source), re.M)
                heading = re.sub(r"[`*$]", "", found[-1]) if found else heading
                titles += (own := len(re.findall(r"^# ", re.sub(r"(?ms)^```.*?^```", "", cell.source), re.M)))
                cell.source = self.text(self.head(cell.source) if own and titles == own else cell.source)
            elif cell.cell_type == "code":
                if not self.code(cell): continue
                cell.metadata["mystnb"] = {"image": {"alt": f"Figure: {heading}"}}        # else the name of a file would be read aloud
                spans = "".join(f'<span id="{anchor(n)}"></span>' for n in marks.get(cell.id, []))
                if spans:
                    cell.metadata.setdefault("tags", []).append("exported")         # custom.css marks the library's own code
                    cells.append(mk_cell(f'<div class="anchors">{spans}</div>', "markdown"))
            cells.append(cell)
        if titles != 1: self.notes.append(f"{self.chapter.path.name} has {titles} titles (`# ...`); a page has one")
        nb.cells, nb.metadata = cells, {"language_info": {"name": "python", "pygments_lexer": "ipython3"}}
        return nb

    def head(self, source):
        "`# Title` and `> subtitle`: the subtitle becomes a styled paragraph, and a line says what this page belongs to."
        c = self.chapter
        about = [f"Chapter {c.number}", f"notebook `nbs/{c.path.name}`"] if c.number else []
        if c.module: about.append(f"module [`calnb.{c.module}`](api/{c.module}.rst)")
        line = "\n\n{.about}\n" + " · ".join(about) if about else ""
        return re.sub(r"^(# .+)\n+> (.+)$", lambda m: f"{m[1]}\n\n{{.subtitle}}\n{m[2]}{line}", source, count=1, flags=re.M)

    def text(self, source):
        "Links of the markdown lines outside fenced code."
        lines, fenced = source.splitlines(), False
        for i, line in enumerate(lines):
            if line.lstrip().startswith(("```", "~~~")): fenced = not fenced
            elif not fenced: lines[i] = self.links(line) if line.startswith("#") else self.symbols(self.links(line))
        return "\n".join(lines)

    def links(self, line):
        "Links to notebooks become links to pages, links to other files of the project lead to the repository."
        def one(m):
            label, target, fragment = m.groups()
            if target in self.pages: return f"[{label}]({self.pages[target]}.ipynb{(fragment or '').lower()})"
            if target.endswith(".ipynb"):
                self.notes.append(f"{self.chapter.path.name} links to {target}, which does not exist")
                return label
            if not target.startswith("../"): return m[0]
            return f"[{label}]({get_config().git_url}/blob/{get_config().branch}/{target[3:]})"
        return re.sub(r"(?<!!)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s#:]+)(#[^)\s]*)?\)", one, line)

    def symbols(self, line):
        "`check_probs` in backticks becomes a link, unless it is already one or is defined on this very page."
        def one(m):
            place = anchors().get(m[1])
            return f'<a href="{place}">{m[0]}</a>' if place and m[1] not in self.chapter.names else m[0]
        return re.sub(r"(?<![\[`])`([A-Za-z][\w.]*)(?:\(\))?`(?![\]`])", one, line)

    def code(self, cell):
        "Quarto's cell options, as far as nbdev leaves them, become MyST-NB's tags. False: the cell is not shown at all."
        options = dict(re.findall(r"^#\|\s*([\w-]+):\s*(\S+)", cell.source, re.M))
        cell.source = re.sub(r"^#\|.*\n?", "", cell.source, flags=re.M).strip()
        cell.outputs = [o for o in cell.outputs if o.get("name") != "stderr"] if options.get("output") != "false" else []
        if options.get("echo") == "false": cell.metadata["tags"] = ["remove-input"]
        return bool(cell.source) and options.get("include") != "false"


# ---------------------------------------------------------------- the tree that Sphinx reads

def toctree(caption, entries, *options):
    return "\n".join(["```{toctree}", f":caption: {caption}", *options, "", *entries, "```", ""])


def contents():
    "The parts of the book with their chapters, then the reference: the site's side bar."
    trees = []
    for digit, part in PARTS.items():
        entries = [f"{c.number} {c.title} <{c.page}>" for c in book() if c.number[0] == digit]
        if entries: trees.append(toctree(f"{digit} {part}", entries, ":hidden:"))
    return "\n".join([*trees, toctree("Reference", ["api/index"], ":hidden:")])


def api_page(chapter):
    "The docstrings of one module, by autodoc, which passes over constants; those are listed at the end."
    name = f"calnb.{chapter.module}"
    lines = [name, "=" * len(name), "", f".. automodule:: {name}", "   :members:", "",
             f"   Derived, tested and shown in chapter :doc:`{chapter.number} {chapter.title} </{chapter.page}>`.", ""]
    for constant, value in chapter.names.items():
        if value and constant[0] != "_":
            lines += [f".. py:data:: {constant}", f"   :module: {name}", *[f"   :value: {value}"] * (len(value) < 80 and "\n" not in value), ""]
    return "\n".join(lines)


def write_api(folder):
    "A page per module that exists, and one that lists them."
    modules = [c for c in book() if c.module and (ROOT/"calnb"/f"{c.module}.py").exists()]
    text = ["API reference", "=============", "", "One page per module. What users need can also be imported from ``calnb`` itself.",
            "*Source* leads to the chapter in which the code is derived and tested.", "",
            ".. toctree::", "   :maxdepth: 2", "", *[f"   {c.module}" for c in modules], ""]
    folder.mkdir()
    (folder/"index.rst").write_text("\n".join(text), encoding="utf-8")
    for c in modules: (folder/f"{c.module}.rst").write_text(api_page(c), encoding="utf-8")


def write_source():
    "Fill _proc/site from the notebooks; returns what is wrong with them."
    source, static, notes = PROC/"site", PROC/"static", []
    shutil.rmtree(PROC, ignore_errors=True)
    source.mkdir(parents=True)
    for c in book(): write_nb(Adapter(c, notes).notebook(), source/f"{c.page}.ipynb")
    front = NBS/"index.ipynb"
    if front.exists():
        nb = Adapter(Chapter(front), notes).notebook()
        nb.cells.append(mk_cell(contents(), "markdown"))
        write_nb(nb, source/"index.ipynb")
    else: (source/"index.md").write_text(f"# {get_config().title}\n\n{get_config().description}.\n\n{contents()}", encoding="utf-8")
    if (NBS/"images").exists(): shutil.copytree(NBS/"images", source/"images")
    write_api(source/"api")
    # MyST's mathematics needs a MathJax that lies beside the pages; this package is nothing else.
    mathjax = Path(distribution("sphinx-mathjax-offline").locate_file("sphinx-mathjax-offline"))/"static"/"mathjax"
    for part in ("output/chtml/fonts/woff-v2", "input/tex/extensions"): shutil.copytree(mathjax/part, static/"mathjax"/part)
    shutil.copy(mathjax/"tex-chtml.js", static/"mathjax")
    return notes


# ---------------------------------------------------------------- is the result sound?

class Page(HTMLParser):
    "What a page of the site loads, where it links to, and which places it has."

    def __init__(self, path):
        super().__init__()
        self.loads, self.links, self.ids = [], [], set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.ids |= {attrs[k] for k in ("id", "name") if attrs.get(k)}
        loaded = [attrs.get("src"), attrs.get("href") if tag == "link" and attrs.get("rel") != "canonical" else None]
        self.loads += [url for url in loaded if url]
        if tag == "a" and attrs.get("href"): self.links.append(attrs["href"])


def faults(site):
    "Everything that a page would load from the network, and every link inside the site that leads nowhere."
    pages, found = {p: Page(p) for p in site.rglob("*.html")}, []
    outside = re.compile(r"(?:https?:)?//")
    for path, page in pages.items():
        where = path.relative_to(site)
        found += [f"{where} loads {url} from the network" for url in page.loads if outside.match(url)]
        for url in page.links + page.loads:
            target, fragment = urldefrag(url)
            target = target.partition("?")[0]       # Sphinx appends a checksum
            if re.match(r"[a-z]+:|//", target): continue
            file = (path.parent/unquote(target)).resolve() if target else path
            if file.is_dir(): file /= "index.html"
            if not file.exists() or fragment and file in pages and unquote(fragment) not in pages[file].ids:
                found.append(f"{where} links to {url}, which is not there")
    for css in site.rglob("*.css"):
        found += [f"{css.relative_to(site)} loads {url}" for url in
                  re.findall(r"(?:url\(|@import)\s*[\"']?((?:https?:)?//[^\"')]+)", css.read_text(encoding="utf-8"))]
    return sorted(set(found))


def main(strict=False):
    from sphinx.cmd.build import build_main
    notes = write_source()
    for line in notes: print(("error: " if strict else "note: ") + line)
    # MyST-NB writes a folder beside the one it is told to, so that one lies in _proc; a failed build leaves the old site.
    if build_main(["-q", "-W", "--keep-going", "-b", "html", "-c", str(ROOT/"docs"), "-d", str(PROC/"doctrees"),
                   str(PROC/"site"), str(PROC/"html")]): return 1
    shutil.rmtree(SITE, ignore_errors=True)
    (PROC/"html").rename(SITE)
    found = faults(SITE)
    for line in found: print(f"error: {line}")
    print(f"{len(book())} chapters, {len(list(SITE.rglob('*.html')))} pages: {SITE/'index.html'}")
    return 1 if found or strict and notes else 0


if __name__ == "__main__":
    ap = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ap.add_argument("--strict", action="store_true", help="what is only reported otherwise is an error")
    sys.exit(main(ap.parse_args().strict))
