// Package evidence holds the rules for the files of a deposit: pictures and documents of a damage.
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

// Limits of the files that an operator adds to a deposit (pages.md, "Files of a deposit").
const (
	MaxFilesPerForm         = 10         // The largest number of files in one form of an operator.
	MaxFilesPerDeposit      = 100        // The largest number of files of a deposit, over all forms.
	MaxFileSize             = 10 << 20   // The largest size of an uploaded file in bytes.
	MaxFormSize             = 25 << 20   // The largest size in bytes of a form together with its files.
	MaxPixels               = 40_000_000 // The largest number of pixels of an uploaded picture.
	UnconfirmedFileLifetime = time.Hour  // How long uploaded files wait for their form to be confirmed.
	maxName                 = 120        // The largest length of a file's name in characters.
	headerBytes             = 16         // The number of bytes from which Sniff recognises the type of a file.
	unnamed                 = "file"     // The name of a file whose own name has no usable character.
	pdfMark                 = "%PDF-"    // The bytes with which a PDF file begins.
	pngMark                 = "\x89PNG\r\n\x1a\n"
)

// SniffedHeaderBytes is the number of bytes from which Sniff recognises the type of a file.
const SniffedHeaderBytes = headerBytes

// MediaType is the media type of a deposit's file. The service serves no other types.
type MediaType string

// The media types that a file of a deposit may have.
const (
	JPEG MediaType = "image/jpeg"
	PNG  MediaType = "image/png"
	WebP MediaType = "image/webp" // WebP is accepted but never stored: a WebP picture is converted to JPEG or PNG.
	PDF  MediaType = "application/pdf"
)

var endings = map[MediaType]string{JPEG: ".jpg", PNG: ".png", PDF: ".pdf"}

// Faults for which a file is refused.
var (
	ErrUnsupportedType  = fault.New(fault.Unprocessable, "file_type", "The file is neither a JPEG, PNG or WebP picture nor a PDF.")
	ErrDamaged          = fault.New(fault.Unprocessable, "file_damaged", "The file cannot be read.")
	ErrTooLarge         = fault.New(fault.Unprocessable, "file_too_large", "The file is larger than 10 MB.")
	ErrTooManyPixels    = fault.New(fault.Unprocessable, "file_pixels", "The picture has more than 40 megapixels.")
	ErrTooCostlyToRead  = fault.New(fault.Unprocessable, "file_heavy", "The picture takes too much memory or time to be read.")
	ErrEmpty            = fault.New(fault.Unprocessable, "file_empty", "The file is empty.")
	ErrTooManyFiles     = fault.New(fault.Unprocessable, "too_many_files", "These are more than 10 files.")
	ErrDepositFileLimit = fault.New(fault.Conflict, "too_many_files_of_deposit", "The deposit has 100 files.")
)

// ErrFilesGone is the fault for a form whose files are no longer kept: an hour has passed, or they were sent in another
// session or for another deposit.
var ErrFilesGone = fault.New(fault.Conflict, "files_gone", "The files no longer wait. Send them again.")

// ErrNotFound is the fault for a file that the deposit does not have.
var ErrNotFound = fault.New(fault.NotFound, "file_not_found", "There is no such file.")

// File describes a picture or document of a deposit. A file waits until the form with it is confirmed.
type File struct {
	ID        id.ID
	DepositID id.ID
	Name      string    // The file's name for display, made by CleanName from the name that was sent.
	Type      MediaType // The media type of the file's stored content.
	Size      int64     // The size of the file's stored content in bytes.
	SentAt    time.Time
	AddedAt   time.Time // When the form with the file was confirmed; zero while the file waits for that.
	// The actor who added the file to the deposit; nobody while the file waits for its form to be confirmed.
	AddedBy actor.Actor
}

// SniffMediaType returns the media type of a file from its first bytes; false for a type that is not accepted. The
// file's name and declared type are not trusted.
func SniffMediaType(head []byte) (MediaType, bool) {
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

// DisplayName returns the name with which a message mentions a file that is not stored.
func DisplayName(sent string) string {
	return CleanName(sent, "")
}

// CleanName turns the name of an uploaded file into a name for display: the last part of the path, on one line, at
// most maxName characters, with the extension of type t.
func CleanName(sent string, t MediaType) string {
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

// known reports whether an extension is one of those that accepted files have.
func known(ending string) bool {
	switch ending {
	case ".jpg", ".jpeg", ".jpe", ".jfif", ".png", ".webp", ".pdf":
		return true
	}
	return false
}
