"""Agents, as a person uses it."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from playwright.async_api import Page, expect
from tests.browser.conftest import SIZES, Seat
from tests.inspector.crew import crew, form_team, later, lost_in, sent, task_of
from tests.runtime.edge import Edge

pytestmark = [pytest.mark.anyio, pytest.mark.browser]


@pytest.fixture(scope="module")
async def server(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Edge]:
    """The crew, with a team of agents beside its own."""
    async with crew(tmp_path_factory.mktemp("crew")) as running:
        await form_team(running)
        yield running


async def tab(seat: Seat, name: str) -> Page:
    """Agents with that tab shown."""
    page = await seat.open("agents")
    await page.get_by_role("tab", name=name).click()
    return page


async def waiting(server: Edge, goal: str) -> str:
    """The id of a task of that goal that waits for a decision."""
    await lost_in(server, goal, "charge")
    await later(server, 10)
    assert (await sent(server, goal)).text == "waiting_tool"
    found = await task_of(server, goal)
    assert found is not None
    return str(found["task"]["task_id"])


async def test_a_crash_and_the_resume_are_drawn_across_isolates(seat: Seat) -> None:
    page = await seat.open("agents")
    dead = await lost_in(seat.server, "slow crossing", "hold")
    await page.get_by_role("button", name="slow crossing").click()
    drawing = page.locator(".life-svg")
    lost = drawing.locator(".life-bar[data-status=lost]")
    await expect(lost).to_have_count(1)
    await expect(page.locator(".life-marks")).to_contain_text(f"isolate {dead} was killed")

    await later(seat.server, 10)
    assert (await sent(seat.server, "slow crossing")).text == "completed"

    marks = page.locator(".life-marks")
    await expect(marks).to_contain_text("lease 1 ran out")
    await expect(marks).to_contain_text("goes on, lease 2")
    await expect(marks).to_contain_text("completed")
    await expect(drawing.locator(".life-lane")).to_have_count(2)
    await expect(drawing.locator(".life-resume")).to_have_count(1)
    await expect(drawing.locator(".life-bar[data-status=success]")).to_have_count(3)
    await seat.shoot("agents-crash")
    await marks.get_by_role("link", name="request").click()
    await expect(page.locator(".story-head h2")).to_contain_text("/?goal=slow")


async def test_a_waiting_step_is_decided_with_done_and_what_it_returned(seat: Seat) -> None:
    page = await seat.open("agents")
    task_id = await waiting(seat.server, "stuck payment")
    await expect(page.locator("#tab-questions .badge")).to_be_visible()
    await page.get_by_role("tab", name="Decisions").click()
    question = page.locator("#panel-questions .question", has_text="stuck payment")
    await expect(question).to_contain_text("Its effect may have happened")
    await seat.shoot("agents-decision")

    await question.get_by_role("button", name="Done").click()
    await question.get_by_label("Output of the step").fill('{"paid": "by hand"}')
    await question.get_by_role("button", name="Done, with this output").click()

    await expect(question).to_have_count(0)
    found = await task_of(seat.server, "stuck payment")
    assert found is not None
    assert found["task"]["task_id"] == task_id
    assert found["steps"][2]["output"] == {"paid": "by hand"}
    assert (await sent(seat.server, "stuck payment")).text == "completed"


async def test_an_output_that_is_no_json_is_told_and_nothing_is_decided(seat: Seat) -> None:
    task_id = await waiting(seat.server, "stuck typo")
    page = await tab(seat, "Decisions")
    question = page.locator("#panel-questions .question", has_text="stuck typo")

    await question.get_by_role("button", name="Done").click()
    await question.get_by_label("Output of the step").fill("paid")
    await question.get_by_role("button", name="Done, with this output").click()

    await expect(question.get_by_role("alert")).to_contain_text("The output is no JSON")
    await question.get_by_role("button", name="Skip").click()
    await expect(question).to_have_count(0)
    found = await task_of(seat.server, "stuck typo")
    assert found is not None
    assert found["task"]["task_id"] == task_id
    assert found["steps"][2]["resolution"] == "skip"


async def test_retry_and_resume_lead_to_another_attempt(seat: Seat) -> None:
    task_id = await waiting(seat.server, "stuck again")
    page = await seat.open("agents")
    await page.get_by_role("button", name="stuck again").click()
    await expect(page.locator(".task")).to_contain_text("waits for a decision")

    await page.locator(".question").get_by_role("button", name="Retry").click()
    await expect(page.locator(".notice")).to_contain_text("Decided: retry")
    await expect(page.locator(".task")).to_contain_text("nobody works on it")
    resumes = page.get_by_role("button", name="Resume now")
    await resumes.click()

    # The cron waits for the tool, which takes its time.
    await expect(page.locator(".life-marks")).to_contain_text("goes on, lease 3")
    await expect(page.get_by_role("button", name="End lease")).to_be_visible()
    found = await task_of(seat.server, "stuck again")
    assert found is not None
    assert found["task"]["task_id"] == task_id
    assert found["steps"][2]["attempt"] == 2
    await expect(page.locator(".notice", has_text="Ran the cron")).to_be_visible()


async def test_a_lease_counts_down_and_can_be_ended(seat: Seat) -> None:
    await lost_in(seat.server, "stuck lease", "charge")
    page = await tab(seat, "Leases")
    row = page.get_by_role("row", name="stuck lease")
    left = await row.locator("time").inner_text()
    await expect(row.locator("time")).not_to_have_text(left)
    await seat.shoot("agents-leases")

    await row.get_by_role("button", name="stuck lease").click()
    await page.get_by_role("button", name="End lease").click()
    await page.get_by_role("dialog").get_by_role("button", name="End lease").click()

    await expect(page.locator(".task")).to_contain_text("nobody works on it")
    await expect(page.locator(".life-marks")).to_contain_text("lease 1 was given back")


async def test_what_has_the_focus_keeps_it_when_something_changes(seat: Seat) -> None:
    await lost_in(seat.server, "stuck focus", "charge")
    page = await seat.open("agents")
    await page.get_by_role("button", name="stuck focus").click()
    lease = page.get_by_role("button", name="End lease")
    await lease.focus()
    drawn = await page.locator(".life-svg").element_handle()

    # The lease goes on, and with it the drawing: the old one is gone.
    assert drawn is not None
    await drawn.wait_for_element_state("hidden")

    await expect(lease).to_be_focused()


async def test_a_session_leads_to_its_tasks(seat: Seat) -> None:
    await sent(seat.server, "quick one")
    page = await tab(seat, "Sessions")
    await expect(page.get_by_role("row", name="s-1")).to_contain_text("ada")
    await seat.shoot("agents-sessions")

    await page.get_by_role("button", name="s-1").click()

    await expect(page.locator(".session-filter")).to_contain_text("s-1")
    await expect(page.get_by_role("button", name="quick one")).to_be_visible()


async def test_a_step_opens_with_what_went_in_and_came_out_as_text(seat: Seat) -> None:
    await sent(seat.server, "quick look")
    page = await seat.open("agents")
    await page.get_by_role("button", name="quick look").click()

    await page.locator("summary", has_text="0 search").click()

    body = page.locator(".task-steps details[open]")
    await expect(body.locator("pre").last).to_contain_text('"note": "<b>bold</b>"')
    await expect(body).to_contain_text("read")
    assert await page.locator("main b").count() == 0


async def test_the_trace_of_a_team_task_runs_across_its_agents(seat: Seat) -> None:
    page = await tab(seat, "Team")
    await expect(page.locator(".members")).to_contain_text("planner")

    await page.get_by_role("button", name="goal", exact=True).click()

    trace = page.get_by_role("region", name="Trace")
    agents = trace.locator(".trace-agents")
    for agent in ("planner", "worker-1", "critic"):
        await expect(agents).to_contain_text(agent)
    await expect(trace.locator(".trace-events")).to_contain_text("dead letter")
    await expect(trace.locator(".trace-events")).to_contain_text("message sent")
    # From the lane of who sent a message to the lane of who acted on it.
    await expect(trace.locator(".trace-hand")).to_have_count(2)
    await seat.shoot("agents-trace")
    await trace.locator("li", has_text="message consumed").first.get_by_role("button").click()
    await expect(trace.locator("h2")).to_contain_text("trace-")
    await trace.get_by_role("button", name="draft").first.click()
    await expect(trace.locator("h2")).to_have_text("draft")


async def test_an_id_that_nobody_knows_is_told(seat: Seat) -> None:
    page = await tab(seat, "Team")

    await page.get_by_label("Id to trace").fill("nowhere")
    await page.keyboard.press("Enter")

    await expect(page.locator(".trace")).to_contain_text("nothing is known of nowhere")
    seat.complaints.clear()


async def test_a_saga_shows_its_steps_and_a_dead_letter_goes_back(seat: Seat) -> None:
    page = await tab(seat, "Sagas")
    saga = page.get_by_role("region", name="Saga saga-1")
    await expect(saga.locator("li", has_text="book")).to_contain_text("compensated")
    await expect(saga.locator("li", has_text="pay")).to_contain_text("the card was declined")
    await seat.shoot("agents-sagas")
    letters = page.get_by_role("table", name="Dead letters")
    open_ = letters.get_by_role("button", name="Requeue")
    count = await open_.count()

    await open_.first.click()
    await page.get_by_role("dialog").get_by_role("button", name="Requeue").click()

    await expect(page.locator(".notice")).to_contain_text("Put back")
    await expect(letters.get_by_role("button", name="Requeue")).to_have_count(count - 1)
    await expect(letters).to_contain_text("put back 20")


async def test_without_the_token_one_is_asked_for_it(seat: Seat) -> None:
    await waiting(seat.server, "stuck token")
    page = await seat.open("agents", with_token=False)
    await page.get_by_role("tab", name="Decisions").click()

    question = page.locator("#panel-questions .question", has_text="stuck token")
    await question.get_by_role("button", name="Skip").click()
    dialog = page.get_by_role("dialog")
    await expect(dialog).to_contain_text("This changes something")
    await dialog.get_by_label("Token").fill(seat.server.run.token)
    await dialog.get_by_role("button", name="Go on").click()

    await expect(question).to_have_count(0)
    seat.complaints.clear()


@pytest.mark.parametrize("width", SIZES)
@pytest.mark.parametrize("name", ["Tasks", "Decisions", "Sessions", "Leases", "Team", "Sagas"])
async def test_nothing_is_wider_than_the_window(seat: Seat, name: str, width: str) -> None:
    await sent(seat.server, "quick " + "long" * 60)
    page = await tab(seat, name)
    x, y = SIZES[width]
    await page.set_viewport_size({"width": x, "height": y})
    if name == "Tasks":
        await page.get_by_role("button", name="longlong").click()
        await expect(page.locator(".life-svg")).to_be_visible()
    if name == "Team":
        await page.get_by_role("button", name="goal", exact=True).click()
        await expect(page.locator(".trace-events")).to_be_visible()

    assert await seat.width_beyond() == 0
