package main

import (
	"crypto/ed25519"
	"encoding/base64"
	"fmt"
	"io"
	"log/slog"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/validate"
	"github.com/stretchr/testify/require"
)

func startRegistry(t *testing.T, referrers bool) (host string) {
	t.Helper()
	server := httptest.NewServer(registry.New(registry.WithReferrersSupport(referrers),
		registry.Logger(slog.NewLogLogger(slog.DiscardHandler, slog.LevelInfo))))
	t.Cleanup(server.Close)
	return strings.TrimPrefix(server.URL, "http://")
}

// onlyLayer gives the bytes and annotations of the single layer of an artifact.
func onlyLayer(t *testing.T, image v1.Image) (string, map[string]string) {
	t.Helper()
	layers, err := image.Layers()
	require.NoError(t, err)
	require.Len(t, layers, 1)
	reader, err := layers[0].Compressed() // the bytes as they travel; nothing compresses them
	require.NoError(t, err)
	content, err := io.ReadAll(reader)
	require.NoError(t, err)
	manifest, err := image.Manifest()
	require.NoError(t, err)
	return string(content), manifest.Layers[0].Annotations
}

func TestPush_AllComesBackFromARegistryAsItWas(t *testing.T) {
	t.Parallel()
	folder, public := signedRelease(t)
	sent, err := verify(folder, public)
	require.NoError(t, err)
	want, err := sent.index.Digest()
	require.NoError(t, err)
	for _, referrers := range []bool{true, false} {
		t.Run(fmt.Sprintf("referrers=%t", referrers), func(t *testing.T) {
			t.Parallel()
			repository := startRegistry(t, referrers) + "/some/partnerdeposits"
			require.NoError(t, pushCommand{Folder: folder, To: repository + ":1.2.3", Key: public}.Run(t.Context()))

			tag, err := name.NewTag(repository + ":1.2.3")
			require.NoError(t, err)
			pulled, err := remote.Index(tag)
			require.NoError(t, err)
			digest, err := pulled.Digest()
			require.NoError(t, err)
			require.Equal(t, want, digest)
			// Validate pulls every layer of both architectures, and compares the digests.
			require.NoError(t, validate.Index(pulled))
			for _, architecture := range architectures {
				imageFor(t, pulled, architecture)
			}

			listed, err := remote.Referrers(tag.Context().Digest(digest.String()))
			require.NoError(t, err)
			manifest, err := listed.IndexManifest()
			require.NoError(t, err)
			require.Len(t, manifest.Manifests, 1)
			require.EqualValues(t, spdxType, manifest.Manifests[0].ArtifactType)
			list, err := remote.Image(tag.Context().Digest(manifest.Manifests[0].Digest.String()))
			require.NoError(t, err)
			content, _ := onlyLayer(t, list)
			require.Equal(t, string(sent.contents), content)

			signed, err := remote.Image(signatureTag(tag.Context(), digest))
			require.NoError(t, err)
			statement, notes := onlyLayer(t, signed)
			require.Contains(t, statement, digest.String())
			signature, err := base64.StdEncoding.DecodeString(notes[signatureInNote])
			require.NoError(t, err)
			key, err := readPublicKey(public)
			require.NoError(t, err)
			require.True(t, ed25519.Verify(key, []byte(statement), signature))
		})
	}
}

func TestPush_OfAReleaseThatWasChanged_IsRefused(t *testing.T) {
	t.Parallel()
	folder, public := signedRelease(t)
	write(t, folder+"/"+changesFile, "other changes")
	host := startRegistry(t, true)
	tag, err := name.NewTag(host + "/partnerdeposits:1.2.3")
	require.NoError(t, err)
	err = pushCommand{Folder: folder, To: tag.Name(), Key: public}.Run(t.Context())
	require.ErrorContains(t, err, "CHANGES.txt differs from SHA256SUMS")
	_, err = remote.Index(tag)
	require.ErrorContains(t, err, "NAME_UNKNOWN")
}
