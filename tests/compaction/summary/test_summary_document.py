"""The finished summary: what code fills in, and that all of it stays within the cap."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from assistant.compaction.summary.file_tracking import FileLists
from assistant.compaction.summary.sections import FilledSection, SectionList, sections_for
from assistant.compaction.summary.summary_document import DocumentParts, write_document
from assistant.messages.tokens import TokenCounter

NOTICE = "(Shortened here. The full words stand in the journal, dialog/.)"


def parts(
    bodies: dict[str, str], name: SectionList = "copaw", previous: str = "", files: FileLists | None = None
) -> DocumentParts:
    """A document with these bodies."""
    asked = sections_for(name, "en")
    filled = tuple(FilledSection(s.key, s.title, bodies[s.key]) for s in asked if s.key in bodies)
    return DocumentParts(filled, asked, (), "", previous, files or FileLists())


def written(document: DocumentParts, cap: int = 1_000) -> str:
    """The document."""
    return write_document(document, cap, TokenCounter(), "en")


def test_sections_stand_in_order_with_the_files_last() -> None:
    document = parts({"goal": "ship", "context": "port 8443"}, files=FileLists(("/a",), ("/b",)))
    assert written(document) == (
        "## Goal\nship\n\n## Key context\nport 8443\n\n"
        "<read-files>\n/a\n</read-files>\n<modified-files>\n/b\n</modified-files>"
    )


def test_what_an_update_forgot_to_name_is_named_under_key_context() -> None:
    document = parts({"goal": "ship"}, previous="## Goal\nship to https://example.com on port 8443")
    assert written(document) == ("## Goal\nship\n\n## Key context\nAlso named earlier: https://example.com, 8443")


def test_the_line_of_forgotten_names_is_written_anew_each_time() -> None:
    first = written(parts({"context": "x"}, previous="port 8443"))
    again = written(parts({"context": "x\n\nAlso named earlier: 8443"}, previous=first))
    assert again == first


def test_long_sections_are_cut_and_short_ones_stay_whole() -> None:
    text = written(parts({"goal": "ship it", "progress": "- did a thing\n" * 2_000, "context": "port 8443"}))
    assert text.startswith("## Goal\nship it\n\n## Progress\n- did a thing\n")
    assert text.endswith(f"## Key context\nport 8443\n\n{NOTICE}")


def test_the_section_of_user_messages_is_filled_by_code_whatever_the_model_wrote() -> None:
    asked = sections_for("skill_compose", "en")
    model = FilledSection("user_messages", "All user messages", "the user said things")
    document = DocumentParts(
        sections=(model,),
        asked=asked,
        new_user_entries=("- [2026-11-30 09:15] call me Ada",),
        previous_user_section="- [2026-11-29 09:15] hello",
        previous_text="",
        files=FileLists(),
    )
    assert written(document) == "## All user messages\n- [2026-11-29 09:15] hello\n- [2026-11-30 09:15] call me Ada"


def test_of_very_many_files_the_newest_stay() -> None:
    files = FileLists(tuple(f"/srv/app/module_{n}.py" for n in range(200)), ("/srv/app/main.py",))
    text = written(parts({"goal": "ship"}, files=files))
    assert "/srv/app/module_199.py" in text
    assert "/srv/app/module_0.py" not in text
    assert "/srv/app/main.py" in text


@settings(max_examples=80, deadline=None)
@given(
    st.dictionaries(
        st.sampled_from(["goal", "constraints", "progress", "decisions", "next_steps", "context"]),
        st.text("ab \n汉1/.", max_size=3_000),
    ),
    st.text("port 8443 /srv/a.py\n", max_size=3_000),
    st.integers(0, 200),
    st.sampled_from([200, 400, 4_096]),
)
def test_a_document_is_never_over_its_cap(bodies: dict[str, str], previous: str, paths: int, cap: int) -> None:
    files = FileLists(tuple(f"/srv/app/module_{n}.py" for n in range(paths)))
    assert TokenCounter().text(written(parts(bodies, previous=previous, files=files), cap)) <= cap + 2
