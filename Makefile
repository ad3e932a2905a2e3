# calnb: `make compare` runs the main job, `make test` the tests. Both need only python3 >= 3.11 (with venv), make and git.
PY := .venv/bin/python
PIP := $(PY) -m pip install --quiet --disable-pip-version-check

.PHONY: compare test export outputs lab docs check clean
compare: .venv/runtime
	$(PY) -m calnb.cli compare tests_data/fashionmnist_mlp.npz --out results/fashionmnist_mlp --force
	$(PY) -m calnb.cli compare tests_data/fashionmnist_lenet5.npz --out results/fashionmnist_lenet5 --force
test: .venv/dev
	$(PY) -m pytest -q -rs nbs
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
clean:
	rm -rf .venv _docs _proc results build dist *.egg-info

# One install each: whoever has asked for the larger set need not install the smaller one first.
.venv/runtime .venv/dev .venv/docs: settings.ini setup.py
	test -x $(PY) || python3 -m venv .venv
	$(PIP) -e .$(EXTRAS)
	touch $@ $(CONTAINED)
.venv/dev: EXTRAS := [dev]
.venv/dev: CONTAINED := .venv/runtime
.venv/docs: EXTRAS := [dev,docs]
.venv/docs: CONTAINED := .venv/runtime .venv/dev
