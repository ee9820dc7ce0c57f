package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"partnerdeposits/lab/procs"
)

// TestMain is the command itself in the processes that the test starts.
func TestMain(m *testing.M) {
	if os.Getenv("TEST_COMMAND") != "" {
		main()
	}
	os.Exit(m.Run())
}

func TestCommand_IsTheOneThatItIsNamed(t *testing.T) {
	t.Parallel()
	binary, err := os.Executable()
	require.NoError(t, err)
	for name, want := range map[string]string{
		"http":       "^http .+revision",
		"dispatcher": "^dispatcher .+revision",
		"admin":      "^admin .+revision",
		"server":     "^server: name this binary http, dispatcher or admin",
	} {
		path := filepath.Join(t.TempDir(), name)
		require.NoError(t, os.Symlink(binary, path))
		command := procs.Command(t.Context(), path, "--version")
		command.Env = append(os.Environ(), "TEST_COMMAND=1")
		output, err := command.CombinedOutput()
		require.Equal(t, name == "server", err != nil, name)
		require.Regexp(t, want, string(output))
	}
}
