// Package samples holds each operation's code sample in each language, for /docs.
package samples

import _ "embed"

// JSON holds the code samples by operation and language: {"createDeposit": {"php": "…", …}}. In a sample,
// {base_url} stands for the API's address.
//
//go:embed samples.gen.json
var JSON []byte
