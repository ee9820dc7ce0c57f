package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// Names of files in a release; the others begin with the image's name and version.
const (
	sumsFile    = "SHA256SUMS"
	changesFile = "CHANGES.txt"
	layoutDir   = "image"
)

type releaseCommand struct {
	sourceFlags
	Version string `arg:"" help:"A semantic version, such as 1.2.3."`
	Key     string `help:"The owner's Ed25519 private key (PKCS #8, PEM). Without it, nothing is signed." env:"RELEASE_KEY" type:"path"`
	Chart   string `help:"Folder of the Helm chart." default:"../../deployments/helm/partnerdeposits" type:"path"`
	Out     string `help:"Folder in which the folder of the release is made." default:"../../dist" type:"path"`
}

func (c releaseCommand) Run(ctx context.Context) error {
	if err := checkVersion(c.Version); err != nil {
		return err
	}
	s, err := c.source(ctx, c.Version)
	if err != nil {
		return err
	}
	if strings.HasSuffix(s.Revision, dirty) {
		return errors.New("the tree differs from its commit: a release is made of what is committed (git status)")
	}
	var key ed25519.PrivateKey
	// Read the signing key before the build, which takes minutes, so that a wrong key is noticed at once.
	if c.Key != "" {
		if key, err = readKey(c.Key); err != nil {
			return err
		}
	}
	built, err := s.buildAll(ctx)
	defer os.RemoveAll(built)
	if err != nil {
		return err
	}
	to := filepath.Join(c.Out, s.Version)
	digest, err := s.release(built, c.Chart, to, key)
	if err != nil {
		return err
	}
	fmt.Printf("%s:%s %s in %s\n", imageName, s.Version, digest, to)
	if key == nil {
		fmt.Println("NOT SIGNED: no key was given (KEY=owner.key)")
	}
	return nil
}

// release writes a release's folder from built binaries; with a nil key, nothing is signed.
func (s source) release(built, chart, to string, key ed25519.PrivateKey) (digest v1.Hash, err error) {
	if err := removeRelease(to); err != nil {
		return digest, err
	}
	index, err := s.writeImage(built, filepath.Join(to, layoutDir))
	if err != nil {
		return digest, err
	}
	if digest, err = index.Digest(); err != nil {
		return digest, err
	}
	list, err := s.contentsOf(built, digest.String())
	if err != nil {
		return digest, err
	}
	signed, err := statementOf(digest.String(), s.Version)
	if err != nil {
		return digest, err
	}
	changes, err := s.changes()
	if err != nil {
		return digest, err
	}
	for name, content := range map[string][]byte{
		s.file("spdx.json"): list, s.file("image.json"): signed, changesFile: changes,
	} {
		if err := os.WriteFile(filepath.Join(to, name), content, 0o644); err != nil {
			return digest, err
		}
	}
	if _, err := packageChart(chart, to, s.Version, s.Date); err != nil {
		return digest, err
	}
	if err := s.archives(built, to); err != nil {
		return digest, err
	}
	if err := writeSums(to); err != nil || key == nil {
		return digest, err
	}
	return digest, errors.Join(signFile(filepath.Join(to, sumsFile), key),
		signFile(filepath.Join(to, s.file("image.json")), key))
}

func (s source) file(ending string) string { return imageName + "-" + s.Version + "-" + ending }

// removeRelease removes an older release, or returns an error for any other folder.
func removeRelease(path string) error {
	_, notFound := os.Stat(path)
	if _, err := os.Stat(filepath.Join(path, sumsFile)); err != nil && notFound == nil {
		return fmt.Errorf("%s exists and is not a release: remove it, or name another folder", path)
	}
	return os.RemoveAll(path)
}

func (s source) changes() ([]byte, error) {
	changelog, err := os.ReadFile(filepath.Join(s.Root, "CHANGELOG.md"))
	if err != nil {
		return nil, err
	}
	changes, name, err := changesOf(string(changelog), s.Version)
	if name == unreleased {
		fmt.Printf("CHANGELOG.md has no section [%s]: %s is its section [%s]\n", s.Version, changesFile, unreleased)
	}
	return []byte(changes), err
}

// archives packs each architecture's programs with systemd units, for machines without containers, and the image's
// layout.
func (s source) archives(built, to string) error {
	units, err := filepath.Glob(filepath.Join(s.Root, "deployments/systemd/*"))
	if err != nil {
		return err
	}
	for _, architecture := range architectures {
		name := s.file("linux-" + architecture)
		entries := programsOf(filepath.Join(built, architecture), name+"/")
		for _, path := range append(units, filepath.Join(s.Root, ".env.example")) {
			entries = append(entries, entry{name: name + "/" + filepath.Base(path), mode: 0o644, path: path})
		}
		packed, err := archive(entries, s.Date)
		if err != nil {
			return err
		}
		if err := writeCompressed(filepath.Join(to, name+".tar.gz"), packed); err != nil {
			return err
		}
	}
	var layout []entry
	paths, err := filesIn(filepath.Join(to, layoutDir))
	for _, path := range paths {
		layout = append(layout, entry{name: path, mode: 0o644, path: filepath.Join(to, layoutDir, path)})
	}
	if err != nil {
		return err
	}
	packed, err := archive(layout, s.Date)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(to, s.file("image.tar")), packed, 0o644)
}

func writeCompressed(path string, content []byte) error {
	var file bytes.Buffer
	w, err := gzip.NewWriterLevel(&file, gzip.BestCompression)
	if err != nil {
		return err
	}
	if _, err := w.Write(content); err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	return os.WriteFile(path, file.Bytes(), 0o644)
}

// filesIn returns the sorted relative paths of the files below a folder.
func filesIn(folder string) (paths []string, err error) {
	err = fs.WalkDir(os.DirFS(folder), ".", func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			paths = append(paths, path)
		}
		return err
	})
	return paths, err
}

// writeSums writes a release's checksums in the format of sha256sum.
func writeSums(folder string) error {
	paths, err := filesIn(folder)
	if err != nil {
		return err
	}
	var sums strings.Builder
	for _, path := range paths {
		content, err := os.ReadFile(filepath.Join(folder, path))
		if err != nil {
			return err
		}
		fmt.Fprintf(&sums, "%x  %s\n", sha256.Sum256(content), path)
	}
	return os.WriteFile(filepath.Join(folder, sumsFile), []byte(sums.String()), 0o644)
}
