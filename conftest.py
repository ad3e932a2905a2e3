"""Let pytest run the book: every asserting cell of nbs/*.ipynb is one test, named after the heading above it.

A notebook runs from the top in one fresh shell. A warning that a cell does not expect fails it, as an error would."""
import ast, os, sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent
sys.path.insert(0, str(ROOT/"docs"))
from execute import flags_asked, parse, shell, skip_reason

ASSERTING = ("test_", "assert_", "check_", "expect_fail")   # fastcore's and numpy's helpers, and calnb's own


def pytest_addoption(parser):
    parser.addoption("--nbflags", default="", help="also run cells with these flags, e.g. 'slow'")


def pytest_configure(config): config.addinivalue_line("filterwarnings", "error")


def pytest_collect_file(file_path, parent):
    if file_path.suffix == ".ipynb" and not file_path.name.startswith(("_", ".")):
        return Notebook.from_parent(parent, path=file_path)


def asserts(source):
    "Does a cell check something?"
    try: tree = ast.parse(source)
    except SyntaxError: return False                        # IPython's own syntax: runs, but is no test
    calls = (n.func for n in ast.walk(tree) if isinstance(n, ast.Call))
    names = (getattr(f, "id", getattr(f, "attr", "")) for f in calls)
    return any(isinstance(n, ast.Assert) for n in ast.walk(tree)) or any(n.startswith(ASSERTING) for n in names)


class Notebook(pytest.File):
    def collect(self):
        asked = flags_asked(self.config.getoption("--nbflags"))
        self.cells, self.shell, self.done, self.error = [], None, 0, None
        heading, n = self.path.stem, 0
        for cell in parse(self.path).cells:
            if cell.cell_type == "markdown":
                heads = [line for line in cell.source.splitlines() if line.startswith("#")]
                if heads: heading, n = heads[-1].lstrip("# ").strip(), 0
            elif cell.cell_type == "code":
                skip, exported = skip_reason(cell, asked), cell.directives_.keys() & {"export", "exports"}
                if not skip: self.cells.append(cell)
                if not exported and asserts(cell.source) and skip != "eval: false":
                    n += 1
                    yield Cell.from_parent(self, name=f"{heading}-{n}", upto=len(self.cells), skip=skip)
        yield Cell.from_parent(self, name="runs to the end", upto=len(self.cells), skip=None)

    def run(self, upto):
        "Go on from where the last test stopped, in the notebook's own folder."
        self.shell = self.shell or shell(self.path)
        here = os.getcwd()
        os.chdir(self.path.parent)
        try:
            while self.done < upto and self.error is None:
                self.shell.cell(self.cells[self.done])
                self.done += 1
                if self.shell.exc: self.error = self.shell.prettytb(fname=self.path)
        finally: os.chdir(here)


class Cell(pytest.Item):
    def __init__(self, *, upto, skip, **kw):
        super().__init__(**kw)
        self.upto, self.skip = upto, skip

    def runtest(self):
        if self.skip: pytest.skip(self.skip)
        if self.parent.error: pytest.skip("an earlier cell of this notebook failed")
        self.parent.run(self.upto)
        if self.parent.error: raise CellError(self.parent.error)

    def repr_failure(self, excinfo):
        return str(excinfo.value) if excinfo.errisinstance(CellError) else super().repr_failure(excinfo)

    def reportinfo(self): return self.path, 0, f"{self.path.name}::{self.name}"


class CellError(Exception): pass
