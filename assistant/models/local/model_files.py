"""Where programs keep GGUF files on this machine, and which of them the settings mean."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from assistant.config.words import say
from assistant.errors import ModelError, SettingsError
from assistant.models.local.gguf_file import GgufFile, is_first_part, read_gguf

_DEPTH = 5
# A disk with more files than this below one of the folders is not searched to its end.
_MOST_ENTRIES = 20_000
_SHOWN = 5


def usual_folders() -> tuple[Path, ...]:
    """Where LM Studio, Hugging Face, llama.cpp, Jan, GPT4All and people keep models; not all of them exist."""
    home = Path.home()
    cache = Path(os.environ.get("XDG_CACHE_HOME") or home / ".cache")
    hub = os.environ.get("HF_HUB_CACHE") or Path(os.environ.get("HF_HOME") or cache / "huggingface") / "hub"
    return (
        home / "models",
        home / ".lmstudio" / "models",
        cache / "lm-studio" / "models",
        Path(hub),
        cache / "llama.cpp",
        home / "Library" / "Caches" / "llama.cpp",
        home / "jan" / "models",
        home / ".local" / "share" / "nomic.ai" / "GPT4All",
        home / "Downloads",
    )


def find_model_files(folders: Sequence[Path] | None = None) -> list[GgufFile]:
    """The models that can chat in these folders, or the usual ones, the newest first, each file once."""
    found: dict[Path, tuple[float, GgufFile]] = {}
    for folder in usual_folders() if folders is None else folders:
        for path in _gguf_files(folder):
            try:
                real, model = path.resolve(), read_gguf(path)
                if model.is_for_chat:
                    found.setdefault(real, (path.stat().st_mtime, model))
            except (ModelError, OSError):
                # A download that has not ended, or a link that leads nowhere.
                continue
    return [model for _, model in sorted(found.values(), key=lambda entry: entry[0], reverse=True)]


def chosen_model_file(named: str, model_name: str, folders: Sequence[Path] | None = None) -> GgufFile:
    """The file at the path `named`, else the newest in the usual folders whose name has `model_name` in it.

    Raises `ModelError` where the file is no model, and `SettingsError` where there is none to choose.
    """
    if named:
        path = Path(named).expanduser().absolute()
        if path.is_dir():
            names = ", ".join(one.path.name for one in find_model_files([path])[:_SHOWN])
            raise SettingsError("PALIMPSEST_MODEL_FILE", say("local_model", "a_folder", path=path, names=names or "–"))
        return read_gguf(path)
    files = find_model_files(folders)
    fitting = [one for one in files if model_name.lower() in one.name.lower()]
    if not fitting:
        names = ", ".join(one.name for one in files[:_SHOWN])
        key = "none_with_name" if files else "none_found"
        raise SettingsError("PALIMPSEST_MODEL_FILE", say("local_model", key, name=model_name, names=names))
    return fitting[0]


def _gguf_files(folder: Path) -> Iterator[Path]:
    left = _MOST_ENTRIES
    for root, folders, files in os.walk(folder):
        left -= len(files)
        if left < 0:
            return
        depth = len(Path(root).relative_to(folder).parts)
        folders[:] = sorted(folders) if depth < _DEPTH else []
        for name in sorted(files):
            path = Path(root, name)
            if path.suffix.lower() == ".gguf" and is_first_part(path):
                yield path
