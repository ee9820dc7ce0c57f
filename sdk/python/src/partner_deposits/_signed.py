"""What is signed: webhooks, connect URLs and return URLs. Signatures are compared in constant time."""

import base64
import contextlib
import hmac
import json
import re
import time
from typing import Any, Dict, List, Optional, Union
from urllib.parse import parse_qsl, quote

from ._api import WORDS, LinkReturn, WebhookEvent
from ._core import PartnerDepositsError

FORMS = {"prefix_missing": "[0-9a-f]{64}", "upper_case": "(sha256=)?[0-9A-Fa-f]{64}",
         "base64": "(sha256=)?[A-Za-z0-9+/]{43}="}  # the hint at a signature in each of these forms
ESCAPE = re.compile(r"\\(?:[^/u]|u(?:00[01][0-9a-f]|003[ce]|0026|202[89]|fffd))")  # as the service writes it
STRING = re.compile(r'"[^"\\<>&\u2028\u2029]*"')  # the same, without its escapes


class SignatureError(PartnerDepositsError):
    """A webhook or return URL is refused: `reason` for programs, `hint` where the cause can be told."""

    def __init__(self, reason: str, hint: Optional[str] = None):
        super().__init__(reason, hint)
        self.reason, self.hint = reason, hint

    def __str__(self) -> str:
        return " ".join(WORDS[word] for word in self.args if word)


def sign(secret: str, message: bytes) -> str:
    return hmac.new(secret.encode(), message, "sha256").hexdigest()


def matches(signature: str, secret: str, message: bytes) -> bool:
    return secret != "" and hmac.compare_digest(signature, sign(secret, message))


def parsed(body: bytes) -> Optional[Dict[str, Any]]:
    with contextlib.suppress(ValueError, RecursionError):
        value = json.loads(body.decode(), parse_constant=int)  # int refuses NaN and Infinity
        return value if isinstance(value, dict) else None
    return None


def unwrap(raw_body: Union[bytes, str], headers: Any, secret: str, tolerance: float = 300,
           now: Optional[float] = None) -> WebhookEvent:
    """The event of a genuine webhook, or SignatureError. `raw_body` is not parsed; `headers` is any mapping of them."""
    body, secret = raw_body.encode() if isinstance(raw_body, str) else memoryview(raw_body).tobytes(), secret or ""
    given: Dict[str, List[Any]] = {"x-svc-timestamp": [], "x-svc-signature": []}
    for name, value in headers.items():
        given.get(name.lower(), []).extend(value if isinstance(value, (list, tuple)) else [value])
    if not all(any(values) for values in given.values()):
        raise SignatureError("missing_header")
    (stamp, *more), (header, *others) = given.values()
    if more or others or not re.fullmatch("[0-9]{1,15}", stamp):
        raise SignatureError("malformed_header")
    if not re.fullmatch("sha256=[0-9a-f]{64}", header):
        raise SignatureError("malformed_header", next((h for h, f in FORMS.items() if re.fullmatch(f, header)), None))
    digest, prefix, doc = header[7:], stamp.encode(), body.decode(errors="replace")
    if not matches(digest, secret, prefix + b"." + body):
        causes = {
            "secret_whitespace": re.search(r"^[^!-~]|[^!-~]\Z", secret),
            "wrong_secret_kind": not secret.startswith("svc_whsec_"),
            "order": any(matches(digest, secret, m) for m in (body + b"." + prefix, prefix + body, body)),
            "milliseconds": len(stamp) == 13,
            "body_changed": body[:1] + body[-1:] != b"{}" or parsed(body) is None,
            "body_reserialized": body[:10] != b'{"event":"' or re.search(r'["\s]', STRING.sub("", ESCAPE.sub("", doc))),
        }
        raise SignatureError("mismatch", next((cause for cause, found in causes.items() if found), None))
    age = int(time.time() if now is None else now) - int(stamp)
    if abs(age) > tolerance:
        raise SignatureError("expired", "milliseconds" if len(stamp) == 13 else "stale" if age > 0 else "future")
    if (event := parsed(body)) is None:
        raise SignatureError("invalid_json")
    return WebhookEvent(event)


def standard_secret(secret: str) -> str:
    """The signing secret in the form that libraries for Standard Webhooks take."""
    if not secret.startswith("svc_whsec_") or not 24 <= len(secret.encode()) <= 64:
        raise ValueError("secret is not a signing secret (svc_whsec_…)")
    return "whsec_" + base64.b64encode(secret.encode()).decode()


def connect_url(base: str, *, slug: str, secret: str, external_id: str, ts: Union[int, str, None] = None,
                email: Optional[str] = None, name: Optional[str] = None, return_url: Optional[str] = None,
                page: str = "register") -> str:
    """The URL at the dashboard `base` that brings an operator to you. `page` is register or login."""
    stamp = str(int(time.time()) if ts is None else ts)
    valid = {"secret": secret.startswith("svc_cs_"), "slug": re.fullmatch("[a-z0-9-]{2,40}", slug),
             "external_id": 1 <= len(external_id.encode()) <= 255, "ts": re.fullmatch("[0-9]{1,10}", stamp),
             "page": page in ("register", "login")}
    if not all(valid.values()):
        raise ValueError("not what a connect URL takes: " + ", ".join(n for n, right in valid.items() if not right))
    signature = sign(secret, f"{slug}.{external_id}.{stamp}".encode())
    query = {"partner": slug, "external_id": external_id, "ts": stamp, "sig": signature, "email": email, "name": name,
             "return_url": return_url}
    return f"{base.rstrip('/')}/{page}?" + "&".join(f"{n}={quote(v, safe='')}" for n, v in query.items() if v)


def verify_return(url: str, secret: str, tolerance: Optional[float] = None, now: Optional[float] = None) -> LinkReturn:
    """How an operator came back by the signed return URL, or SignatureError."""
    query = parse_qsl(url.partition("#")[0].partition("?")[2], keep_blank_values=True)
    names = ("connectStatus", "accountId", "externalId", "returnTs", "returnSig")
    values = [[value for name, value in query if name == wanted] for wanted in names]
    if not all(values):
        raise SignatureError("missing_parameter")
    status, account, external, ts, signature = (v[0] for v in values)
    if max(map(len, values)) > 1 or not re.fullmatch("[0-9]{1,15}", ts) or not re.fullmatch("[0-9a-f]{64}", signature):
        raise SignatureError("malformed_parameter")
    if not matches(signature, secret, f"return:{status}.{account}.{ts}.{external}".encode(errors="replace")):
        raise SignatureError("mismatch")
    if tolerance is not None and abs(int(time.time() if now is None else now) - int(ts)) > tolerance:
        raise SignatureError("expired")
    return LinkReturn({"status": status, "accountId": account, "externalId": external, "ts": int(ts),
                       "error": dict(query).get("connectError")})
