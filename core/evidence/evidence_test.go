package evidence_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"partnerdeposits/core/evidence"
	"partnerdeposits/core/oneline"
)

func TestSniff_LooksAtTheContentAlone(t *testing.T) {
	t.Parallel()
	for head, want := range map[string]evidence.MediaType{
		"\xff\xd8\xff\xe0\x00\x10JFIF": evidence.JPEG, "\x89PNG\r\n\x1a\n\x00\x00": evidence.PNG,
		"RIFF\x00\x00\x00\x00WEBPVP8 ": evidence.WebP,
		"%PDF-1.7\n":                   evidence.PDF, "%PDF-2.0\n": evidence.PDF,
	} {
		got, ok := evidence.SniffMediaType([]byte(head))
		require.True(t, ok, "%q", head)
		require.Equal(t, want, got)
	}
	for _, head := range []string{"", "<!doctype html>", "GIF89a", "PK\x03\x04", "RIFF\x00\x00\x00\x00AVI ", " %PDF-1.7",
		"<html>%PDF-1.7", "%PDF-x", "\xff\xd8", "<svg xmlns", "\x00\x00\x00\x18ftypheic"} {
		_, ok := evidence.SniffMediaType([]byte(head))
		require.False(t, ok, "%q", head)
	}
}

func TestCleanName_KeepsNoPathAndNoTricks(t *testing.T) {
	t.Parallel()
	for sent, want := range map[string]string{
		"oven.jpg": "oven.jpg", "Four cassé.JPEG": "Four cassé.jpg", "scan.webp": "scan.jpg",
		"../../etc/passwd": "passwd.jpg", `C:\Users\Ann\oven.png`: "oven.jpg",
		"": "file.jpg", "..": "file.jpg", "/": "file.jpg", ".jpg": "file.jpg", "a\r\nSet-Cookie: x.jpg": "a Set-Cookie x.jpg",
		"invoice\u202egpj.exe": "invoice gpj.exe.jpg",
		"a\x00b.jpg":           "a b.jpg", `x"; filename="y.html`: "x ; filename= y.html.jpg", "shell.php": "shell.php.jpg",
		"a\xffb.jpg": "ab.jpg", "CON: .jpg": "CON.jpg",
		"台所.jpg": "台所.jpg", "a   b . .jpg": "a b.jpg",
	} {
		require.Equal(t, want, evidence.CleanName(sent, evidence.JPEG), "%q", sent)
	}
	long := evidence.CleanName(strings.Repeat("é", 500)+".pdf", evidence.PDF)
	require.Equal(t, 120, utf8.RuneCountInString(long))
	require.True(t, strings.HasSuffix(long, "é.pdf"))
}

func FuzzCleanName(f *testing.F) {
	f.Add("oven.jpg")
	f.Add("../..\\\u202e\x00.pdf")
	f.Fuzz(func(t *testing.T, sent string) {
		name := evidence.CleanName(sent, evidence.PNG)
		require.True(t, oneline.Valid(name), "%q", name)
		require.False(t, strings.ContainsAny(name, `/\:*?"<>|`), "%q", name)
		require.LessOrEqual(t, utf8.RuneCountInString(name), 120)
		require.True(t, strings.HasSuffix(name, ".png") && len(name) > 4 && name[0] != '.', "%q", name)
	})
}

func TestDisplayName_OfAFileThatIsNotKept_KeepsItsEnding(t *testing.T) {
	t.Parallel()
	for sent, want := range map[string]string{"shell.php": "shell.php", "../a.jpg": "a.jpg", "": "file"} {
		require.Equal(t, want, evidence.DisplayName(sent), "%q", sent)
	}
}
