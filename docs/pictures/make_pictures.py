"""Make the pictures of the README: a run in the terminal, and its HTML report.

    python -m pip install rich pillow
    python docs/pictures/make_pictures.py

Needs Chromium (another command than `chromium`: `CHROMIUM=...`). The pages that are photographed are written into a
temporary folder; nothing is loaded from the network.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
ROOT = FOLDER.parents[1]
COLUMNS = 100
COMMAND = (
    "pytest suites/understanding --model=simulated:0.9 -k 'next_tasks or flow_cycle or trace' --taskgraph-instances=12 "
    "--taskgraph-gate 'next_tasks>=0.8' --taskgraph-gate 'flow_cycle>=0.95' --taskgraph-report html=report.html"
)
_PLUGINS = "-p taskgraph -p no:cacheprovider"  # the lines on other plugins of this environment are of no interest


def run_pytest(folder: Path) -> str:
    """Run COMMAND in the folder, where it writes `report.html`; return the coloured output."""
    shutil.copytree(ROOT / "suites", folder / "suites", ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "pyproject.toml").write_text("[tool.pytest.ini_options]\n", encoding="utf-8")
    done = subprocess.run(
        ["bash", "-c", f"{sys.executable} -m {COMMAND}"],
        cwd=folder,
        env=os.environ
        | {"COLUMNS": str(COLUMNS), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_ADDOPTS": f"--color=yes {_PLUGINS}"},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout


def terminal_page(output: str) -> str:
    """Return an HTML page that shows the output as a terminal does."""
    from io import StringIO

    from rich.console import Console
    from rich.terminal_theme import MONOKAI
    from rich.text import Text

    console = Console(record=True, width=COLUMNS, file=StringIO(), force_terminal=True)
    console.print(Text.from_ansi(f"$ {COMMAND}\n{output}"), soft_wrap=False)
    style = "body { margin: 0; padding: 16px 20px } pre { font: 14px/1.35 'DejaVu Sans Mono', monospace !important }"
    page = console.export_html(theme=MONOKAI, inline_styles=True)
    return page.replace("</head>", f"<style>{style}</style></head>")


def photograph(page: Path, picture: Path, width: int, height: int) -> None:
    """Save a screenshot of the page, and cut off the empty rows at its end."""
    from PIL import Image, ImageChops

    with tempfile.TemporaryDirectory() as profile:
        switches = "--headless --no-sandbox --disable-gpu --disable-background-networking --disable-component-update"
        command = [os.environ.get("CHROMIUM", "chromium"), *switches.split(), "--disable-sync", "--no-first-run"]
        command += [f"--user-data-dir={profile}", f"--window-size={width},{height}", f"--screenshot={picture}"]
        subprocess.run([*command, page.as_uri()], check=True, capture_output=True)
    with Image.open(picture) as opened:
        image = opened.convert("RGB")
    empty = Image.new("RGB", image.size, image.getpixel((image.width - 1, image.height - 1)))
    box = ImageChops.difference(image, empty).getbbox()
    bottom = image.height if box is None else min(image.height, box[3] + 16)
    image.crop((0, 0, image.width, bottom)).quantize(64).save(picture, optimize=True)


def main() -> None:
    """Write `terminal.png` and `report.png` beside this script."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "project"
        folder.mkdir()
        (folder / "terminal.html").write_text(terminal_page(run_pytest(folder)), encoding="utf-8")
        photograph(folder / "terminal.html", FOLDER / "terminal.png", 920, 1200)
        photograph(folder / "report.html", FOLDER / "report.png", 1100, 900)


if __name__ == "__main__":
    main()
