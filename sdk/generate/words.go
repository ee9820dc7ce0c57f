package main

// word is a reason or hint for a refused signature, with its sentence in every library.
type word struct{ Name, Text string }

var reasons = []word{
	{"missing_header", "X-Svc-Signature or X-Svc-Timestamp is missing."},
	{"malformed_header", "X-Svc-Signature or X-Svc-Timestamp is not in the form that we send."},
	{"missing_parameter", "A signed parameter of the return URL is missing."},
	{"malformed_parameter", "A signed parameter of the return URL is not in the form that we send."},
	{"expired", "The timestamp is outside the tolerance."},
	{"mismatch", "The signature does not match."},
	{"invalid_json", "The body is not a JSON object."},
}

var hints = []word{
	{"stale", "It is in the past: check this server's clock, and that the request is not a replay."},
	{"future", "It is in the future: check this server's clock."},
	{"milliseconds", "It is in milliseconds: X-Svc-Timestamp is Unix seconds."},
	{"body_reserialized", "The body was parsed and written again: pass the raw body."},
	{"body_changed", "The body is not what was sent: pass the raw body, unread and unchanged."},
	{"wrong_secret_kind", "The secret is not a signing secret (svc_whsec_…)."},
	{"secret_whitespace", "The secret has white space around it."},
	{"base64", "The signature is base64: it must be lower-case hex."},
	{"upper_case", "The signature is in upper case: it must be lower-case hex."},
	{"prefix_missing", "The prefix sha256= is missing."},
	{"order", "The signed message is in another order: it is <timestamp>.<raw body>."},
}
