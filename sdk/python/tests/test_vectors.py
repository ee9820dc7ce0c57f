"""The cases that all libraries share."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import vectors
from stub import ME, answer, serving

FILES = sorted((vectors.SDK / "vectors").glob("*.json"))


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_every_case_holds(file):
    count, failures = vectors.run([file])
    assert count > 0
    assert failures == []


def test_the_file_to_copy_holds_too():
    count, failures = vectors.run(FILES, vectors.verify)
    assert count > 0
    assert failures == []


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_changed_case_fails(file, tmp_path):
    cases = json.loads(file.read_text())
    case = next(case for case in cases if "value" in case["want"] or "error" in case["want"])
    case["want"] = {"value": "another"}
    changed = tmp_path / file.name
    changed.write_text(json.dumps(cases))
    failed = run("vectors.py", str(changed))
    assert failed.returncode == 1
    assert case["name"] in failed.stdout
    assert failed.stdout.endswith(f"{len(cases)} cases, 1 failed\n")


def test_the_runner_tells_of_success():
    done = run("vectors.py")
    assert done.returncode == 0
    assert done.stdout.endswith(" cases, 0 failed\n")


def test_cases_are_served_line_by_line():
    secret = "svc_whsec_q1w2e3r4t5y6u7i8o9p0a1s2d3f4g5h6j7k8l9z0"
    deposit = {"amount": 70, "amountCents": 7000}
    refusal = {"code": "deposit_not_found", "message": "No.", "requestId": "req_1"}
    answers = {
        "/me": answer(ME),
        "/deposits?limit=2": answer({"data": [deposit] * 2, "pagination": {"nextCursor": "c", "hasMore": True}}),
        "/deposits/dep_1": answer({"error": refusal}, 404),
    }

    def handle(connection):
        while (head := connection.read()[0]):
            connection.write(answers[head.split()[1].partition("/api/partner/v1")[2]])

    served = [
        ("call", {"call": "me.get", "args": []}, {"value": ME["data"]}),
        ("call", {"call": "deposits.list", "args": [{"limit": 2}], "take": 2},
         {"value": [{"amount": "70.00", "amountCents": 7000}] * 2}),
        ("call", {"call": "deposits.get", "args": ["dep_1"]}, {"error": {"status": 404, **refusal}}),
        ("call", {"call": "deposits.capture", "args": ["dep_1", {"amount": 1.5}]}, {"refused": True}),
        ("standardSecret", {"secret": secret}, {"value": vectors.library.standard_secret(secret)}),
        ("unwrap", {"body": "{}", "headers": {}, "secret": secret},
         {"error": {"reason": "missing_header", "hint": None}}),
    ]
    lines = "".join(json.dumps({"kind": kind, "input": given}) + "\n" for kind, given, _ in served)
    with serving(handle) as (url, _):
        environ = {**os.environ, "API_URL": url, "API_KEY": "svc_pk_test_1", "RETRY_DELAY": "0.01"}
        done = run("vectors.py", "--serve", input=lines, env=environ)
    assert [json.loads(line) for line in done.stdout.splitlines()] == [want for _, _, want in served]


def run(script, *args, **options):
    path = Path(__file__).parent / script
    return subprocess.run([sys.executable, path, *args], capture_output=True, text=True, timeout=60, **options)
