package deposits

import (
	"context"
	"io"
	"time"

	"partnerdeposits/core/actor"
	"partnerdeposits/core/evidence"
	"partnerdeposits/core/id"
)

// FileContents keeps the contents of files, apart from their records: in Postgres, or in an object store. A content is
// written once and never changes. An implementation encrypts contents at rest.
type FileContents interface {
	// Put keeps a content of size bytes under the id of its file. A failed Put leaves nothing that Open gives.
	//
	// Returns an error if content has another size.
	Put(ctx context.Context, fileID id.ID, content io.Reader, size int64) error
	// Open gives the content of a file, to be closed by the caller. Between two reads it holds no connection. A content
	// that was changed or cut at rest ends with an error in place of io.EOF.
	//
	// Returns evidence.ErrNotFound.
	Open(ctx context.Context, fileID id.ID) (io.ReadCloser, error)
	// Delete removes contents. An unknown id is no error.
	Delete(ctx context.Context, fileIDs []id.ID) error
}

// FileSender is the session and the deposit to which waiting files are bound.
type FileSender struct {
	Session   [32]byte // hash of the session's token
	DepositID id.ID
}

// FileCleaner reads files that people sent, and writes pictures anew.
type FileCleaner interface {
	// Clean checks a file by its content, and gives the file as it may be kept: a picture upright and without its
	// metadata, a document as it is. The caller closes the result. Clean bounds the time of a file, and the memory of
	// all calls together.
	//
	// Returns evidence.ErrType, ErrDamaged, ErrPixels, ErrHeavy, ErrEmpty, or service_unavailable if the context ended
	// first.
	Clean(ctx context.Context, sent io.ReadSeeker, size int64) (CleanFile, error)
}

// CleanFile is a file that may be kept.
type CleanFile struct {
	Type    evidence.Type
	Size    int64
	Content io.ReadCloser
}

// Files keeps the records of files.
type Files interface {
	// Add makes waiting files of the deposit's files, for good, if every one was sent by the sender at since or later.
	// The transaction has locked the deposit, so that two calls do not count past each other.
	//
	// Returns evidence.ErrGone if a file does not wait any more, and evidence.ErrFull if the deposit had more than
	// evidence.MaxOfDeposit files afterwards.
	Add(ctx context.Context, by FileSender, fileIDs []id.ID, since, at time.Time, adds actor.Actor) (
		[]evidence.File, error)
	// Forget removes the records of files.
	Forget(ctx context.Context, fileIDs []id.ID) error
	// Wait keeps the records of files that wait. Their contents follow.
	Wait(ctx context.Context, by FileSender, files []evidence.File) error
	// Waiting gives those of the files that the sender sent at since or later, in the order in which they were sent.
	Waiting(ctx context.Context, by FileSender, fileIDs []id.ID, since time.Time) ([]evidence.File, error)
	// Files gives the files of a deposit that do not wait, oldest first.
	Files(ctx context.Context, depositID id.ID) ([]evidence.File, error)
	// File gives a file of a deposit that does not wait. Returns evidence.ErrNotFound.
	File(ctx context.Context, depositID, fileID id.ID) (evidence.File, error)
	// Abandoned gives the ids of up to limit waiting files that were sent before since.
	Abandoned(ctx context.Context, since time.Time, limit int) ([]id.ID, error)
}
