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
	MaxFilesPerForm         = 10
	MaxFilesPerDeposit      = 100
	MaxFileSize             = 10 << 20
	MaxFormSize             = 25 << 20 // The largest size in bytes of a form together with its files.
	MaxPixels               = 40_000_000
	UnconfirmedFileLifetime = time.Hour // How long uploaded files wait for their form to be confirmed.
	maxName                 = 120
	headerBytes             = 16
	unnamed                 = "file"
	pdfMark                 = "%PDF-"
	pngMark                 = "\x89PNG\r\n\x1a\n"
)

// SniffedHeaderBytes is the number of bytes from which Sniff recognises the type of a file.
const SniffedHeaderBytes = headerBytes

// MediaType is the media type of a deposit's file.
type MediaType string

// The media types that a file of a deposit may have.
const (
	JPEG MediaType = "image/jpeg"
	PNG  MediaType = "image/png"
	WebP MediaType = "image/webp" // WebP pictures are accepted, and stored as JPEG or PNG.
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

// ErrFilesGone is the fault for a form whose files are no longer kept, or belong to another session or deposit.
var ErrFilesGone = fault.New(fault.Conflict, "files_gone", "The files no longer wait. Send them again.")

// ErrNotFound is the fault for a file that the deposit does not have.
var ErrNotFound = fault.New(fault.NotFound, "file_not_found", "There is no such file.")

// File describes a picture or document of a deposit. It waits until its form is confirmed.
type File struct {
	ID        id.ID
	DepositID id.ID
	Name      string
	Type      MediaType
	Size      int64
	SentAt    time.Time
	AddedAt   time.Time // When the form with the file was confirmed; zero while the file waits for that.
	// Who added the file to the deposit; zero while its form is not confirmed.
	AddedBy actor.Actor
}

// SniffMediaType returns the media type of a file from its first bytes; false if that type is not accepted. Name
// and declared type are not trusted.
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

// CleanName makes a name for display from that of an uploaded file: the last part of the path, on one line, cut to
// length, with the extension of type t.
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

func known(ending string) bool {
	switch ending {
	case ".jpg", ".jpeg", ".jpe", ".jfif", ".png", ".webp", ".pdf":
		return true
	}
	return false
}
