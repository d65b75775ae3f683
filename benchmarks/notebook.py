"""The page under a cell of a real JupyterLab, run by a browser as a person runs it.

JupyterLab is no requirement of the tests, because it brings some seventy packages: `pip install jupyterlab ipykernel`.
"""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread

from playwright.sync_api import Page, expect, sync_playwright

from benchmarks.figures import Figure, report
from benchmarks.opened_page import CHROMIUM_FLAGS, ROOT, WAIT_SECONDS
from tests.conftest import find_chromium
from tests.fakes.free_port import free_port

_CELL = "from assistant.ui.notebook import open_page\n\npage = open_page()\npage"
_TOKEN = "of-this-run"
_ASKS_NOBODY = ("--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate", "--LabApp.news_url=")


def main() -> int:
    """Run the cell, ask one thing in the frame under it, and report."""
    chromium = find_chromium()
    if chromium is None or importlib.util.find_spec("jupyterlab") is None:
        print("a Chromium on the PATH and JupyterLab are needed: pip install jupyterlab ipykernel", file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory() as folder, opened_lab(Path(folder)) as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=[*CHROMIUM_FLAGS])
        notebook = browser.new_page()
        notebook.set_default_timeout(WAIT_SECONDS * 1000)
        notebook.goto(address)
        figures = _run_cell(notebook)
        browser.close()
    return report(figures)


@contextmanager
def opened_lab(folder: Path) -> Generator[str]:
    """Where JupyterLab shows a notebook of one cell; its settings and the home of the page are in `folder`."""
    notes = folder / "notes"
    notes.mkdir()
    cell: dict[str, object] = {
        "cell_type": "code",
        "id": "a1",
        "metadata": {},
        "execution_count": None,
        "outputs": [],
        "source": _CELL,
    }
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    notebook: dict[str, object] = {
        "cells": [cell],
        "metadata": {"kernelspec": kernel},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    (notes / "page.ipynb").write_text(json.dumps(notebook), "utf-8")
    port = free_port()
    options = (f"--ServerApp.port={port}", f"--IdentityProvider.token={_TOKEN}", "--no-browser", "--allow-root")
    command = [sys.executable, "-m", "jupyterlab", *options, *_ASKS_NOBODY, f"--ServerApp.root_dir={notes}"]
    environment = os.environ | {
        **{f"JUPYTER_{name}_DIR": str(folder / name.lower()) for name in ("CONFIG", "DATA", "RUNTIME")},
        "IPYTHONDIR": str(folder / "ipython"),
        "PYTHONPATH": str(ROOT),
        "PALIMPSEST_HOME": str(folder / "home"),
        "PALIMPSEST_PROVIDER": "offline",
    }
    with subprocess.Popen(
        command, env=environment, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stderr is not None
            # It listens before it says where.
            if not any(f":{port}/lab" in line for line in process.stderr):
                raise SystemExit("JupyterLab ended without an address")
            # What it says later is read as well, or it would wait for that.
            Thread(target=process.stderr.read, daemon=True).start()
            yield f"http://localhost:{port}/lab/tree/page.ipynb?token={_TOKEN}"
        finally:
            process.terminate()
            process.wait(WAIT_SECONDS)


def _run_cell(notebook: Page) -> list[Figure]:
    notebook.locator(".jp-Notebook-ExecutionIndicator[data-status=idle]").wait_for()
    notebook.locator(".jp-Notebook .cm-content").first.click()
    began = time.monotonic()
    notebook.keyboard.press("Control+Enter")
    frame = notebook.locator(".jp-OutputArea iframe")
    frame.wait_for()
    page = notebook.frame_locator(".jp-OutputArea iframe")
    page.locator("html.p-settled").wait_for()
    shown_seconds = time.monotonic() - began
    composer = page.locator("#composer textarea")
    composer.fill("Who are you?")
    composer.press("Enter")
    expect(page.locator("#chat")).to_contain_text("not a language model", timeout=WAIT_SECONDS * 1000)
    box = frame.bounding_box()
    share = box["height"] / notebook.evaluate("innerHeight") if box else float("inf")
    return [
        Figure("from the cell to the page", shown_seconds, "s"),
        Figure("from the cell to an answer", time.monotonic() - began, "s"),
        Figure("height of the frame, of the window's", share, "times", at_most=0.9),
    ]


if __name__ == "__main__":
    sys.exit(main())
