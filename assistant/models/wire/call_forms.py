"""The forms in which a model writes a tool call as text, one reader each (pure).

JSON; Hermes and Qwen (`<tool_call>{…}</tool_call>`), Qwen3-coder and MiniMax (`<function=…>`, `<invoke name=…>`), GLM
(`<arg_key>`), Llama (`<|python_tag|>`, `<function=…>{…}</function>`), Mistral (`[TOOL_CALLS]`), DeepSeek, Kimi, LFM,
Cohere and InternLM (section marks of their own), gpt-oss (channels), Gemma (`call:name{…}`), Python, a name with JSON.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from assistant.messages.blocks import parse_object
from assistant.models.wire.argument_text import decoded, objects_in
from assistant.models.wire.wire_calls import tool_meant
from assistant.text.json_parsing import parse_json
from assistant.text.json_values import is_list, is_object

Schemas = Mapping[str, Mapping[str, object]]
"""The parameters of each tool on offer, by name."""

PREFIXES = ("", "｜DSML｜", "seed:", "minimax:", "longcat_", "steptml:", "ant" + "ml:")
"""What models put before the names of the same tags."""
_PREFIX = re.compile(rf"(</?)(?:{'|'.join(re.escape(prefix) for prefix in PREFIXES if prefix)})")

_FENCE = re.compile(r"^```[\w-]*\s*\n?(.*?)\n?\s*```$", re.DOTALL)
_FUNCTION = re.compile(r"<function[=(]\s*[\"']?([\w.:-]+)[\"']?\)?\s*>?(.*?)(?:</function>|$)", re.DOTALL)
_PARAMETER = re.compile(r"<parameter=([^>\s]+)>\n?(.*?)\n?(?:</parameter>|(?=<parameter=)|$)", re.DOTALL)
_INVOKE = re.compile(r"<invoke name=[\"']?([^\"'>]+)[\"']?\s*>(.*?)(?:</invoke>|$)", re.DOTALL)
_INVOKE_PARAMETER = re.compile(r"<parameter name=[\"']?([^\"'>]+)[\"']?[^>]*>(.*?)(?:</parameter>|$)", re.DOTALL)
_ATTRIBUTE = re.compile(r"<tool_call name=[\"']?([\w.:-]+)[\"']?\s*/?>(.*?)(?:</tool_call>|$)", re.DOTALL)
_ELEMENT = re.compile(r"\s*<([\w.-]+)>(.*)</\1>\s*", re.DOTALL)
_CHILD = re.compile(r"<([\w.-]+)>\n?(.*?)\n?</\1>", re.DOTALL)
_ARG_PAIR = re.compile(r"<arg_key>\s*(.*?)\s*</arg_key>\s*<arg_value>(.*?)(?:</arg_value>|$)", re.DOTALL)
_CHANNEL = re.compile(r"to=([\w.:-]+)[^{]*?<\|message\|>(.*?)(?:<\|call\|>|<\|end\|>|$)", re.DOTALL)
_FLOWERS = re.compile(r"✿FUNCTION✿:\s*([\w.-]+)\s*✿ARGS✿:\s*(\{.*?)(?=✿|$)", re.DOTALL)
_GEMMA = re.compile(r"call:([\w.-]+)\s*(\{.*?\})(?:<end_function_call>|$)", re.DOTALL)
_GEMMA_TEXT = re.compile(r"<escape>(.*?)<escape>", re.DOTALL)
_GEMMA_KEY = re.compile(r"([{,]\s*)([A-Za-z_]\w*)\s*:")
_MISTRAL = re.compile(r"\s*([\w.-]+)\s*(?:\[CALL_ID\][\w-]+\s*)?(?:\[ARGS\])?\s*(\{.*)", re.DOTALL)
_NAMED_JSON = re.compile(r"([\w.:-]+)\s*(?:\(\s*(\{.*\})\s*\)|(\{.*\}))\s*;?", re.DOTALL)
_ENTRY = re.compile(r"<\|tool_call_begin\|>|<｜tool[▁_]call[▁_]begin｜>")
_NAMED_MARK = re.compile(
    r"(?:functions\.)?([\w.-]+)(?::\d+)?\s*"
    r"(?:<\|tool_call_argument_begin\|>|<｜tool[▁_]sep｜>|<tool_sep>|```json|\n)\s*(\{.*)",
    re.DOTALL,
)
_MARKS = re.compile(
    r"<\|[A-Za-z_/]+\|>|<｜tool[▁_][^｜]*｜>|</?tool_(?:calls?|use|code)>|</?tools?>|</?function_calls?>|</s>|<tool_sep>"
    r"|</?toolcall>|\[TOOL_CALLS\]",
    re.IGNORECASE,
)
_JSON_START = re.compile(r"[{\[]")
_PYTHON_START = re.compile(r"\[|[A-Za-z_][\w.]*\(")
_LISTS = ("tool_calls", "function_calls", "calls")
_NAMES = ("name", "tool", "tool_name", "function", "action")
_ARGUMENTS = ("arguments", "parameters", "args", "input", "action_input")
_LONGEST_PYTHON = 100_000
_MISSING_BRACES = 3

Found = tuple[str, dict[str, object] | None]
"""The name of a call and its arguments; None where they cannot be read."""


@dataclass(frozen=True, slots=True)
class WrittenCall:
    """A call read from text: a tool on offer and arguments that fit it."""

    name: str
    arguments: dict[str, object]


def calls_in_section(text: str, schemas: Schemas) -> list[WrittenCall]:
    """The calls in a text that something marks as calls, in the first form that all of it has; else empty."""
    plain = _PREFIX.sub(r"\1", text)
    for read in _READERS:
        if calls := read(plain, schemas):
            return calls
    return []


def calls_in_json(text: str, schemas: Schemas) -> list[WrittenCall]:
    """The calls in a text that nothing marks: JSON of calls and nothing else."""
    fence = _FENCE.match(text.strip())
    return _calls_of_values(_values(fence[1] if fence else text), schemas)


def calls_in_python(text: str, schemas: Schemas) -> list[WrittenCall]:
    """The calls in `[name(key="value")]`, `name(key="value")` or `print(name(…))`, one or one a line."""
    body = _without_fence(_MARKS.sub(" ", text).strip())
    if not _PYTHON_START.match(body) or not body.endswith((")", "]")) or len(body) > _LONGEST_PYTHON:
        return []
    try:
        statements = ast.parse(body).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    calls: list[ast.expr] = []
    for statement in statements:
        if not isinstance(statement, ast.Expr):
            return []
        value = _printed(statement.value)
        calls += value.elts if isinstance(value, ast.List) else [value]
    return _all_fitting((_python_call(node) for node in calls), schemas)


def call_by_name(text: str, schemas: Schemas) -> list[WrittenCall]:
    """The call in `name {…}` or `name({…})`, the name that of a tool on offer."""
    found = _NAMED_JSON.fullmatch(text.strip())
    return fitting_call(found[1], _first_object(found[2] or found[3]), schemas) if found else []


def _functions(text: str, schemas: Schemas) -> list[WrittenCall]:
    """`<function=name>` with `<parameter=…>` inside, or with JSON."""
    return _all_fitting(
        ((found[1], _parameters(found[2], _PARAMETER, found[1], schemas)) for found in _FUNCTION.finditer(text)),
        schemas,
    )


def _invocations(text: str, schemas: Schemas) -> list[WrittenCall]:
    """`<invoke name="…">` with `<parameter name="…">` inside."""
    return _all_fitting(
        ((found[1], _parameters(found[2], _INVOKE_PARAMETER, found[1], schemas)) for found in _INVOKE.finditer(text)),
        schemas,
    )


def _attributes(text: str, schemas: Schemas) -> list[WrittenCall]:
    """`<tool_call name="…">` with JSON inside."""
    return _all_fitting(((found[1], _object_or_nothing(found[2])) for found in _ATTRIBUTE.finditer(text)), schemas)


def _element(text: str, schemas: Schemas) -> list[WrittenCall]:
    """The tool's own name as a tag, with a tag for each argument."""
    found = _ELEMENT.fullmatch(text)
    if found is None or found[1] not in schemas:
        return []
    typed = {key: _typed(value, found[1], key, schemas) for key, value in _CHILD.findall(found[2])}
    return fitting_call(found[1], typed or _object_or_nothing(found[2]), schemas)


def _argument_pairs(text: str, schemas: Schemas) -> list[WrittenCall]:
    """A name, then `<arg_key>` and `<arg_value>` in turn."""
    if "<arg_key>" not in text:
        return []
    name = _MARKS.sub(" ", text.partition("<arg_key>")[0]).strip()
    typed = {key: _typed(value, name, key, schemas) for key, value in _ARG_PAIR.findall(text)}
    return fitting_call(name, typed, schemas)


def _channels(text: str, schemas: Schemas) -> list[WrittenCall]:
    """A channel that is addressed to a tool, then JSON (gpt-oss)."""
    return _all_fitting(((found[1], _first_object(found[2])) for found in _CHANNEL.finditer(text)), schemas)


def _flowers(text: str, schemas: Schemas) -> list[WrittenCall]:
    """The marks of Qwen's own agents."""
    return _all_fitting(((found[1], _first_object(found[2])) for found in _FLOWERS.finditer(text)), schemas)


def _gemma_calls(text: str, schemas: Schemas) -> list[WrittenCall]:
    """`call:name{key:<escape>text<escape>}`: JSON without quotes."""

    def as_json(body: str) -> str:
        texts: list[str] = []

        def keep(found: re.Match[str]) -> str:
            texts.append(json.dumps(found[1], ensure_ascii=False))
            return f"\0{len(texts) - 1}\0"

        keyed = _GEMMA_KEY.sub(r'\1"\2":', _GEMMA_TEXT.sub(keep, body))
        return re.sub("\0(\\d+)\0", lambda found: texts[int(found[1])], keyed)

    return _all_fitting(((found[1], _first_object(as_json(found[2]))) for found in _GEMMA.finditer(text)), schemas)


def _named_entries(text: str, schemas: Schemas) -> list[WrittenCall]:
    """Sections of entries, each a name, a mark, and JSON (DeepSeek, Kimi)."""
    entries = _ENTRY.split(text)[1:]
    if not entries:
        return []
    found: list[Found] = []
    for entry in entries:
        named = _NAMED_MARK.search(re.sub("function<｜tool[▁_]sep｜>", "", entry))
        found.append((named[1], _first_object(named[2])) if named else ("", None))
    return _all_fitting(found, schemas)


def _json_section(text: str, schemas: Schemas) -> list[WrittenCall]:
    """JSON between marks, also with a bracket too few or too many or with Python's quotes; or a name before it."""
    body = _without_fence(_MARKS.sub(" ", text).replace("functools[", "[").strip())
    if calls := _calls_of_values(_values(body), schemas):
        return calls
    named = _MISTRAL.fullmatch(body)
    if named and (calls := fitting_call(named[1], _first_object(named[2]), schemas)):
        return calls
    if (value := decoded(body)) is not None:
        return _calls_of_values([value], schemas)
    for candidate in (body, *(body + "}" * count for count in range(1, _MISSING_BRACES + 1))):
        if texts := objects_in(candidate):
            return _calls_of_values([decoded(one) for one in texts], schemas)
    return []


_READERS = (
    _functions,
    _invocations,
    _attributes,
    _argument_pairs,
    _channels,
    _flowers,
    _gemma_calls,
    _named_entries,
    calls_in_python,
    _json_section,
    _element,
)


def _calls_of_values(values: Iterable[object], schemas: Schemas) -> list[WrittenCall]:
    """The calls that values are, one each or a list of them; empty where one is none."""
    calls: list[WrittenCall] = []
    for value in values:
        if is_object(value):
            listed = next((value[name] for name in _LISTS if is_list(value.get(name))), None)
            value = value if listed is None else listed
        for item in value if is_list(value) else [value]:
            call = _call_of(item, schemas)
            if call is None:
                return []
            calls.append(call)
    return calls


def _call_of(value: object, schemas: Schemas) -> WrittenCall | None:
    if not is_object(value):
        return None
    inner = value.get("function")
    if is_object(inner):
        value = inner
    name = next((value[field] for field in _NAMES if value.get(field)), None)
    nothing: dict[str, object] = {}
    arguments: object = next((value[field] for field in _ARGUMENTS if field in value), nothing)
    if name is None and len(value) == 1:
        # The name itself in place of a field for it.
        ((name, arguments),) = value.items()
    if isinstance(arguments, str):
        arguments = parse_object(arguments) if arguments.strip() else {}
    if not isinstance(name, str) or not is_object(arguments):
        return None
    fitting = fitting_call(name, arguments, schemas)
    return fitting[0] if fitting else None


def _values(text: str) -> Iterator[object]:
    """The JSON values of which the text consists, one behind the other; none when anything else is between them."""
    decoder = json.JSONDecoder(strict=False)
    found: list[object] = []
    place, rest = 0, text.strip()
    while place < len(rest):
        try:
            value, place = decoder.raw_decode(rest, place)
        except (ValueError, RecursionError):
            return
        found.append(value)
        while place < len(rest) and rest[place] in " \t\r\n,;":
            place += 1
    yield from found


def _without_fence(text: str) -> str:
    fence = _FENCE.match(text)
    return fence[1].strip() if fence else text


def _first_object(text: str) -> dict[str, object] | None:
    try:
        value, _ = json.JSONDecoder(strict=False).raw_decode(text.strip())
    except (ValueError, RecursionError):
        return None
    return value if is_object(value) else None


def _object_or_nothing(body: str) -> dict[str, object] | None:
    return _first_object(body) if body.strip() else {}


def _printed(node: ast.expr) -> ast.expr:
    """What `print` is given."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print" and node.args:
        return node.args[0]
    return node


def _python_call(node: ast.expr) -> Found:
    if not isinstance(node, ast.Call) or node.args:
        return "", None
    name = ast.unparse(node.func).removesuffix(".call")
    arguments: dict[str, object] = {}
    for keyword in node.keywords:
        try:
            arguments[str(keyword.arg)] = ast.literal_eval(keyword.value)
        except (ValueError, SyntaxError, TypeError):
            return "", None
    return name, arguments


def _parameters(body: str, pattern: re.Pattern[str], name: str, schemas: Schemas) -> dict[str, object] | None:
    pairs = pattern.findall(body)
    if pairs:
        return {key: _typed(value, name, key, schemas) for key, value in pairs}
    return (_first_object(body) or {}) if not body.strip() or _JSON_START.match(body.strip()) else None


def _typed(value: str, name: str, key: str, schemas: Schemas) -> object:
    """The text of a parameter as the type its tool asks for; text where the tool asks for text."""
    properties = schemas.get(tool_meant(name, schemas), {}).get("properties")
    wanted = properties.get(key) if is_object(properties) else None
    kinds = _kinds_of(wanted) if is_object(wanted) else set[str]()
    if not kinds or "string" in kinds:
        return value
    try:
        return parse_json(value.strip())
    except ValueError:
        return {"true": True, "false": False, "none": None}.get(value.strip().lower(), value)


def _kinds_of(schema: Mapping[str, object]) -> set[str]:
    kind, choices = schema.get("type"), schema.get("anyOf")
    kinds = {kind} if isinstance(kind, str) else set(kind) if is_list(kind) else set[str]()
    for choice in choices if is_list(choices) else []:
        kinds |= _kinds_of(choice) if is_object(choice) else set[str]()
    return {str(one) for one in kinds}


def _all_fitting(found: Iterable[Found], schemas: Schemas) -> list[WrittenCall]:
    """All of them, or none where one does not fit."""
    calls: list[WrittenCall] = []
    for name, arguments in found:
        fitting = fitting_call(name, arguments, schemas)
        if not fitting:
            return []
        calls += fitting
    return calls


def fitting_call(name: str, arguments: dict[str, object] | None, schemas: Schemas) -> list[WrittenCall]:
    """The call where its tool is on offer, all required arguments are there, and none that the tool does not know."""
    known_name = tool_meant(name, schemas)
    schema = schemas.get(known_name)
    if schema is None or arguments is None:
        return []
    required, known = schema.get("required"), schema.get("properties")
    names = set(required) if is_list(required) else set[object]()
    fits = names <= arguments.keys() and (not is_object(known) or arguments.keys() <= known.keys())
    return [WrittenCall(known_name, arguments)] if fits else []
