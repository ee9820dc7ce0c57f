// Package evidence holds the rules for files of a deposit: pictures and documents of a damage.
package evidence

import (
	"bytes"
	"path"
	"strings"
	"time"
	"unicode/utf8"

	"partnerdeposits/core/actor"
	"partnerdeposits/core/fault"
	"partnerdeposits/core/id"
	"partnerdeposits/core/oneline"
)

// Bounds of files (pages.md, "Files of a deposit").
const (
	MaxFiles     = 10         // files of a form
	MaxOfDeposit = 100        // files of a deposit, over all forms
	MaxSize      = 10 << 20   // bytes of a file, as it is sent
	MaxForm      = 25 << 20   // bytes of a form with its files
	MaxPixels    = 40_000_000 // pixels of a picture
	WaitsFor     = time.Hour  // time in which a form with files is confirmed
	maxName      = 120        // characters of a name
	headerBytes  = 16         // bytes that Sniff looks at
	unnamed      = "file"     // stands for a name of which nothing is left
	pdfMark      = "%PDF-"    // begins a PDF
	pngMark      = "\x89PNG\r\n\x1a\n"
)

// HeaderBytes is the number of bytes from which Sniff tells the type of a file.
const HeaderBytes = headerBytes

// Type is the media type of a file. The service serves no other types.
type Type string

// The types.
const (
	JPEG Type = "image/jpeg"
	PNG  Type = "image/png"
	WebP Type = "image/webp" // is sent and never kept: a WebP is written anew as JPEG or PNG
	PDF  Type = "application/pdf"
)

var endings = map[Type]string{JPEG: ".jpg", PNG: ".png", PDF: ".pdf"}

// Refusals of a file.
var (
	ErrType     = fault.New(fault.Unprocessable, "file_type", "The file is neither a JPEG, PNG or WebP picture nor a PDF.")
	ErrDamaged  = fault.New(fault.Unprocessable, "file_damaged", "The file cannot be read.")
	ErrTooLarge = fault.New(fault.Unprocessable, "file_too_large", "The file is larger than 10 MB.")
	ErrPixels   = fault.New(fault.Unprocessable, "file_pixels", "The picture has more than 40 megapixels.")
	ErrHeavy    = fault.New(fault.Unprocessable, "file_heavy", "The picture takes too much memory or time to be read.")
	ErrEmpty    = fault.New(fault.Unprocessable, "file_empty", "The file is empty.")
	ErrTooMany  = fault.New(fault.Unprocessable, "too_many_files", "These are more than 10 files.")
	ErrFull     = fault.New(fault.Conflict, "too_many_files_of_deposit", "The deposit has 100 files.")
)

// ErrGone refuses a form whose files no longer wait: an hour is over, or they were sent in another session or for
// another deposit.
var ErrGone = fault.New(fault.Conflict, "files_gone", "The files no longer wait. Send them again.")

// ErrNotFound answers for a file that the deposit does not have.
var ErrNotFound = fault.New(fault.NotFound, "file_not_found", "There is no such file.")

// File is a file of a deposit. It waits until its form is confirmed.
type File struct {
	ID        id.ID
	DepositID id.ID
	Name      string // CleanName of the name that was sent
	Type      Type   // of the content, as it is kept
	Size      int64  // bytes, as they are kept
	SentAt    time.Time
	AddedAt   time.Time   // zero while the file waits
	AddedBy   actor.Actor // nobody while the file waits
}

// Sniff tells the type of a file by its first bytes; false for any other type. Name and declared type of a file tell
// nothing.
func Sniff(head []byte) (Type, bool) {
	switch {
	case bytes.HasPrefix(head, []byte("\xff\xd8\xff")):
		return JPEG, true
	case bytes.HasPrefix(head, []byte(pngMark)):
		return PNG, true
	case len(head) >= 12 && string(head[:4]) == "RIFF" && string(head[8:12]) == "WEBP":
		return WebP, true
	case bytes.HasPrefix(head, []byte(pdfMark+"1.")), bytes.HasPrefix(head, []byte(pdfMark+"2.")):
		return PDF, true
	}
	return "", false
}

// DisplayName makes a name for a message about a file that is not kept.
func DisplayName(sent string) string {
	return CleanName(sent, "")
}

// CleanName makes a name for display of the name that was sent: the last part of a path, in a line, at most maxName
// characters, with the ending of the type.
func CleanName(sent string, t Type) string {
	name := strings.ReplaceAll(strings.ToValidUTF8(sent, ""), "\\", "/")
	name = oneline.Clean(path.Base(name))
	name = strings.Map(func(r rune) rune {
		if strings.ContainsRune(`/:*?"<>|`, r) {
			return ' '
		}
		return r
	}, name)
	name, ending := strings.Join(strings.Fields(name), " "), endings[t]
	if old := path.Ext(name); ending != "" && known(strings.ToLower(old)) {
		name = strings.TrimSuffix(name, old)
	}
	if name = strings.Trim(name, ". "); name == "" {
		name = unnamed
	}
	for utf8.RuneCountInString(name) > maxName-len(ending) {
		_, size := utf8.DecodeLastRuneInString(name)
		name = name[:len(name)-size]
	}
	return strings.TrimRight(name, ". ") + ending
}

// known reports whether a file of one of the types may have this ending.
func known(ending string) bool {
	switch ending {
	case ".jpg", ".jpeg", ".jpe", ".jfif", ".png", ".webp", ".pdf":
		return true
	}
	return false
}
