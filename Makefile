# calnb: `make compare` runs the main job, `make test` the tests. Both need only python3 >= 3.11 (with venv), make and git.
PY := .venv/bin/python
PIP := $(PY) -m pip install --quiet --disable-pip-version-check

.PHONY: compare test export outputs lab docs check bench bench-peers wheel clean
compare: .venv/runtime
	$(PY) -m calnb.cli compare tests_data/fashionmnist_mlp.npz --out results/fashionmnist_mlp --force
	$(PY) -m calnb.cli compare tests_data/fashionmnist_lenet5.npz --out results/fashionmnist_lenet5 --force
# Two notebooks at a time, each with one thread for linear algebra: two libraries that fight for the same core are many times slower.
test: .venv/dev
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(PY) -m pytest -q -rs -n 2 --dist loadfile nbs
export: .venv/dev
	.venv/bin/nbdev_export
	$(PY) docs/readme.py
outputs: .venv/dev
	$(PY) docs/execute.py
lab: .venv/dev
	$(PY) -m jupyterlab nbs
docs: .venv/docs
	$(PY) docs/build.py
check: .venv/docs
	$(PY) docs/check.py
bench: .venv/dev
	$(PY) docs/bench.py --runs 1
bench-peers: .venv/dev .venv-peers/dirichletcal .venv-peers/netcal .venv-peers/probmetrics .venv-peers/pycalib
	$(PY) docs/bench.py --peers
# What we ship, in empty environments: every Python from 3.11 to 3.13 there is, and the lowest versions of what it needs.
wheel: .venv/dev
	$(PY) docs/wheel.py
clean:
	rm -rf .venv .venv-peers _docs _proc build dist *.egg-info

# One install each: whoever has asked for the larger set need not install the smaller one first.
.venv/runtime .venv/dev .venv/docs: settings.ini setup.py
	$(PY) -m pip --version >/dev/null 2>&1 || python3 -m venv --clear .venv
	$(PIP) -e .$(EXTRAS)
	touch $@ $(CONTAINED)
.venv/dev: EXTRAS := [dev]
.venv/dev: CONTAINED := .venv/runtime
.venv/docs: EXTRAS := [dev,docs]
.venv/docs: CONTAINED := .venv/runtime .venv/dev

# Other libraries, for comparison only, each in an environment of its own (dirichletcal needs python3.12 or newer).
.venv-peers/dirichletcal:
	python3.12 -m venv $@ && $@/bin/pip install --quiet dirichletcal==0.5.3
.venv-peers/netcal:
	python3 -m venv $@ && $@/bin/pip install --quiet torch==2.13.0 && $@/bin/pip install --quiet netcal==1.3.6
.venv-peers/probmetrics:
	python3 -m venv $@ && $@/bin/pip install --quiet probmetrics==1.3.0 torch==2.13.0 numba
.venv-peers/pycalib:
	python3 -m venv $@ && $@/bin/pip install --quiet pycalib==0.1.0.dev6 betacal==1.1.0 pandas matplotlib statsmodels
