"""A receiver with Flask, as docs/guides/start-python.md has it. It listens at 127.0.0.1:$PORT."""

import os
import sys
from pathlib import Path

from flask import Flask, request

sys.path.insert(0, str(Path(__file__).parents[1] / "src"))
from partner_deposits import SignatureError, unwrap  # noqa: E402

app = Flask(__name__)


@app.post("/hooks/deposits")
def deposits():
    try:
        event = unwrap(request.get_data(), request.headers, os.environ["WEBHOOK_SECRET"])
    except SignatureError as error:
        return error.reason, 400
    print("verified", event.event, file=sys.stderr, flush=True)
    return "", 204


if __name__ == "__main__":
    app.run("127.0.0.1", int(os.environ["PORT"]))
