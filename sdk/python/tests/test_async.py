"""The client for asyncio."""

import asyncio
import json
import threading

import pytest

from partner_deposits import ApiError, AsyncPartnerDeposits, Deposit


class Script:
    """A transport that gives one answer after the other, and keeps the requests."""

    def __init__(self, *answers):
        self.answers, self.sent = iter(answers), []

    def __call__(self, method, url, headers, body, timeout):
        self.sent.append((method, url.partition("/api/partner/v1")[2], body and json.loads(body)))
        status, value = next(self.answers)
        return status, {}, json.dumps(value).encode()


def client(*answers):
    script = Script(*answers)
    return AsyncPartnerDeposits("svc_pk_test_1", transport=script), script


def page(ids, cursor):
    return 200, {"data": [{"id": i} for i in ids], "pagination": {"nextCursor": cursor, "hasMore": cursor is not None}}


def test_methods_are_awaited():
    async def main():
        refusal = {"error": {"code": "deposit_not_found", "message": "No."}}
        c, script = client((201, {"data": {"id": "dep_1"}}), (204, None), (404, refusal))
        created = await c.deposits.create(account_id="acct_1", amount="70", contract_start_at="a", contract_end_at="b")
        assert created.id == "dep_1"
        assert await c.webhooks.delete("pwh_1") is None
        with pytest.raises(ApiError) as caught:
            await c.deposits.get("dep_2")
        assert (caught.value.status, caught.value.code) == (404, "deposit_not_found")
        with pytest.raises(ValueError, match="amount"):
            await c.deposits.capture("dep_1", amount=1.5)
        assert [(method, path) for method, path, _ in script.sent] == [
            ("POST", "/deposits"), ("DELETE", "/webhooks/pwh_1"), ("GET", "/deposits/dep_2")]

    asyncio.run(main())


def test_a_list_is_read_page_by_page():
    async def main():
        c, script = client(page(["dep_1", "dep_2"], "c1"), page([], "c2"), page(["dep_3"], None), page(["dep_4"], None))
        seen = []
        async for deposit in c.deposits.list(limit=2):
            seen.append((deposit.id, len(script.sent)))
            assert isinstance(deposit, Deposit)
        assert seen == [("dep_1", 1), ("dep_2", 1), ("dep_3", 3)]
        assert (await c.deposits.list().page("c9")).data[0].id == "dep_4"
        assert [path for _, path, _ in script.sent] == [
            "/deposits?limit=2", "/deposits?limit=2&cursor=c1", "/deposits?limit=2&cursor=c2", "/deposits?cursor=c9"]

    asyncio.run(main())


def test_ensure_and_follow():
    async def main():
        c, script = client(page([], None), (201, {"data": {"id": "pwh_1", "secret": "svc_whsec_1"}}),
                           (200, {"data": [{"sequence": 8}], "nextAfter": 8, "feedId": "feed_1"}),
                           (200, {"data": [], "nextAfter": 8, "feedId": "feed_1"}))
        url, events = "https://pms.example.com/hooks", ["deposit.activated"]
        assert (await c.webhooks.ensure(url, events)).secret == "svc_whsec_1"
        assert [(e.sequence, e.feed_id) async for e in c.events.follow(7, wait_seconds=0)] == [(8, "feed_1")]
        assert script.sent[1] == ("POST", "/webhooks", {"url": url, "events": events})
        assert script.sent[-1][1] == "/events/feed?after=8&waitSeconds=0"

    asyncio.run(main())


def test_requests_run_side_by_side():
    together = threading.Barrier(3, timeout=20)

    def transport(*request):
        together.wait()
        return 200, {}, b'{"data":{}}'

    async def main():
        c = AsyncPartnerDeposits("svc_pk_test_1", transport=transport)
        assert await asyncio.gather(*(c.me.get() for _ in range(3))) == [{}] * 3

    asyncio.run(main())


def test_a_caller_that_is_cancelled_gets_no_further_attempt():
    attempts, waits, asked, answer = [], [], threading.Event(), threading.Event()

    def transport(*request):
        attempts.append(request)
        asked.set()
        assert answer.wait(20)
        raise ConnectionResetError

    async def main():
        c = AsyncPartnerDeposits("svc_pk_test_1", transport=transport, sleep=waits.append)
        task = asyncio.ensure_future(c.me.get())
        await asyncio.get_running_loop().run_in_executor(None, asked.wait, 20)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    before = threading.enumerate()
    asyncio.run(main())
    answer.set()
    for thread in set(threading.enumerate()).difference(before):
        thread.join(20)
    assert (len(attempts), len(waits)) == (1, 1)


def test_calls_that_wait_hold_up_neither_the_pool_of_the_loop_nor_its_end():
    answer, ended = threading.Event(), []

    def transport(*request):
        ended.append(answer.wait(20))
        return 200, {}, b'{"data":{}}'

    async def main():
        c = AsyncPartnerDeposits("svc_pk_test_1", transport=transport)
        calls = asyncio.gather(*(c.me.get() for _ in range(40)))
        await asyncio.sleep(0)  # the calls begin
        try:
            await asyncio.wait_for(asyncio.get_running_loop().run_in_executor(None, int), 5)
            with pytest.raises(asyncio.TimeoutError):
                await asyncio.wait_for(calls, 0.01)
        except BaseException:
            answer.set()  # or the end of a loop that waits takes long
            raise

    asyncio.run(main())
    assert ended == []
    answer.set()
