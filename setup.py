"""Build calnb. Everything that can change stands in settings.ini; this file only reads it."""
from configparser import ConfigParser
from pathlib import Path
from shlex import split

from setuptools import find_packages, setup

config = ConfigParser(delimiters=["="])
config.read("settings.ini", encoding="utf-8")
cfg = config["DEFAULT"]

setup(
    name=cfg["lib_name"], version=cfg["version"], description=cfg["description"], keywords=cfg["keywords"],
    author=cfg["author"], author_email=cfg["author_email"], url=cfg["git_url"], license="Apache-2.0",
    long_description=Path("README.md").read_text(encoding="utf-8"), long_description_content_type="text/markdown",
    packages=find_packages(include=["calnb", "calnb.*"]), zip_safe=False,
    python_requires=f">={cfg['min_python']}", install_requires=split(cfg["requirements"]),
    extras_require={name: split(cfg[f"{name}_requirements"]) for name in ("cluster", "dev", "docs")},
    entry_points={"console_scripts": split(cfg["console_scripts"])},
    classifiers=["Intended Audience :: Science/Research",
                 "Programming Language :: Python :: 3", "Framework :: Jupyter",
                 "Topic :: Scientific/Engineering :: Artificial Intelligence"],
)
