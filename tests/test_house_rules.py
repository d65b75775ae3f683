"""The rules of the house that a reader would otherwise have to keep in mind."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

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
MANY_ARGUMENTS_ALLOWED = ("_Result", "_Tally", "AnswerFacts", "Session", "ChatModel", "_Rule", "CompressionJob")
MAX_ARGUMENTS = 6

# What looks like a sentence and is none, by its beginning, and why it stands where it stands.
NO_SENTENCES = {
    "assistant/index/text/terms.py": ("a about above", "words too common to search for"),
    "assistant/memory/word_forms.py": ("", "forms of one word that count as the same"),
    "assistant/ui/page_layout.py": ("Noto Sans", "the name of a font"),
    "assistant/openclaw/diary.py": ("### {}", "the form of a diary entry, which other programs read"),
    "assistant/openclaw/session_report.py": ("", "the words of the skill, which other programs look for"),
    "assistant/openclaw/session_summary.py": ("that this with", "words too common to tell two points apart"),
    "assistant/openclaw/tool_calls.py": ("", "names of commands and tools"),
}
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


def test_no_sentence_stands_in_python() -> None:
    sentences = (
        f"{file.name}:{line} {text!r}"
        for file in PACKAGE
        for line, text in sentences_of(file.tree)
        if not _is_no_sentence(file, text)
    )
    assert problems(sentences) == "", "a sentence belongs into a table of prompts/, in both languages; `say` takes it"


def test_every_text_that_is_no_sentence_is_there() -> None:
    files = {file.name: file for file in PACKAGE}
    gone = (
        name
        for name in NO_SENTENCES
        if not any(_is_no_sentence(files[name], text) for _, text in sentences_of(files[name].tree))
    )
    assert problems(gone) == ""


def _is_no_sentence(file: SourceFile, text: str) -> bool:
    return file.name in NO_SENTENCES and text.strip().startswith(NO_SENTENCES[file.name][0])


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ('notice("Nothing to undo: none was made.")', ["Nothing to undo: none was made."]),
        ('raise ModelError(f"{name} did not answer in time.")', ["{} did not answer in time."]),
        ('WORDS = {"key": "the answer was too short"}', ["the answer was too short"]),
        ('notice("没有可以撤销的压缩。")', ["没有可以撤销的压缩。"]),
        ('"""A docstring of a module."""', []),
        ('log.info("the turn of %s has ended", name)', []),
        ('assert values, "a head is always an object"', []),
        ('raise AssertionError("the last try returns or raises")', []),
        ('ROWS = re.compile("one two three four")', []),
        ('ROWS = "SELECT key FROM chunks WHERE id = ?"', []),
        ('PATTERN = r"(?:please|can you|tell me) what it is"', []),
        ('Outcome = Literal["asks for a key"]\nis_locked = outcome == "asks for a key"', []),
        ('kind = "no models"', []),
    ],
)
def test_a_sentence_is_told_from_what_nobody_reads(code: str, found: list[str]) -> None:
    assert [text for _, text in sentences_of(ast.parse(code))] == found


def test_no_message_holds_the_name_of_a_class() -> None:
    named = (
        f"{file.name}:{node.lineno}"
        for file in PACKAGE
        if "__name__" in file.text and file.name != "assistant/config/plain_reasons.py"
        for node in _outside_of_the_log(file.tree)
        if isinstance(node, ast.Attribute) and node.attr in ("__name__", "__qualname__")
    )
    assert problems(named) == "", "a person reads `plain_reason`; the class belongs into the log"


def _outside_of_the_log(tree: ast.Module) -> Iterator[ast.AST]:
    logged = {
        id(part)
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and re.search(r"\b_?log(?:ger)?\.\w+$", ast.unparse(node.func))
        for part in ast.walk(node)
    }
    return (node for node in ast.walk(tree) if id(node) not in logged)


ASSETS = ROOT / "assistant" / "ui" / "assets"
NAMES = {"Palimpsest", "DashScope", "P"}


@pytest.mark.parametrize("path", sorted(ASSETS.glob("*.html")), ids=lambda path: path.name)
def test_no_words_stand_in_a_template(path: Path) -> None:
    assert [text for text in words_of_template(path.read_text("utf-8")) if text not in NAMES] == []


@pytest.mark.parametrize("path", sorted(ASSETS.glob("*.js")), ids=lambda path: path.name)
def test_no_words_stand_in_a_script(path: Path) -> None:
    assert [text for text in words_of_script(path.read_text("utf-8")) if text not in NAMES] == []


@pytest.mark.parametrize(
    ("template", "found"),
    [
        ("<p>Nothing was found.</p>", ["Nothing was found."]),
        ('<i aria-label="Close"></i>', ["Close"]),
        ('<b>{{ button("Undo", "undo") }}</b>', ["Undo"]),
        ('<b>{{ "one" if n == 1 else "Several notes" }}</b>', ["Several notes"]),
        ("<b>{{ count }} older ones</b>", ["older ones"]),
        ('<b class="p-card {{ kind }}">{{ say("undo") }}</b>{# A remark. #}<style>p { color: red; }</style>', []),
    ],
)
def test_words_of_a_template_are_told_from_its_code(template: str, found: list[str]) -> None:
    assert list(words_of_template(template)) == found


@pytest.mark.parametrize(
    ("script", "found"),
    [
        ('label(box, "Send message");', ["Send message"]),
        ('button.textContent = "Copied";', ["Copied"]),
        ("const text = `Hide ${name} now`;", ["Hide ${name} now"]),
        ('if (event.key === "Enter") return; // Said once', []),
        ('document.querySelector("#sessions .p-session-edit, h3");', []),
        ('element.dispatchEvent(new Event("input"));', []),
    ],
)
def test_words_of_a_script_are_told_from_its_code(script: str, found: list[str]) -> None:
    assert list(words_of_script(script)) == found


def words_of_template(text: str) -> Iterator[str]:
    """What a person reads of an HTML template beside its values: texts, labels, and words in its expressions."""
    text = re.sub(r"(?s){#.*?#}|<style>.*?</style>|<!doctype.*?>", "", text)
    for expression in re.findall(r"(?s){[{%].*?[%}]}", text):
        literals = re.findall(r'"([^"]*)"', expression)
        yield from (word.strip() for word in literals if re.match(r"\s*[A-Z][a-z]", word) or _is_prose(word))
    bare = re.sub(r"(?s){%.*?%}|{{.*?}}", "\0", text)
    labels = re.findall(r'(?:aria-label|title|placeholder|alt)="([^"]*)"', bare)
    for found in [*re.sub(r"(?s)<[^>]*>", "\0", bare).split("\0"), *labels]:
        if re.search(r"[^\W\d_]{2}|^P$", found.strip("\0 ")):
            yield found.strip()


def words_of_script(text: str) -> Iterator[str]:
    """What a person reads of a script: literals of several words, and what is written as a text or a label."""
    code = re.sub(r"(?sm)/\*.*?\*/|(?<![:\"'])//.*$", "", text)
    shown = re.findall(r'(?:textContent = |"aria-label", |label\([^,()]+, )"([^"]+)"', code)
    literals = (found[0] or found[1] for found in re.findall(r'"((?:[^"\\\n]|\\.)*)"|`([^`]*)`', code))
    spoken = (word for word in literals if _is_prose(word) or (_CAPITAL.fullmatch(word) and word not in _KEY_NAMES))
    yield from dict.fromkeys([*shown, *spoken])


_CAPITAL = re.compile(r"[A-Z][a-z]+")
_KEY_NAMES = {"Enter", "Escape", "Home", "End", "Tab"}


def _is_prose(text: str) -> bool:
    """Two words and more that are no selector, no list of classes and no address."""
    words = [word for word in text.split() if re.search("[a-z]{2}", word)]
    return len(words) > 1 and not re.search(r"[#:;<>=\[\]/]|(^|\s)\.\w|-", text) and text[:1].isupper()


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


def sentences_of(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Texts of four words and more that somebody reads: no docstring, log line, pattern, query or tag."""
    skipped = {id(part) for node in ast.walk(tree) for part in _unread(node)}
    tags = {
        element.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Subscript) and ast.unparse(node.value) == "Literal"
        for element in ast.walk(node.slice)
        if isinstance(element, ast.Constant)
    }
    for node in ast.walk(tree):
        if id(node) in skipped:
            continue
        text = ""
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            text = node.value
        elif isinstance(node, ast.JoinedStr):
            text = "".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in node.values)
            skipped.update(map(id, ast.walk(node)))
        if text not in tags and _is_sentence(text):
            yield node.lineno, text


def _unread(node: ast.AST) -> Iterator[ast.AST]:
    match node:
        case ast.Expr(value=ast.Constant() as docstring):
            yield docstring
        case ast.Call() if _UNREAD_CALL.search(ast.unparse(node.func)):
            yield from ast.walk(node)
        case ast.Assert(msg=ast.expr() as message):
            yield from ast.walk(message)
        case _:
            pass


def _is_sentence(text: str) -> bool:
    if _CHINESE_SENTENCE.search(text):
        return True
    words = [word for word in text.split() if _WORD.fullmatch(word)]
    return len(words) >= 4 and not _QUERY.match(text.strip()) and not _PATTERN_SIGN.search(text)


# An error of Python itself is for the program, and a person reads `plain_reason` of it.
_UNREAD_CALL = re.compile(
    r"\b_?log(?:ger)?\.\w+$|^re\.compile$|^_?compile\w*$|^AssertionError$|^TypeError$|^ValueError$"
)
_WORD = re.compile(r"[(\"'“‘«*]*[A-Za-z][A-Za-z'’-]*[)\"'”’»*.,:;!?…]*")
_CHINESE_SENTENCE = re.compile(r"[\u4e00-\u9fff]{2}.*[。！？]\s*\Z", re.DOTALL)
_QUERY = re.compile(
    r"default-src|None \| bool|SELECT|INSERT|UPDATE|DELETE|CREATE|DROP|PRAGMA|\\ No newline|AND \+|\w+(?:, \w+)+\Z"
)
_PATTERN_SIGN = re.compile(r"\(\?|\\[bwsd]|\[\^")


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
