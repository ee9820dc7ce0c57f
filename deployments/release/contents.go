package main

import (
	"bytes"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	spdxjson "github.com/spdx/tools-golang/json"
	"github.com/spdx/tools-golang/spdx/v2/common"
	spdx "github.com/spdx/tools-golang/spdx/v2/v2_3"
)

const (
	noAssertion = "NOASSERTION"
	rootsModule = "golang.org/x/crypto/x509roots/fallback"
)

// contentsOf returns an image's bill of materials as SPDX 2.3, from the build information of the binaries in built.
func (s source) contentsOf(built, digest string) ([]byte, error) {
	list := contents{packages: map[string]*spdx.Package{}}
	hash := strings.TrimPrefix(digest, "sha256:")
	image := list.add(&spdx.Package{PackageName: imageName, PackageVersion: s.Version,
		PrimaryPackagePurpose:     "CONTAINER",
		PackageChecksums:          []common.Checksum{{Algorithm: common.SHA256, Value: hash}},
		PackageExternalReferences: purl(fmt.Sprintf("pkg:oci/%s@sha256%%3A%s?tag=%s", imageName, hash, s.Version))})
	list.relate("DOCUMENT", common.TypeRelationshipDescribe, image)
	for _, architecture := range architectures {
		id, err := list.addBinary(filepath.Join(built, architecture), architecture, s.Version)
		if err != nil {
			return nil, err
		}
		list.relate(image, common.TypeRelationshipContains, id)
	}
	own, err := os.Executable()
	if err != nil {
		return nil, err
	}
	roots, err := moduleOf(own, rootsModule)
	if err != nil {
		return nil, err
	}
	list.relate(image, common.TypeRelationshipContains, list.addModule(roots))
	return list.document(s, hash)
}

// contents is a bill of materials in the making: packages by SPDX identifier, and relationships in order.
type contents struct {
	packages  map[string]*spdx.Package
	relations []*spdx.Relationship
}

var notInIdentifier = regexp.MustCompile(`[^A-Za-z0-9.-]+`)

func (c *contents) add(p *spdx.Package) (id string) {
	id = notInIdentifier.ReplaceAllString("Package-"+p.PackageName+"-"+p.PackageVersion, "-")
	if c.packages[id] == nil {
		p.PackageSPDXIdentifier = common.ElementID(id)
		p.PackageDownloadLocation, p.PackageCopyrightText = noAssertion, noAssertion
		p.PackageLicenseConcluded, p.PackageLicenseDeclared = noAssertion, noAssertion
		c.packages[id] = p
	}
	return id
}

func (c *contents) relate(from, relation, to string) {
	c.relations = append(c.relations, &spdx.Relationship{Relationship: relation,
		RefA: common.MakeDocElementID("", from), RefB: common.MakeDocElementID("", to)})
}

func (c *contents) addBinary(path, architecture, version string) (string, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	info, err := buildinfo.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("build information of %s: %w", path, err)
	}
	hash := sha256.Sum256(content)
	id := c.add(&spdx.Package{PackageName: imageName + "-linux-" + architecture, PackageVersion: version,
		PackageFileName: "/" + programs[0], PrimaryPackagePurpose: "APPLICATION",
		PackageComment:   "One file with the names /" + strings.Join(programs, ", /"),
		PackageChecksums: []common.Checksum{{Algorithm: common.SHA256, Value: hex.EncodeToString(hash[:])}}})
	library := &debug.Module{Path: "stdlib", Version: strings.TrimPrefix(info.GoVersion, "go")}
	for _, module := range append(info.Deps, library) {
		c.relate(id, common.TypeRelationshipDependsOn, c.addModule(module))
	}
	return id, nil
}

func (c *contents) addModule(m *debug.Module) (id string) {
	if m.Replace != nil {
		m = m.Replace
	}
	p := &spdx.Package{PackageName: m.Path, PackageVersion: m.Version, PrimaryPackagePurpose: "LIBRARY",
		PackageExternalReferences: purl("pkg:golang/" + m.Path + "@" + strings.ReplaceAll(m.Version, "+", "%2B"))}
	if sum, found := strings.CutPrefix(m.Sum, "h1:"); found {
		if hash, err := base64.StdEncoding.DecodeString(sum); err == nil {
			p.PackageChecksums = []common.Checksum{{Algorithm: common.SHA256, Value: hex.EncodeToString(hash)}}
			p.PackageComment = "The checksum is that of go.sum, " + m.Sum
		}
	}
	return c.add(p)
}

func purl(locator string) []*spdx.PackageExternalReference {
	return []*spdx.PackageExternalReference{{Category: common.CategoryPackageManager,
		RefType: common.TypePackageManagerPURL, Locator: locator}}
}

// document returns the bill of materials as JSON, the same for the same image digest.
func (c *contents) document(s source, hash string) ([]byte, error) {
	document := spdx.Document{
		SPDXVersion: spdx.Version, DataLicense: spdx.DataLicense, SPDXIdentifier: "DOCUMENT",
		DocumentName: imageName + "-" + s.Version,
		// SPDX prescribes this URI for documents without a published URL.
		DocumentNamespace: "https://spdx.org/spdxdocs/" + imageName + "-" + s.Version + "-" + hash,
		CreationInfo: &spdx.CreationInfo{Created: s.Date.Format(time.RFC3339),
			Creators: []common.Creator{{CreatorType: "Tool", Creator: "deployments/release"}}},
		Relationships: c.relations,
	}
	for _, id := range slices.Sorted(maps.Keys(c.packages)) {
		document.Packages = append(document.Packages, c.packages[id])
	}
	var file bytes.Buffer
	err := spdxjson.Write(&document, &file, spdxjson.Indent(" "))
	return file.Bytes(), err
}

// moduleOf returns a module from a program's build information.
func moduleOf(path, module string) (*debug.Module, error) {
	info, err := buildinfo.ReadFile(path)
	if err != nil {
		return nil, err
	}
	for _, m := range info.Deps {
		if m.Path == module {
			return m, nil
		}
	}
	return nil, fmt.Errorf("%s is not linked into %s", module, path)
}
