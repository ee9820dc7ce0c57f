// Package files cleans the pictures and PDFs that people upload to a deposit (depositports.FileSanitizer). A picture
// is decoded and encoded again, upright and without its metadata, so nothing of the uploaded bytes is left but the
// pixels. Of a PDF only the beginning and the end are checked; its bytes are kept as they are.
//
// Time and memory of each file are bounded. A process cleans at most two files at once: one large picture, and one
// other file. A PNG may take long but needs little memory, so between two reads of a PNG other files may go first.
package files

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"sync"
	"time"

	"partnerdeposits/core/evidence"
	"partnerdeposits/core/fault"
	depositports "partnerdeposits/ports/deposits"
)

// Limits of time and memory for cleaning one uploaded file (pages.md, "Files of a deposit").
const (
	readFor = 10 * time.Second
	// The most bytes of memory that the decoding of a picture may need; a picture that needs more is refused.
	maxMemory = 160 << 20
	// A picture whose decoding needs more bytes of memory than this counts as large, and only one large picture is
	// decoded at a time. A photo of 12 megapixels stays below.
	small = 20 << 20
)

// Sanitizer cleans uploaded files: at most one large picture and one other file at a time. Further files wait.
type Sanitizer struct {
	// A channel of size 1 as a lock, under which files are cleaned one at a time; large pictures have a lock of their
	// own.
	turn chan struct{}
	// A channel of size 1 as a lock: the picture that has put a value in is the only large one in memory.
	large   chan struct{}
	readFor time.Duration
}

// New makes a cleaner of uploaded files. A process needs one only, since a cleaner bounds how many files are
// cleaned at once.
func New() *Sanitizer {
	return &Sanitizer{turn: make(chan struct{}, 1), large: make(chan struct{}, 1), readFor: readFor}
}

// Sanitize returns a cleaned copy of an uploaded file in a temporary file. Returns a refusal of package evidence for a
// file that is damaged, too large, or of an unknown type.
func (c *Sanitizer) Sanitize(ctx context.Context, sent io.ReadSeeker, size int64) (depositports.SanitizedFile, error) {
	out, err := newScratch()
	if err != nil {
		return depositports.SanitizedFile{}, err
	}
	kept, err := c.write(ctx, out, sent, size)
	if err != nil {
		_ = out.Close()
		return depositports.SanitizedFile{}, verdict(ctx, err)
	}
	end, err := out.Seek(0, io.SeekEnd)
	if err == nil {
		_, err = out.Seek(0, io.SeekStart)
	}
	if err != nil {
		_ = out.Close()
		return depositports.SanitizedFile{}, err
	}
	return depositports.SanitizedFile{Type: kept, Size: end, Content: out}, nil
}

// CheckTempDir returns an error unless files can be written to the directory for temporary files.
func CheckTempDir() error {
	f, err := newScratch()
	if err != nil {
		return err
	}
	return f.Close()
}

// newScratch makes a temporary file that has no name any more, so that the system deletes it when the process ends.
func newScratch() (*os.File, error) {
	f, err := os.CreateTemp("", "deposit-file-*")
	if err != nil {
		return nil, err
	}
	if err := os.Remove(f.Name()); err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

// errOwn marks an error of this machine's temporary directory: the uploaded file is not to blame.
var errOwn = errors.New("files: scratch")

// verdict turns an error of cleaning into the caller's error: service_unavailable where the caller's context ended,
// the error itself where this machine is to blame, and otherwise evidence.ErrDamaged.
func verdict(ctx context.Context, err error) error {
	var refused *fault.Error
	switch {
	case errors.As(err, &refused):
		return err
	case ctx.Err() != nil:
		return fault.ErrUnavailable.WithCause(ctx.Err())
	case errors.Is(err, errOwn):
		return err
	}
	return evidence.ErrDamaged.WithCause(err)
}

// write writes the cleaned copy of an uploaded file to out and returns the type of the copy.
func (c *Sanitizer) write(ctx context.Context, out *os.File, sent io.ReadSeeker,
	size int64) (kept evidence.MediaType, err error) {
	head := make([]byte, evidence.SniffedHeaderBytes)
	n, err := io.ReadFull(sent, head)
	if n == 0 {
		return "", evidence.ErrEmpty
	}
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		return "", err
	}
	kind, ok := evidence.SniffMediaType(head[:n])
	if !ok {
		return "", evidence.ErrUnsupportedType
	}
	if _, err := sent.Seek(0, io.SeekStart); err != nil {
		return "", err
	}
	defer func() {
		if v := recover(); v != nil { // Go's picture decoders may panic on damaged files; such a file is refused.
			err = fmt.Errorf("files: decoder: %v", v)
		}
	}()
	b := &timeLimitedStream{Sanitizer: c, ctx: ctx, from: sent, to: out, yields: kind == evidence.PNG}
	if err := b.take(c.turn); err != nil {
		return "", err
	}
	defer b.leave()
	b.until = time.Now().Add(c.readFor)
	from := source{b, sent}
	w := bufio.NewWriterSize(b, 4<<10)
	switch kind {
	case evidence.JPEG:
		kept, err = writeJPEG(w, from)
	case evidence.PNG:
		kept, err = evidence.PNG, writePNG(w, from)
	case evidence.WebP:
		kept, err = writeWebP(w, from, size)
	default:
		kept, err = evidence.PDF, writePDF(w, from, size)
	}
	if err == nil {
		err = w.Flush()
	}
	return kept, err
}

// source is the uploaded file as decoders read it: reads are limited in size and time, seeks are not.
type source struct {
	*timeLimitedStream
	io.Seeker
}

func (s source) rewind() error {
	_, err := s.Seek(0, io.SeekStart)
	return err
}

// piece is the most bytes that a decoder of a picture gets by one read. More compressed bytes could keep a decoder
// busy for seconds, in which its time limit is not checked.
const piece = 128

// timeLimitedStream wraps the reader and the writer of a picture's decoder. It fails them after the file's time limit
// and when the caller's context ends: decoders take no context, but come back to read more bytes.
type timeLimitedStream struct {
	*Sanitizer
	ctx   context.Context
	until time.Time
	from  io.Reader
	to    io.Writer
	// The lock that this file holds while it is cleaned: a channel of the Cleaner, for small files or for large
	// pictures.
	right chan struct{}
	// True if other files may be cleaned between two reads of this file, as for a PNG; otherwise false.
	yields bool
}

// take waits until this file holds the lock under which files are cleaned one at a time (the channel right). It
// gives up when the caller's context ends.
func (b *timeLimitedStream) take(right chan struct{}) error {
	select {
	case right <- struct{}{}:
		b.right = right
		return nil
	case <-b.ctx.Done():
		return b.ctx.Err()
	}
}

func (b *timeLimitedStream) Read(p []byte) (int, error) {
	if err := b.check(); err != nil {
		return 0, err
	}
	return b.from.Read(p[:min(len(p), piece)])
}

// Write writes to the temporary file and marks a failure with errOwn.
func (b *timeLimitedStream) Write(p []byte) (int, error) {
	if err := b.check(); err != nil {
		return 0, err
	}
	n, err := b.to.Write(p)
	if err != nil {
		err = errors.Join(errOwn, err)
	}
	return n, err
}

// check returns evidence.ErrTooCostlyToRead once the file's time limit has passed, and the context's error once the
// caller's context has ended. The time in which other files had their turn does not count.
func (b *timeLimitedStream) check() error {
	if b.yields {
		begun := time.Now()
		<-b.turn
		b.turn <- struct{}{} // Cleaning a PNG may take long, so files that wait for the lock go first.
		b.until = b.until.Add(time.Since(begun))
	}
	if time.Now().After(b.until) {
		return evidence.ErrTooCostlyToRead
	}
	return b.ctx.Err()
}

// enter waits until the process may use so many bytes of memory for a picture. A large picture gives up its turn
// among small files for good: a decoder may compute for seconds without a read, as at the end of a progressive
// JPEG, and could not let others go first meanwhile. Returns evidence.ErrTooCostlyToRead for more than maxMemory.
func (b *timeLimitedStream) enter(bytes int) error {
	if bytes > maxMemory {
		return evidence.ErrTooCostlyToRead
	}
	if bytes <= small || b.right == b.large {
		return nil
	}
	begun := time.Now()
	<-b.turn
	if err := b.take(b.large); err != nil {
		b.turn <- struct{}{}
		return err
	}
	addLarge(1)
	b.until = b.until.Add(time.Since(begun))
	return nil
}

func (b *timeLimitedStream) leave() {
	if b.right == b.large {
		addLarge(-1)
	}
	<-b.right
}

// Settings of the Go runtime while the process decodes a large picture (ADR 0024). Two threads (GOMAXPROCS) are
// added, one for the decoder and one for the garbage collector: without them, requests wait for the decoder's time
// slices of 10 ms. The collector runs after 10 % of new garbage: at its usual percentage, the garbage of requests
// could grow to twice the size of the picture.
const (
	threadsBeside   = 2
	gcPercentBeside = 10
)

// largePictures counts the large pictures in the memory of the process, over all cleaners.
var largePictures struct {
	sync.Mutex
	count     int
	gcPercent int // The garbage collector's percentage (GOGC) to restore when no large picture is left.
}

func addLarge(n int) {
	largePictures.Lock()
	defer largePictures.Unlock()
	runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + n*threadsBeside)
	if largePictures.count == 0 {
		largePictures.gcPercent = debug.SetGCPercent(gcPercentBeside)
	}
	if largePictures.count += n; largePictures.count == 0 {
		debug.SetGCPercent(largePictures.gcPercent)
	}
}

// checkSize returns evidence.ErrTooManyPixels or evidence.ErrDamaged for an impossible width or height in a picture's
// header, before any pixel is decoded.
func checkSize(width, height int) error {
	if width <= 0 || height <= 0 {
		return evidence.ErrDamaged
	}
	if uint64(width)*uint64(height) > evidence.MaxPixels {
		return evidence.ErrTooManyPixels
	}
	return nil
}

// largePicture is the number of pixels above which the memory of a picture is returned to the operating system at
// once.
const largePicture = 4_000_000

func giveBack(width, height int) {
	if width*height > largePicture {
		debug.FreeOSMemory()
	}
}
