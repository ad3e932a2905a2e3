"""What each ingredient of AutoCalibration is worth: writes tests_data/mixture.csv, which chapter 44 reads.

Every map is fitted on the validation part of a set of outputs and measured on its test part. Mixtures with fewer or more maps are weighed anew
from the same held-out predictions. `--peers` adds the calibrators of probmetrics and scikit-learn from the environment
.venv-peers/probmetrics (see the Makefile); they get softmax(logits). `--learning` writes tests_data/learning.csv instead: invented problems
whose true map is known, and how far each method is from it after n rows. `--rows` writes tests_data/rows.csv: the mixture with matrices and
without, on sets of many classes, for few rows per class. `--leads` writes tests_data/leads.csv: the mixture and all single methods, those of
the peers among them, compared row by row."""
import argparse, csv, os, subprocess, sys, tempfile
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
STORE = ROOT/"tests_data"/"mixture.csv"
FIELDS = ["set", "n", "K", "method", "log_loss", "conf_ece", "cw_ece", "accuracy"]
sys.path.insert(0, str(ROOT))
PEERS = ROOT/".venv-peers"/"probmetrics"/"bin"/"python"
LOGITS = Path(os.environ["CALNB_DATA"])/"logits"


def outputs(name):
    with np.load(LOGITS/f"{name}.npz") as f:
        return [(f[f"logits_{part}"].astype(float), f[f"labels_{part}"].astype(int)) for part in ("val", "test")]


def measured(name, method, Q, val, test):
    from calnb import FLOOR, classwise_ece, confidence_ece, log_loss
    y, Q = test[1], Q / Q.sum(axis=1, keepdims=True)
    return dict(zip(FIELDS, (name, len(val[1]), Q.shape[1], method, log_loss(y, Q, floor=FLOOR), confidence_ece(y, Q), classwise_ece(y, Q),
                             float((Q.argmax(axis=1) == y).mean()))))


def ablations(names):
    "Which maps each variant mixes, how many of them it trusts, and whether it repairs confidence; None: weights are not fitted."
    auto = [m for m in names if not m.startswith("+")]
    drop = lambda *out: [m for m in auto if m not in out]
    variants = {"AutoCalibration": (auto, 2, True), "without caution": (auto, 0, True), "without repair": (auto, 2, False),
                "without chains": (drop("matrix, na-fir", "na-fir, matrix"), 2, True), "without vector": (drop("vector"), 2, True),
                "without matrix": ([m for m in auto if "matrix" not in m], 2, True),
                "without na-fir": ([m for m in auto if "na-fir" not in m], 2, True),
                "without matrix, na-fir": (drop("matrix, na-fir"), 2, True), "without na-fir, matrix": (drop("na-fir, matrix"), 2, True),
                "equal weights of all": (auto, None, False)}
    return variants | {f"with {m[2:]}": (auto + [m], 2, True) for m in names if m.startswith("+")}


def ours(name):
    "Rows of one set: the maps of the mixture alone, the best of them by held-out loss, and the variants."
    from calnb import MatrixScaling, SmoothedSCIR
    from calnb.folds import fold_splits, fold_weights
    from calnb.mixture import auto_maps, grow_tree, tree_output, weigh
    val, test = outputs(name)
    Z, y = val
    K, w = Z.shape[1], np.ones(len(y))
    maps = auto_maps(K) + ([("+ smoothed SCIR", SmoothedSCIR())] if K <= 200 else [])
    parts = [(Z[i], y[i], w_i) for *_, i, w_i in fold_splits(fold_weights(Z, y, w, 5), w)]
    tree, held = grow_tree([cal for _, cal in maps], parts, "logits")
    names, tested = [name for name, _ in maps], {-1: test[0]}
    Q = dict(zip(names, (tree_output(tree, leaf, tested, "logits") for leaf in tree.leaves)))
    held = {name: np.concatenate(held[leaf]) for name, leaf in zip(names, tree.leaves)}
    y, w = (np.concatenate([part[i] for part in parts]) for i in (1, 2))
    rows = {m: q for m, q in Q.items() if "matrix" in m}
    if K <= 200: rows["vector, held"] = Q["vector"]
    if K > 200: rows["matrix"] = MatrixScaling(inputs="logits").fit(*val).predict_proba(test[0])
    loss = {m: -(w @ np.log(np.maximum(q[np.arange(len(y)), y], 1e-300))) for m, q in held.items() if m[0] != "+"}
    rows["best by held-out loss"] = Q[min(loss, key=loss.get)]
    for variant, (members, trusted, repair) in ablations(names).items():
        if trusted is None: rows[variant] = sum(Q[m] for m in members) / len(members)
        else: rows[variant] = weigh([held[m] for m in members], y, w, trusted, repair).mix([lambda m=m: Q[m] for m in members])
    return [measured(name, method, q, val, test) for method, q in rows.items()]


def peer_predictions(name, out):
    "Run in the peers' environment: test predictions of their calibrators, as float32."
    import torch
    from probmetrics.calibrators import get_calibrator
    from scipy.special import softmax
    from sklearn.base import BaseEstimator, ClassifierMixin
    from sklearn.calibration import CalibratedClassifierCV
    from sklearn.frozen import FrozenEstimator

    class Given(ClassifierMixin, BaseEstimator):        # a classifier whose outputs are the numbers it is given
        def fit(self, X, y):
            self.classes_, self.n_features_in_ = np.arange(X.shape[1]), X.shape[1]
            return self
        def predict(self, X): return X.argmax(axis=1)

    class Scores(Given):
        def decision_function(self, X): return X if X.shape[1] > 2 else X[:, 1] - X[:, 0]

    class Probabilities(Given):
        def predict_proba(self, X): return X

    torch.set_num_threads(1)
    (Z, y), (Zt, _) = outputs(name)
    P, Pt = softmax(Z, axis=1), softmax(Zt, axis=1)
    found = {f"probmetrics {kind}": np.asarray(get_calibrator(kind).fit(P, y).predict_proba(Pt)) for kind in ("temp-scaling", "svs", "sms")}
    absent = np.setdiff1d(np.arange(P.shape[1]), y)     # scikit-learn wants every class to occur: one even row for each that does not
    even, y = np.full((len(absent), P.shape[1]), 1 / P.shape[1]), np.concatenate([y, absent])
    for method, kind, X, Xt in (("temperature", Scores, np.log(np.maximum(P, 1e-300)), np.log(np.maximum(Pt, 1e-300))),
                                ("isotonic", Probabilities, P, Pt)):
        X = np.concatenate([X, even])
        found[f"scikit-learn {method}"] = CalibratedClassifierCV(FrozenEstimator(kind().fit(X, y)), method=method).fit(X, y).predict_proba(Xt)
    np.savez(out, **{k: v.astype(np.float32) for k, v in found.items()})


def peer_outputs(name):
    "Test predictions of the peers' calibrators, one after the other, as pairs of name and (n, K) array; made in their environment."
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([PEERS, __file__, "--predict", name, f"{folder}/peer.npz"], check=True)
        with np.load(f"{folder}/peer.npz") as f:
            for method in f.files: yield method, f[method].astype(float)


def peers(name):
    "Rows of one set for the peers' calibrators."
    val, test = outputs(name)
    return [measured(name, method, Q, val, test) for method, Q in peer_outputs(name)]


def leads(name):
    "Test log loss of each method; by how much AutoCalibration's is above it, with its standard error; and whether it may be the best (V.3)."
    print(name, flush=True)
    from calnb import SmoothedSCIR, default_calibrators, may_be_best
    from calnb.mixture import auto_maps
    from calnb.simplex import safe_log
    val, test = outputs(name)
    some = np.arange(len(test[1])), test[1]
    methods = default_calibrators() | {"SmoothedSCIR": SmoothedSCIR()} | {"vector, held": dict(auto_maps(2))["vector"]}
    losses = {m: -safe_log(cal.set_params(inputs="logits").fit(*val).predict_proba(test[0])[some]) for m, cal in methods.items()}
    losses |= {m: -safe_log(Q[some] / Q.sum(axis=1)) for m, Q in peer_outputs(name)}
    stay = may_be_best(np.column_stack([*losses.values()]))
    for (m, loss), may in zip(losses.items(), stay):
        behind = losses["AutoCalibration"] - loss
        yield {"set": name, "method": m, "log_loss": float(loss.mean()), "behind": float(behind.mean()),
               "error": float(behind.std(ddof=1) / np.sqrt(len(loss))), "may_be_best": int(may)}


def learning():
    "Distance from the true map in nats, sum_k q*_k log(q*_k / q_k), mean over 20,000 fresh rows, for growing n."
    import calnb as c
    problems = {"temperature": c.Overconfident(5, T=2.0), "Dirichlet": c.dirichlet_problem(5), "bent": c.Bent(5)}
    for problem, truth in problems.items():
        P_new = truth.sample(20_000, seed=10**6)[0]
        Q_true = truth.true_map(P_new)
        for n in (50, 150, 500, 1500, 5000, 15_000, 50_000):
            for seed in range(10 if n <= 500 else 4 if n <= 5000 else 2):
                P, y = truth.sample(n, seed=seed)
                for method, cal in {"no change": c.Identity(), "temperature": c.TemperatureScaling(), "matrix": c.MatrixScaling(),
                                    "isotonic, one-vs-rest": c.OneVsRest(c.IsotonicCalibration()), "NA-FIR": c.NAFIR(),
                                    "AutoCalibration": c.AutoCalibration()}.items():
                    Q = np.maximum(cal.fit(P, y).predict_proba(P_new), c.FLOOR)
                    distance = (Q_true * np.log(np.maximum(Q_true, 1e-300) / Q)).sum(axis=1).mean()
                    yield {"problem": problem, "n": n, "seed": seed, "method": method, "distance": float(distance)}
            print(problem, n, flush=True)


def rows_per_class():
    "Test log loss of the mixture with matrices and without, on sets of 77 to 150 classes, for 1 to 20 rows per class."
    from calnb import FLOOR, Mixture, log_loss
    from calnb.mixture import auto_maps
    for name in sorted(p.stem for p in LOGITS.glob("*.npz")):
        (Z, y), (Z_new, y_new) = outputs(name)
        K = Z.shape[1]
        for per_class in (1, 2, 3, 5, 10, 20) if 20 < K <= 200 else ():
            for seed in range(2 if per_class * K <= len(y) else 0):
                some = np.random.default_rng(seed).permutation(len(y))[:per_class * K]
                found = {"set": name, "K": K, "rows per class": per_class, "seed": seed}
                for variant, n in (("with matrices", np.inf), ("without", 0)):
                    cal = Mixture(auto_maps(K, n), trusted=2, repair=True, inputs="logits").fit(Z[some], y[some])
                    found[variant] = log_loss(y_new, cal.predict_proba(Z_new), floor=FLOOR)
                yield found
            print(name, per_class, flush=True)


def write(path, fields, rows):
    "A csv file, complete or not at all."
    part = path.with_suffix(".part")
    with part.open("w", newline="") as f:
        out = csv.DictWriter(f, fields)
        out.writeheader()
        out.writerows({k: f"{v:.6g}" if isinstance(v, float) else v for k, v in r.items()} for r in rows)
    part.replace(path)


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--peers", action="store_true", help="measure the peers, keep our rows; without it the other way round")
    ap.add_argument("--learning", action="store_true", help="how far from the true map after n rows")
    ap.add_argument("--rows", action="store_true", help="with matrices and without, for few rows per class")
    ap.add_argument("--leads", action="store_true", help="all methods row by row; needs the peers' environment")
    ap.add_argument("--predict", nargs=2, metavar=("SET", "FILE"), help=argparse.SUPPRESS)
    args = ap.parse_args()
    if args.predict: return peer_predictions(*args.predict)
    if args.learning: return write(STORE.with_name("learning.csv"), ["problem", "n", "seed", "method", "distance"], list(learning()))
    if args.rows:
        fields = ["set", "K", "rows per class", "seed", "with matrices", "without"]
        return write(STORE.with_name("rows.csv"), fields, list(rows_per_class()))
    names = sorted((p.stem for p in LOGITS.glob("*.npz")), key=lambda s: ("geonames" in s, s))
    if args.leads:
        fields = ["set", "method", "log_loss", "behind", "error", "may_be_best"]
        return write(STORE.with_name("leads.csv"), fields, [row for name in names for row in leads(name)])
    old = list(csv.DictReader(STORE.open())) if STORE.exists() else []
    kept = [r for r in old if (r["method"].split()[0] in ("probmetrics", "scikit-learn")) != args.peers]
    rows = []
    for name in names:
        rows += (peers if args.peers else ours)(name)
        print(name, flush=True)
    write(STORE, FIELDS, [*kept, *rows])


if __name__ == "__main__": main()
