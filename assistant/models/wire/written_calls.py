"""Tool calls that a model writes as text, where its server did not read them (pure).

JSON alone or in a fence; Hermes and Qwen (`<tool_call>{…}</tool_call>`), Qwen3-coder and MiniMax (`<function=…>`,
`<invoke name=…>`), GLM (`<arg_key>`), Llama (`<|python_tag|>`, `<function=…>{…}</function>`), Mistral (`[TOOL_CALLS]`),
DeepSeek, Kimi and LFM (their own section marks). A call counts only where its tool is on offer and its arguments fit.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from assistant.messages.blocks import parse_object
from assistant.text.json_parsing import parse_json

Schemas = Mapping[str, Mapping[str, object]]
"""The parameters of each tool on offer, by name."""

SECTIONS: Mapping[str, tuple[str, ...]] = {
    "<tool_call>": ("</tool_call>",),
    "<tool_calls>": ("</tool_calls>",),
    "<toolcall>": ("</toolcall>",),
    "<tools>": ("</tools>",),
    "<function_call>": ("</function_call>",),
    "<function_calls>": ("</function_calls>",),
    "<minimax:tool_call>": ("</minimax:tool_call>",),
    "<function=": ("</function>",),
    "<invoke name=": ("</invoke>",),
    "<|python_tag|>": ("<|eom_id|>", "<|eot_id|>"),
    "[TOOL_CALLS]": ("</s>",),
    "<|tool_call|>": ("<|/tool_call|>", "<|end|>"),
    "<|tool_call_start|>": ("<|tool_call_end|>",),
    "<|tool_calls_section_begin|>": ("<|tool_calls_section_end|>",),
    "<｜tool▁calls▁begin｜>": ("<｜tool▁calls▁end｜>",),
    "<tool_call_begin>": ("<tool_call_end>",),
    "functools[": (),
}
"""What opens a call written as text, and what ends it; the end of the answer ends each of them too."""

_FENCE = re.compile(r"^```[\w-]*\s*\n?(.*?)\n?\s*```$", re.DOTALL)
_LAST_FENCE = re.compile(
    r"(?:^|\n)```(?:json|tool_call|tool_code|tool)?[ \t]*\n((?:(?!\n```).)*?)\n?```\s*$", re.DOTALL
)
_FUNCTION = re.compile(r"<function=([^>\s]+)>(.*?)(?:</function>|$)", re.DOTALL)
_PARAMETER = re.compile(r"<parameter=([^>\s]+)>\n?(.*?)\n?(?:</parameter>|(?=<parameter=)|$)", re.DOTALL)
_INVOKE = re.compile(r"<invoke name=[\"']?([^\"'>]+)[\"']?\s*>(.*?)(?:</invoke>|$)", re.DOTALL)
_INVOKE_PARAMETER = re.compile(r"<parameter name=[\"']?([^\"'>]+)[\"']?[^>]*>(.*?)(?:</parameter>|$)", re.DOTALL)
_ARG_PAIR = re.compile(r"<arg_key>\s*(.*?)\s*</arg_key>\s*<arg_value>(.*?)(?:</arg_value>|$)", re.DOTALL)
_MISTRAL = re.compile(r"\s*([\w.-]+)\s*(?:\[CALL_ID\][\w-]+\s*)?(?:\[ARGS\])?\s*(\{.*)", re.DOTALL)
_NAMED_MARK = re.compile(
    r"(?:functions\.)?([\w-]+)(?::\d+)?\s*(?:<\|tool_call_argument_begin\|>|<｜tool▁sep｜>|<tool_sep>|```json|\n)\s*(\{.*)",
    re.DOTALL,
)
_ENTRY = re.compile(r"<\|tool_call_begin\|>|<｜tool▁call▁begin｜>")
_MARKS = re.compile(
    r"<\|[a-z_/]+\|>|<｜tool▁[^｜]*｜>|</?tool_calls?>|</?tools?>|</?function_calls?>|</s>|</?minimax:tool_call>|</?toolcall>"
)
_HEADER = re.compile(r"[ \t]*(?:```(?:json|tool_call|tool_code|tool)?[ \t]*(?:\n|$))?\s*\[?\s*")
_PYTHONIC = re.compile(r"\[\s*[A-Za-z_]\w*(?:\(.*)?", re.DOTALL)
_FENCES = ("```json", "```tool_call", "```tool_code")
_KEYS = ('"name"', '"tool"', '"tool_name"', '"function"', '"type"', '"arguments"', '"parameters"', '"action"')
_JSON_START = re.compile(r"[{\[]")


@dataclass(frozen=True, slots=True)
class WrittenCall:
    """A call read from text: a tool on offer and arguments that fit it."""

    name: str
    arguments: dict[str, object]


def schemas_of(tools: Sequence[object]) -> dict[str, Mapping[str, object]]:
    """The parameters of each tool as a request offers them."""
    found: dict[str, Mapping[str, object]] = {}
    for tool in tools:
        function = tool.get("function") if isinstance(tool, dict) else None
        if isinstance(function, dict):
            parameters = function.get("parameters")
            found[str(function.get("name"))] = parameters if isinstance(parameters, dict) else {}
    return found


def read_section(text: str, schemas: Schemas) -> list[WrittenCall]:
    """The calls in a stretch of text that one of `SECTIONS` opened; empty unless all of it is calls."""
    for read in (_functions, _invocations, _argument_pairs, _named_entries, _pythonic, _json_values):
        calls = read(text, schemas)
        if calls:
            return calls
    return []


def read_whole(text: str, schemas: Schemas) -> list[WrittenCall]:
    """The calls that a whole answer without marks consists of: JSON, alone or in a fence; else empty."""
    stripped = text.strip()
    fence = _FENCE.match(stripped)
    return _json_values(fence[1] if fence else stripped, schemas, is_strict=True) or _pythonic(stripped, schemas)


def split_last(text: str, schemas: Schemas) -> tuple[str, list[WrittenCall]]:
    """The text before a call that ends the answer, and the call: the last fence, or JSON from the start of a line."""
    fence = _LAST_FENCE.search(text)
    if fence and (calls := _json_values(fence[1], schemas, is_strict=True)):
        return text[: fence.start()], calls
    for start in re.finditer(r"(?:^|\n)(?=[ \t]*[{\[])", text):
        if calls := _json_values(text[start.end() :], schemas, is_strict=True):
            return text[: start.start()], calls
    return text, []


def may_become_call(text: str) -> bool:
    """True while a text that has begun with a line could still be JSON of a call, in a fence or not, up to its end."""
    if _PYTHONIC.fullmatch(text.strip()):
        return True
    header = _HEADER.match(text)
    rest = text[header.end() :] if header else text
    if not rest.startswith("{"):
        return bool(text) and (not rest or rest == "[" or any(fence.startswith(text.strip()) for fence in _FENCES))
    inner = rest[1:].lstrip()
    if inner and not any(inner.startswith(key) or key.startswith(inner) for key in _KEYS):
        return False
    try:
        _, end = json.JSONDecoder(strict=False).raw_decode(rest)
    except (ValueError, RecursionError):
        return True
    return not rest[end:].strip().strip("`]}{,;").strip() or rest[end:].lstrip(" \n,;").startswith("{")


def _json_values(text: str, schemas: Schemas, *, is_strict: bool = False) -> list[WrittenCall]:
    body = text if is_strict else _MARKS.sub(" ", text).replace("[TOOL_CALLS]", " ").replace("functools[", "[")
    fence = _FENCE.match(body.strip())
    body = fence[1] if fence else body
    calls: list[WrittenCall] = []
    for value in _values(body):
        for item in value if isinstance(value, list) else [value]:
            call = _call_of(item, schemas)
            if call is None:
                return []
            calls.append(call)
    if calls or is_strict:
        return calls
    named = _MISTRAL.fullmatch(body.strip())
    arguments = _first_object(named[2]) if named else None
    return _fitting(named[1], arguments, schemas) if named and arguments is not None else []


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


def _first_object(text: str) -> dict[str, object] | None:
    try:
        value, _ = json.JSONDecoder(strict=False).raw_decode(text.strip())
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _call_of(value: object, schemas: Schemas) -> WrittenCall | None:
    if not isinstance(value, dict):
        return None
    inner = value.get("function")
    if isinstance(inner, dict):
        value = inner
    name = (
        value.get("name") or value.get("tool") or value.get("tool_name") or value.get("function") or value.get("action")
    )
    fields = ("arguments", "parameters", "args", "input", "action_input")
    arguments = next((value[field] for field in fields if field in value), {})
    if isinstance(arguments, str):
        arguments = parse_object(arguments) if arguments.strip() else {}
    if not isinstance(name, str) or not isinstance(arguments, dict):
        return None
    fitting = _fitting(name, arguments, schemas)
    return fitting[0] if fitting else None


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


def _argument_pairs(text: str, schemas: Schemas) -> list[WrittenCall]:
    """A name, then `<arg_key>` and `<arg_value>` in turn."""
    if "<arg_key>" not in text:
        return []
    name = _MARKS.sub(" ", text.partition("<arg_key>")[0]).strip()
    typed = {key: _typed(value, name, key, schemas) for key, value in _ARG_PAIR.findall(text)}
    return _fitting(name, typed, schemas)


def _named_entries(text: str, schemas: Schemas) -> list[WrittenCall]:
    """Sections of entries, each a name, a mark, and JSON (DeepSeek, Kimi)."""
    entries = _ENTRY.split(text)[1:]
    if not entries:
        return []
    found: list[tuple[str, dict[str, object] | None]] = []
    for entry in entries:
        named = _NAMED_MARK.search(entry.replace("function<｜tool▁sep｜>", ""))
        found.append((named[1], _first_object(named[2])) if named else ("", None))
    return _all_fitting(found, schemas)


def _pythonic(text: str, schemas: Schemas) -> list[WrittenCall]:
    """`[name(key="value")]`, as Llama 4 and LFM write it."""
    body = _MARKS.sub(" ", text).strip()
    if not body.startswith("[") or not body.endswith("]") or len(body) > 100_000:
        return []
    try:
        tree = ast.parse(body, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    if not isinstance(tree, ast.List):
        return []
    return _all_fitting((_python_call(node) for node in tree.elts), schemas)


def _python_call(node: ast.expr) -> tuple[str, dict[str, object] | None]:
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name) or node.args:
        return "", None
    arguments: dict[str, object] = {}
    for keyword in node.keywords:
        try:
            arguments[str(keyword.arg)] = ast.literal_eval(keyword.value)
        except (ValueError, SyntaxError, TypeError):
            return "", None
    return node.func.id, arguments


def _parameters(body: str, pattern: re.Pattern[str], name: str, schemas: Schemas) -> dict[str, object] | None:
    pairs = pattern.findall(body)
    if pairs:
        return {key: _typed(value, name, key, schemas) for key, value in pairs}
    return (_first_object(body) or {}) if not body.strip() or _JSON_START.match(body.strip()) else None


def _typed(value: str, name: str, key: str, schemas: Schemas) -> object:
    """The text of a parameter as the type its tool asks for; text where the tool asks for text."""
    properties = schemas.get(name, {}).get("properties")
    wanted = properties.get(key) if isinstance(properties, dict) else None
    kinds = _kinds_of(wanted) if isinstance(wanted, dict) else set[str]()
    if not kinds or "string" in kinds:
        return value
    try:
        return parse_json(value.strip())
    except ValueError:
        return {"true": True, "false": False, "none": None}.get(value.strip().lower(), value)


def _kinds_of(schema: Mapping[str, object]) -> set[str]:
    kind, choices = schema.get("type"), schema.get("anyOf")
    kinds = {kind} if isinstance(kind, str) else set(kind) if isinstance(kind, list) else set[str]()
    for choice in choices if isinstance(choices, list) else []:
        kinds |= _kinds_of(choice) if isinstance(choice, dict) else set[str]()
    return {str(one) for one in kinds}


def _all_fitting(
    found: Iterator[tuple[str, dict[str, object] | None]] | list[tuple[str, dict[str, object] | None]], schemas: Schemas
) -> list[WrittenCall]:
    """All of them, or none where one does not fit."""
    calls: list[WrittenCall] = []
    for name, arguments in found:
        fitting = _fitting(name, arguments, schemas)
        if not fitting:
            return []
        calls += fitting
    return calls


def _fitting(name: str, arguments: dict[str, object] | None, schemas: Schemas) -> list[WrittenCall]:
    """The call where its tool is on offer, all required arguments are there, and none that the tool does not know."""
    known_name = name if name in schemas else name.removeprefix("functions.")
    schema = schemas.get(known_name)
    if schema is None or arguments is None:
        return []
    required, known = schema.get("required"), schema.get("properties")
    names = set(required) if isinstance(required, list) else set[object]()
    fits = names <= arguments.keys() and (not isinstance(known, dict) or arguments.keys() <= known.keys())
    return [WrittenCall(known_name, arguments)] if fits else []
