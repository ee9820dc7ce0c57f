// Package sdk holds the files that verify webhooks without a library, for the pages at /docs, which show them.
package sdk

import "embed"

// Verify has the files that partners copy.
//
//go:embed verify/verify.go verify/verify.mjs verify/verify.php verify/verify.py
var Verify embed.FS
