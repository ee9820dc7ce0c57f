package main

import (
	"archive/tar"
	"crypto/x509"
	"encoding/pem"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/stretchr/testify/require"
)

// imageFor gives the image of an architecture.
func imageFor(t *testing.T, index v1.ImageIndex, architecture string) v1.Image {
	t.Helper()
	manifest, err := index.IndexManifest()
	require.NoError(t, err)
	for _, m := range manifest.Manifests {
		if m.Platform.OS == "linux" && m.Platform.Architecture == architecture {
			image, err := index.Image(m.Digest)
			require.NoError(t, err)
			return image
		}
	}
	require.Fail(t, "no image for "+architecture)
	return nil
}

func contentOf(t *testing.T, image v1.Image) map[string]*tar.Header {
	t.Helper()
	layers, err := image.Layers()
	require.NoError(t, err)
	files := map[string]*tar.Header{}
	for _, layer := range layers {
		content, err := layer.Uncompressed()
		require.NoError(t, err)
		maps.Copy(files, filesOf(t, content))
		require.NoError(t, content.Close())
	}
	return files
}

// The list is whole: there is no shell, no package manager and no library in the image.
func TestImage_HoldsProgramsCertificatesAndTmpAlone(t *testing.T) {
	t.Parallel()
	s := small(t)
	index, err := s.index(texts(t))
	require.NoError(t, err)
	for _, architecture := range architectures {
		files := contentOf(t, imageFor(t, index, architecture))
		require.ElementsMatch(t, []string{"http", "dispatcher", "admin", "etc/", "etc/ssl/", "etc/ssl/certs/",
			"etc/ssl/certs/ca-certificates.crt", "tmp/"}, slices.Collect(maps.Keys(files)))
		for name, file := range files {
			require.True(t, file.ModTime.Equal(s.Date), name)
			if name == "tmp/" {
				require.Equal(t, []int{nobody, nobody}, []int{file.Uid, file.Gid})
				continue
			}
			require.Zero(t, file.Uid+file.Gid, name)
			require.Zero(t, file.Mode&0o022, "%s can be written by others", name)
		}
		require.EqualValues(t, 0o755, files["http"].Mode)
		require.Equal(t, []string{"", "http", "http"},
			[]string{files["http"].Linkname, files["dispatcher"].Linkname, files["admin"].Linkname})
	}
}

func TestImage_RunsAsNobodyAndSaysWhatItIs(t *testing.T) {
	t.Parallel()
	index, err := small(t).index(texts(t))
	require.NoError(t, err)
	for _, architecture := range architectures {
		image := imageFor(t, index, architecture)
		file, err := image.ConfigFile()
		require.NoError(t, err)
		require.Equal(t, architecture, file.Architecture)
		require.Equal(t, "2027-01-31T12:00:00Z", file.Created.Format(time.RFC3339))
		labels := map[string]string{
			"org.opencontainers.image.title":       "partnerdeposits",
			"org.opencontainers.image.description": "Partner Deposit Integration Service: /http, /dispatcher and /admin",
			"org.opencontainers.image.version":     "1.2.3",
			"org.opencontainers.image.revision":    "0123456789abcdef0123456789abcdef01234567",
			"org.opencontainers.image.created":     "2027-01-31T12:00:00Z",
		}
		require.Equal(t, v1.Config{
			User: "65532:65532", Cmd: []string{"/http"}, WorkingDir: "/", StopSignal: "SIGTERM",
			ExposedPorts: map[string]struct{}{"8080/tcp": {}, "9090/tcp": {}}, Volumes: map[string]struct{}{"/tmp": {}},
			Labels: labels,
		}, file.Config)
		manifest, err := image.Manifest()
		require.NoError(t, err)
		require.Equal(t, labels, manifest.Annotations)
	}
}

// TestImage_IsThatOfTheContainerfile keeps the two ways to an image alike.
func TestImage_IsThatOfTheContainerfile(t *testing.T) {
	t.Parallel()
	containerfile := read(t, "../Containerfile")
	for _, line := range []string{"VOLUME /tmp", "USER 65532:65532", "EXPOSE 8080 9090", "STOPSIGNAL SIGTERM",
		`CMD ["/http"]`, "./cmd/partnerdeposits", "ln /out/http /out/dispatcher", "ln /out/http /out/admin"} {
		require.Contains(t, containerfile, line)
	}
}

func TestImage_CertificatesAreRootsThatGoReads(t *testing.T) {
	t.Parallel()
	rest, read := certificates(), 0
	for {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			break
		}
		root, err := x509.ParseCertificate(block.Bytes)
		require.NoError(t, err)
		require.True(t, root.IsCA, root.Subject)
		read++
	}
	require.Empty(t, rest)
	require.Greater(t, read, 100)
}

func TestImage_ModesTimesAndFolderOfTheBuildLeaveNoTrace(t *testing.T) {
	t.Parallel()
	digests := map[string]bool{}
	for _, mode := range []os.FileMode{0o600, 0o777} {
		folder, to := texts(t), filepath.Join(t.TempDir(), "layout")
		for _, architecture := range architectures {
			path := filepath.Join(folder, architecture)
			require.NoError(t, os.Chmod(path, mode))
			require.NoError(t, os.Chtimes(path, time.Unix(int64(mode), 0), time.Unix(int64(mode), 0)))
		}
		index, err := small(t).writeImage(folder, to)
		require.NoError(t, err)
		digest, err := index.Digest()
		require.NoError(t, err)
		stored, err := readImage(to)
		require.NoError(t, err)
		again, err := stored.Digest()
		require.NoError(t, err)
		require.Equal(t, digest, again)
		digests[digest.String()] = true
	}
	require.Len(t, digests, 1)
}

// Go's own reader takes an archive without its end, and others refuse it.
func TestArchive_HasItsEnd(t *testing.T) {
	t.Parallel()
	content, err := archive([]entry{{name: "a", mode: 0o644, content: []byte("text")}}, time.Unix(0, 0))
	require.NoError(t, err)
	require.Equal(t, make([]byte, 1024), content[len(content)-1024:])
	path := filepath.Join(t.TempDir(), "a.tar")
	write(t, path, string(content))
	require.Equal(t, "a\n", run(t, ".", "tar", "-tf", path))
}

func TestImage_ReplacesAnOlderLayoutAndNothingElse(t *testing.T) {
	t.Parallel()
	programs, to := texts(t), filepath.Join(t.TempDir(), "image")
	for range 2 {
		_, err := small(t).writeImage(programs, to)
		require.NoError(t, err)
	}
	other := t.TempDir()
	write(t, filepath.Join(other, "mine.txt"), "mine")
	_, err := small(t).writeImage(programs, other)
	require.ErrorContains(t, err, "is not an OCI layout")
	require.Equal(t, "mine", read(t, filepath.Join(other, "mine.txt")))
}
