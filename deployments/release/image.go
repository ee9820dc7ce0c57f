package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"golang.org/x/crypto/x509roots/fallback/bundle"
)

const (
	imageName = "partnerdeposits"
	nobody    = 65532 // The id of the user that runs the processes, and that owns only /tmp.
)

type imageCommand struct {
	sourceFlags
	Version string `help:"Version of the image; without it, one that names time and commit."`
	Out     string `help:"Folder of the layout." default:"../../dist/image" type:"path"`
}

func (c imageCommand) Run(ctx context.Context) error {
	if c.Version != "" {
		if err := checkVersion(c.Version); err != nil {
			return err
		}
	}
	s, err := c.source(ctx, c.Version)
	if err != nil {
		return err
	}
	built, err := s.buildAll(ctx)
	defer os.RemoveAll(built)
	if err != nil {
		return err
	}
	index, err := s.writeImage(built, c.Out)
	if err != nil {
		return err
	}
	digest, err := index.Digest()
	if err != nil {
		return err
	}
	fmt.Printf("%s:%s %s in %s\n", imageName, s.Version, digest, c.Out)
	return nil
}

// writeImage writes the image of the binaries in built as the only image of an OCI layout.
func (s source) writeImage(built, to string) (v1.ImageIndex, error) {
	index, err := s.index(built)
	if err != nil {
		return nil, err
	}
	if err := removeLayout(to); err != nil {
		return nil, err
	}
	path, err := layout.Write(to, empty.Index)
	if err != nil {
		return nil, err
	}
	return index, path.AppendIndex(index, layout.WithAnnotations(map[string]string{
		"org.opencontainers.image.ref.name": s.Version,
		// The image's full name: kubelet adds docker.io/library/ to a name without a registry.
		"io.containerd.image.name": "docker.io/library/" + imageName + ":" + s.Version,
	}))
}

// removeLayout removes an older OCI layout, or returns an error for any other folder.
func removeLayout(path string) error {
	entries, err := os.ReadDir(path)
	if errors.Is(err, os.ErrNotExist) || err == nil && len(entries) == 0 {
		return nil
	}
	if _, err := os.Stat(filepath.Join(path, "oci-layout")); err != nil {
		return fmt.Errorf("%s exists and is not an OCI layout: name another folder", path)
	}
	return os.RemoveAll(path)
}

// index returns the index of the images of all architectures.
func (s source) index(built string) (v1.ImageIndex, error) {
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for _, architecture := range architectures {
		image, err := s.image(architecture, filepath.Join(built, architecture))
		if err != nil {
			return nil, err
		}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{Add: image,
			Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: "linux", Architecture: architecture}}})
	}
	return mutate.Annotations(index, s.labels()).(v1.ImageIndex), nil
}

func (s source) labels() map[string]string {
	const prefix = "org.opencontainers.image."
	return map[string]string{
		prefix + "title":       imageName,
		prefix + "description": "Partner Deposit Integration Service: /http, /dispatcher and /admin",
		prefix + "version":     s.Version,
		prefix + "revision":    s.Revision,
		prefix + "created":     s.Date.Format(time.RFC3339),
	}
}

// image returns an architecture's image with two layers: the files that seldom change, and the binary.
func (s source) image(architecture, binary string) (v1.Image, error) {
	image := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	image, err := mutate.ConfigFile(image, &v1.ConfigFile{
		Architecture: architecture, OS: "linux", Created: v1.Time{Time: s.Date}, RootFS: v1.RootFS{Type: "layers"},
		Config: v1.Config{
			User: fmt.Sprintf("%d:%[1]d", nobody), Cmd: []string{"/http"}, WorkingDir: "/", StopSignal: "SIGTERM",
			ExposedPorts: map[string]struct{}{"8080/tcp": {}, "9090/tcp": {}},
			// The volume /tmp lets the rest of the container be read-only.
			Volumes: map[string]struct{}{"/tmp": {}},
			Labels:  s.labels(),
		},
	})
	if err != nil {
		return nil, err
	}
	support := []entry{
		{name: "etc/", mode: 0o755}, {name: "etc/ssl/", mode: 0o755}, {name: "etc/ssl/certs/", mode: 0o755},
		{name: "etc/ssl/certs/ca-certificates.crt", mode: 0o644, content: certificates()},
		{name: "tmp/", mode: 0o1777, owner: nobody},
	}
	for _, layer := range []struct {
		comment string
		entries []entry
	}{{"CA certificates and /tmp", support}, {"programs", programsOf(binary, "")}} {
		if image, err = s.appendLayer(image, layer.comment, layer.entries); err != nil {
			return nil, err
		}
	}
	return mutate.Annotations(image, s.labels()).(v1.Image), nil
}

func (s source) appendLayer(image v1.Image, comment string, entries []entry) (v1.Image, error) {
	content, err := archive(entries, s.Date)
	if err != nil {
		return nil, err
	}
	open := func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(content)), nil }
	layer, err := tarball.LayerFromOpener(open, tarball.WithMediaType(types.OCILayer),
		tarball.WithCompressionLevel(gzip.BestCompression), tarball.WithCompressedCaching)
	if err != nil {
		return nil, err
	}
	return mutate.Append(image, mutate.Addendum{Layer: layer, MediaType: types.OCILayer,
		History: v1.History{Created: v1.Time{Time: s.Date}, CreatedBy: "make image", Comment: comment}})
}

// programsOf returns archive entries of a binary under each program's name, as hard links.
func programsOf(binary, folder string) (entries []entry) {
	first := folder + programs[0]
	for _, program := range programs {
		entries = append(entries, entry{name: folder + program, mode: 0o755, link: first})
	}
	entries[0] = entry{name: first, mode: 0o755, path: binary}
	return entries
}

// entry is a file of an archive, or a folder when its name ends with a slash; with link, a hard link to an earlier
// entry.
type entry struct {
	name, path, link string
	mode             int64
	owner            int
	content          []byte
}

// archive returns a tar file, whose bytes depend on entries and date alone.
func archive(entries []entry, date time.Time) ([]byte, error) {
	var file bytes.Buffer
	w := tar.NewWriter(&file)
	for _, e := range entries {
		if e.path != "" {
			content, err := os.ReadFile(e.path)
			if err != nil {
				return nil, err
			}
			e.content = content
		}
		header := &tar.Header{Name: e.name, Mode: e.mode, Uid: e.owner, Gid: e.owner, Size: int64(len(e.content)),
			ModTime: date, Typeflag: tar.TypeReg, Format: tar.FormatPAX}
		switch {
		case e.link != "":
			header.Typeflag, header.Linkname = tar.TypeLink, e.link
		case strings.HasSuffix(e.name, "/"):
			header.Typeflag = tar.TypeDir
		}
		if err := w.WriteHeader(header); err != nil {
			return nil, err
		}
		if _, err := w.Write(e.content); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil { // Close writes the end of the tar file.
		return nil, err
	}
	return file.Bytes(), nil
}

// certificates returns Mozilla's root certificates as PEM, independent of the building machine.
func certificates() []byte {
	var file bytes.Buffer
	for root := range bundle.Roots() {
		// The error is ignored: writing to a buffer cannot fail.
		_ = pem.Encode(&file, &pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate})
	}
	return file.Bytes()
}
