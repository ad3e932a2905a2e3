"""Measure speed: `make bench` runs every task in processes of its own and stores the figures in tests_data/bench.csv.

A task names the same job for several contestants. They take turns (A B A B ...), each run in a fresh process with one thread for
linear algebra, so a drift of the machine hits all alike; what counts is the ratio within one call, and processor seconds rather
than those of the clock. Compilation (numba) is a task of its own and is over before any other job is timed. Growth tasks measure
one method at many sizes. Tasks with contestants from an environment of their own, .venv-peers/NAME (see the Makefile), are left to
`--peers`; one that is not installed is left out and said to be."""
import argparse, csv, json, os, statistics, subprocess, sys, time
from datetime import datetime, timezone
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
STORE = ROOT/"tests_data"/"bench.csv"
QUALITY = ROOT/"tests_data"/"nafir_quality.csv"
FIELDS = ["task", "contestant", "n", "K", "seconds", "cpu_seconds", "peak_mib", "quality", "meaning", "steps", "runs", "run"]


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


# Each contestant: prepare() -> (job, quality, n, K, meaning[, scale, steps]). job() is timed, quality(result) -> number; the seconds are
# multiplied by scale, for searches of which only the first of many steps are run. Imports happen in prepare.

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


def compile_scir():
    "The first fit of a process compiles, or reads what an earlier process compiled and stored; nothing is timed before it."
    from calnb import SCIR
    SCIR().fit(*overconfident(6000, 10))


def compilation(times):
    def fit():
        from calnb import SCIR
        P, y = overconfident(6000, 10)
        for _ in range(times): SCIR().fit(P, y)
        return lambda: SCIR().fit(P, y), lambda c: len(c.values_), *P.shape, "values"
    return fit


def scir(n, K, smoothed=False):
    def fit():
        from calnb import SCIR, SmoothedSCIR
        compile_scir()
        P, y = overconfident(n, K)
        cal = SmoothedSCIR() if smoothed else SCIR()
        return lambda: cal.fit(P, y), lambda c: len(c.values_), n, K, "values"
    return fit


def fits(name, n, K):
    "One method with its defaults, and the log loss of as many new rows."
    def fit():
        import calnb
        from calnb import overconfident as draw
        cal, (P, y), (new, y_new) = getattr(calnb, name)(), *(draw(n, K, T=1.5, tail=1.0, seed=seed) for seed in (0, 1))
        getattr(calnb, name)().fit(P[:200], y[:200])
        return lambda: cal.fit(P, y), lambda c: calnb.log_loss(y_new, c.predict_proba(new)), n, K, "log loss of new rows"
    return fit


def nafir(n, K, smoothing, interpolate):
    def fit():
        from calnb import NAFIR
        P, y = overconfident(n, K)
        NAFIR().fit(P[:200], y[:200])
        return lambda: NAFIR(smoothing, interpolate).fit(P, y), lambda c: c.objective_, n, K, "mean log loss"
    return fit


def nafir_solver(n, K):
    "The solver alone: groups and counts are given, as they are to the searches in full."
    def prepare():
        import numpy as np
        from calnb import NormalizedLoss, flatten_groups, minimize_loss, safe_log
        from calnb.na_fir import _fir_values
        P, y = overconfident(n, K)
        w = np.ones(n)
        flat = flatten_groups(safe_log(P), y, w)
        t, share = _fir_values(flat)
        data = NormalizedLoss(flat.counts, w, flat.hits, np.zeros(len(t)))
        return (lambda: minimize_loss(data.plus(1e-10 * share, t), np.log(t))[0], lambda theta: data.value(theta) / n, n, K, "mean log loss")
    return prepare


def annealing(n, K):
    def fit():
        from calnb import NAFIRAnnealing
        P, y = overconfident(n, K)
        NAFIRAnnealing(max_iter=10).fit(P[:200], y[:200])
        steps = NAFIRAnnealing().fit(P, y).n_iter_
        return lambda: NAFIRAnnealing().fit(P, y), lambda c: c.objective_, n, K, "mean log loss", 1.0, steps
    return fit


def annealing_in_full(n, K, form, some):
    """The same search, timed for some of its steps: the objective is evaluated over all rows in each.

    form "entries": every entry of every row, as equation 4 of Arad and Rosset reads; "counts": one term per row and block."""
    def prepare():
        import numpy as np
        from calnb import NAFIRAnnealing, NormalizedLoss, flatten_groups, pool_adjacent_violators, safe_log
        P, y = overconfident(n, K)
        cal, logp, w = NAFIRAnnealing().fit(P, y), safe_log(P), np.ones(n)
        flat = flatten_groups(logp, y, w)
        start, hits, weight = pool_adjacent_violators(flat.hits, flat.weight)
        blocks = NormalizedLoss(flat.counts, w, flat.hits, np.zeros(len(flat.hits))).pooled(start)
        place = np.searchsorted(flat.thresholds[start[1:]], np.rint(logp * 2.0**40) / 2.0**40, side="right").astype(np.int16)
        true = place[np.arange(n), y]

        def by_entries(g): return (np.log(g[place].sum(axis=1)) - np.log(np.maximum(g[true], 1e-300))).sum()
        def by_counts(g): return blocks.value(np.log(np.maximum(g, 1e-300)))
        loss = {"entries": by_entries, "counts": by_counts}[form]
        np.testing.assert_allclose(loss(hits / weight), by_counts(hits / weight))

        def search():
            rng, g, free = np.random.default_rng(0), np.append(hits / weight, 1.0), np.flatnonzero(hits > 0)
            value = loss(g[:-1])
            for _ in range(some):
                new, b = g.copy(), free[rng.integers(len(free))]
                new[b] = rng.uniform(g[b - 1] if b else 0.0, g[b + 1])
                proposed = loss(new[:-1])
                if proposed <= value or rng.random() < np.exp(-200 * (proposed - value)): g, value = new, proposed
        return search, lambda _: cal.objective_, n, K, "mean log loss", cal.n_iter_ / some, cal.n_iter_
    return prepare


def nafir_task(n, K, by_entries, by_counts):
    return {"exact, no smoothing": nafir(n, K, 0, False), "exact, default": nafir(n, K, 3.0, True),
            "exact, groups given": nafir_solver(n, K), "annealing, changes only": annealing(n, K),
            "annealing, all rows by counts": annealing_in_full(n, K, "counts", by_counts),
            "annealing, all entries": annealing_in_full(n, K, "entries", by_entries)}


def prediction(name, n, K):
    "Fitted on a third of the rows of prediction."
    def predict():
        import calnb
        from calnb import overconfident as draw
        cal = getattr(calnb, name)()
        P, y = draw(n // 3, K, T=1.5, tail=1.0)
        cal.fit(P, y)
        P, y = draw(n, K, T=1.5, tail=1.0, seed=1)
        return lambda: cal.predict_proba(P), lambda Q: calnb.log_loss(y, Q), n, K, "log loss of new rows"
    return predict


def plane_points(n, K):
    "Sorted points of SCIR, ready for a sweep."
    import numpy as np
    from calnb import rank_sums, rank_targets, sorted_points
    P, y = overconfident(n, K)
    x, t, r = rank_sums(P)[2].T.ravel(), rank_targets(P, y).T.ravel(), np.repeat(np.arange(K - 1), n)
    col, s, w = sorted_points(-x, K - 2 - r, 1 - t, np.ones(len(x)))[2:]        # mirrored, as `bivariate_blocks` does it
    return col, s * 1.0, w * 1.0


def table_split(col, s, w, T, W, take, M, chosen):
    "The table of chapter 41 for the compiler, one row kept and a byte per cell. Returns the best score, fills the best set."
    c = len(M) - 1
    for i in range(len(col) - 1, -1, -1):
        v, l = s[i] * W - T * w[i], col[i]
        for j in range(c + 1):
            if j <= l: M[j] += v
            else:
                take[i, j] = M[l] > M[j]
                M[j] = max(M[j], M[l])
    best, j = M[c], c
    for i in range(len(col)):
        chosen[i] = col[i] >= j or take[i, j]
        if chosen[i]: j = min(j, col[i])
    return best


def full_table(col, s, w, T, W, M, chosen):
    "The table of chapter 41 for the compiler, kept whole, as the appendix of Arad and Rosset has it."
    N, c = len(col), M.shape[1] - 1
    M[N] = 0
    for i in range(N - 1, -1, -1):
        v, l = s[i] * W - T * w[i], col[i]
        for j in range(c + 1):
            if j <= l: M[i, j] = M[i + 1, j] + v
            else: M[i, j] = max(M[i + 1, j], M[i, l])
    j = c
    for i in range(N):
        chosen[i] = col[i] >= j or M[i, col[i]] > M[i + 1, j]
        if chosen[i]: j = min(j, col[i])
    return M[0, c]


def sweep_once(n, K):
    def prepare():
        import numba, numpy as np
        from calnb import bivariate
        sweep = numba.njit(bivariate._sweep)                 # bivariate.compiled() alone would time all splits at once
        col, s, w = plane_points(n, K)
        bivariate.compiled()
        T, W, N = s.sum(), w.sum(), len(col)
        def once(): return sweep(col, s, w, 0, N, T, W, np.zeros(K), np.zeros((K >> 5) + 2, np.int64), np.zeros(N, np.int32))
        once()
        return lambda: [once() for _ in range(20)], lambda r: N, n, K, "points", 1 / 20, ""
    return prepare


def table_once(n, K, whole):
    def prepare():
        import numba, numpy as np
        split, (col, s, w) = numba.njit(full_table if whole else table_split), plane_points(n, K)
        T, W = s.sum(), w.sum()
        def once(m):
            tables = (np.empty((m + 1, K)),) if whole else (np.zeros((m, K), bool), np.zeros(K))
            return split(col[:m], s[:m], w[:m], T, W, *tables, np.zeros(m, bool))
        once(10)
        return lambda: [once(len(col)) for _ in range(3)], lambda r: len(col), n, K, "points", 1 / 3, ""
    return prepare


def sweep_all(n, K):
    def prepare():
        from calnb import bivariate
        compile_scir()
        points = plane_points(n, K)
        bivariate._blocks_of_sorted(*(a[:6000] for a in points))
        return lambda: bivariate._blocks_of_sorted(*points), lambda r: len(r[1]), n, K, "blocks"
    return prepare


def table_all(n, K, whole):
    def prepare():
        import numba, numpy as np
        split, (col, s, w) = numba.njit(full_table if whole else table_split), plane_points(n, K)
        def tables(m, c): return (np.empty((m + 1, c)),) if whole else (np.zeros((m, c), bool), np.zeros(c))
        split(col[:9], s[:9], w[:9], 1.0, 9.0, *tables(9, K), np.zeros(9, bool))

        def job():
            blocks, stack = 0, [np.arange(len(col))]
            while stack:
                part = stack.pop()
                a, b, chosen, c = s[part], w[part], np.zeros(len(part), bool), int(col[part].max()) + 1
                gain = split(col[part], a, b, a.sum(), b.sum(), *tables(len(part), c + 1), chosen)
                if gain > 0 and not chosen.all(): stack += [part[chosen], part[~chosen]]
                else: blocks += 1
            return blocks
        return job, float, n, K, "blocks"
    return prepare


def consistency_calnb():
    from calnb import consistency_test
    P, y = overconfident(5000, 10)
    return lambda: consistency_test(y, P, n_resamples=1000, seed=0), lambda t: t.null.mean(), *P.shape, "mean of null"


def consistency_naive():
    import numpy as np
    from calnb import confidence_ece
    P, y = overconfident(5000, 10)
    ends, rng = P.cumsum(axis=1), np.random.default_rng(0)
    def draw(): return confidence_ece(np.minimum((ends <= rng.random((len(P), 1))).sum(axis=1), 9), P)
    return lambda: [draw() for _ in range(1000)], np.mean, *P.shape, "mean of null"


def beta_calnb():
    from calnb import BetaCalibration, OneVsRest, log_loss
    Z, y = outputs("cifar10_densenet40_kull")["val"]
    cal = OneVsRest(BetaCalibration(), inputs="logits")
    return lambda: cal.fit(Z, y), lambda c: log_loss(y, c.predict_proba(Z)), *Z.shape, "log loss"


def beta_pycalib():
    import numpy as np
    from pycalib.models import BetaCalibration
    Z, y = outputs("cifar10_densenet40_kull")["val"]
    P = np.exp(logp(Z))

    def quality(maps):
        Q = np.column_stack([m.predict(p) for m, p in zip(maps, P.T)])
        return mean_loss(np.log(Q / Q.sum(axis=1, keepdims=True)), y)
    return lambda: [BetaCalibration("abm").fit(p, 1.0 * (y == k)) for k, p in enumerate(P.T)], quality, *Z.shape, "log loss"


def beta_netcal():
    import numpy as np
    from netcal.scaling import BetaCalibration
    Z, y = outputs("cifar10_densenet40_kull")["val"]
    P = np.exp(logp(Z))
    cal = BetaCalibration()
    return lambda: cal.fit(P, y), lambda _: mean_loss(np.log(np.maximum(cal.transform(P), 2.0**-52)), y), *Z.shape, "log loss"


def temperature_of_probabilities():
    def calnb():
        from calnb import TemperatureScaling, log_loss, normalize
        import numpy as np
        Z, y = outputs("cifar100_densenetbc100_netcal")["val"]
        P = normalize(np.exp(logp(Z)))
        return lambda: TemperatureScaling().fit(P, y), lambda c: log_loss(y, c.predict_proba(P)), *P.shape, "log loss"

    def netcal():
        import numpy as np
        from netcal.scaling import TemperatureScaling
        Z, y = outputs("cifar100_densenetbc100_netcal")["val"]
        P = np.exp(logp(Z))
        P, cal = P / P.sum(axis=1, keepdims=True), TemperatureScaling()
        return lambda: cal.fit(P, y), lambda _: mean_loss(np.log(np.maximum(cal.transform(P), 2.0**-52)), y), *P.shape, "log loss"

    return {"calnb": calnb, "netcal": netcal}


METHODS = ["TemperatureScaling", "VectorScaling", "MatrixScaling", "BetaCalibration", "IsotonicCalibration", "HistogramBinning", "FIR",
           "NAFIR", "SCIR", "SmoothedSCIR"]
GROWTH = {"growth with n": [(n, 10) for n in (500, 1000, 2000, 5000, 10_000, 20_000)],
          "growth with K": [(2000, K) for K in (3, 10, 30, 100, 300, 1000)]}


def grow(task, name):
    "Fit one method at all sizes, each until 0.1 s are spent, until one takes more than 3 s. Yields the fastest of each size."
    import calnb
    cal = getattr(calnb, name)()
    if isinstance(cal, calnb.BinaryMap): cal = calnb.OneVsRest(cal)
    if "SCIR" in name: compile_scir()
    cal.fit(*overconfident(300, 5))
    for n, K in GROWTH[task]:
        P, y = overconfident(n, K)
        times = []
        while not times or sum(t[1] for t in times) < .1:
            times.append(clock(lambda: cal.fit(P, y))[1:])
        wall, cpu = min(t[0] for t in times), min(t[1] for t in times)
        yield {"n": n, "K": K, "seconds": wall, "cpu_seconds": cpu, "peak_mib": peak(), "quality": len(times), "meaning": "fits", "steps": ""}
        if cpu > 3: return


PREDICTORS = ["TemperatureScaling", "FIR", "NAFIR", "SCIR", "AutoCalibration"]
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
    "NA-FIR, 100 classes": nafir_task(5000, 100, 100, 4000), "NA-FIR, 1000 classes": nafir_task(12_500, 1000, 30, 4000),
    "SCIR, 100 classes": {"SCIR": scir(5000, 100), "SCIR, smoothed": scir(5000, 100, True)},
    "SCIR, 1000 classes": {"SCIR": scir(12_500, 1000)},
    "the mixture, 100 classes": {name: fits(name, 5000, 100) for name in ("NAFIR", "MatrixScaling", "AutoCalibration")},
    "the mixture, 1000 classes": {name: fits(name, 5000, 1000) for name in ("TemperatureScaling", "NAFIR", "AutoCalibration")},
    "prediction, 100 classes": {name: prediction(name, 15_000, 100) for name in PREDICTORS + ["MatrixScaling"]},
    "prediction, 1000 classes": {name: prediction(name, 37_500, 1000) for name in PREDICTORS},
    "plane, one sweep": {"sweep": sweep_once(5000, 100), "table, one row kept": table_once(5000, 100, False),
                         "table, all kept": table_once(5000, 100, True)},
    "plane, all splits": {"sweep": sweep_all(5000, 100), "table, one row kept": table_all(5000, 100, False),
                          "table, all kept": table_all(5000, 100, True)},
    "compilation of SCIR": {"first fit": compilation(0), "second fit": compilation(1)},
    "consistency test": {"calnb": consistency_calnb, "draw by draw": consistency_naive},
    "one-vs-rest beta, 10 classes": {"calnb": beta_calnb, "pycalib": beta_pycalib, "netcal": beta_netcal},
    "temperature of probabilities": temperature_of_probabilities(),
    **{task: {name: name for name in METHODS} for task in GROWTH},
}
SETS = sorted(p.stem for p in (Path(os.environ.get("CALNB_DATA", "."))/"logits").glob("*.npz"))
TASKS |= {f"matrix by default on {name}": matrix_default(name) for name in SETS}
PEERS = {"dirichletcal", "netcal", "probmetrics", "pycalib"}                # these need an environment of their own


def clock(job):
    "The result, seconds on the clock and processor seconds."
    wall, cpu = time.perf_counter(), time.process_time()
    result = job()
    return result, time.perf_counter() - wall, time.process_time() - cpu


def peak():
    "The most memory that this process has held, in MiB, preparation included."
    import resource
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def run_one(task, contestant):
    "In a process of its own: prepare, time the job once (growth: at all sizes), print the figures as JSON."
    sys.path.insert(0, str(ROOT))
    if task in GROWTH: return print(json.dumps(list(grow(task, contestant))))
    job, quality, n, K, meaning, scale, steps = (*TASKS[task][contestant](), 1.0, "")[:7]
    result, wall, cpu = clock(job)
    row = {"n": n, "K": K, "seconds": wall * scale, "cpu_seconds": cpu * scale, "peak_mib": peak()}
    print(json.dumps([{**row, "quality": float(quality(result)), "meaning": meaning, "steps": steps}]))


def measure(task, contestants, runs):
    "Rows of the table: every contestant `runs` times, in turn; medians of the figures."
    found, environment = {}, os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    for _ in range(runs):
        for c in contestants:
            python = ROOT/".venv-peers"/c/"bin"/"python" if c in PEERS else sys.executable
            done = subprocess.run([python, __file__, "--one", task, c], capture_output=True, text=True, env=environment)
            if done.returncode: print(f"  {c} failed: {done.stderr.strip().splitlines()[-1]}"); continue
            for row in json.loads(done.stdout.strip().splitlines()[-1]): found.setdefault((c, row["n"], row["K"]), []).append(row)
    for (c, n, K), rows in found.items():
        middle = {k: statistics.median(r[k] for r in rows) for k in ("seconds", "cpu_seconds", "peak_mib", "quality")}
        yield {"task": task, "contestant": c, "n": n, "K": K, **{k: rows[0][k] for k in ("meaning", "steps")}, **middle, "runs": len(rows)}


def quality_of(name):
    "Rows of the table of quality: each method fitted on the validation part of a set, measured on its test part."
    sys.path.insert(0, str(ROOT))
    import calnb as c
    Z, y = outputs(name)["val"]
    Zt, yt = outputs(name)["test"]
    methods = {"no change": c.Identity(), "temperature": c.TemperatureScaling(), "vector": c.VectorScaling(),
               "isotonic, one-vs-rest": c.OneVsRest(c.IsotonicCalibration()), "FIR": c.FIR(), "NA-FIR": c.NAFIR(),
               "SCIR": c.SCIR(), "SCIR, smoothed": c.SmoothedSCIR()}
    for method, cal in methods.items():
        Q = cal.set_params(inputs="logits").fit(Z, y).predict_proba(Zt)
        yield {"set": name, "n": len(y), "K": Z.shape[1], "method": method, "log_loss": c.log_loss(yt, Q, floor=c.FLOOR),
               "conf_ece": c.confidence_ece(yt, Q), "cw_ece": c.classwise_ece(yt, Q), "accuracy": float((Q.argmax(axis=1) == yt).mean())}


def store_quality():
    "The table of quality over all sets, written set by set."
    rows = []
    for name in SETS:
        rows += quality_of(name)
        print(name, *(f"{r['method']} {r['log_loss']:.4f}" for r in rows if r["set"] == name), flush=True)
        write_rows(QUALITY, list(rows[0]), rows)


def write_rows(path, fields, rows):
    "A csv file, complete or not at all; numbers with six digits, measures of quality with all."
    with path.with_suffix(".part").open("w", newline="") as f:
        out = csv.DictWriter(f, fields)
        out.writeheader()
        out.writerows({k: f"{v:.6g}" if isinstance(v, float) and k != "quality" else v for k, v in r.items()} for r in rows)
    path.with_suffix(".part").replace(path)


def main():
    ap = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ap.add_argument("tasks", nargs="*", help="tasks by how their names begin; default: all. " + ", ".join(TASKS))
    ap.add_argument("--one", nargs=2, metavar=("TASK", "CONTESTANT"), help=argparse.SUPPRESS)
    ap.add_argument("--peers", action="store_true", help="also run the contestants of .venv-peers")
    ap.add_argument("--quality", action="store_true", help="write the table of quality, tests_data/nafir_quality.csv, and no times")
    ap.add_argument("--runs", type=int, default=3)
    args = ap.parse_args()
    if args.one: return run_one(*args.one)
    if "CALNB_DATA" not in os.environ: sys.exit("bench: set CALNB_DATA to the folder of the shared data.")
    if args.quality: return store_quality()
    rows = list(csv.DictReader(STORE.open())) if STORE.exists() else []
    run, chosen = datetime.now(timezone.utc).strftime("%Y-%m-%d %H:%M"), [t for t in TASKS if not args.tasks or t.startswith(tuple(args.tasks))]
    for task in chosen:
        if PEERS & TASKS[task].keys() and not args.peers: continue          # a ratio needs both sides from one call
        here = [c for c in TASKS[task] if c not in PEERS or (ROOT/".venv-peers"/c).exists()]
        print(task, "-", ", ".join(here), "" if len(here) == len(TASKS[task]) else "(others not installed)", flush=True)
        fresh = [row | {"run": run} for row in measure(task, here, args.runs)]
        for row in fresh:
            print("  {contestant:30s} n {n:6d} K {K:4d} {seconds:10.4f} s wall {cpu_seconds:10.4f} s CPU {peak_mib:7.0f} MiB  {meaning} {quality:.8g}".format(**row))
        rows = [r for r in rows if r["task"] != task] + fresh
        write_rows(STORE, FIELDS, rows)


if __name__ == "__main__": main()
