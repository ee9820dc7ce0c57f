"""The Partner API: a client with and without asyncio, signed connect URLs, and verified webhooks."""

from ._api import *
from ._signed import SignatureError as SignatureError, connect_url as connect_url
from ._signed import standard_secret as standard_secret, unwrap as unwrap, verify_return as verify_return
