"""Run notebooks by nbdev's rules. pytest (conftest.py) uses the functions; `python docs/execute.py` saves the outputs.

Both must agree on which cells run, so the rule stands here once: a code cell runs unless it says `#| eval: false`
or carries a flag of `tst_flags` in settings.ini that nobody asked for."""
import argparse, os, sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))                   # the checkout's own calnb, whatever is installed

from execnb.nbio import read_nb, write_nb
from execnb.shell import CaptureShell
from nbdev.clean import clean_nb
from nbdev.config import get_config
from nbdev.frontmatter import FrontmatterProc
from nbdev.process import NBProcessor


def flags_asked(extra=""):
    "Flags whose cells run: those named, and `data` where CALNB_DATA says where the data is."
    return set(extra.split()) | ({"data"} if os.environ.get("CALNB_DATA") else set())


def skip_reason(cell, asked):
    "Why this code cell does not run, or None if it does."
    directives = getattr(cell, "directives_", None) or {}
    if directives.get("eval:", [""])[0].lower() == "false": return "eval: false"
    missing = sorted(set(get_config().tst_flags.split()) & directives.keys() - asked)
    if not missing: return None
    return "needs CALNB_DATA, the folder of the shared data" if "data" in missing else f"flag {missing[0]!r} not asked for"


def parse(path): return NBProcessor(path, procs=FrontmatterProc, process=True).nb


def shell(path):
    "A fresh IPython that knows the checkout; figures at one dot per pixel, so that notebooks stay small."
    os.environ["IN_TEST"] = "1"
    return CaptureShell(path, mpl_format="png")


def execute(path, extra=""):
    "Run one notebook from the top and store its outputs; a cell that is skipped keeps the outputs it has."
    path, asked = Path(path).resolve(), flags_asked(extra)
    os.chdir(path.parent)
    nb, saved = parse(path), read_nb(path)      # the parsed copy has its directives cut off
    sh = shell(path)
    for cell, keep in zip(nb.cells, saved.cells, strict=True):
        if cell.cell_type != "code" or skip_reason(cell, asked): continue
        sh.cell(cell)
        if sh.exc: return f"{path.name}\n{sh.prettytb(fname=path)}"
        keep.outputs = cell.outputs
    clean_nb(saved)
    write_nb(saved, path)


if __name__ == "__main__":
    ap = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ap.add_argument("notebooks", nargs="*", help="default: all in nbs/")
    ap.add_argument("--flags", default="", help="run cells with these flags too, e.g. 'slow'")
    ap.add_argument("-j", "--jobs", type=int, default=2)
    args = ap.parse_args()
    paths = args.notebooks or sorted((ROOT/"nbs").glob("[0-9i]*.ipynb"))
    paths = [Path(p).resolve() for p in paths]
    with ProcessPoolExecutor(args.jobs, max_tasks_per_child=1) as pool:
        errors = [e for e in pool.map(execute, paths, [args.flags]*len(paths)) if e]
    sys.exit("\n".join(errors) or 0)
