"""Does what we ship work? `make wheel` builds wheel and sdist and tries them in empty environments, away from this checkout.

The wheel is tried on each Python from 3.11 to 3.13 that is on the path, and with the lowest versions that settings.ini allows; the sdist on
this Python. Each environment runs `calnb compare` and all examples in docstrings."""
import os, shutil, subprocess, sys, tempfile
from configparser import ConfigParser
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
EXAMPLES = """
import calnb, doctest, importlib, pkgutil, sys
names = ["calnb"] + [f"calnb.{m.name}" for m in pkgutil.iter_modules(calnb.__path__)]
results = [doctest.testmod(importlib.import_module(name)) for name in names]
print(f"{len(names)} modules of calnb {calnb.__version__}, {sum(r.attempted for r in results)} lines of examples")
sys.exit(any(r.failed for r in results) or not any(r.attempted for r in results))
"""


def run(*command, cwd=None):
    "A command that must succeed; its output is shown only if it does not."
    done = subprocess.run(list(map(str, command)), cwd=cwd, capture_output=True, text=True,
                          env={k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "CALNB_DATA")})
    if done.returncode: sys.exit(f"{' '.join(map(str, command))}\n{(done.stdout + done.stderr)[-3000:]}")
    return done.stdout


def environment(folder, python, *packages):
    run(python, "-m", "venv", folder)
    run(folder/"bin"/"pip", "install", "--quiet", "--disable-pip-version-check", *packages)
    return folder/"bin"


def try_out(label, folder, python, *packages):
    "Install, compare on the built-in example, run the examples; both in an empty folder."
    bin = environment(folder, python, *packages)
    (folder/"work").mkdir()
    run(bin/"calnb", "compare", "--out", "report", cwd=folder/"work")
    missing = {"report.html", "table.csv"} - {p.name for p in (folder/"work"/"report").iterdir()}
    if missing: sys.exit(f"{label}: calnb compare did not write {missing}")
    print(f"{label}: {run(bin/'python', '-c', EXAMPLES, cwd=folder/'work').strip()}", flush=True)


def lowest():
    "The lowest versions that the requirements allow, as pip constraints."
    config = ConfigParser(delimiters=["="])
    config.read(ROOT/"settings.ini", encoding="utf-8")
    return [requirement.replace(">=", "==") for requirement in config["DEFAULT"]["requirements"].split()]


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        source = folder/"source"                        # the committed state: nothing else may be needed
        run("git", "clone", "--quiet", ROOT, source)
        builder = environment(folder/"builder", sys.executable, "build")
        run(builder/"python", "-m", "build", "--outdir", folder/"dist", source)
        (wheel,), (sdist,) = (folder/"dist").glob("*.whl"), (folder/"dist").glob("*.tar.gz")
        shutil.rmtree(source)
        for version in ("3.11", "3.12", "3.13"):
            python = shutil.which(f"python{version}")
            if python: try_out(f"wheel, Python {version}", folder/version, python, wheel)
            else: print(f"wheel, Python {version}: not on this machine, not tried", flush=True)
        try_out("sdist", folder/"sdist", sys.executable, sdist)
        try_out("wheel, lowest versions", folder/"lowest", sys.executable, wheel, *lowest())


if __name__ == "__main__": main()
