package main

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"path/filepath"
	"strings"
	"testing"

	spdxjson "github.com/spdx/tools-golang/json"
	"github.com/spdx/tools-golang/spdx"
	"github.com/spdx/tools-golang/spdxlib"
	"github.com/stretchr/testify/require"
)

const someDigest = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

// packagesOf reads a list of contents, and gives its packages by name and version.
func packagesOf(t *testing.T, list []byte) map[string]*spdx.Package {
	t.Helper()
	document, err := spdxjson.Read(bytes.NewReader(list))
	require.NoError(t, err)
	require.NoError(t, spdxlib.ValidateDocument(document))
	require.Equal(t, "SPDX-2.3", document.SPDXVersion)
	described, err := spdxlib.GetDescribedPackageIDs(document)
	require.NoError(t, err)
	require.Len(t, described, 1)
	packages := map[string]*spdx.Package{}
	for _, p := range document.Packages {
		packages[p.PackageName+" "+p.PackageVersion] = p
		if p.PackageSPDXIdentifier == described[0] {
			require.Equal(t, imageName, p.PackageName)
		}
	}
	return packages
}

// namesEveryModule compares a list with what `go version -m` says of a program.
func namesEveryModule(t *testing.T, list []byte, program string) {
	t.Helper()
	packages, compared := packagesOf(t, list), 0
	said := run(t, ".", "go", "version", "-m", program)
	for line := range strings.Lines(said) {
		fields := strings.Fields(line)
		if len(fields) != 4 || fields[0] != "dep" {
			continue
		}
		p := packages[fields[1]+" "+fields[2]]
		require.NotNil(t, p, line)
		hash, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(fields[3], "h1:"))
		require.NoError(t, err)
		require.Equal(t, hex.EncodeToString(hash), p.PackageChecksums[0].Value, line)
		require.Equal(t, "pkg:golang/"+fields[1]+"@"+strings.ReplaceAll(fields[2], "+", "%2B"),
			p.PackageExternalReferences[0].Locator)
		compared++
	}
	require.Greater(t, compared, 1, said)
	_, version, _ := strings.Cut(strings.Fields(said)[1], "go")
	require.NotNil(t, packages["stdlib "+version])
}

func TestContents_NameEveryLinkedModuleGoAndTheCertificates(t *testing.T) {
	t.Parallel()
	folder := built(t)
	list, err := small(t).contentsOf(folder, someDigest)
	require.NoError(t, err)
	namesEveryModule(t, list, filepath.Join(folder, "amd64"))

	packages := packagesOf(t, list)
	require.Equal(t, strings.TrimPrefix(someDigest, "sha256:"),
		packages["partnerdeposits 1.2.3"].PackageChecksums[0].Value)
	for _, program := range []string{"partnerdeposits-linux-amd64", "partnerdeposits-linux-arm64"} {
		require.Contains(t, packages, program+" 1.2.3")
	}
	var roots []string
	for name := range packages {
		if strings.HasPrefix(name, rootsModule+" ") {
			roots = append(roots, name)
		}
	}
	require.Len(t, roots, 1)
	require.NotContains(t, string(list), "go-containerregistry", "the tool is not in the image")
}
