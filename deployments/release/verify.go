package main

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/validate"
)

type verifyCommand struct {
	Folder string `arg:"" help:"Folder of the release." type:"existingdir"`
	Key    string `help:"The owner's public key (PEM)." required:"" type:"existingfile"`
}

func (c verifyCommand) Run() error {
	found, err := verify(c.Folder, c.Key)
	if err != nil {
		return err
	}
	digest, err := found.index.Digest()
	if err == nil {
		fmt.Printf("%s: signatures, files and image match, %s\n", c.Folder, digest)
	}
	return err
}

// found is a release whose signatures, files and image match.
type found struct {
	index                          v1.ImageIndex
	contents, statement, signature []byte
}

// verify checks a release's signatures, files and image offline.
func verify(folder, keyPath string) (f found, err error) {
	key, err := readPublicKey(keyPath)
	if err != nil {
		return f, err
	}
	sums := filepath.Join(folder, sumsFile)
	if err := verifyFile(sums, key); err != nil {
		return f, err
	}
	if err := checkSums(folder); err != nil {
		return f, err
	}
	if f.index, err = readImage(filepath.Join(folder, layoutDir)); err != nil {
		return f, err
	}
	path, err := onlyFile(folder, "*-image.json")
	if err != nil {
		return f, err
	}
	if err := verifyFile(path, key); err != nil {
		return f, err
	}
	if f.statement, err = os.ReadFile(path); err != nil {
		return f, err
	}
	if f.signature, err = os.ReadFile(signatureOf(path)); err != nil {
		return f, err
	}
	if path, err = onlyFile(folder, "*-spdx.json"); err != nil {
		return f, err
	}
	if f.contents, err = os.ReadFile(path); err != nil {
		return f, err
	}
	var signed statement
	if err := json.Unmarshal(f.statement, &signed); err != nil {
		return f, err
	}
	digest, err := f.index.Digest()
	if err == nil && signed.Critical.Image.Digest != digest.String() {
		err = fmt.Errorf("the signature is of image %s, and the image is %s", signed.Critical.Image.Digest, digest)
	}
	return f, err
}

func onlyFile(folder, pattern string) (string, error) {
	paths, err := filepath.Glob(filepath.Join(folder, pattern))
	if err == nil && len(paths) != 1 {
		err = fmt.Errorf("%s has %d files %s, and 1 is wanted", folder, len(paths), pattern)
	}
	if err != nil {
		return "", err
	}
	return paths[0], nil
}

// checkSums compares a release with SHA256SUMS; an unlisted file, except a signature, is an error.
func checkSums(folder string) error {
	sums, err := os.ReadFile(filepath.Join(folder, sumsFile))
	if err != nil {
		return err
	}
	named := []string{sumsFile}
	for line := range strings.Lines(string(sums)) {
		sum, path, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "  ")
		if !filepath.IsLocal(path) {
			return fmt.Errorf("%s names %q, which is outside of the release", sumsFile, path)
		}
		content, err := os.ReadFile(filepath.Join(folder, path))
		if err != nil {
			return err
		}
		if fmt.Sprintf("%x", sha256.Sum256(content)) != sum {
			return fmt.Errorf("%s differs from %s", path, sumsFile)
		}
		named = append(named, path, signatureOf(path))
	}
	paths, err := filesIn(folder)
	for _, path := range paths {
		if !slices.Contains(named, path) && path != signatureOf(sumsFile) {
			return fmt.Errorf("%s is not in %s", path, sumsFile)
		}
	}
	return err
}

// readImage reads an OCI layout's only image and checks each blob's digest.
func readImage(folder string) (v1.ImageIndex, error) {
	outer, err := layout.ImageIndexFromPath(folder)
	if err != nil {
		return nil, err
	}
	manifest, err := outer.IndexManifest()
	if err != nil {
		return nil, err
	}
	if len(manifest.Manifests) != 1 {
		return nil, fmt.Errorf("%s holds %d images, and 1 is wanted", folder, len(manifest.Manifests))
	}
	index, err := outer.ImageIndex(manifest.Manifests[0].Digest)
	if err != nil {
		return nil, err
	}
	return index, validate.Index(index)
}
