"""A session belongs to the runtime that landed first."""

from pathlib import Path

from asz_hookspecs import AdapterInfo

from ...support.plain import Place, Plain


def other(tmp_path: Path, **info: str) -> Plain:
    root = tmp_path / "other"
    (root / "s").mkdir(parents=True)
    (root / "s" / "child.jsonl").write_bytes(b"theirs\n")
    adapter = Plain(root, name="other", runtime="Other")
    if info:
        adapter.info = AdapterInfo(version="1", runtime="Other", dialect="other/1", **info)  # type: ignore[arg-type]
    return adapter


def test_another_runtime_with_the_same_id_is_refused_and_both_are_named(
    place: Place, tmp_path: Path
) -> None:
    place.write("s/main.jsonl", b"ours\n")
    place.collect()
    place.adapters.append(other(tmp_path))
    made = place.collect()
    assert made.report.counts.errors == 1
    assert "belongs to Plain" in made.report.problems[0]
    assert "Other" in made.report.problems[0]
    assert place.raw() == [b"ours"]


def test_an_adapter_that_joins_the_owner_adds_to_its_session(place: Place, tmp_path: Path) -> None:
    place.write("s/main.jsonl", b"ours\n")
    place.adapters.append(other(tmp_path, joins="Plain"))
    assert place.collect().clean
    assert place.raw() == [b"theirs", b"ours"] or place.raw() == [b"ours", b"theirs"]
    assert {file.header.runtime for file in place.files()} == {"Plain"}
    assert [file.header.seq for file in place.files()] == [1, 2]


def test_ownership_outlives_the_local_store(place: Place, tmp_path: Path) -> None:
    place.write("s/main.jsonl", b"ours\n")
    place.collect()
    (place.root / "s" / "state.db").unlink()
    place.adapters = [other(tmp_path)]
    assert "belongs to Plain" in place.collect().report.problems[0]
