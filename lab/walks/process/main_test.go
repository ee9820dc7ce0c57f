package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWrite_WithoutCoverage_FailsAndLeavesNoDirectory(t *testing.T) {
	t.Parallel()
	dir := t.TempDir() + "/counters"
	require.Error(t, write(dir))
	require.NoDirExists(t, dir)
}
