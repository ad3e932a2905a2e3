"""Write README.md from nbs/index.ipynb, with its stored outputs. `python docs/readme.py [ROOT]`

GitHub shows the file as it stands: figures become docs/images/index_1.png and so on, links to notebooks start at the
root of the project, and what the notebook hides is left out."""
import base64, json, re, sys
from pathlib import Path

NOTE = "<!-- Written by docs/readme.py from nbs/index.ipynb; edit that notebook and run `make export`. -->"
HIDDEN = {"hide", "export", "exporti", "default_exp"}


def text(parts): return parts if isinstance(parts, str) else "".join(parts)


def directives(source):
    "The `#|` lines at the top of a code cell as a dict, and the code below them."
    lines, found = source.splitlines(), {}
    while lines and lines[0].startswith("#|"):
        name, _, value = lines.pop(0)[2:].strip().partition(" ")
        found[name.rstrip(":")] = value.strip()
    return found, "\n".join(lines).strip()


def links(line):
    "Links are written as seen from nbs/; README.md lies one folder higher."
    line = re.sub(r"\]\(\.\./", "](", line)
    return re.sub(r"\]\((?!\w+:|[#/])((?:[^)\s]+\.ipynb|images/)[^)]*)\)", r"](nbs/\1)", line)


def markdown(source):
    "A markdown cell; lines in fences are left alone."
    lines, fenced = source.splitlines(), False
    for i, line in enumerate(lines):
        if line.startswith("```"): fenced = not fenced
        elif not fenced: lines[i] = links(lines[i])
    return "\n".join(lines)


def fence(code, language=""): return f"```{language}\n{code}\n```"


def shown(output, images):
    "An output as markdown: a figure if there is one, else what is readable as plain text. Errors and stderr are not shown."
    data = output.get("data", {})
    if "image/png" in data:
        images.append(base64.b64decode(text(data["image/png"])))
        return f"![What the code above draws](docs/images/index_{len(images)}.png)"
    if "text/markdown" in data: return text(data["text/markdown"]).strip()
    plain = text(output.get("text", "") if output.get("name") == "stdout" else data.get("text/plain", "")).rstrip()
    return fence(plain) if plain else ""


def readme(notebook):
    "The text of README.md and its images, as bytes."
    parts, images = [NOTE], []
    for cell in notebook["cells"]:
        source = text(cell["source"]).strip()
        if cell["cell_type"] == "markdown" and source: parts.append(markdown(source))
        if cell["cell_type"] != "code": continue
        found, code = directives(source)
        if HIDDEN & found.keys() or found.get("include") == "false": continue
        if code and found.get("echo") != "false": parts.append(fence(code, "python"))
        if found.get("output") != "false": parts += [shown(o, images) for o in cell["outputs"]]
    return "\n\n".join(p for p in parts if p) + "\n", images


def main(root):
    index, folder = root/"nbs"/"index.ipynb", root/"docs"/"images"
    if not index.exists(): return print("no nbs/index.ipynb: README.md stays as it is")
    page, images = readme(json.loads(index.read_text(encoding="utf-8")))
    (root/"README.md").write_text(page, encoding="utf-8")
    for old in folder.glob("index_*.png"): old.unlink()
    if images: folder.mkdir(exist_ok=True)
    for i, png in enumerate(images, 1): (folder/f"index_{i}.png").write_bytes(png)


if __name__ == "__main__": main(Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).resolve().parent.parent))
