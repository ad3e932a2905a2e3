"""Sphinx's settings. `python docs/build.py` writes the pages that Sphinx reads, and starts it."""
import re, sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from build import PROC, anchors, get_config

project, author, copyright = get_config().title, get_config().author, get_config().copyright
release = get_config().version
extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.mathjax", "sphinx.ext.linkcode", "numpydoc", "sphinx_copybutton"]

# Chapters: MyST-NB shows the stored outputs and runs nothing.
nb_execution_mode = "off"
nb_merge_streams = True
myst_enable_extensions = ["dollarmath", "amsmath", "attrs_block", "attrs_inline"]
myst_heading_anchors = 4
copybutton_selector = "div.cell_input pre, div.highlight-python pre, div.highlight-bash pre"

# Mathematics: MathJax 3 from beside the pages. Its menu goes, since parts of it are loaded from the network.
mathjax_path = "mathjax/tex-chtml.js"
mathjax3_config = {"options": {"enableMenu": False}}

# Reference: numpydoc's docstrings in the order of the source.
autodoc_member_order = "bysource"
autodoc_default_options = {"show-inheritance": True}
numpydoc_show_class_members = False
default_role = "py:obj"

html_theme = "furo"
html_title = f"{project} {release}"
html_static_path = ["_static", str(PROC/"static")]
html_css_files = ["custom.css"]
html_show_sourcelink = html_copy_source = html_show_sphinx = False
html_domain_indices = False
pygments_style, pygments_dark_style = "friendly", "native"


def linkcode_resolve(domain, info):
    "[source] leads to the cell of the chapter that defines the name."
    place = anchors().get(f"{info['module']}.{info['fullname']}")
    return place and f"../{place}"


def plain_text(app, what, name, obj, options, lines):
    """Docstrings are written to be read in Jupyter, as plain text: only backticks are markup, and `check_probs` is a link.

    So `beta_`, `*` and `|` outside backticks are escaped, except in the names of parameters, where numpydoc does it."""
    full = {n.split(".", 2)[2]: n for n in anchors() if n.startswith("calnb.")}
    def link(m): return f":py:obj:`{m[1]} <{full[m[1]]}>`" if m[1] in full and full[m[1]] != name else m[0]
    def escape(text): return re.sub(r"`[^`]*`|(?<=\w)_(?!\w)|[*|]", lambda m: m[0] if m[0][0] == "`" else "\\" + m[0], text)
    for i, line in enumerate(lines):
        parameter, text = re.fullmatch(r"([\w, *]+ : )?(.*)", line).groups()
        lines[i] = (parameter or "") + re.sub(r"(?<![`:])`([A-Za-z][\w.]*)`(?!`)", link, escape(text))


def skip(app, what, name, obj, skip, options):
    "scikit-learn gives every estimator set_..._request methods; they are not ours to document."
    return True if re.fullmatch(r"set_\w+_request", name) else None


def plain_equations(app, doctree):
    r"An equation of several lines keeps its own environment: Sphinx would wrap it in `split`, which refuses \tag."
    from docutils import nodes
    for node in doctree.findall(nodes.math_block): node["classes"].append("amsmath")


def setup(app):
    app.connect("autodoc-process-docstring", plain_text, priority=400)      # before numpydoc
    app.connect("autodoc-skip-member", skip)
    app.connect("doctree-read", plain_equations)
