"""MCP servers over their standard streams, each with one quirk: `python -m tests.fakes.strange_servers QUIRK`.

Raw JSON and no library, so that they start at once and can break every rule.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path

Row = dict[str, object]

SCHEMA: Row = {"type": "object", "properties": {"q": {"type": "string"}}}
LONG_NAME = "a_very_long_tool_name_that_goes_on_and_on_for_the_sake_of_clarity_and_more"


def tool(name: object, schema: object = SCHEMA, **more: object) -> Row:
    """A row of the list of tools."""
    return {"name": name, "description": "A tool.", "inputSchema": schema, **more}


LISTS: dict[str, list[object]] = {
    "names": [tool("calendar.list/all events"), tool(LONG_NAME), tool("日历")],
    "clash": [tool("a.b"), tool("a:b"), tool("a_b")],
    "twice": [tool("ask"), tool("ask")],
    "no schema": [{"name": "ask"}],
    "null schema": [tool("ask", None)],
    "string schema": [tool("ask"), tool("bad", {"type": "string"})],
    "list schema": [tool("ask"), tool("bad", [])],
    "word schema": [tool("ask"), tool("bad", "object")],
    "nameless": [tool("ask"), tool(None), tool(""), {"description": "no name"}],
    "rows": ["ask", None, 7, tool("ask")],
    "odd fields": [tool("ask", annotations="read only", description=7, title=None, outputSchema="text")],
    "empty": [],
    "many": [tool(f"tool_{number}", description="Does a thing. " * 40) for number in range(150)],
}
CHANGED = [tool("ask"), tool("more")]
HUGE_CHARS = 3_000_000
PAGES: dict[str, tuple[list[object], str | None]] = {
    "": ([tool("first"), tool("second")], "2"),
    "2": ([tool("third")], "3"),
    "3": ([tool("fourth")], None),
}


def send(message: Row) -> None:
    """One message to the client."""
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


def listing(quirk: str, cursor: str) -> Row:
    """The answer to `tools/list`."""
    if quirk == "paged":
        rows, following = PAGES[cursor]
        return {"tools": rows, **({"nextCursor": following} if following else {})}
    if quirk == "endless pages":
        return {"tools": [tool("ask")], "nextCursor": "again"}
    if quirk == "pages in a circle":
        return {"tools": [tool(f"ask_{cursor or 'a'}")], "nextCursor": {"": "b", "b": "c", "c": "b"}[cursor]}
    if quirk == "always another page":
        return {"tools": [tool("ask")], "nextCursor": f"{cursor}x"}
    return {"tools": LISTS.get(quirk, [tool("ask")])}


def say_meanwhile(quirk: str, message: Row) -> None:
    """What a server says before its answer to a call that nobody asked for."""
    match quirk:
        case "talks on stdout":
            print("DEBUG: handling a call\n\n[1, 2\n" + "-" * 100_000, flush=True)
        case "floods stderr":
            sys.stderr.write(("x" * 1_000 + "\n") * 5_000)
        case "notifies":
            for method in ("notifications/message", "notifications/progress", "notifications/of/nobody"):
                send({"jsonrpc": "2.0", "method": method, "params": {"level": "info", "data": "hm", "progress": 1}})
        case "asks the client":
            for number, method in enumerate(("ping", "roots/list", "sampling/createMessage", "no/such/thing")):
                send({"jsonrpc": "2.0", "id": f"s{number}", "method": method, "params": {}})
        case "answers twice":
            send({"jsonrpc": "2.0", "id": message["id"], "result": {"content": [{"type": "text", "text": "first"}]}})
        case "answers another":
            send({"jsonrpc": "2.0", "id": 987_654, "result": {"content": []}})
            send({"jsonrpc": "2.0", "result": {}})
        case "broken bytes":
            sys.stdout.buffer.write(b"\xff\xfe\x00broken\n")
            sys.stdout.buffer.flush()
        case _:
            pass


def serve(quirk: str, marker: Path | None) -> None:  # noqa: C901 - one list of quirks
    """Answer until the client hangs up."""
    calls = 0
    held: list[Row] = []
    for line in sys.stdin:
        message = json.loads(line)
        if isinstance(message, list) or "id" not in message or "method" not in message:
            continue
        parameters = message.get("params") or {}
        match message["method"]:
            case "initialize":
                version = "2024-11-05" if quirk == "old" else parameters.get("protocolVersion", "2025-06-18")
                server = {"name": quirk, "version": "1"}
                capabilities: Row = {} if quirk == "no capabilities" else {"tools": {"listChanged": True}}
                result: Row = {"protocolVersion": version, "capabilities": capabilities, "serverInfo": server}
            case "tools/list":
                result = listing(quirk, str(parameters.get("cursor") or ""))
                if quirk == "changes its tools" and calls:
                    result = {"tools": CHANGED}
                if quirk == "says changed for ever":
                    send({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})
            case "tools/call":
                calls += 1
                say_meanwhile(quirk, message)
                if quirk == "out of order" and not held:
                    held.append(message)
                    continue
                if quirk == "always dies" or (quirk == "dies once" and marker and not marker.exists()):
                    if marker:
                        marker.touch()
                    print("it was too much", file=sys.stderr)
                    sys.exit(3)
                if quirk == "refuses":
                    error = {"code": -32602, "message": "q must be longer"}
                    send({"jsonrpc": "2.0", "id": message["id"], "error": error})
                    continue
                words = f"answer {calls} to {parameters['name']}; {os.environ.get('WORD')}"
                result = {"content": "plain words" if quirk == "odd result" else [{"type": "text", "text": words}]}
                if quirk == "huge result":
                    result = {"content": [{"type": "text", "text": "0123456789" * (HUGE_CHARS // 10)}]}
                if quirk == "no content":
                    result = {}
                if quirk == "an error as a result":
                    result = {"isError": True, "content": [{"type": "text", "text": "the disk is full"}]}
                if quirk in ("changes its tools", "says changed for ever"):
                    send({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})
                if quirk == "dies between" and marker and not marker.exists():
                    marker.touch()
                    send({"jsonrpc": "2.0", "id": message["id"], "result": result})
                    sys.exit(3)
            case _:
                error = {"code": -32601, "message": "Method not found"}
                send({"jsonrpc": "2.0", "id": message["id"], "error": error})
                continue
        send({"jsonrpc": "2.0", "id": message["id"], "result": result})
        for other in held:
            words = {"type": "text", "text": f"answer to {json.dumps(other['params'])}"}
            send({"jsonrpc": "2.0", "id": other["id"], "result": {"content": [words]}})
        held.clear()
    if quirk == "stays":
        # It hears nothing of a polite end.
        signal.pause()


def main(quirk: str, marker: Path | None) -> None:
    """Start in the way of the quirk, then serve."""
    match quirk:
        case "noise":
            print("Starting server v1.2.3 …\n{not json", flush=True)
        case "much on stderr":
            sys.stderr.write("x" * 2_000_000)
        case "exits at once":
            print("TOKEN is missing", file=sys.stderr)
            sys.exit(1)
        case "stays":
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
        case "slow":
            # A pipe: nothing comes before the test opens its other end.
            assert marker is not None
            marker.read_bytes()
        case _:
            pass
    serve(quirk, marker)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]) if len(sys.argv) > 2 else None)
