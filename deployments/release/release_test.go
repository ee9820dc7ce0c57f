package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
)

func TestRelease_HasEveryFileThatTheGuideNames(t *testing.T) {
	t.Parallel()
	folder, public := signedRelease(t)
	entries, err := os.ReadDir(folder)
	require.NoError(t, err)
	var names []string
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	require.ElementsMatch(t, []string{
		"partnerdeposits-1.2.3-linux-amd64.tar.gz", "partnerdeposits-1.2.3-linux-arm64.tar.gz", "image",
		"partnerdeposits-1.2.3-image.tar", "partnerdeposits-1.2.3-image.json", "partnerdeposits-1.2.3-image.json.sig",
		"partnerdeposits-1.2.3.tgz", "partnerdeposits-1.2.3-spdx.json", "CHANGES.txt", "SHA256SUMS", "SHA256SUMS.sig",
	}, names)
	guide := read(t, "../../docs/guides/releasing.md")
	for _, name := range names {
		require.Contains(t, guide, "`"+strings.Replace(name, "partnerdeposits-1.2.3-linux-arm64", "…-arm64", 1)+"`")
	}
	require.NoError(t, verifyCommand{Folder: folder, Key: public}.Run())
	require.Equal(t, "## [1.2.3] - 2027-01-31\n\n- A thing.\n", read(t, filepath.Join(folder, changesFile)))

	const name = "partnerdeposits-1.2.3-linux-amd64"
	unpacked, err := gzip.NewReader(strings.NewReader(read(t, filepath.Join(folder, name+".tar.gz"))))
	require.NoError(t, err)
	const top = name + "/"
	require.ElementsMatch(t,
		[]string{top + "http", top + "dispatcher", top + "admin", top + ".env.example", top + "http.service"},
		slices.Collect(maps.Keys(filesOf(t, unpacked))))

	tar := filesOf(t, strings.NewReader(read(t, filepath.Join(folder, "partnerdeposits-1.2.3-image.tar"))))
	layout, err := filesIn(filepath.Join(folder, layoutDir))
	require.NoError(t, err)
	require.ElementsMatch(t, layout, slices.Collect(maps.Keys(tar)))
}

func TestRelease_MadeAgain_IsTheSame(t *testing.T) {
	t.Parallel()
	folder, _ := signedRelease(t)
	first := read(t, filepath.Join(folder, sumsFile))
	_, err := small(t).release(built(t), "testdata/chart", folder, nil) // in the place of the older build
	require.NoError(t, err)
	require.Equal(t, first, read(t, filepath.Join(folder, sumsFile)))
	signatures, err := filepath.Glob(folder + "/*.sig")
	require.NoError(t, err)
	require.Empty(t, signatures, "nothing is signed without a key")
	_, public := keys(t)
	_, err = verify(folder, public)
	require.ErrorContains(t, err, "is not signed")
}

// TestVerify_AWrongByteInAnyFile_IsFound changes each file in turn.
func TestVerify_AWrongByteInAnyFile_IsFound(t *testing.T) {
	t.Parallel()
	folder, public := signedRelease(t)
	paths, err := filesIn(folder)
	require.NoError(t, err)
	require.Greater(t, len(paths), 15)
	for _, path := range paths {
		content := read(t, filepath.Join(folder, path))
		wrong := []byte(content)
		wrong[len(wrong)/2] ^= 1
		write(t, filepath.Join(folder, path), string(wrong))
		_, err := verify(folder, public)
		require.Error(t, err, path)
		write(t, filepath.Join(folder, path), content)
	}
	_, err = verify(folder, public)
	require.NoError(t, err)
}

func TestVerify_RefusesOtherFilesAndOtherKeys(t *testing.T) {
	t.Parallel()
	folder, public := signedRelease(t)
	_, other := keys(t)
	_, err := verify(folder, other)
	require.ErrorContains(t, err, "does not match its signature")
	write(t, filepath.Join(folder, "image/added"), "x")
	_, err = verify(folder, public)
	require.ErrorContains(t, err, "image/added is not in SHA256SUMS")
	require.NoError(t, os.Remove(filepath.Join(folder, "image/added")))

	// The owner's own signature of another image, beside this image.
	private, public := keys(t)
	key, err := readKey(private)
	require.NoError(t, err)
	path := filepath.Join(folder, "partnerdeposits-1.2.3-image.json")
	text, err := statementOf(someDigest, "1.2.3")
	require.NoError(t, err)
	write(t, path, string(text))
	require.NoError(t, os.Remove(signatureOf(path)))
	require.NoError(t, os.Remove(filepath.Join(folder, sumsFile)))
	require.NoError(t, os.Remove(signatureOf(filepath.Join(folder, sumsFile))))
	require.NoError(t, writeSums(folder))
	require.NoError(t, signFile(filepath.Join(folder, sumsFile), key))
	require.NoError(t, signFile(path, key))
	_, err = verify(folder, public)
	require.ErrorContains(t, err, "the signature is of image "+someDigest)
}

var fence = regexp.MustCompile("(?s)\n```\n(.*?)\n```\n")

// commandOf gives the only command of the guide that has a word.
func commandOf(t *testing.T, word string) string {
	t.Helper()
	var found []string
	for _, block := range fence.FindAllStringSubmatch(read(t, "../../docs/guides/releasing.md"), -1) {
		for line := range strings.SplitSeq(block[1], "\n") {
			if strings.Contains(line, word) {
				found = append(found, line)
			}
		}
	}
	require.Len(t, found, 1, word)
	return found[0]
}

// TestGuide_ItsCommandVerifiesARelease runs the guide's command for users as it stands there.
func TestGuide_ItsCommandVerifiesARelease(t *testing.T) {
	t.Parallel()
	folder, public := signedRelease(t)
	write(t, filepath.Join(folder, "owner.pub"), read(t, public))
	says := func() (string, error) {
		command := exec.CommandContext(t.Context(), "bash", "-c", commandOf(t, "openssl pkeyutl"))
		command.Dir = folder
		output, err := command.CombinedOutput()
		return string(output), err
	}
	output, err := says()
	require.NoError(t, err, output)
	require.Equal(t, "Signature Verified Successfully\n", output)

	for _, name := range []string{"partnerdeposits-1.2.3.tgz", sumsFile, sumsFile + ".sig"} {
		content := read(t, filepath.Join(folder, name))
		wrong := []byte(content)
		wrong[10] ^= 1
		write(t, filepath.Join(folder, name), string(wrong))
		output, err := says()
		require.Error(t, err, "%s: %s", name, output)
		write(t, filepath.Join(folder, name), content)
	}
}

// TestGuide_ItsCommandsMakeAKeyThatSigns also hands an encrypted key over by a pipe, as the guide does.
func TestGuide_ItsCommandsMakeAKeyThatSigns(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	// A terminal would ask for the passphrase.
	run(t, folder, "bash", "-c", commandOf(t, "openssl genpkey")+" -pass pass:secret")
	run(t, folder, "bash", "-c", commandOf(t, "-pubout")+" -passin pass:secret")
	_, err := readKey(filepath.Join(folder, "owner.key"))
	require.ErrorContains(t, err, "is encrypted")

	decrypt, _, _ := strings.Cut(commandOf(t, "make release"), " | ")
	decrypted := run(t, folder, "bash", "-c", decrypt+" -passin pass:secret")
	reader, writer, err := os.Pipe()
	require.NoError(t, err)
	_, err = writer.WriteString(decrypted)
	require.NoError(t, err)
	require.NoError(t, writer.Close())
	key, err := readKey(fmt.Sprintf("/dev/fd/%d", reader.Fd()))
	require.NoError(t, err)
	require.NoError(t, reader.Close())

	path := filepath.Join(folder, "text")
	write(t, path, "text")
	require.NoError(t, signFile(path, key))
	public, err := readPublicKey(filepath.Join(folder, "owner.pub"))
	require.NoError(t, err)
	require.NoError(t, verifyFile(path, public))
}

func TestKeys_OfAnotherKindAreRefused(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	path := filepath.Join(folder, "other.key")
	run(t, folder, "openssl", "genpkey", "-algorithm", "X25519", "-out", path)
	_, err := readKey(path)
	require.ErrorContains(t, err, "holds no Ed25519 private key")
	_, err = readPublicKey(path)
	require.ErrorContains(t, err, "holds no Ed25519 public key")
	write(t, path, "no key")
	_, err = readKey(path)
	require.ErrorContains(t, err, "is not PEM")
}

func TestChart_IsPackagedWithTheVersionAndWithFilesBehindLinks(t *testing.T) {
	t.Parallel()
	date := time.Date(2027, 1, 31, 12, 0, 0, 0, time.UTC)
	var packages []string
	for range 2 {
		copied := t.TempDir() // other times than the folder in the repository
		run(t, ".", "cp", "-R", "-L", "testdata/chart/.", copied)
		for _, folder := range []string{copied, "testdata/chart"} {
			path, err := packageChart(folder, t.TempDir(), "1.2.3", date)
			require.NoError(t, err)
			require.Equal(t, "partnerdeposits-1.2.3.tgz", filepath.Base(path))
			packages = append(packages, read(t, path))
		}
	}
	for _, other := range packages[1:] {
		require.Equal(t, packages[0], other)
	}
	loaded, err := loader.LoadArchive(bytes.NewReader([]byte(packages[0])))
	require.NoError(t, err)
	require.Equal(t, "1.2.3", loaded.Metadata.Version)
	require.Equal(t, "1.2.3", loaded.Metadata.AppVersion)
	require.Equal(t, map[string]any{"replicas": 2.0}, loaded.Values)
	require.NotEmpty(t, loaded.Schema)
	require.Len(t, loaded.Templates, 1)
	files := map[string]string{}
	for _, file := range loaded.Files {
		files[file.Name] = string(file.Data)
	}
	require.Equal(t, `{"title":"delivery"}`+"\n", files["dashboards/delivery.json"])
	require.NotContains(t, files, "notes.txt")
}

func TestVersion_MustBeSemanticAndATag(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"1.2.3", "0.1.0", "1.3.0-rc.1"} {
		require.NoError(t, checkVersion(version))
	}
	for _, version := range []string{"", "1.2", "v1.2.3", "1.2.3+abc", "latest", "1.2.3/x"} {
		require.ErrorContains(t, checkVersion(version), "VERSION")
		require.ErrorContains(t, releaseCommand{Version: version}.Run(t.Context()), "VERSION")
	}
}

func TestChanges_AreTheSectionOfTheVersionOrUnreleased(t *testing.T) {
	t.Parallel()
	const changelog = "# Changelog\n\n## [Unreleased]\n\n- New.\n\n## [1.1.0] - 2027-01-31\n\n### Upgrading\n\n- Do this.\n\n" +
		"## [1.0.0] - 2027-01-01\n"
	for version, want := range map[string][2]string{
		"1.1.0": {"1.1.0", "## [1.1.0] - 2027-01-31\n\n### Upgrading\n\n- Do this.\n"},
		"2.0.0": {"Unreleased", "## [Unreleased]\n\n- New.\n"},
	} {
		text, name, err := changesOf(changelog, version)
		require.NoError(t, err)
		require.Equal(t, want, [2]string{name, text})
	}
	_, _, err := changesOf(changelog, "1.0.0")
	require.ErrorContains(t, err, "section [1.0.0] is empty")
	_, _, err = changesOf("# Changelog\n", "1.0.0")
	require.ErrorContains(t, err, "neither")
	text, _, err := changesOf(read(t, "../../CHANGELOG.md"), "999.0.0")
	require.NoError(t, err)
	require.Contains(t, text, "### Added")
}

func TestSource_IsToldByGitOrByFlags(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	flags := sourceFlags{Root: root}
	_, err := flags.source(t.Context(), "")
	require.ErrorContains(t, err, "not a git repository")
	require.ErrorContains(t, err, "--revision")

	flags = sourceFlags{Root: root, Revision: "0123456789abcdef", Epoch: 1801396800}
	s, err := flags.source(t.Context(), "1.2.3")
	require.NoError(t, err)
	require.Equal(t, source{Root: root, Version: "1.2.3", Revision: "0123456789abcdef",
		Date: time.Date(2027, 1, 31, 12, 0, 0, 0, time.UTC)}, s)

	write(t, filepath.Join(root, "file"), "text")
	run(t, root, "git", "init", "--quiet")
	run(t, root, "git", "add", ".")
	run(t, root, "git", "-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "--quiet", "--message=x",
		"--date=2027-01-31T12:00:00Z")
	flags = sourceFlags{Root: root, Epoch: 1801396800}
	s, err = flags.source(t.Context(), "")
	require.NoError(t, err)
	require.Len(t, s.Revision, 40)
	require.Equal(t, "0.0.0-20270131120000-"+s.Revision[:12], s.Version)

	write(t, filepath.Join(root, "file"), "other text")
	s, err = flags.source(t.Context(), "")
	require.NoError(t, err)
	require.True(t, strings.HasSuffix(s.Revision, "-dirty"), s.Revision)
	require.True(t, strings.HasSuffix(s.Version, "-dirty"), s.Version)
	err = releaseCommand{sourceFlags: flags, Version: "1.2.3"}.Run(t.Context())
	require.ErrorContains(t, err, "the tree differs from its commit")
}

func TestRelease_OverAFolderThatIsNoRelease_IsRefused(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	write(t, filepath.Join(folder, "mine.txt"), "mine")
	_, err := small(t).release(texts(t), "testdata/chart", folder, nil)
	require.ErrorContains(t, err, "is not a release")
	require.Equal(t, "mine", read(t, filepath.Join(folder, "mine.txt")))
}
