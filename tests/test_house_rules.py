"""The rules of the house that a reader would otherwise have to keep in mind."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator

import pytest

from tests.source_files import ROOT, SourceFile, python_files, text_files

PACKAGE = python_files("assistant", "app.py")
EVERYTHING = python_files("assistant", "app.py", "benchmarks", "tests")

# The only places that may catch everything: each logs the traceback or raises another error in words, because what it
# runs is a tool, a server, a hook or a loop whose failure must not end the turn or the program.
BROAD_EXCEPT_ALLOWED = (
    "assistant/agent/tools/tool_failures.py",
    "assistant/agent/tools/mcp_connection.py",
    "assistant/conversation/conversation.py",
    "assistant/conversation/turns.py",
    "assistant/agent/hooks/compaction.py",
    "assistant/agent/summariser.py",
    "assistant/agent/flush.py",
    "assistant/index/watcher.py",
)
# Records that are changed field by field (a result, a tally, a session), or hold a function beside their figures.
MANY_ARGUMENTS_ALLOWED = ("_Result", "_Tally", "Session", "ChatModel", "_Rule", "CompressionJob")
MAX_ARGUMENTS = 6
LOW_ROOMS = ("index", "storage", "memory", "models", "compaction", "messages", "text", "config")
# What they say is read in the page and the terminal, whose words are English, and never by a model.
SPEAKS_TO_THE_PERSON = (
    "assistant/compaction/notices.py",
    "assistant/memory/forget/forgetter.py",
    "assistant/memory/tidy.py",
    "assistant/models/chat_model.py",
    "assistant/models/connection_test.py",
    "assistant/models/detect.py",
    "assistant/models/connection_failures.py",
    "assistant/models/failures.py",
    "assistant/models/wire/answer_reader.py",
)
SENTENCE = re.compile(r"(?s)(?:\S+\s+){5,}\S*[^\W\d_][)’\"]?\.\s*\Z|.*[\u4e00-\u9fff].*。\s*\Z")
GRAB_BAGS = {"utils", "util", "helpers", "helper", "common", "base", "core", "manager", "handler", "service", "misc"}
LONG_LIVED = re.compile(
    r"(Client|Agent|Model|Store|Engine|Collection|Settings|Workspace|Journal|Sessions|Conversation|Blocks|Interface"
    r"|Connection|Pool|Executor|Thread|Process|Lock|Server|FastAPI)$"
)


def problems(found: Iterator[str]) -> str:
    """One problem a line, for a failure that reads as a list."""
    return "\n".join(found)


def test_every_module_says_what_it_is() -> None:
    assert problems(file.name for file in EVERYTHING if file.text and not ast.get_docstring(file.tree)) == ""


def test_every_public_name_of_the_package_says_what_it_is() -> None:
    assert problems(_undocumented(PACKAGE)) == ""


def test_no_module_is_a_grab_bag() -> None:
    parts = ((file.name, part.removesuffix(".py")) for file in EVERYTHING for part in file.name.split("/"))
    assert problems(name for name, part in parts if part in GRAB_BAGS) == ""


def test_every_exception_that_leaves_its_module_stands_in_errors() -> None:
    elsewhere = (
        f"{file.name}:{node.lineno} {node.name}"
        for file in PACKAGE
        if file.name != "assistant/errors.py"
        for node in ast.walk(file.tree)
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_") and _is_exception(node)
    )
    assert problems(elsewhere) == ""


def test_the_tree_of_exceptions_shows_every_one_below_its_base() -> None:
    tree = ast.parse((ROOT / "assistant" / "errors.py").read_text(encoding="utf-8"))
    classes = [node for node in tree.body if isinstance(node, ast.ClassDef)]
    written = {node.name: ast.unparse(node.bases[0]) for node in classes}
    drawn: dict[str, str] = {}
    above = ["Exception"]
    for prefix, name in re.findall(r"^([├└│─ ]*)(\w+Error)\b", ast.get_docstring(tree) or "", re.MULTILINE):
        depth = len(prefix) // len("├── ")
        drawn[name] = above[depth]
        above[depth + 1 :] = [name]
    assert drawn == written


def test_everything_is_caught_only_where_it_may_be() -> None:
    broad = (
        f"{file.name}:{node.lineno}"
        for file in PACKAGE
        if file.name not in BROAD_EXCEPT_ALLOWED
        for node in ast.walk(file.tree)
        if isinstance(node, ast.ExceptHandler) and _is_broad(node)
    )
    assert problems(broad) == "", "catch the narrowest type round one line"


def test_no_constructor_takes_more_than_six_arguments() -> None:
    long = (
        f"{file.name} {node.name}: {count} arguments"
        for file in PACKAGE
        for node in ast.walk(file.tree)
        if isinstance(node, ast.ClassDef) and (count := _argument_count(node)) > MAX_ARGUMENTS
        if node.name not in MANY_ARGUMENTS_ALLOWED
    )
    assert problems(long) == "", "group what belongs together, or split the class"


def test_nothing_long_lived_is_made_at_import() -> None:
    made = (
        f"{file.name}:{call.lineno} {ast.unparse(call.func)}()"
        for file in PACKAGE
        for statement in file.tree.body
        if isinstance(statement, ast.Assign | ast.AnnAssign | ast.Expr) and isinstance(statement.value, ast.Call)
        for call in [statement.value]
        if LONG_LIVED.search(ast.unparse(call.func))
    )
    assert problems(made) == "", "objects are made and closed in assembly.py"


def test_the_lower_rooms_hold_no_prose() -> None:
    sentences = (
        f"{file.name}:{line} {text!r}"
        for file in python_files(*(f"assistant/{room}" for room in LOW_ROOMS))
        if file.name not in SPEAKS_TO_THE_PERSON
        for line, text in _sentences(file)
    )
    assert problems(sentences) == "", "a sentence belongs into a file of prompts/, in both languages"


def test_every_module_that_may_hold_prose_does() -> None:
    files = {file.name: file for file in PACKAGE}
    assert problems(name for name in SPEAKS_TO_THE_PERSON if not any(_sentences(files[name]))) == ""


def test_nothing_is_left_unfinished() -> None:
    marks = (
        f"{file.name}:{line} {text}"
        for file in EVERYTHING
        # To read a file token by token is slow; most have no such word anywhere.
        if re.search(_MARKS, file.text)
        for line, text in _comments(file)
        if re.search(_MARKS, text)
    )
    raised = (
        f"{file.name}:{node.lineno} {node.id}"
        for file in EVERYTHING
        if "NotImplementedError" in file.text
        for node in ast.walk(file.tree)
        if isinstance(node, ast.Name) and node.id == "NotImplementedError"
    )
    assert problems(marks) + problems(raised) == ""


@pytest.mark.parametrize("name", ["mock", "MagicMock", "AsyncMock", "mocker"])
def test_nothing_is_mocked(name: str) -> None:
    assert (
        problems(f"{file.name}:{line}" for file in EVERYTHING if name in file.text for line in _uses(file, name)) == ""
    )


def test_nothing_waits_for_time_to_pass() -> None:
    waits = (
        f"{file.name}:{node.lineno}"
        for file in python_files("assistant", "app.py", "tests")
        if "sleep" in file.text
        for node in ast.walk(file.tree)
        if isinstance(node, ast.Attribute) and node.attr == "sleep" and ast.unparse(node) == "time.sleep"
    )
    assert problems(waits) == "", "wait for a state"


def test_no_file_names_a_place_of_one_machine() -> None:
    place = re.compile(r"(?<![\w.~/-])/(root|work)/")
    named = (
        f"{name}:{number} {line.strip()}"
        for name, text in text_files().items()
        if name != "tests/test_house_rules.py"
        for number, line in enumerate(text.splitlines(), 1)
        if place.search(line)
    )
    assert problems(named) == ""


# Spelled in parts, so that this file does not hold what it looks for.
_MARKS = r"\b(TO" + r"DO|FIX" + r"ME|XX" + r"X|HA" + r"CK)\b"


def _is_exception(node: ast.ClassDef) -> bool:
    return any(ast.unparse(base).endswith(("Error", "Exception")) for base in node.bases)


def _argument_count(node: ast.ClassDef) -> int:
    """What a caller has to pass. A frozen dataclass that only holds values has no limit: its fields are a record."""
    for member in node.body:
        if isinstance(member, ast.FunctionDef) and member.name == "__init__":
            arguments = member.args
            return len([*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]) - 1
    decorators = [ast.unparse(decorator) for decorator in node.decorator_list]
    fields = [member for member in node.body if isinstance(member, ast.AnnAssign)]
    acts = any(isinstance(member, ast.AsyncFunctionDef) for member in node.body) or any(
        "Callable" in ast.unparse(member.annotation) for member in fields
    )
    is_frozen = any("frozen=True" in decorator for decorator in decorators)
    is_dataclass = any(decorator.startswith("dataclass") for decorator in decorators)
    return 0 if not is_dataclass or (is_frozen and not acts) else len(fields)


def _undocumented(files: list[SourceFile]) -> Iterator[str]:
    for file in files:
        for node in file.tree.body:
            if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) or node.name[0] == "_":
                continue
            # What a class takes from its base is described there.
            members = node.body if isinstance(node, ast.ClassDef) and not node.bases else []
            for named in (node, *members):
                if isinstance(named, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and not _is_told(named):
                    yield f"{file.name}:{named.lineno} {named.name}"


def _is_told(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> bool:
    is_setter = any(ast.unparse(decorator).endswith(".setter") for decorator in node.decorator_list)
    return node.name.startswith("_") or is_setter or ast.get_docstring(node) is not None


def _is_broad(handler: ast.ExceptHandler) -> bool:
    caught = "" if handler.type is None else ast.unparse(handler.type)
    raises_again = any(isinstance(node, ast.Raise) and node.exc is None for node in ast.walk(handler))
    return caught in ("", "Exception") or ("BaseException" in caught and not raises_again)


def _sentences(file: SourceFile) -> Iterator[tuple[int, str]]:
    """The texts that end like a sentence, but for those of docstrings, errors and the log."""
    skipped: set[int] = set()
    for node in ast.walk(file.tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            skipped.add(id(node.value))
        elif isinstance(node, ast.Raise) or (isinstance(node, ast.Call) and _OWN_WORDS.search(ast.unparse(node.func))):
            skipped.update(map(id, ast.walk(node)))
    for node in ast.walk(file.tree):
        if id(node) in skipped:
            continue
        text = ""
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            text = node.value
        elif isinstance(node, ast.JoinedStr):
            text = "".join(str(part.value) if isinstance(part, ast.Constant) else "x" for part in node.values)
            skipped.update(map(id, ast.walk(node)))
        if SENTENCE.match(text):
            yield node.lineno, text


_OWN_WORDS = re.compile(r"Error$|\b_?log(?:ger)?\.\w+$")


def _comments(file: SourceFile) -> Iterator[tuple[int, str]]:
    for token in tokenize.generate_tokens(io.StringIO(file.text).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string


def _uses(file: SourceFile, name: str) -> Iterator[int]:
    for node in ast.walk(file.tree):
        match node:
            case ast.Name(id=used) | ast.arg(arg=used) | ast.Attribute(attr=used) | ast.alias(name=used):
                if name in used.split("."):
                    yield node.lineno
            case ast.ImportFrom(module=str() as used) if name in used.split("."):
                yield node.lineno
            case _:
                pass
