"""Runs the cases of sdk/vectors with this library, or serves cases.

    vectors.py [--verify] [FILE…]   runs the files' cases, by default of all; --verify: with sdk/verify/verify.py
    vectors.py --serve              reads a case per line and writes its outcome, over the network of API_URL
"""

import base64
import functools
import importlib.util
import itertools
import json
import keyword
import os
import random
import re
import sys
import uuid
from decimal import Decimal
from pathlib import Path
from urllib.parse import urlsplit

SDK = Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path.insert(0, str(SDK / "python" / "src"))

import partner_deposits as library  # noqa: E402


class Number(str):
    """A number of a body as it stands."""


class Script:
    """A transport that gives the answers of a case, and keeps the requests."""

    def __init__(self, answers):
        self.answers, self.requests, self.waits = iter(answers), [], []

    def __call__(self, method, url, headers, body, timeout):
        parts = urlsplit(url)
        amount = json.loads(body, parse_int=Number, parse_float=Number).get("amount") if body else None
        self.requests.append({
            "method": method, "path": parts.path + ("?" + parts.query if parts.query else ""),
            "body": json.loads(body) if body else None, "key": headers.get("Idempotency-Key"),
            "amount": amount if isinstance(amount, Number) else None,
        })
        answer = next(self.answers)
        if answer.get("cut"):
            raise ConnectionResetError("cut by the case")
        text = json.dumps(answer["body"]) if "body" in answer else answer.get("text", "")
        return answer["status"], answer.get("headers", {}), text.encode()

    def seen(self):
        keys = {request["key"] for request in self.requests}
        return {"requests": self.requests, "waits": self.waits,
                "sameKey": len(keys) == 1 and None not in keys and uuid.UUID(*keys).version == 4}


def snake(name):
    name = re.sub(r"[A-Z]", lambda m: "_" + m[0].lower(), name)
    return name + "_" if keyword.iskeyword(name) else name


def by_name(given):
    return {snake(name): value for name, value in given.items()}


def call(client, given):
    resource, method = map(snake, given["call"].split("."))
    args, named = list(given["args"]), by_name(given.get("options", {}))
    if args and isinstance(args[-1], dict):
        named.update(by_name(args.pop()))
    answer = getattr(getattr(client, resource), method)(*args, **named)
    if method in ("list", "follow"):
        return list(itertools.islice(answer, given.get("take")))
    return answer


def perform(kind, given):
    if kind == "call" and "answers" in given:
        script = Script(given["answers"])
        client = library.PartnerDeposits("svc_pk_test_vectors", transport=script, sleep=script.waits.append,
                                         random=lambda: given.get("random", 0))
        return {**outcome(call, client, given), **script.seen()}
    if kind == "call":
        return outcome(call, network_client(), given)
    if kind == "unwrap":
        return outcome(library.unwrap, raw_body(given), given["headers"], given["secret"], **clock(given))
    if kind == "isNewer":
        return outcome(library.is_newer, library.FeedEvent(given["event"]), given["storedVersion"])
    return outcome(getattr(library, snake(kind)), **by_name(given))


@functools.lru_cache(maxsize=None)
def network_client():
    share = float(os.environ.get("RETRY_DELAY", 0.5)) / 0.5
    return library.PartnerDeposits(os.environ["API_KEY"], base_url=os.environ["API_URL"],
                                   random=lambda: random.random() * share)


def raw_body(given):
    return base64.b64decode(given["bodyBase64"]) if "bodyBase64" in given else given["body"].encode()


def clock(given):
    return {name: given[name] for name in ("tolerance", "now") if name in given}


def outcome(work, *args, **named):
    try:
        return {"value": work(*args, **named)}
    except library.ApiError as error:
        return {"error": {"status": error.status, "code": error.code, "message": error.message,
                          "requestId": error.request_id}}
    except library.ApiConnectionError:
        return {"error": {"connection": True}}
    except library.SignatureError as error:
        return {"error": {"reason": error.reason, "hint": error.hint}}
    except (TypeError, ValueError):
        return {"refused": True}


def file_to_copy():
    spec = importlib.util.spec_from_file_location("verify", SDK / "verify" / "verify.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def verify(kind, given):
    """The outcome of the single file to copy, which knows reasons and no hints."""
    module = file_to_copy()
    try:
        return {"value": module.verify(raw_body(given), given["headers"], given["secret"], **clock(given))}
    except module.SignatureError as error:
        return {"error": {"reason": error.reason}}


def is_subset(want, got):
    if isinstance(want, dict):
        return isinstance(got, dict) and all(is_subset(value, got.get(name)) for name, value in want.items())
    if isinstance(want, list):
        return isinstance(got, list) and len(want) == len(got) and all(map(is_subset, want, got))
    if isinstance(want, str) and isinstance(got, Decimal):
        return want == str(got)
    return want == got and isinstance(want, bool) == isinstance(got, bool)


def run(files, performer=perform):
    """The number of cases, and the name of each that fails, with what it wants and what it got."""
    count, failures = 0, []
    for file in files:
        for case in json.loads(Path(file).read_text(encoding="utf-8")):
            want = case["want"]
            if performer is verify and case["kind"] != "unwrap":
                continue
            if performer is verify and "error" in want:
                want = {"error": {"reason": want["error"]["reason"]}}
            count += 1
            try:
                got = performer(case["kind"], case["input"])
            except Exception as error:
                got = {"failed": repr(error)}
            if not is_subset(want, got):
                failures.append((f"{Path(file).name}: {case['name']}", want, got))
    return count, failures


def main(args):
    if args == ["--serve"]:
        for line in sys.stdin:
            case = json.loads(line)
            print(json.dumps(perform(case["kind"], case["input"]), default=str), flush=True)
        return 0
    files = [arg for arg in args if arg != "--verify"] or sorted((SDK / "vectors").glob("*.json"))
    count, failures = run(files, verify if "--verify" in args else perform)
    for name, want, got in failures:
        print(f"{name}\n  want {json.dumps(want)}\n  got  {json.dumps(got, default=str)}")
    print(f"{count} cases, {len(failures)} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
