# Sets what the samples of README.md use and do not define.
import asyncio
import json
import os

api_key, base_url, account_id = (os.environ[name] for name in ("API_KEY", "API_URL", "ACCOUNT_ID"))
dashboard, slug, connect_secret = (os.environ[name] for name in ("CONNECT_BASE", "PARTNER_SLUG", "CONNECT_SECRET"))
raw_body, headers = os.environ["WEBHOOK_BODY"].encode(), json.loads(os.environ["WEBHOOK_HEADERS"])
webhook_secret, returned_url = os.environ["WEBHOOK_SECRET"], os.environ["RETURN_URL"]
back_url = "https://pms.example.com/connected"
kept = {}  # the feed from its beginning
