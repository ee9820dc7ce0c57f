// Package samples holds a sample of each operation in each language, for the reference at /docs.
package samples

import _ "embed"

// JSON is {"createDeposit": {"php": "…", "node": "…", "python": "…", "go": "…"}}. {base_url} stands for the address of
// the API.
//
//go:embed samples.gen.json
var JSON []byte
