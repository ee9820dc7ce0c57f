"""Verifies webhooks of the Partner API. Copy this file; it needs Python 3.9 and nothing else.

    event = verify(raw_body, headers, secret)   # SignatureError: answer 400
"""

import hashlib
import hmac
import json
import re
import time


class SignatureError(ValueError):
    """`reason` is missing_header, malformed_header, mismatch, expired or invalid_json."""

    def __init__(self, reason):
        super().__init__(reason)
        self.reason = reason


def verify(raw_body, headers, secret, tolerance=300, now=None):
    """Returns the event of a genuine webhook. `raw_body` is the body's bytes, not parsed; `secret` is svc_whsec_…"""
    timestamp, signature = only(headers, "x-svc-timestamp"), only(headers, "x-svc-signature")
    if not timestamp or not signature:
        raise SignatureError("missing_header")
    if not re.fullmatch("[0-9]{1,15}", timestamp) or not re.fullmatch("sha256=[0-9a-f]{64}", signature):
        raise SignatureError("malformed_header")
    digest = hmac.new((secret or "").encode(), timestamp.encode() + b"." + raw_body, hashlib.sha256).hexdigest()
    if not secret or not hmac.compare_digest(signature, "sha256=" + digest):
        raise SignatureError("mismatch")
    if abs(int(time.time() if now is None else now) - int(timestamp)) > tolerance:
        raise SignatureError("expired")
    try:
        event = json.loads(raw_body.decode(), parse_constant=int)  # int refuses NaN and Infinity
    except (ValueError, RecursionError):
        event = None
    if not isinstance(event, dict):
        raise SignatureError("invalid_json")
    return event


def only(headers, name):
    """The value of a header; of one that stands twice all values, which no pattern takes."""
    values = []
    for key, value in headers.items():
        if key.lower() == name:
            values += value if isinstance(value, (list, tuple)) else [value]
    return values[0] if len(values) == 1 else "".join(values) and ",".join(values)
