package main

import (
	"archive/tar"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// small is a source whose programs are small; only its changelog and .env.example are read.
func small(t *testing.T) source {
	t.Helper()
	root := t.TempDir()
	write(t, filepath.Join(root, "CHANGELOG.md"), "# Changelog\n\n## [Unreleased]\n\n- More.\n\n## [1.2.3] - 2027-01-31\n\n- A thing.\n")
	write(t, filepath.Join(root, ".env.example"), "SERVICE_ENV=production\n")
	write(t, filepath.Join(root, "deployments/systemd/http.service"), "[Service]\n")
	return source{Root: root, Version: "1.2.3", Revision: "0123456789abcdef0123456789abcdef01234567",
		Date: time.Date(2027, 1, 31, 12, 0, 0, 0, time.UTC)}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
}

func read(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(content)
}

var tiny = sync.OnceValues(func() ([]byte, error) {
	folder, err := os.MkdirTemp("", "tiny")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	path := filepath.Join(folder, "tiny")
	command := exec.Command("go", "build", "-ldflags=-s -w", "-o", path, "./testdata/tiny")
	if output, err := command.CombinedOutput(); err != nil {
		return nil, errors.Join(err, errors.New(string(output)))
	}
	return os.ReadFile(path)
})

// built makes a folder as buildAll does. A small program stands for the binary of each architecture.
func built(t *testing.T) string {
	t.Helper()
	program, err := tiny()
	require.NoError(t, err)
	folder := t.TempDir()
	for _, architecture := range architectures {
		write(t, filepath.Join(folder, architecture), string(program))
	}
	return folder
}

// texts makes the folder that buildAll makes, with text files in place of binaries: no test that uses it runs one.
func texts(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	for _, architecture := range architectures {
		write(t, filepath.Join(folder, architecture), "binary for "+architecture)
	}
	return folder
}

// keys makes a pair of keys as the guide does.
func keys(t *testing.T) (private, public string) {
	t.Helper()
	folder := t.TempDir()
	private, public = filepath.Join(folder, "owner.key"), filepath.Join(folder, "owner.pub")
	run(t, folder, "openssl", "genpkey", "-algorithm", "ed25519", "-out", private)
	run(t, folder, "openssl", "pkey", "-in", private, "-pubout", "-out", public)
	return private, public
}

func run(t *testing.T, folder, name string, arguments ...string) string {
	t.Helper()
	command := exec.CommandContext(t.Context(), name, arguments...)
	command.Dir = folder
	output, err := command.CombinedOutput()
	require.NoError(t, err, "%s %v: %s", name, arguments, output)
	return string(output)
}

// made is a release of small programs and the key that verifies it. It is made once: compression takes its time.
var made struct {
	once           sync.Once
	folder, public string
}

// TestMain removes the release that the tests share.
func TestMain(m *testing.M) {
	var err error
	if made.folder, err = os.MkdirTemp("", "release-test"); err != nil {
		panic(err)
	}
	code := m.Run()
	if err := os.RemoveAll(made.folder); err != nil {
		panic(err)
	}
	os.Exit(code)
}

// signedRelease gives a copy of the release.
func signedRelease(t *testing.T) (folder, public string) {
	t.Helper()
	made.once.Do(func() {
		private, public := keys(t)
		key, err := readKey(private)
		require.NoError(t, err)
		_, err = small(t).release(built(t), "testdata/chart", filepath.Join(made.folder, "1.2.3"), key)
		require.NoError(t, err)
		made.public = read(t, public)
	})
	folder = t.TempDir()
	run(t, folder, "cp", "-R", filepath.Join(made.folder, "1.2.3"), folder)
	public = filepath.Join(folder, "owner.pub")
	write(t, public, made.public)
	return filepath.Join(folder, "1.2.3"), public
}

// filesOf lists an archive: name → header.
func filesOf(t *testing.T, from io.Reader) map[string]*tar.Header {
	t.Helper()
	files := map[string]*tar.Header{}
	for r := tar.NewReader(from); ; {
		header, err := r.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		require.NoError(t, err)
		files[header.Name] = header
	}
}
