// Package samples holds a code sample of each operation of the partner API in each language, for the
// reference at /docs.
package samples

import _ "embed"

// JSON holds the code samples by operation and language: {"createDeposit": {"php": "…", "node": "…",
// "python": "…", "go": "…"}}. In a sample, {base_url} stands for the address of the API.
//
//go:embed samples.gen.json
var JSON []byte
