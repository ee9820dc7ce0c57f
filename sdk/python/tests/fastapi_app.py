"""A receiver with FastAPI, as docs/guides/start-python.md has it. It listens at 127.0.0.1:$PORT."""

import os
import sys
from pathlib import Path

import uvicorn
from fastapi import FastAPI, HTTPException, Request

sys.path.insert(0, str(Path(__file__).parents[1] / "src"))
from partner_deposits import SignatureError, unwrap  # noqa: E402

app = FastAPI()


@app.post("/hooks/deposits", status_code=204)
async def deposits(request: Request):
    try:
        event = unwrap(await request.body(), request.headers, os.environ["WEBHOOK_SECRET"])
    except SignatureError as error:
        raise HTTPException(400, error.reason)
    print("verified", event.event, file=sys.stderr, flush=True)


if __name__ == "__main__":
    uvicorn.run(app, host="127.0.0.1", port=int(os.environ["PORT"]))
