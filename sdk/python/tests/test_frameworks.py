"""The receivers of the guide, each in a process of its own."""

import contextlib
import hashlib
import hmac
import http.client
import json
import os
import re
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

SECRET = "svc_whsec_q1w2e3r4t5y6u7i8o9p0a1s2d3f4g5h6j7k8l9z0"
BODY = '{"event":"deposit.activated","createdAt":"2026-06-02T09:14:26.512Z","data":{"id":"dep_é"}}'.encode()


@contextlib.contextmanager
def receiver(script, log):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    environ = {**os.environ, "PORT": str(port), "WEBHOOK_SECRET": SECRET}
    with log.open("w") as errors, subprocess.Popen(
            [sys.executable, Path(__file__).parent / script], env=environ, stdout=errors, stderr=errors) as process:
        try:
            for _ in range(600):
                with contextlib.suppress(ConnectionRefusedError), socket.create_connection(("127.0.0.1", port)):
                    break
                with contextlib.suppress(subprocess.TimeoutExpired):
                    pytest.fail(f"it ended with {process.wait(0.05)}: {log.read_text()}")
            yield port
        finally:
            process.kill()


def post(port, body, headers):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    with contextlib.closing(connection):
        connection.request("POST", "/hooks/deposits", body, {"Content-Type": "application/json", **headers})
        response = connection.getresponse()
        return response.status, response.read().decode()


def test_the_guide_shows_these_receivers():
    here = Path(__file__).parent
    guide = (here.parents[2] / "docs" / "guides" / "start-python.md").read_text()
    recipes = re.findall(r"^```python\n(.*?)^```$", guide, re.DOTALL | re.MULTILINE)
    assert len(recipes) == 3
    assert recipes[0] in (here / "flask_app.py").read_text()
    assert recipes[1] in (here / "django_app.py").read_text()
    assert recipes[2] in (here / "fastapi_app.py").read_text()


@pytest.mark.parametrize("script", ["flask_app.py", "django_app.py", "fastapi_app.py"])
def test_a_receiver_takes_genuine_webhooks_alone(script, tmp_path):
    log = tmp_path / "receiver.log"
    now = str(int(time.time()))
    signature = "sha256=" + hmac.new(SECRET.encode(), now.encode() + b"." + BODY, hashlib.sha256).hexdigest()
    headers = {"X-Svc-Timestamp": now, "X-Svc-Signature": signature}
    with receiver(script, log) as port:
        for body, sent, reason in ((BODY, {}, "missing_header"), (BODY + b"\n", headers, "mismatch"),
                                   (BODY, {**headers, "X-Svc-Timestamp": "1"}, "mismatch")):
            status, answer = post(port, body, sent)
            assert status == 400
            assert answer in (reason, json.dumps({"detail": reason}, separators=(",", ":")))
        assert post(port, BODY, headers) == (204, "")
        lines = [line for line in log.read_text().splitlines() if line.startswith("verified")]
    assert lines == ["verified deposit.activated"]
