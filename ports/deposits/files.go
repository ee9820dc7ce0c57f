package deposits

import (
	"context"
	"io"
	"time"

	"partnerdeposits/core/actor"
	"partnerdeposits/core/evidence"
	"partnerdeposits/core/id"
)

// FileContentStore stores the contents of a deposit's files, in Postgres or in an object store. A content is
// written once, never changes, and is encrypted at rest.
type FileContentStore interface {
	// Put stores a content of size bytes under the id of its file. After a failed Put, Open does not find the
	// content.
	//
	// Returns an error if content has another size.
	Put(ctx context.Context, fileID id.ID, content io.Reader, size int64) error
	// Open returns the content of a file, which the caller closes. Reading a content that was changed or cut at rest
	// ends with an error in place of io.EOF. Returns evidence.ErrNotFound.
	Open(ctx context.Context, fileID id.ID) (io.ReadCloser, error)
	// Delete removes the contents of files. An unknown id is no error.
	Delete(ctx context.Context, fileIDs []id.ID) error
}

// UploadSession is the operator's session and the deposit for which files were sent, before their form is
// confirmed.
type UploadSession struct {
	Session   [32]byte
	DepositID id.ID
}

// FileSanitizer checks files that people sent, and encodes pictures anew.
type FileSanitizer interface {
	// Sanitize checks a file by its content, and returns the file as it may be stored, which the caller closes: a
	// picture upright and without its metadata, a document as it is. Returns evidence.ErrUnsupportedType, ErrDamaged,
	// ErrTooManyPixels, ErrTooCostlyToRead, ErrEmpty, or service_unavailable if the context ended first.
	Sanitize(ctx context.Context, sent io.ReadSeeker, size int64) (SanitizedFile, error)
}

// SanitizedFile is a file that was checked and may be stored.
type SanitizedFile struct {
	Type    evidence.MediaType
	Size    int64
	Content io.ReadCloser
}

// FileStore stores the records of files.
type FileStore interface {
	// AttachUnconfirmed turns files that the sender sent at since or later, with an unconfirmed form, into files of
	// the deposit, which the transaction has locked. Returns evidence.ErrFilesGone or evidence.ErrDepositFileLimit.
	AttachUnconfirmed(ctx context.Context, by UploadSession, fileIDs []id.ID, since, at time.Time, adds actor.Actor) (
		[]evidence.File, error)
	DeleteRecords(ctx context.Context, fileIDs []id.ID) error
	InsertUnconfirmed(ctx context.Context, by UploadSession, files []evidence.File) error
	// UnconfirmedFiles returns those of the given files that wait for their form to be confirmed and that the sender
	// sent at since or later, in order.
	UnconfirmedFiles(ctx context.Context, by UploadSession, fileIDs []id.ID, since time.Time) ([]evidence.File, error)
	Files(ctx context.Context, depositID id.ID) ([]evidence.File, error)
	// File returns a file of a deposit whose form was confirmed, or evidence.ErrNotFound.
	File(ctx context.Context, depositID, fileID id.ID) (evidence.File, error)
	AbandonedFileIDs(ctx context.Context, since time.Time, limit int) ([]id.ID, error)
}
