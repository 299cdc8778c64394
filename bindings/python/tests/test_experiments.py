"""Experiments, results and errors."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import weir

Make = Callable[..., weir.Experiment]


def rows(table: weir.Table) -> list[dict[str, object]]:
    return pl.DataFrame(table).to_dicts()


def test_a_built_in_experiment_is_opened_by_its_name() -> None:
    experiment = weir.Experiment.load("carlucci-2017/fig11")
    assert experiment.name == "carlucci-2017/fig11"
    assert len(experiment.cells) == 24
    assert experiment.cells[0]["host.alice.up.rate"] == "500kbit/s"
    assert experiment.name in weir.experiments()
    assert "gcc:libwebrtc" in weir.controllers()


def test_an_experiment_is_opened_by_its_file(tmp_path: Path, call: Make) -> None:
    path = tmp_path / "my.toml"
    path.write_text(call().text)
    assert weir.Experiment.load(path).streams == ["main.video"]


def test_an_error_has_file_line_key_and_suggestion(tmp_path: Path, call: Make) -> None:
    path = tmp_path / "my.toml"
    path.write_text(call().text.replace("1Mbit/s", "1 Mb"))
    with pytest.raises(weir.ExperimentError) as raised:
        weir.Experiment.load(path)
    error = raised.value
    assert (error.file, error.line, error.key) == (str(path), 5, "host.alice.up.rate")
    assert "1 Mb" in error.reason
    assert str(error).startswith(f"{path}:5: host.alice.up.rate: ")


def test_a_changed_value_that_is_wrong_raises(call: Make) -> None:
    with pytest.raises(weir.ExperimentError, match="there is no call 'mian'") as raised:
        call().set("call.mian.controller", "nada")
    assert (raised.value.file, raised.value.line) == ("--set", None)
    assert raised.value.suggestion == "the calls are main"
    with pytest.raises(weir.ExperimentError, match="no controller 'gcc:chromee'"):
        call().set("call.main.controller", "gcc:chromee")


def test_set_returns_another_experiment(call: Make) -> None:
    before = call()
    after = before.set("call.main.controller", "nada").set("call.main.audio", True)
    assert before.streams == ["main.video"]
    assert after.streams == ["main.audio", "main.video"]


def test_metrics_have_a_row_per_run_and_stream(call: Make) -> None:
    experiment = call(controller="fixed:500kbit/s").set("grid", '{"host.bob.up.delay"=["25ms","75ms"]}')
    results = experiment.run(seeds=2)
    metrics = pl.DataFrame(results.metrics())
    video = metrics.filter(pl.col("stream") == "main.video")
    assert len(results) == 4 and len(video) == 4
    assert video["seed"].to_list() == [1, 2, 1, 2]
    assert video["cell.host.bob.up.delay"].cast(pl.String).to_list() == ["25ms"] * 2 + ["75ms"] * 2
    rate = video["received_rate"].to_numpy()
    assert abs(rate - 500e3).max() < 50e3
    assert results.metrics().units["received_rate"] == "bit/s"


def test_pandas_polars_and_pyarrow_take_a_table_by_one_call(call: Make) -> None:
    series = call().run().series()
    frames = pd.DataFrame.from_arrow(series), pl.DataFrame(series), pa.table(series)
    assert {len(frame) for frame in frames} == {len(series)}
    for frame in frames[0], frames[1]:
        assert list(frame.columns) == series.column_names
    target = frames[1].filter(pl.col("name") == "targetBitrate")
    assert target["time_s"].to_list() == [0.5 * sample for sample in range(1, 41)]


def test_series_can_be_thinned_out(call: Make) -> None:
    results = call().run()
    thin = pl.DataFrame(results.series(every=5.0, names=["targetBitrate"]))
    assert thin["time_s"].to_list() == [5.0, 10.0, 15.0, 20.0]
    with pytest.raises(weir.Error, match="keep_series"):
        call().run(keep_series=False).series()


def test_seeds_are_a_number_or_a_list_and_jobs_change_nothing(call: Make) -> None:
    experiment = call().set("host.alice.up.loss", "2%")
    one, two = experiment.run(seeds=[7, 8, 3], jobs=1), experiment.run(seeds=[7, 8, 3], jobs=2)
    assert pl.DataFrame(one.metrics()).equals(pl.DataFrame(two.metrics()))
    assert pl.DataFrame(one.series()).equals(pl.DataFrame(two.series()))
    seeds = pl.DataFrame(one.metrics())["seed"].unique(maintain_order=True).to_list()
    assert seeds == [7, 8, 3]
    with pytest.raises(weir.Error, match="jobs is 0"):
        experiment.run(jobs=0)


def test_a_store_gives_back_what_it_contains(call: Make, tmp_path: Path) -> None:
    store = tmp_path / "runs.sqlite"
    first, second = call().run(store=store), call().run(store=store)
    assert store.exists()
    assert pl.DataFrame(first.series()).equals(pl.DataFrame(second.series()))


def test_a_claim_is_verified() -> None:
    (verdict,) = weir.verify("C-5", quick=True, runs=1)
    assert (verdict.id, verdict.where) == ("C-5", "Fig. 11")
    assert verdict.status in ("reproduced", "not reproduced")
    assert verdict.details["runs"] == 1
    with pytest.raises(weir.Error, match="C-99"):
        weir.verify("C-99")


def test_a_claim_about_a_sweep_runs_with_its_points(tmp_path: Path) -> None:
    store = tmp_path / "fig5.sqlite"
    (first,) = weir.verify("C-14", points=2, store=store)
    # So few points have no pair near the published one, which the claim compares.
    assert (first.id, first.status) == ("C-14", "not run") and "published" in first.measured
    assert store.exists()
    (second,) = weir.verify("c-14", points=2, store=store)
    assert second == first
    with pytest.raises(weir.Error, match="takes no set, runs or quick; use points"):
        weir.verify("C-14", quick=True)
    with pytest.raises(weir.Error, match="points is for claims about a sweep"):
        weir.verify("C-5", points=2)
    with pytest.raises(weir.ExperimentError, match="--points: out of range"):
        weir.verify("C-14", points=1)


def test_advice_for_a_line_at_home() -> None:
    advice = weir.advise(line="5Mbit/1Mbit", remedies=["fq_codel"])
    names = [remedy["remedy"] for remedy in advice.remedies]
    assert sorted(names) == ["as it stands", "fq_codel"]
    assert advice.verdict
    with pytest.raises(weir.Error, match="did you mean fq_codel"):
        weir.advise(line="5Mbit/1Mbit", remedies=["fq_codle"])
    with pytest.raises(weir.Error, match="not two rates"):
        weir.advise(line="5Mbit")


def test_ctrl_c_stops_the_runs() -> None:
    # Seeds for hours of work.
    code = (
        "import weir; print('ready', flush=True); "
        "weir.Experiment.load('carlucci-2017/fig11').run(seeds=100_000, keep_series=False)"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=-1, stderr=-1, text=True) as child:
        assert child.stdout is not None and child.stdout.readline() == "ready\n"
        child.send_signal(signal.SIGINT)
        _, errors = child.communicate()
    assert "KeyboardInterrupt" in errors
    assert child.returncode != 0
