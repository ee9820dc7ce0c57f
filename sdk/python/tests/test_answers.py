"""Arguments and answers, where they are Python's own."""

import copy
import decimal
import hmac
import json
import pickle
import tracemalloc
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal

import pytest
import vectors

from partner_deposits import (ApiConnectionError, ApiError, Deposit, DepositClient, EventData, PartnerDeposits,
                              SignatureError, connect_url, unwrap, verify_return)

DEPOSIT = {
    "id": "dep_1", "status": "under_review", "amount": 500.5, "amountCents": 50050, "metadata": {"from": "us"},
    "client": {"id": "cli_1", "firstName": "Jeanne", "nickName": "J"}, "from": "here", "items": [{"isNew": True}],
    "last4": "1234", "insurance": {"validUntil": "2027"},
}


class Script:
    """A transport that answers every request alike, and keeps what was sent."""

    def __init__(self, data, **beside):
        self.body, self.sent = json.dumps({"data": data, **beside}).encode(), []

    def __call__(self, method, url, headers, body, timeout):
        self.sent.append((method, url, body and body.decode(), timeout))
        return 200, {}, self.body


def client(transport):
    return PartnerDeposits("svc_pk_test_1", transport=transport, sleep=lambda seconds: None)


def deposit():
    return client(Script(DEPOSIT)).deposits.get("dep_1")


def test_an_answer_has_the_names_of_the_wire_as_keys_and_snake_case_as_attributes():
    d = deposit()
    assert isinstance(d, Deposit) and isinstance(d, dict)
    assert d["amountCents"] == d.amount_cents == 50050
    assert d["amount"] == d.amount == Decimal("500.50")
    assert str(d.amount) == "500.50"
    assert isinstance(d.client, DepositClient)
    assert d.client.first_name == d["client"]["firstName"] == "Jeanne"


def test_the_amount_of_an_answer_is_exact_in_any_decimal_context():
    with decimal.localcontext() as context:
        context.prec = 5
        d = client(Script({"amount": 12345.67, "amountCents": 1234567})).deposits.get("dep_1")
    assert str(d.amount) == "12345.67"


def test_an_optional_field_that_is_absent_is_none_and_a_misspelt_name_is_an_error():
    d = deposit()
    assert d.collection is None and "collection" not in d
    assert d.client.email is None
    for name in ("ammount", "amountcents", "_fieldz", "__wrapped__"):
        with pytest.raises(AttributeError, match=name):
            getattr(d, name)
        assert not hasattr(d, name)


def test_fields_and_values_that_the_library_does_not_know_are_kept():
    d = deposit()
    assert d.status == "under_review"
    assert d.client.nick_name == "J"
    assert d.insurance.valid_until == d["insurance"]["validUntil"] == "2027"
    assert d.last4 == "1234"


def test_names_of_python_and_of_dict_have_an_underscore_behind():
    d = deposit()
    assert d.from_ == "here"
    assert d.items_[0].is_new is True
    assert dict(d.items())["id"] == "dep_1"


def test_metadata_is_a_plain_dict():
    assert type(deposit().metadata) is dict
    assert deposit().metadata == {"from": "us"}


def test_an_answer_can_be_copied_pickled_and_written():
    d = deposit()
    for twin in (copy.copy(d), copy.deepcopy(d), pickle.loads(pickle.dumps(d))):
        assert type(twin) is Deposit and twin == d and twin.client.first_name == "Jeanne"
    assert json.loads(json.dumps(d, default=str))["amount"] == "500.50"


@pytest.mark.parametrize("error", [
    ApiError(409, "webhook_disabled", "It is disabled.", "req_1", 7), ApiConnectionError("no answer"),
    SignatureError("expired", "stale"),
], ids=lambda error: type(error).__name__)
def test_errors_can_be_pickled(error):
    twin = pickle.loads(pickle.dumps(error))
    assert (type(twin), str(twin), vars(twin)) == (type(error), str(error), vars(error))


def test_errors_tell_what_support_asks_for():
    assert str(ApiError(409, "webhook_disabled", "It is disabled.", "req_1")) == (
        "It is disabled. (409 webhook_disabled, req_1)")
    assert str(SignatureError("mismatch", "body_reserialized")) == (
        "The signature does not match. The body was parsed and written again: pass the raw body.")


def test_event_data_has_the_fields_of_every_kind_of_event():
    data = {"partnerId": "prt_1", "accountId": "acct_1", "externalId": "hotel-4711", "linkedAt": "2026-06-02T09:14:27Z"}
    event = client(Script({"id": "evt_1", "event": "rental_operator.linked", "data": data})).events.get("evt_1")
    assert isinstance(event.data, EventData)
    assert (event.data.account_id, event.data.amount_cents, event.data.client) == ("acct_1", None, None)


@pytest.mark.parametrize("amount, text", [
    (Decimal("500.5"), "500.5"), (Decimal("70.00"), "70.00"), (Decimal("7E+1"), "70"), (70, "70"), ("70.10", "70.10"),
])
def test_an_amount_is_sent_by_its_very_text(amount, text):
    script = Script(DEPOSIT)
    client(script).deposits.capture("dep_1", amount=amount)
    assert script.sent[0][2] == f'{{"amount":{text}}}'


@pytest.mark.parametrize("amount", [
    Decimal("1.001"), Decimal("-1"), Decimal("NaN"), Decimal("Infinity"), Decimal("1E+12"), Decimal("500.500"), 10**12,
    1.0, None, False, b"70", "७०",
])
def test_any_other_amount_is_refused_before_a_request(amount):
    script = Script(DEPOSIT)
    with pytest.raises((TypeError, ValueError), match="amount"):
        client(script).deposits.capture("dep_1", amount=amount)
    assert script.sent == []


def test_none_is_left_out_but_clears_a_field_that_can_be_null():
    script = Script({})
    client(script).clients.update("cli_1", first_name=None, phone=None)
    client(script).clients.update("cli_1", locale="fr")
    assert [json.loads(body) for _, _, body, _ in script.sent] == [{"phone": None}, {"locale": "fr"}]


def test_a_time_may_be_a_datetime():
    script = Script([], pagination={"nextCursor": None, "hasMore": False})
    noon = datetime(2026, 6, 1, 12, tzinfo=timezone.utc)
    list(client(script).deposits.list(created_from=noon, created_to="2026-07-01T00:00:00Z"))
    assert script.sent[0][1].partition("?")[2] == (
        "createdFrom=2026-06-01T12%3A00%3A00%2B00%3A00&createdTo=2026-07-01T00%3A00%3A00Z")
    script = Script({})
    paris = noon.astimezone(timezone(timedelta(hours=2)))
    client(script).webhooks.replay("pwh_1", from_=paris, to=noon + timedelta(hours=1))
    assert json.loads(script.sent[0][2]) == {"from": "2026-06-01T12:00:00+00:00", "to": "2026-06-01T13:00:00+00:00"}


@pytest.mark.parametrize("id", ["", ".", "..", None, 7])
def test_an_id_that_is_none_is_refused_before_a_request(id):
    script = Script({})
    with pytest.raises(ValueError, match="id"):
        client(script).deposits.get(id)
    assert script.sent == []


def test_what_json_cannot_say_is_refused_before_a_request():
    script = Script({})
    for value in (float("nan"), {1, 2}, datetime(2026, 6, 1), date(2026, 6, 1)):  # of no zone
        with pytest.raises((TypeError, ValueError)):
            client(script).deposits.cancel("dep_1", comment=value)
    assert script.sent == []


def test_a_page_can_be_read_by_itself():
    script = Script([{"id": "dep_1"}], pagination={"nextCursor": "c1", "hasMore": True})
    pages = client(script).deposits.list(status=["active", "close"], limit=1)
    page = pages.page()
    assert page.data[0].id == "dep_1"
    assert page.pagination.next_cursor == page["pagination"]["nextCursor"] == "c1"
    pages.page(page.pagination.next_cursor)
    base = "https://api.example.com/api/partner/v1/deposits?status=active%2Cclose&limit=1"
    assert [url for _, url, _, _ in script.sent] == [base, base + "&cursor=c1"]


def test_a_list_is_read_anew_by_each_loop():
    pages = client(Script([{"id": "dep_1"}], pagination={"nextCursor": None, "hasMore": False})).deposits.list()
    assert [d.id for d in pages] == [d.id for d in pages] == ["dep_1"]


def test_a_call_has_the_time_out_given_and_following_waits_for_the_service():
    script = Script([], nextAfter=1, feedId="feed_1")
    c = client(script)
    c.events.feed()
    c.events.feed(timeout=3)
    list(c.events.follow(wait_seconds=0))
    assert [timeout for _, _, _, timeout in script.sent] == [30, 3, 30]
    script.sent.clear()
    c = PartnerDeposits("svc_pk_test_1", transport=script, timeout=5)
    list(c.events.follow(wait_seconds=0))
    script.body = json.dumps({"data": [{"sequence": 2}], "nextAfter": 2, "feedId": "feed_1"}).encode()
    assert next(iter(c.events.follow(1))).feed_id == "feed_1"
    assert [timeout for _, _, _, timeout in script.sent] == [10, 35]


def test_a_signed_body_may_be_text_and_headers_any_mapping():
    class Headers:
        def items(self):
            return [("X-SVC-Timestamp", "1"), ("x-svc-signature", "sha256=" + "0" * 64), ("x-svc-signature", "")]

    with pytest.raises(SignatureError) as caught:
        unwrap("{}", Headers(), "svc_whsec_1")
    assert caught.value.reason == "malformed_header"


def test_a_parsed_body_is_refused_with_the_remedy_and_a_missing_secret_as_a_wrong_one():
    headers = {"X-Svc-Timestamp": "1", "X-Svc-Signature": "sha256=" + "0" * 64}
    for body in ({"event": "deposit.activated"}, None):
        with pytest.raises(TypeError, match="bytes-like"):
            unwrap(body, headers, "svc_whsec_1")
    with pytest.raises(SignatureError) as caught:
        unwrap(b"{}", headers, None)
    assert (caught.value.reason, caught.value.hint) == ("mismatch", "wrong_secret_kind")


def test_a_body_of_endless_brackets_is_refused_like_any_other():
    headers = {"X-Svc-Timestamp": "1", "X-Svc-Signature": "sha256=" + "0" * 64}
    with pytest.raises(SignatureError) as caught:
        unwrap(b'{"event":' + b"[" * 200_000 + b"}", headers, "svc_whsec_1")
    assert (caught.value.reason, caught.value.hint) == ("mismatch", "body_changed")


@pytest.mark.parametrize("piece", ["a", "\\n", '","', "\\u003c"], ids=["text", "escapes", "strings", "characters"])
def test_a_large_body_costs_little_memory(piece):
    body = b'{"event":"' + piece.encode() * (1_000_000 // len(piece)) + b'"}'
    tracemalloc.start()
    try:
        with pytest.raises(SignatureError):
            unwrap(body, {"X-Svc-Timestamp": "1", "X-Svc-Signature": "sha256=" + "0" * 64}, "svc_whsec_1")
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 10 * len(body)


def signed(secret, message):
    return hmac.new(secret.encode(), message.encode(), "sha256").hexdigest()


def reason(work, *args, **named):
    try:
        work(*args, **named)
    except ValueError as error:  # of the file to copy
        return error.reason
    except SignatureError as error:
        return error.reason
    return None


@pytest.mark.parametrize("now", [None, 1000.9], ids=["clock", "given"])
@pytest.mark.parametrize("ts, want", [(699, "expired"), (700, None), (1300, None), (1301, "expired")])
def test_a_tolerance_counts_whole_seconds(monkeypatch, now, ts, want):
    monkeypatch.setattr("time.time", lambda: 1000.9)
    headers = {"X-Svc-Timestamp": str(ts), "X-Svc-Signature": "sha256=" + signed("svc_whsec_1", f"{ts}.{{}}")}
    assert reason(unwrap, b"{}", headers, "svc_whsec_1", now=now) == want
    assert reason(vectors.file_to_copy().verify, b"{}", headers, "svc_whsec_1", now=now) == want
    url = f"https://x/?connectStatus=linked&accountId=a&externalId=b&returnTs={ts}&returnSig="
    url += signed("svc_cs_1", f"return:linked.a.{ts}.b")
    assert reason(verify_return, url, "svc_cs_1", tolerance=300, now=now) == want


def test_a_connect_url_is_signed_now_unless_told_otherwise():
    before = int(datetime.now().timestamp())
    url = connect_url("https://dashboard.example.com", slug="acme-pms", secret="svc_cs_1", external_id="1")
    assert before <= int(url.partition("ts=")[2].partition("&")[0]) <= int(datetime.now().timestamp())
    with pytest.raises(ValueError, match="slug, page"):
        connect_url("https://x", slug="A", secret="svc_cs_1", external_id="1", page="other")


def test_a_return_that_is_no_url_is_refused():
    for url in ("", "?", "http://[", "\ud800?connectStatus=%ff"):
        with pytest.raises(SignatureError):
            verify_return(url, "svc_cs_1")
