"""The page about agents shows what their results are."""

from tests.agent_table import RESULTS, table


def test_the_page_has_the_table_of_the_results() -> None:
    assert table() in (RESULTS.parents[2] / "docs" / "agents.md").read_text("utf-8")
