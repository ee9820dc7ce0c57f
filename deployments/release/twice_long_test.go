//go:build long

package main

import (
	"debug/elf"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/stretchr/testify/require"
)

const megabyte = 1_000_000

// copyTree copies the sources of the service, with the changes that are not committed, as a user with a umask would.
func copyTree(t *testing.T, umask string) (root string) {
	t.Helper()
	root = t.TempDir()
	run(t, "../..", "bash", "-c", `umask "$0" && git ls-files -z --cached --others --exclude-standard | while IFS= read -rd "" file; do
		[ -e "$file" ] || [ -L "$file" ] || continue
		mkdir -p "$1/$(dirname "$file")" && cp -P --no-preserve=all "$file" "$1/$file"
	done`, umask, root)
	return root
}

// TestTwoBuilds_InTwoFolders_AreTheSame builds the whole release twice. The second build has another umask and a
// cache of its own, so nothing is taken over from the first.
func TestTwoBuilds_InTwoFolders_AreTheSame(t *testing.T) {
	private, public := keys(t)
	key, err := readKey(private)
	require.NoError(t, err)
	var sums []string
	var folder, binaries string
	for _, umask := range []string{"022", "077"} {
		s := small(t)
		s.Root = copyTree(t, umask)
		if umask == "077" {
			t.Setenv("GOCACHE", filepath.Join(t.TempDir(), "cache"))
		}
		folder = filepath.Join(t.TempDir(), s.Version)
		var err error
		binaries, err = s.buildAll(t.Context())
		t.Cleanup(func() { _ = os.RemoveAll(binaries) })
		require.NoError(t, err)
		digest, err := s.release(binaries, filepath.Join(s.Root, "deployments/helm/partnerdeposits"), folder, key)
		require.NoError(t, err)
		fmt.Printf("figure: image %s\n", digest)
		sums = append(sums, read(t, filepath.Join(folder, sumsFile)))
	}
	require.Equal(t, sums[0], sums[1])

	release, err := verify(folder, public)
	require.NoError(t, err)
	for _, architecture := range architectures {
		isSmall(t, imageFor(t, release.index, architecture), architecture)
	}
	for _, architecture := range architectures {
		path := filepath.Join(binaries, architecture)
		namesEveryModule(t, release.contents, path)
		isStatic(t, path)
	}
	unpacked := t.TempDir()
	run(t, folder, "tar", "-xzf", "partnerdeposits-1.2.3-linux-amd64.tar.gz", "-C", unpacked)
	for _, program := range programs {
		saysItsVersion(t, filepath.Join(unpacked, "partnerdeposits-1.2.3-linux-amd64", program))
	}
}

// isSmall bounds what a node pulls, and what the image takes unpacked.
func isSmall(t *testing.T, image v1.Image, architecture string) {
	t.Helper()
	layers, err := image.Layers()
	require.NoError(t, err)
	var pulled, unpacked int64
	for _, layer := range layers {
		size, err := layer.Size()
		require.NoError(t, err)
		pulled += size
	}
	for _, file := range contentOf(t, image) {
		unpacked += file.Size
	}
	fmt.Printf("figure: %s pulled %.1f MB, unpacked %.1f MB\n", architecture,
		float64(pulled)/megabyte, float64(unpacked)/megabyte)
	require.Less(t, unpacked, int64(60*megabyte))
	require.Less(t, pulled, unpacked)
}

// isStatic looks for the loader that a dynamic program asks for, and for the time zones that the image lacks.
func isStatic(t *testing.T, path string) {
	t.Helper()
	file, err := elf.Open(path)
	require.NoError(t, err)
	defer file.Close()
	for _, part := range file.Progs {
		require.NotEqual(t, elf.PT_INTERP, part.Type, path)
	}
	require.Contains(t, read(t, path), "America/Argentina/Buenos_Aires", "%s embeds no time zones", path)
}

func saysItsVersion(t *testing.T, path string) {
	t.Helper()
	output, err := exec.CommandContext(t.Context(), path, "--version").CombinedOutput()
	require.NoError(t, err, string(output))
	for _, want := range []string{filepath.Base(path) + " ", "1.2.3", "0123456789abcdef0123456789abcdef01234567",
		"2027-01-31T12:00:00Z"} {
		require.True(t, strings.Contains(string(output), want), "%s --version: %s", path, output)
	}
}
