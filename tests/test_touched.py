"""What a change touches: the test of the same name first, then those that import it, and no test through a hub."""

from __future__ import annotations

import pytest

from tests.touched import ALWAYS, direct_importers, touched_tests


def test_the_test_of_the_same_name_comes_first_and_all_others_after_it() -> None:
    found = touched_tests(["assistant/compaction/split.py"])
    assert found[: len(ALWAYS) + 1] == [*ALWAYS, "tests/compaction/test_split.py"]
    assert "tests/compaction/test_pipeline.py" in found
    assert "tests/text/test_redaction.py" not in found
    assert len(found) == len(set(found))


@pytest.mark.parametrize(
    ("changed", "touched"),
    [
        pytest.param("assistant/ui/assets/cards.html", "tests/ui/chat/test_render.py", id="template of the page"),
        pytest.param("prompts/en/show_story.toml", "tests/assembly/sample/test_sample_home.py", id="data of a module"),
        pytest.param("tests/fakes/provider.py", "tests/fakes/test_provider.py", id="fake"),
    ],
)
def test_a_data_file_touches_what_reads_it(changed: str, touched: str) -> None:
    assert touched in touched_tests([changed])


def test_what_opens_an_assistant_is_not_touched_by_each_of_its_parts() -> None:
    assert "tests/test_faults.py" not in touched_tests(["assistant/agent/flush.py"])
    assert "tests/test_faults.py" in touched_tests(["assistant/assembly/assistant.py"])


def test_the_files_to_type_check_are_the_changed_ones_and_their_importers() -> None:
    found = direct_importers(["assistant/openclaw/backups.py", "README.md", "assistant/gone.py"])
    assert "assistant/openclaw/backups.py" in found
    assert all(name.endswith(".py") for name in found)
    assert len(found) > 1
