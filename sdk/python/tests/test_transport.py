"""The client over real connections."""

import concurrent.futures
import contextlib
import http.client
import json
import re
import selectors
import ssl
import subprocess
import threading

import pytest
from stub import ME, answer, serving

from partner_deposits import VERSION, ApiConnectionError, ApiError, PartnerDeposits

KEY = "svc_pk_test_secret"


@contextlib.contextmanager
def client(url, **options):
    """A client that does not wait between attempts. Its connections end with the block."""
    made = PartnerDeposits(KEY, base_url=url, sleep=lambda seconds: None, **options)
    yield made
    for connection, *_ in made._kept:
        connection.close()


def test_a_request_has_the_headers_of_the_library():
    def handle(connection):
        head, body = connection.read()
        connection.write(answer({"data": {}}))
        return head, body

    with serving(handle) as (url, results), client(url + "/") as c:
        c.api_keys.create(name="é")
    (head, body), = results
    assert head.startswith("POST /api/partner/v1/api-keys HTTP/1.1\r\n")
    fields = dict(line.split(": ", 1) for line in head.lower().strip().split("\r\n")[1:])
    assert fields["x-api-key"] == KEY
    assert fields["accept"] == fields["content-type"] == "application/json"
    assert re.fullmatch(rf"partner-deposits-python/{VERSION} python/3\.\d+\.\d+\S*", fields["user-agent"])
    assert json.loads(body) == {"name": "é"}


def test_requests_share_a_connection():
    with serving(lambda connection: connection.serve()) as (url, results), client(url) as c:
        assert [c.me.get().slug for _ in range(3)] == ["acme-pms"] * 3
    assert [len(heads) for heads in results] == [3]


def test_a_request_that_is_never_repeated_gets_a_connection_of_its_own():
    with serving(lambda connection: connection.serve()) as (url, results), client(url) as c:
        c.me.get()
        c.webhooks.test("pwh_1")
    assert sorted(len(heads) for heads in results) == [1, 1]


def test_a_kept_connection_that_has_ended_costs_an_attempt_and_no_error():
    def once(connection):
        connection.read()
        connection.write(answer(ME))

    with serving(once, once) as (url, results), client(url) as c:
        assert c.me.get() == c.me.get()
    assert len(results) == 2


def await_bytes(c):
    """Waits until each kept connection has something to read, be it its end."""
    for connection, *_ in c._kept:
        with selectors.DefaultSelector() as selector:
            selector.register(connection.sock, selectors.EVENT_READ)
            assert selector.select(20)


def test_kept_connections_that_have_ended_are_passed_over():
    together = threading.Barrier(5, timeout=20)

    def once(connection):
        connection.read()
        together.wait()
        connection.write(answer(ME))

    with serving(*[once] * 5, lambda connection: connection.serve()) as (url, _), client(url, retries=0) as c:
        with concurrent.futures.ThreadPoolExecutor(5) as pool:
            list(pool.map(lambda _: c.me.get(), range(5)))
        assert len(c._kept) == 5
        await_bytes(c)
        ended = [connection for connection, *_ in c._kept]
        assert c.me.get().slug == "acme-pms"
        assert len(c._kept) == 1
        assert [connection.sock for connection in ended] == [None] * 5


def test_a_kept_connection_with_bytes_that_nobody_asked_for_is_not_used():
    answered, ended = threading.Event(), threading.Event()

    def timed_out(connection):
        connection.read()
        connection.write(answer(ME))
        assert answered.wait(20)
        connection.write(answer({}, 408))
        ended.wait(20)

    with serving(timed_out, lambda connection: connection.serve()) as (url, _), client(url, retries=0) as c:
        c.me.get()
        answered.set()
        await_bytes(c)
        assert c.me.get().slug == "acme-pms"
        ended.set()


def test_few_connections_are_kept():
    ended = threading.Semaphore(0)

    def handle(connection):
        connection.serve()
        ended.release()

    with serving(handle) as (url, _), client(url) as c:
        for _ in range(12):
            c.webhooks.test("pwh_1")
        assert len(c._kept) == 8
        assert [ended.acquire(timeout=20) for _ in range(4)] == [True] * 4


def echo_after(*hints):
    """Answers with the id that is asked for, after informational answers."""
    def handle(connection):
        while (head := connection.read()[0]):
            id = head.split()[1].rsplit("/", 1)[1]
            fields = ["Connection: close"] if id == "dep_last" else []
            connection.write(b"".join(hints) + answer({"data": {"id": id}}, 200, *fields))
            if fields:
                return
    return handle


@pytest.mark.parametrize("hints", [
    [b"HTTP/1.1 103 Early Hints\r\nLink: </x>; rel=preload\r\n\r\n"],
    [b"HTTP/1.1 100 Continue\r\n\r\n", b"HTTP/1.1 102 Processing\r\n\r\n", b"HTTP/1.1 103 Early Hints\r\n\r\n"],
    [b"HTTP/1.1 103 Early Hints\r\nConnection: close\r\n\r\n"],
], ids=["103", "100, 102, 103", "103 that ends"])
def test_informational_answers_are_passed_over(hints):
    with serving(echo_after(*hints)) as (url, _), client(url, retries=0) as c:
        for id in ("dep_1", "dep_2", "dep_last"):
            assert c.deposits.get(id).id == id
        assert c._kept == []
        assert c.deposits.get("dep_3").id == "dep_3"


def test_a_connection_that_the_answer_ends_is_not_kept():
    def once(connection):
        connection.read()
        connection.write(answer(ME, 200, "Connection: close"))

    with serving(once, once) as (url, results), client(url, retries=0) as c:
        assert c.me.get() == c.me.get()
    assert len(results) == 2


def test_threads_share_a_client():
    def echo(connection):
        while (head := connection.read()[0]):
            connection.write(answer({"data": {"id": head.split()[1].rsplit("/", 1)[1]}}))

    with serving(echo) as (url, _), client(url) as c:
        ids = [f"dep_{number}" for number in range(200)]
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            assert [deposit.id for deposit in pool.map(c.deposits.get, ids)] == ids


def test_a_redirect_is_an_error_and_is_not_followed():
    with serving(lambda connection: connection.serve()) as (elsewhere, visits):
        content = answer({}, 307, f"Location: {elsewhere}/api/partner/v1/me")
        with serving(lambda connection: connection.serve(content)) as (url, results), client(url) as c:
            with pytest.raises(ApiError) as caught:
                c.me.get()
    assert (caught.value.status, caught.value.code) == (307, "unreadable_answer")
    assert len(results) == 1 and visits == []


@pytest.mark.parametrize("content", [
    b"",
    b"HTTP/1.1 200 OK\r\nContent-Le",
    answer(ME)[:-1],
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n400\r\n" + json.dumps(ME).encode(),
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nnot a size\r\n",
    b"not HTTP\r\n\r\n",
], ids=["none", "head", "body", "chunk", "size", "other"])
def test_an_answer_that_is_cut_is_asked_for_again_and_is_no_answer_at_last(content):
    def cut(connection):
        connection.read()
        connection.write(content)

    with serving(cut, cut, lambda connection: connection.serve()) as (url, results), client(url) as c:
        assert c.me.get().slug == "acme-pms"
    assert len(results) == 3
    with serving(cut) as (url, results), client(url) as c:
        with pytest.raises(ApiConnectionError) as caught:
            c.me.get()
    assert len(results) == 3
    assert isinstance(caught.value.__cause__, (OSError, http.client.HTTPException))


def test_a_silent_server_is_a_time_out():
    begun, ended = threading.Semaphore(0), threading.Event()

    def silent(connection):
        begun.release()
        ended.wait(20)

    with serving(silent) as (url, results), client(url, timeout=0.1) as c, client(url) as d:
        with pytest.raises(ApiConnectionError, match="timed out"):
            c.me.get()
        with pytest.raises(ApiConnectionError, match="timed out"):
            d.me.get(timeout=0.1)
        # on a busy machine, an attempt ends before the server has noticed it
        assert [begun.acquire(timeout=20) for _ in range(6)] == [True] * 6
        ended.set()
    assert len(results) == 6


@pytest.mark.parametrize("head, drop", [
    (b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n", b" "),
    (b"HTTP/1.1 200 OK\r\n\r\n" + json.dumps(ME).encode(), b" "),
    (b"HTTP/1.1 200 OK\r\n", b"X-A: b\r\n"),
    (b"", b"HTTP/1.1 103 Early Hints\r\n\r\n"),
], ids=["length", "no length", "head", "hints"])
def test_a_server_that_sends_byte_by_byte_is_a_time_out_too(head, drop):
    ended = threading.Event()

    def drip(connection):
        connection.read()
        connection.write(head)
        while not ended.wait(0.05):
            connection.write(drop)

    with serving(drip) as (url, _), client(url, timeout=0.2, retries=0) as c:
        patience = threading.Timer(20, ended.set)  # the server goes on until then
        patience.start()
        with pytest.raises(ApiConnectionError):
            c.me.get()
        assert not ended.is_set()
        patience.cancel()
        ended.set()


def test_no_server_is_no_answer():
    with serving(lambda connection: None) as (url, _):
        pass
    with client(url) as c, pytest.raises(ApiConnectionError) as caught:
        c.me.get()
    assert isinstance(caught.value.__cause__, ConnectionRefusedError)


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tls")
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=127.0.0.1", "-addext",
         "subjectAltName=IP:127.0.0.1", "-keyout", folder / "key.pem", "-out", folder / "cert.pem"],
        check=True, capture_output=True)
    return folder


def tls_server(certificate):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate / "cert.pem", certificate / "key.pem")
    return context


def test_a_certificate_that_nobody_vouches_for_is_refused_before_the_key_is_sent(certificate):
    server = serving(lambda connection: connection.read(), tls=tls_server(certificate))
    with server as (url, results), client(url) as c:
        with pytest.raises(ApiConnectionError) as caught:
            c.me.get()
    assert isinstance(caught.value.__cause__, ssl.SSLCertVerificationError)
    assert results == []


def test_a_certificate_that_the_machine_trusts_is_taken(certificate, monkeypatch):
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate / "cert.pem"))
    server = serving(lambda connection: connection.serve(), tls=tls_server(certificate))
    with server as (url, results), client(url) as c:
        assert [c.me.get().slug for _ in range(2)] == ["acme-pms"] * 2
    assert [len(heads) for heads in results] == [2]


def test_bytes_that_nobody_asked_for_are_seen_within_tls_too(certificate, monkeypatch):
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate / "cert.pem"))
    ended = threading.Event()

    def more(connection):
        connection.read()
        connection.write(answer(ME) + b" " * 12_000)  # one record, of which the client reads a part
        ended.wait(20)

    server = serving(more, lambda connection: connection.serve(), tls=tls_server(certificate))
    with server as (url, _), client(url, retries=0) as c:
        c.me.get()
        assert c._kept[0][0].sock.pending()
        assert c.me.get().slug == "acme-pms"
        ended.set()


def test_no_text_holds_the_key():
    def refuse(connection):
        connection.serve(answer({"error": {"code": "invalid_api_key", "message": "No.", "requestId": "req_1"}}, 401))

    with serving(refuse) as (url, _), client(url) as c:
        with pytest.raises(ApiError) as refused:
            c.me.get()
        texts = [repr(c), str(c), repr(c.deposits), repr(refused.value), str(refused.value)]
    with client(url) as c, pytest.raises(ApiConnectionError) as caught:
        c.me.get()
    texts += [repr(caught.value), str(caught.value), repr(caught.value.__cause__)]
    for wrong in (KEY + "\n", "x" + KEY + " ", KEY + "é", ""):
        with pytest.raises(ValueError) as caught:
            PartnerDeposits(wrong)
        texts += [repr(caught.value), str(caught.value)]
    assert [text for text in texts if KEY in text] == []


@pytest.mark.parametrize("url", ["api.example.com", "ftp://api.example.com", "https://", ""])
def test_a_base_url_that_is_none_is_refused(url):
    with pytest.raises(ValueError, match="base_url"):
        PartnerDeposits(KEY, base_url=url)
