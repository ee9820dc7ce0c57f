"""Calls of the Partner API: what is sent, in which attempts, and how answers are read. _api.py is made of these."""

import contextlib
import contextvars
import itertools
import json
import os
import platform
import random
import re
import selectors
import socket
import ssl
import threading
import time
import weakref
from datetime import datetime, timezone
from decimal import Decimal
from functools import partial
from http.client import HTTPConnection, HTTPException, HTTPSConnection, IncompleteRead
from typing import TYPE_CHECKING, Any, Callable, Dict, Generic, Iterator, List, Mapping, Optional, Tuple, TypeVar
from urllib.parse import quote, urlsplit

if TYPE_CHECKING:
    from ._api import Page

T = TypeVar("T")
Transport = Callable[[str, str, Mapping[str, str], Optional[bytes], float], Tuple[int, Mapping[str, str], bytes]]
OMIT: Any = ...  # the default of fields for which None is a value
caller_left: "contextvars.ContextVar[Callable[[], bool]]" = contextvars.ContextVar("caller_left", default=bool)
dumps = partial(json.dumps, ensure_ascii=False, allow_nan=False, default=lambda value: utc(value))


class PartnerDepositsError(Exception):
    """Every error of this library but refused arguments, which are ValueError and TypeError."""


class ApiConnectionError(PartnerDepositsError):
    """No attempt brought an answer: the service may have done its work or not. `__cause__` is the last failure."""


class ApiError(PartnerDepositsError):
    """An answer that is not a success. Program against `code`; quote `request_id` when you write to us."""

    def __init__(self, status: int, code: str, message: str, request_id: str = "", retry_after: Optional[int] = None):
        super().__init__(status, code, message, request_id, retry_after)
        self.status, self.code, self.message = status, code, message
        self.request_id, self.retry_after = request_id, retry_after

    def __str__(self) -> str:
        return f"{self.message} ({self.status} {self.code}, {self.request_id or 'no request id'})"


class Answer(Dict[str, Any]):
    """An object of an answer: d["amountCents"] as on the wire, or d.amount_cents, which is None where it is absent."""
    _fields: Dict[str, Any] = {}  # the class of the objects in each field

    def __init__(self, value: Mapping[str, Any]):
        super().__init__((name, typed(self._fields.get(name, Answer), v)) for name, v in value.items())
        if "amount" in self and type(self.get("amountCents")) is int:
            self["amount"] = Decimal(f"{self['amountCents']}e-2")  # exact in any decimal context

    if not TYPE_CHECKING:  # a type checker sees the annotated names alone, and so finds misspelt ones
        def __getattr__(self, name):
            key = re.sub(r"_([a-z0-9])", lambda m: m[1].upper(), name.rstrip("_"))
            if key in self or key in self._fields:
                return self.get(key)
            raise AttributeError(f"{type(self).__name__} has no {name}")


def typed(kind: Any, value: Any) -> Any:
    if isinstance(value, list):
        return [typed(kind, v) for v in value]
    return kind(value) if isinstance(value, dict) else value


def utc(value: Any) -> str:
    if not isinstance(value, datetime) or value.utcoffset() is None:
        raise TypeError(f"a {type(value).__name__} cannot be sent: a time is a str or a datetime with a zone")
    return value.astimezone(timezone.utc).isoformat()


def euros(value: Any) -> str:
    """The very text of an exact amount, which is a JSON number. Anything else is refused."""
    text = format(value, "f") if isinstance(value, Decimal) else str(value)
    if not isinstance(value, (str, int, Decimal)) or not re.fullmatch(r"(0|[1-9][0-9]{0,11})(\.[0-9]{1,2})?", text):
        raise ValueError("an amount is a str, int or Decimal (no float) of euros with at most two decimals, as 500.50")
    return text


def encoded(value: Any) -> str:
    """A value of the query, or an id of the path."""
    text = ",".join(value) if isinstance(value, (list, tuple)) else value
    return quote(text if isinstance(text, str) else dumps(text).strip('"'), safe="")


def usable(connection: Any, since: float, process: int) -> bool:
    """Whether a kept connection is young, is not a parent process's, and has neither ended nor bytes left unread."""
    with selectors.DefaultSelector() as selector:
        selector.register(connection.sock, selectors.EVENT_READ)
        unread = selector.select(0) or getattr(connection.sock, "pending", int)()  # which TLS has deciphered already
        return not unread and process == os.getpid() and time.monotonic() - since < 5


class Core:
    """What both clients share: their options, and the attempts of a call."""
    _version = ""

    def __init__(self, api_key: str, *, base_url: str = "https://api.example.com", timeout: float = 30.0,
                 retries: int = 2, transport: Optional[Transport] = None, sleep: Callable[[float], None] = time.sleep,
                 random: Callable[[], float] = random.random):
        """Make a client once and share it between threads. `transport`, `sleep` and `random` are there for tests."""
        parts = urlsplit(base_url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError("base_url is not an http or https URL")
        if not re.fullmatch("[!-~]+", api_key):
            raise ValueError("api_key is empty, or has characters that no key has, such as white space")
        self._base, self._timeout, self._retries = base_url.rstrip("/"), timeout, retries
        self._transport, self._sleep, self._random = transport or self._send, sleep, random
        self._headers = {"x-api-key": api_key, "Accept": "application/json", "Content-Type": "application/json",
                         "User-Agent": f"partner-deposits-python/{self._version} python/{platform.python_version()}"}
        tls = {"context": ssl.create_default_context()} if parts.scheme == "https" and not transport else {}
        self._connection: Any = partial(HTTPSConnection if tls else HTTPConnection, parts.hostname, parts.port, **tls)
        self._kept: List[Tuple[Any, float, int]] = []
        weakref.finalize(self, lambda kept: [connection.close() for connection, *_ in kept], self._kept)

    def _send(self, method: str, url: str, headers: Mapping[str, str], body: Optional[bytes], timeout: float) -> Any:
        """The transport: verifies certificates, follows no redirect, and keeps connections for later requests."""
        connection = self._connection(timeout=timeout)
        if method != "POST" or "Idempotency-Key" in headers:  # others must not meet a connection that has just ended
            with contextlib.suppress(IndexError):
                while not usable(*(kept := self._kept.pop())):
                    kept[0].close()
                connection = kept[0]
        if not connection.sock:
            connection.connect()
        connection.sock.settimeout(timeout)  # which begins anew with each byte, so that a timer ends a slow answer
        timer = threading.Timer(timeout + 0.5, socket.socket.shutdown, (connection.sock, socket.SHUT_RDWR))
        timer.start()
        begin, keep = time.monotonic(), False
        try:
            connection.request(method, "/" + url.split("/", 3)[3], body, headers)
            response = connection.getresponse()
            while response.status < 200:  # http.client passes over 100 alone
                response.headers = None
                response.begin()
            content, late = response.read(), time.monotonic() - begin > timeout
            if response.length is None and not response.chunked and (late or not content):
                raise IncompleteRead(content)  # cut within the head, or ended by the timer
            keep = not response.will_close and len(self._kept) < 8
        finally:
            timer.cancel()
            if not keep:
                connection.close()
        if connection.sock:
            self._kept.append((connection, time.monotonic(), os.getpid()))
        return response.status, response.headers, content

    def _call(self, shape: str, kind: Any, method: str, path: str, *ids: str, query: Mapping[str, Any] = {},
              body: Mapping[str, Any] = {}, money: Tuple[str, ...] = (), nullable: Tuple[str, ...] = (),
              key: Optional[str] = None, timeout: Optional[float] = None) -> Any:
        if not all(isinstance(i, str) and i not in ("", ".", "..") for i in ids):
            raise ValueError("an id is a str that is neither empty nor . or ..")
        pairs = "&".join(f"{name}={encoded(v)}" for name, v in query.items() if v is not None)
        url = self._base + path.format(*map(encoded, ids)) + ("?" + pairs if pairs else "")
        texts = ",".join(f"{dumps(n)}:{euros(v) if n in money else dumps(v)}" for n, v in body.items()
                         if v is not OMIT and (v is not None or n in money + nullable))
        content = ("{" + texts + "}").encode() if texts else None
        headers = {**self._headers, "Idempotency-Key": key} if key else self._headers
        for attempt in itertools.count():
            try:
                answer = self._transport(method, url, headers, content, self._timeout if timeout is None else timeout)
                return self._read(shape, kind, *answer)
            except ApiError as error:
                failure: Any = error
                lost = error.status in (500, 502, 503, 504) or error.code == "idempotency_key_in_use"
                again, floor = error.status == 429, error.retry_after or 0
            except (OSError, HTTPException) as error:
                failure, lost, again, floor = ApiConnectionError(f"no answer: {error!r}"), True, False, 0
                failure.__cause__ = error
            if not (again or lost and (method != "POST" or key)) or attempt >= self._retries or floor > 60:
                raise failure
            self._sleep(max(self._random() * 0.5 * 2**attempt, floor))
            if caller_left.get()():
                raise failure

    @staticmethod
    def _read(shape: str, kind: Any, status: int, headers: Mapping[str, str], content: bytes) -> Any:
        fields = {name.lower(): value for name, value in headers.items()}
        request_id, wait = fields.get("x-request-id", ""), fields.get("retry-after", "")
        code, message, success = "unreadable_answer", "The answer cannot be read.", 200 <= status < 300
        with contextlib.suppress(ValueError, TypeError, LookupError, RecursionError):
            if success and shape == "none":
                return None
            value = json.loads(content.decode())
            if not success and all(isinstance((error := value["error"])[name], str) for name in ("code", "message")):
                code, message, request_id = error["code"], error["message"], error.get("requestId", request_id)
            elif success and isinstance(value["data"], dict if shape == "data" else list):
                if shape != "page" or value["pagination"]["hasMore"] is False or value["pagination"]["nextCursor"]:
                    return typed(kind, value if shape in ("page", "whole") else value["data"])
        raise ApiError(status, code, message, request_id, int(wait) if re.fullmatch("[0-9]{1,99}", wait) else None)


class Pages(Generic[T]):
    """All items of a list. Each page is read when the items before it are used up."""

    def __init__(self, core: Core, kind: Any, path: str, *ids: str, query: Dict[str, Any], timeout: Optional[float]):
        self._query = query
        self._get: Callable[..., "Page[T]"] = partial(core._call, "page", kind, "GET", path, *ids, timeout=timeout)

    def page(self, cursor: Optional[str] = None) -> "Page[T]":
        """The first page, or the page that a `next_cursor` names."""
        return self._get(query={**self._query, "cursor": cursor or self._query.get("cursor")})

    def __iter__(self) -> Iterator[T]:
        page = self.page()
        yield from page.data
        while page.pagination.has_more:
            page = self.page(page.pagination.next_cursor)
            yield from page.data


def ensure(webhooks: Any, kind: Any, url: str, events: Any) -> Any:
    if (found := next((w for w in webhooks.list() if w.url == url), None)) is None:
        found = webhooks.create(url=url, events=events)
    elif events is not None and set(events) != set(found.events):
        found = webhooks.update(found.id, events=events)
    return kind(found)


def follow(events: Any, kind: Any, after: Any, feed_id: Any, wait: int, limit: Any) -> Iterator[Any]:
    while True:
        feed = events.feed(after=after, limit=limit, wait_seconds=wait, timeout=max(events._core._timeout, wait + 10))
        if feed.feed_id != (feed_id or feed.feed_id):
            raise ApiError(200, "feed_changed", "The events are numbered anew: read the feed without `after`.")
        feed_id, after = feed.feed_id, feed.next_after
        yield from (kind({**event, "feedId": feed_id}) for event in feed.data)
        if not feed.data and wait == 0:
            return
