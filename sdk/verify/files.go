package verify

import "embed"

// Files are the files that partners copy. The pages at /docs show them; they do not belong to the copy of verify.go.
//
//go:embed verify.go verify.mjs verify.php verify.py
var Files embed.FS
