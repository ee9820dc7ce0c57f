// Package guides holds the pages for partners, which a running service shows at /docs (adapters/http/docs). The pages
// for operators and for developers stand in the same folder, and are not embedded.
package guides

import "embed"

// Files are the pages for partners, as Markdown.
//
//go:embed collections.md connect.md errors.md feed.md going-live.md quickstart.md retries.md testing.md webhooks.md
//go:embed start-go.md start-node.md start-php.md start-python.md
var Files embed.FS
