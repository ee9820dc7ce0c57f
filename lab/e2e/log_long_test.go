//go:build long

package e2e_test

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"partnerdeposits/lab/docstest"
	"partnerdeposits/lab/procs"
)

// unreadLog has a process start anew with a log that nobody reads, until the end.
func (x *watched) unreadLog(m *member, path string) (end func()) {
	m.end()
	var reader *os.File
	m.process, reader = startUnread(x.t, path, m.ops, m.environ)
	return func() { go func() { _, _ = io.Copy(io.Discard, reader) }() } // ends with the process
}

// hangRequests has more clients wait for http than the alert allows, until its log is read.
func hangRequests(x *watched) (end func()) {
	end = x.unreadLog(x.http, hangingHTTP(x.t))
	x.visitors(15)
	return end
}

// hangingHTTP builds http with a log that waits for its reader, so that requests hang.
func hangingHTTP(t *testing.T) (path string) {
	t.Helper()
	const source = "process/run/lines.go"
	text := docstest.ReadFile(t, source)
	const first = "func (l *Lines) Write(line []byte) (int, error) {\n"
	require.Contains(t, text, first)
	dir := t.TempDir()
	changed := filepath.Join(dir, "lines.go.txt")
	require.NoError(t, os.WriteFile(changed,
		[]byte(strings.Replace(text, first, first+"\tif true {\n\t\treturn l.out.Write(line)\n\t}\n", 1)), 0o600))
	root, err := filepath.Abs(docstest.RepositoryRoot())
	require.NoError(t, err)
	overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{filepath.Join(root, source): changed}})
	require.NoError(t, err)
	file := filepath.Join(dir, "overlay.json")
	require.NoError(t, os.WriteFile(file, overlay, 0o600))
	path = filepath.Join(dir, "http")
	require.NoError(t, procs.BuildOptions{Overlay: file}.CompileTo(t.Context(), path, "cmd/http"))
	return path
}
