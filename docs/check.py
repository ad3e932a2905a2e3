"""`make check`: is the book in step with what is made from it? Changes nothing in the checkout but _docs and _proc.

1. In a copy of the project, exporting, cleaning and writing README.md must change no file.
2. Every cell that shows something has its output stored, and no stored output is an error.
3. The house rules hold (chapter 99).
4. The site builds without a warning or a broken link."""
import ast, json, os, shutil, subprocess, sys, tempfile
from pathlib import Path

sys.dont_write_bytecode = True
ROOT = Path(__file__).resolve().parent.parent
NBDEV = Path(sys.executable).parent
VALUES = {"describe", "fit", "head", "predict", "predict_proba", "read_csv", "round", "sort_values", "table"}
QUIET = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "PYTHONDONTWRITEBYTECODE": "1"}


def run(*command, cwd):
    "Exit code and everything printed."
    done = subprocess.run([str(c) for c in command], cwd=cwd, env=os.environ | QUIET, text=True, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return done.returncode, done.stdout.strip()


def output_of(*command, cwd):
    "What a command prints; a failure of it is a failure of the check."
    code, text = run(*command, cwd=cwd)
    if code: raise RuntimeError(f"{' '.join(map(str, command))}\n{text}")
    return text


def copy_project(target):
    "The files that git tracks or would track, as they are now, in a repository of their own."
    names = output_of("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", cwd=ROOT).split("\0")
    for name in names:
        if not (ROOT/name).is_file(): continue                      # deleted, but still in git's index
        (target/name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT/name, target/name)
    output_of("git", "init", "-q", cwd=target)
    output_of("git", "add", "-A", "-f", cwd=target)


def changed_by_export(copy):
    "The files that exporting, cleaning and the README would change, with the first lines of each difference."
    output_of(NBDEV/"nbdev_export", cwd=copy)
    output_of(NBDEV/"nbdev_clean", cwd=copy)
    output_of(sys.executable, "docs/readme.py", cwd=copy)
    output_of("git", "add", "-A", "-N", cwd=copy)                   # so that the difference shows new files too
    faults = []
    for name in output_of("git", "diff", "--name-only", cwd=copy).splitlines():
        lines = [line[:160] for line in output_of("git", "diff", "-U0", "--", name, cwd=copy).splitlines()[4:]]
        faults.append("\n    ".join([f"{name} would change; run `make export`, or nbdev_clean for a notebook", *lines[:12],
                                     *[f"... {len(lines) - 12} more lines"] * (len(lines) > 12)]))
    return faults


def shows(source):
    "Does a cell surely show something: a print, a figure, or a value on its last line?"
    try: body = ast.parse(source).body
    except SyntaxError: return False                                # IPython's own syntax
    if not body: return False
    last, always = body[-1], []
    for node in body:                                               # statements that run whatever happens
        if isinstance(node, (ast.For, ast.With)): always += node.body
        elif not isinstance(node, (ast.FunctionDef, ast.ClassDef)): always.append(node)
    calls = [n.value.func for n in always if isinstance(n, ast.Expr) and isinstance(n.value, ast.Call)]
    if any(isinstance(f, ast.Name) and f.id in ("print", "display") for f in calls): return True
    if "plt.close" not in source and any(isinstance(n, ast.Attribute) and ast.unparse(n) in ("plt.subplots", "plt.figure")
                                         for s in always for n in ast.walk(s)): return True
    if not isinstance(last, ast.Expr) or source.rstrip().endswith(";"): return False
    if isinstance(last.value, ast.Call):                            # most calls may return None; these do not
        name = getattr(last.value.func, "id", getattr(last.value.func, "attr", ""))
        return name[:1].isupper() or name in VALUES
    return isinstance(last.value, (ast.Name, ast.Attribute, ast.Subscript, ast.BinOp, ast.Compare, ast.List, ast.Dict, ast.JoinedStr))


def stale_outputs(copy):
    "Cells that should have stored an output and have none, and cells that stored an error."
    sys.path.insert(0, str(ROOT/"docs"))
    from execute import flags_asked, parse, skip_reason
    faults = []
    for path in sorted((copy/"nbs").glob("[0-9i]*.ipynb")):
        stored = [c.get("outputs", []) for c in json.loads(path.read_text(encoding="utf-8"))["cells"]]
        for i, (cell, outputs) in enumerate(zip(parse(path).cells, stored, strict=True)):
            if cell.cell_type != "code": continue
            where = f"{path.name}, cell {i} ({cell.source.strip().splitlines()[0][:60]!r})" if cell.source.strip() else ""
            if any(o["output_type"] == "error" for o in outputs): faults.append(f"{where} holds an error")
            if not outputs and shows(cell.source) and not skip_reason(cell, flags_asked("data")):
                faults.append(f"{where} shows something, but no output is stored; run `make outputs`")
    return faults


def broken_rules(copy):
    "What pytest says of the chapter of house rules, if it fails."
    rules = copy/"nbs"/"99_house_rules.ipynb"
    if not rules.exists(): return []
    code, text = run(sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", rules, cwd=copy)
    return [text] if code else []


def broken_site(_):
    code, text = run(sys.executable, ROOT/"docs"/"build.py", "--strict", cwd=ROOT)
    return [text] if code else []


def main():
    steps = [("export, clean and README change nothing", changed_by_export), ("outputs are stored", stale_outputs),
             ("house rules hold", broken_rules), ("the site builds", broken_site)]
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder)/ROOT.name
        copy.mkdir()
        copy_project(copy)
        for title, step in steps:
            try: faults = step(copy)
            except RuntimeError as e: faults = [str(e)]
            print(f"{'FAILED' if faults else 'ok':<7}{title}", flush=True)
            for fault in faults: print("  " + fault.replace("\n", "\n  "), flush=True)
            failed += bool(faults)
    print(f"make check: {f'{failed} of {len(steps)} checks failed' if failed else f'all {len(steps)} checks passed'}")
    return 1 if failed else 0


if __name__ == "__main__": sys.exit(main())
