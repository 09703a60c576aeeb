"""The programs of docs/cluster.md run as they are printed, and give the rows of one process."""

import os
import re
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from conformance.arrow import check_batches, check_table, ddl
from tests.arrow_rows import BAD, RECORDS, SESSIONS, table
from tests.benchmarks import cluster, corpus
from tests.checking import FAULTY, ROOT

pa = pytest.importorskip("pyarrow", reason="NOT RUN: pyarrow is not installed, so nothing here was tested")

PAGE = ROOT / "docs" / "cluster.md"
FENCE = re.compile(r'^```python title="(\w+)[.]py"\n(.*?)^```', re.MULTILINE | re.DOTALL)
PROGRAMS = dict(FENCE.findall(PAGE.read_text("utf-8")))
Rows = Counter[tuple[Any, ...]]
Run = Callable[[str], dict[str, Any]]


def of(found: Any) -> Rows:
    """Return the rows of a table without `row`, which depends on how the input was divided."""
    return Counter(tuple(row.values()) for row in found.drop_columns(["row"]).to_pylist())


@pytest.fixture(scope="module")
def traffic() -> Any:
    """Return traffic in which sessions are interleaved, some rows have none, and some are broken."""
    sessions = [*[each for each in SESSIONS if len(each) > 1] * 20, [FAULTY, *BAD]]
    rows = [(number, each) for number, session in enumerate(sessions) for each in enumerate(session)]
    rows.sort(key=lambda row: (row[1][0], row[0]))
    names = [*[f"session {number}" for number, _ in rows], *[None] * len(RECORDS)]
    times = [*[position for _, (position, _) in rows], *[0] * len(RECORDS)]
    records = [*[each for _, (_, each) in rows], *RECORDS]
    return table(records, session=pa.array(names, pa.string()), time=pa.array(times, pa.timestamp("s")))


@pytest.fixture
def run(traffic: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Return a function that runs a program of the page beside `traffic.parquet`, and returns its names."""
    import pyarrow.parquet

    monkeypatch.chdir(tmp_path)
    pyarrow.parquet.write_table(traffic, "traffic.parquet", row_group_size=50)

    def execute(name: str) -> dict[str, Any]:
        names: dict[str, Any] = {}
        exec(compile(PROGRAMS[name], f"{PAGE.name}, {name}", "exec"), names)  # noqa: S102 — what the page prints
        return names

    return execute


@pytest.fixture(scope="module")
def expected(traffic: Any) -> Rows:
    return of(check_table(traffic.sort_by([("session", "ascending"), ("time", "ascending")]), "deepseek"))


def test_every_program_is_tested() -> None:
    assert {"spark", "ray", "duckdb", "polars"} == PROGRAMS.keys()


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_has_at_most_twelve_lines(name: str) -> None:
    assert 12 >= len([line for line in PROGRAMS[name].splitlines() if line])


def test_duckdb_reads_traffic_and_findings_as_arrow(
    run: Run, expected: Rows, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("duckdb", reason="NOT RUN: duckdb is not installed")
    run("duckdb")
    counts = Counter((row[5], row[6]) for row in expected.elements())
    shown = [re.split(r"\s*│\s*", line)[1:-1] for line in capsys.readouterr().out.splitlines() if line.startswith("│")]
    assert {(rule or "NULL", level or "NULL", str(count)) for (rule, level), count in counts.items()} <= set(
        map(tuple, shown)
    )


def test_polars_passes_tables_without_a_copy(run: Run, expected: Rows, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("polars", reason="NOT RUN: polars is not installed")
    findings = run("polars")["findings"]
    assert expected == of(findings.to_arrow())
    assert "level" in capsys.readouterr().out


def test_the_arithmetic_for_a_billion_is_that_of_the_benchmark() -> None:
    measured = {"a corpus": cluster.measure(corpus.agent(2), rounds=1)}
    shown = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in PAGE.read_text("utf-8").partition("<!-- a billion -->")[2].partition("<!-- /")[0].splitlines()
        if line.startswith("|") and "---" not in line
    ]
    assert [row[0] for row in shown[1:]] == [row[0] for row in cluster.rows(measured, cluster.PRICE)]
    cells = {name: row for name, *row in shown}
    for name in ("no provider", f"the provider {cluster.PROVIDER}"):
        for one, billion in zip(cells[f"one exchange, {name}"], cells[f"a billion, {name}"], strict=True):
            hours = float(one.split()[0]) * cluster.BILLION / 1e6 / 3600
            assert pytest.approx(hours, rel=0.01) == float(billion.split()[0].replace(",", ""))


@pytest.mark.exhaustive
@pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning", "ignore::ResourceWarning")
def test_spark_gives_the_rows_of_one_process(
    run: Run, traffic: Any, expected: Rows, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("pyspark", reason="NOT RUN: pyspark is not installed")
    _locally(monkeypatch)
    names = run("spark")
    try:
        assert expected == of(written())
        grouped = names["traffic"].groupBy("session")
        by_group = grouped.applyInArrow(lambda table: check_table(table.sort_by("time"), "deepseek"), ddl())
        assert expected == of(by_group.toArrow())
        per_exchange = names["traffic"].mapInArrow(partial(check_batches, per="exchange"), ddl("exchange")).toArrow()
        assert traffic.num_rows == per_exchange.num_rows
    finally:
        names["spark"].stop()


@pytest.mark.exhaustive
@pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning", "ignore::ResourceWarning")
def test_spark_gives_the_same_rows_if_a_worker_is_lost(
    run: Run, traffic: Any, expected: Rows, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    pytest.importorskip("pyspark", reason="NOT RUN: pyspark is not installed")
    _locally(monkeypatch)
    names = run("spark")
    try:
        lost = tmp_path / "lost"
        found = names["traffic"].mapInArrow(partial(_losing_a_worker, str(lost)), ddl()).toArrow()
        assert lost.exists()
        assert expected == of(found)
        assert [] != [row for row in expected if row[-1]]
    finally:
        names["spark"].stop()


def _losing_a_worker(marker: str, batches: Any) -> Any:
    """Check batches, but end the process of the first worker that gets this far, as a lost machine does."""
    if not Path(marker).exists():
        Path(marker).touch()
        os._exit(1)
    yield from check_batches(batches, "deepseek")


def _locally(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let Spark run on this machine, with workers of the very Python that the page sets.

    A task may fail three times. The arguments count for the first session: all share one JVM.
    """
    monkeypatch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
    monkeypatch.setenv("PYSPARK_SUBMIT_ARGS", "--master local[2,4] --conf spark.ui.enabled=false pyspark-shell")
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.delenv("PYSPARK_PYTHON", raising=False)


@pytest.mark.exhaustive
@pytest.mark.filterwarnings("ignore")
def test_ray_gives_the_rows_of_one_process(run: Run, expected: Rows, monkeypatch: pytest.MonkeyPatch) -> None:
    ray = pytest.importorskip("ray", reason="NOT RUN: ray is not installed")
    monkeypatch.setenv("RAY_AUTH_MODE", "disabled")
    environment = {"env_vars": {"PYTHONPATH": str(ROOT)}}
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, runtime_env=environment)
    try:
        run("ray")
        assert expected == of(written())
    finally:
        ray.shutdown()


def written() -> Any:
    """Return the findings that a program has written."""
    from pyarrow import dataset

    return dataset.dataset("findings", format="parquet").to_table()
