"""What a type checker must take, and must refuse: read by mypy --strict, and never run."""

from datetime import datetime, timezone
from decimal import Decimal
from typing import Iterator, List, Optional, Union

from partner_deposits import (VERSION, ApiConnectionError, ApiError, AsyncPartnerDeposits, CreatedDeposit, Deposit,
                              EventName, FollowedEvent, LinkMail, Page, PartnerDeposits, PartnerDepositsError,
                              SignatureError, WebhookEvent, connect_url, is_newer, standard_secret, unwrap,
                              verify_return)

c = PartnerDeposits("key", base_url="https://api.example.com", timeout=10, retries=0)
now = datetime.now(timezone.utc)

created: CreatedDeposit = c.deposits.create(
    account_id="acct_1", amount=Decimal("500.50"), contract_start_at=now, contract_end_at="2026-08-08T10:00:00Z",
    metadata={"booking": "17"}, client_id=None, idempotency_key="3f1c9a52-7c3e-4b0e-9a55-0d7f2b6a1e84", timeout=5)
url: Optional[str] = created.deposit_url
deposit: Deposit = c.deposits.get("dep_1")
amount: Decimal = deposit.amount
cents: int = deposit.amount_cents
first_name: Optional[str] = deposit.client.first_name if deposit.client else None
paid_at: Optional[str] = deposit.collection.paid_at if deposit.collection else None
for listed in c.deposits.list(status=["pending", "active"], created_from=now):
    text: str = listed.reference
page: Page[Deposit] = c.deposits.list().page()
more: bool = page.pagination.has_more
mails: List[LinkMail] = c.deposits.send_link_batch("dep_1", recipients=[{"email": "a@example.com", "locale": "fr"}])
names: List[EventName] = ["deposit.activated"]
secret: Optional[str] = c.webhooks.ensure("https://pms.example.com/hooks", names).secret
followed: Iterator[FollowedEvent] = c.events.follow(7, feed_id="feed_1", wait_seconds=0)
c.clients.update("cli_1", phone=None)
c.accounts.delete("acct_1")
event: WebhookEvent = unwrap(b"{}", {"X-Svc-Signature": "x"}, "svc_whsec_1", tolerance=60, now=1.5)
account: Optional[str] = event.data.account_id
captured: Optional[int] = event.data.captured_amount_cents if is_newer(event, event.data.version) else None
newer: List[bool] = [is_newer(followed_event, None) for followed_event in followed]
account_id: str = verify_return("https://pms.example.com/?x", "svc_cs_1", tolerance=600).account_id
link: str = connect_url("https://x.example.com", slug="a", secret="svc_cs_1", external_id="1", page="login", ts="17")
standard: str = standard_secret("svc_whsec_1") + VERSION


def handle(error: PartnerDepositsError) -> Union[str, int, None]:
    if isinstance(error, ApiError):
        return error.retry_after or error.code + error.request_id
    if isinstance(error, SignatureError):
        return error.hint or error.reason
    return str(error.__cause__) if isinstance(error, ApiConnectionError) else None


async def main() -> None:
    a = AsyncPartnerDeposits("key")
    one: Deposit = await a.deposits.get("dep_1")
    several: List[Deposit] = [d async for d in a.deposits.list(account_id=one.account_id)]
    sequences: List[int] = [e.sequence async for e in a.events.follow(wait_seconds=0)]
    more: bool = (await a.webhooks.list().page()).pagination.has_more
    await a.webhooks.delete("pwh_1")
    print(several, sequences, more)


def mistakes() -> None:
    c.deposits.capture("dep_1", amount=180.5)  # type: ignore[arg-type]
    c.deposits.capture("dep_1", amount=None)  # type: ignore[arg-type]
    c.deposits.capture("dep_1", reason="wear")  # type: ignore[arg-type]
    c.deposits.create(account_id="acct_1", amount=70)  # type: ignore[call-arg]
    c.webhooks.test("pwh_1", idempotency_key="k")  # type: ignore[call-arg]
    print(deposit.ammount)  # type: ignore[attr-defined]
    print(deposit.client.email)  # type: ignore[union-attr]
    unwrap({"event": "x"}, {}, "svc_whsec_1")  # type: ignore[arg-type]
