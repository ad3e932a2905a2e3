"""Measure speed: `make bench` runs every task in processes of its own and stores the figures in tests_data/bench.csv.

A task names the same job for several contestants. They take turns (A B A B ...), each run in a fresh process, so a drift of
the machine hits all alike; what counts is the ratio within one call. `--peers` also runs contestants that live in an
environment of their own, .venv-peers/NAME (see the Makefile); one that is not installed is left out and said to be."""
import argparse, csv, json, os, statistics, subprocess, sys, time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
STORE = ROOT/"tests_data"/"bench.csv"
FIELDS = ["task", "contestant", "n", "K", "seconds", "cpu_seconds", "peak_mib", "quality", "meaning", "runs"]


def outputs(name):
    import numpy as np
    with np.load(Path(os.environ["CALNB_DATA"])/"logits"/f"{name}.npz") as f:
        return {part: (f[f"logits_{part}"].astype(float), f[f"labels_{part}"].astype(int)) for part in ("val", "test")}


def logp(Z):
    import numpy as np
    from scipy.special import log_softmax
    return np.maximum(log_softmax(Z, axis=1), -52 * np.log(2))


def overconfident(n, K):
    sys.path.insert(0, str(ROOT))
    from calnb.data import overconfident
    return overconfident(n, K, T=1.5, tail=1.0)


def mean_loss(logq, y): return float(-logq[range(len(y)), y].mean())


def odir_objective(W, b, X, y, strength=1e-3):
    from scipy.special import log_softmax
    import numpy as np
    off = W - np.diag(np.diag(W))
    return mean_loss(log_softmax(X @ W.T + b, axis=1), y) + strength * ((off**2).sum() + (b**2).sum())


# Each contestant: prepare() -> (job, quality); job() is timed, quality(result) -> number. Imports happen in prepare.

def temperature_sklearn():
    from sklearn.base import BaseEstimator, ClassifierMixin
    from sklearn.calibration import CalibratedClassifierCV
    from sklearn.frozen import FrozenEstimator
    import numpy as np
    Z, y = outputs("geonames1000_mlp")["val"]

    class Given(ClassifierMixin, BaseEstimator):        # a classifier whose decision values are the logits it is given
        def fit(self, X, y): self.classes_ = np.arange(X.shape[1]); return self
        def decision_function(self, X): return X
        def predict(self, X): return X.argmax(axis=1)

    y = np.concatenate([y, np.arange(Z.shape[1])])      # scikit-learn wants every class to occur: a row each
    Z = np.concatenate([Z, np.zeros((Z.shape[1], Z.shape[1]))])
    given = FrozenEstimator(Given().fit(Z, y))
    return (lambda: CalibratedClassifierCV(given, method="temperature").fit(Z, y),
            lambda cal: cal.calibrated_classifiers_[0].calibrators[0].beta_, *Z.shape, "beta")


def temperature_calnb():
    from calnb import TemperatureScaling
    import numpy as np
    Z, y = outputs("geonames1000_mlp")["val"]
    y, Z = np.concatenate([y, np.arange(Z.shape[1])]), np.concatenate([Z, np.zeros((Z.shape[1], Z.shape[1]))])
    return lambda: TemperatureScaling(inputs="logits").fit(Z, y), lambda cal: cal.beta_, *Z.shape, "beta"


def odir(name):
    def calnb():
        from calnb import MatrixScaling
        Z, y = outputs(name)["val"]
        X = logp(Z)
        cal = MatrixScaling("odir", 1e-3, 1e-3, normalize_penalty=False, inputs="logits")
        return lambda: cal.fit(X, y), lambda c: odir_objective(c.coef_, c.intercept_, X, y), *X.shape, "objective"

    def dirichletcal():
        import numpy as np
        from dirichletcal.calib.fulldirichlet import FullDirichletCalibrator
        Z, y = outputs(name)["val"]
        X = logp(Z)
        cal = FullDirichletCalibrator(reg_lambda=1e-3, reg_mu=1e-3, reg_norm=False, ref_row=False)
        return (lambda: cal.fit(np.exp(X), y),
                lambda c: odir_objective(np.asarray(c.calibrator_.weights_[:, :-1]), np.asarray(c.calibrator_.weights_[:, -1]), X, y),
                *X.shape, "objective")

    return {"calnb": calnb, "dirichletcal": dirichletcal}


def matrix_default(name):
    def calnb():
        from calnb import FLOOR, MatrixScaling, log_loss
        parts = outputs(name)
        cal = MatrixScaling(inputs="logits")
        return (lambda: cal.fit(*parts["val"]),
                lambda c: log_loss(parts["test"][1], c.predict_proba(parts["test"][0]), floor=FLOOR),
                *parts["val"][0].shape, "test log loss")

    def probmetrics():
        import numpy as np
        from probmetrics.calibrators import get_calibrator
        parts = {k: (np.exp(logp(Z)), y) for k, (Z, y) in outputs(name).items()}
        cal = get_calibrator("sms")

        def quality(c):
            Q = np.asarray(c.predict_proba(parts["test"][0]), dtype=float)
            return mean_loss(np.log(np.maximum(Q, 2.0**-52)), parts["test"][1])
        return lambda: (cal.fit(*parts["val"]), cal)[1], quality, *parts["val"][0].shape, "test log loss"

    return {"calnb": calnb, "probmetrics": probmetrics}


def matrix_cv(name):
    def calnb():
        from calnb import DirichletCalibrationCV, log_loss
        parts = outputs(name)
        cal = DirichletCalibrationCV(n_jobs=2, inputs="logits")
        return (lambda: cal.fit(*parts["val"]), lambda c: log_loss(parts["test"][1], c.predict_proba(parts["test"][0])),
                *parts["val"][0].shape, "test log loss")
    return {"calnb": calnb}


def fir_calnb():
    from calnb import FIR
    P, y = overconfident(12_500, 1000)
    return lambda: FIR(smoothing=0).fit(P, y), lambda c: float(c.values_[-1]), *P.shape, "highest level"


def fir_sklearn():
    import numpy as np
    from sklearn.isotonic import IsotonicRegression
    P, y = overconfident(12_500, 1000)
    Y = np.zeros_like(P)
    Y[np.arange(len(y)), y] = 1
    fit = IsotonicRegression(y_min=0, y_max=1, out_of_bounds="clip")
    return lambda: fit.fit(P.ravel(), Y.ravel()), lambda f: float(f.y_thresholds_[-1]), *P.shape, "highest level"


def ovr_isotonic_calnb():
    from calnb import IsotonicCalibration, OneVsRest
    Z, y = outputs("cifar100_densenetbc100_netcal")["val"]
    P = logp(Z)
    return lambda: OneVsRest(IsotonicCalibration(), inputs="logits").fit(P, y), lambda c: len(c.maps_), *Z.shape, "maps"


def ovr_isotonic_sklearn():
    from sklearn.base import BaseEstimator, ClassifierMixin
    from sklearn.calibration import CalibratedClassifierCV
    from sklearn.frozen import FrozenEstimator
    import numpy as np
    Z, y = outputs("cifar100_densenetbc100_netcal")["val"]
    P = np.exp(logp(Z))

    class Given(ClassifierMixin, BaseEstimator):
        def fit(self, X, y): self.classes_ = np.arange(X.shape[1]); return self
        def predict_proba(self, X): return X
        def predict(self, X): return X.argmax(axis=1)

    given = FrozenEstimator(Given().fit(P, y))
    return (lambda: CalibratedClassifierCV(given, method="isotonic").fit(P, y),
            lambda c: len(c.calibrated_classifiers_[0].calibrators), *Z.shape, "maps")


def scir(n, K):
    def calnb():
        from calnb import SCIR
        P, y = overconfident(n, K)
        small = overconfident(6000, 10)
        SCIR().fit(*small)                              # compiles once, and is not what is measured
        return lambda: SCIR().fit(P, y), lambda c: float(c.epsilon), n, K, "epsilon"
    return {"calnb": calnb}


TASKS = {
    "temperature": {"calnb": temperature_calnb, "scikit-learn": temperature_sklearn},
    "odir, 10 classes": odir("cifar10_densenet40_kull"),
    "odir, 100 classes": odir("cifar100_densenetbc100_netcal"),
    "matrix by default, 10 classes": matrix_default("cifar10_densenet40_kull"),
    "matrix by default, 100 classes": matrix_default("cifar100_densenetbc100_netcal"),
    "dirichlet by cross-validation, 10 classes": matrix_cv("cifar10_densenet40_kull"),
    "dirichlet by cross-validation, 100 classes": matrix_cv("cifar100_densenetbc100_netcal"),
    "odir, 1000 classes": {"calnb": odir("geonames1000_mlp")["calnb"]},
    "flattened isotonic, 1000 classes": {"calnb": fir_calnb, "scikit-learn": fir_sklearn},
    "one-vs-rest isotonic, 100 classes": {"calnb": ovr_isotonic_calnb, "scikit-learn": ovr_isotonic_sklearn},
    "SCIR, 100 classes": scir(5000, 100), "SCIR, 1000 classes": scir(12_500, 1000),
}
SETS = sorted(p.stem for p in (Path(os.environ.get("CALNB_DATA", "."))/"logits").glob("*.npz"))
TASKS |= {f"matrix by default on {name}": matrix_default(name) for name in SETS}
PEERS = {"dirichletcal", "probmetrics"}                # these need an environment of their own


def run_one(task, contestant):
    "In a process of its own: prepare, time the job once, print the figures as JSON."
    import resource
    sys.path.insert(0, str(ROOT))
    job, quality, n, K, meaning = TASKS[task][contestant]()
    wall, cpu = time.perf_counter(), time.process_time()
    result = job()
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"n": n, "K": K, "seconds": wall, "cpu_seconds": cpu, "peak_mib": peak, "quality": quality(result), "meaning": meaning}))


def measure(task, contestants, runs):
    "Rows of the table: every contestant `runs` times, in turn; medians of the figures."
    found = {c: [] for c in contestants}
    for _ in range(runs):
        for c in contestants:
            python = ROOT/".venv-peers"/c/"bin"/"python" if c in PEERS else sys.executable
            done = subprocess.run([python, __file__, "--one", task, c], capture_output=True, text=True)
            if done.returncode: print(f"  {c} failed: {done.stderr.strip().splitlines()[-1]}"); continue
            found[c].append(json.loads(done.stdout.strip().splitlines()[-1]))
    for c, rows in found.items():
        if not rows: continue
        middle = {k: statistics.median(r[k] for r in rows) for k in ("seconds", "cpu_seconds", "peak_mib", "quality")}
        yield {"task": task, "contestant": c, **{k: rows[0][k] for k in ("n", "K", "meaning")}, **middle, "runs": len(rows)}


def main():
    ap = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ap.add_argument("tasks", nargs="*", help="tasks by how their names begin; default: all. " + ", ".join(TASKS))
    ap.add_argument("--one", nargs=2, metavar=("TASK", "CONTESTANT"), help=argparse.SUPPRESS)
    ap.add_argument("--peers", action="store_true", help="also run the contestants of .venv-peers")
    ap.add_argument("--runs", type=int, default=3)
    args = ap.parse_args()
    if args.one: return run_one(*args.one)
    if "CALNB_DATA" not in os.environ: sys.exit("bench: set CALNB_DATA to the folder of the shared data.")
    kept = {(r["task"], r["contestant"]): r for r in csv.DictReader(STORE.open())} if STORE.exists() else {}
    chosen = [t for t in TASKS if not args.tasks or any(t.startswith(start) for start in args.tasks)]
    for task in chosen:
        here = [c for c in TASKS[task] if c not in PEERS or args.peers and (ROOT/".venv-peers"/c).exists()]
        print(task, "-", ", ".join(here), "" if len(here) == len(TASKS[task]) else "(others not installed or not asked for)")
        for row in measure(task, here, args.runs):
            kept[task, row["contestant"]] = row
            print("  {contestant:14s} {seconds:9.3f} s wall {cpu_seconds:9.3f} s CPU {peak_mib:8.0f} MiB  {meaning} {quality:.8g}".format(**row))
        with STORE.with_suffix(".part").open("w", newline="") as f:
            out = csv.DictWriter(f, FIELDS)
            out.writeheader()
            out.writerows({k: f"{v:.6g}" if isinstance(v, float) and k != "quality" else v for k, v in r.items()} for r in kept.values())
        STORE.with_suffix(".part").replace(STORE)


if __name__ == "__main__": main()
