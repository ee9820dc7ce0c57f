package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestFunctions_LeaveConstantsAside(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a.go")
	text := "package a\n\nconst c = 2 * 3\n\nfunc f() int {\n\treturn c - 1\n}\n"
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	in, err := functions(path)
	require.NoError(t, err)
	require.Equal(t, []bool{false, true, true, true}, []bool{in(3), in(5), in(6), in(7)})
}

func TestTally_CountsAHungMutantAsAlive(t *testing.T) {
	t.Parallel()
	seen := tally{killed: 6, lived: 1, hung: 1, missed: 8}
	require.Equal(t, []float64{50, 75}, []float64{seen.covered(), seen.dead()})
	require.Equal(t, []float64{100, 100}, []float64{tally{}.covered(), tally{}.dead()})
}
