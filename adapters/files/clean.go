// Package files cleans the pictures and PDFs that people upload to a deposit. A picture is decoded and encoded
// again, without its metadata; of a PDF only the beginning and the end are checked. Time and memory are
// bounded: at most one large picture and one other file are cleaned at once.
package files

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"time"

	"partnerdeposits/core/evidence"
	"partnerdeposits/core/fault"
	depositports "partnerdeposits/ports/deposits"
)

// Limits of time and memory for cleaning one uploaded file (pages.md, "Files of a deposit").
const (
	readFor = 10 * time.Second
	// The most bytes of memory that decoding a picture may need.
	maxMemory = 160 << 20
	// Pictures whose decoding needs more bytes of memory than this are decoded one at a time.
	small = 20 << 20
	// gcPercentBeside is the garbage collector's percentage (GOGC) while a large picture is decoded. With a higher one,
	// garbage grows to twice the size of the picture (ADR 0024).
	gcPercentBeside = 10
)

// Sanitizer cleans uploaded files: at most one large picture and one other file at a time.
type Sanitizer struct {
	// A lock under which files other than large pictures are cleaned one at a time.
	turn chan struct{}
	// A lock under which large pictures are decoded one at a time.
	large   chan struct{}
	readFor time.Duration
}

// New makes a cleaner of uploaded files. A process has only one, which sets the process's garbage collection.
func New() *Sanitizer {
	return &Sanitizer{turn: make(chan struct{}, 1), large: make(chan struct{}, 1), readFor: readFor}
}

// Sanitize returns a cleaned copy of an uploaded file, or a refusal of package evidence.
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

func CheckTempDir() error {
	f, err := newScratch()
	if err != nil {
		return err
	}
	return f.Close()
}

// newScratch makes a temporary file without a name, which the system deletes when the process ends.
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

// verdict returns the caller's error for an error of cleaning: evidence.ErrDamaged, unless this machine or an
// ended context is to blame.
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

// source is the uploaded file as decoders read it: reads are limited in size and time.
type source struct {
	*timeLimitedStream
	io.Seeker
}

func (s source) rewind() error {
	_, err := s.Seek(0, io.SeekStart)
	return err
}

// piece is the most bytes that a picture's decoder gets by one read, so that its time limit is checked often.
const piece = 128

// timeLimitedStream fails the reads and writes of a picture's decoder after the time limit: decoders take no
// context.
type timeLimitedStream struct {
	*Sanitizer
	ctx   context.Context
	until time.Time
	from  io.Reader
	to    io.Writer
	// The lock that this file holds while it is cleaned.
	right chan struct{}
	// The garbage collector's percentage (GOGC) to restore after a large picture.
	gcPercent int
	// Whether other files may be cleaned between two reads of this file, as for a PNG.
	yields bool
}

// take waits for the lock under which files are cleaned one at a time, until the caller's context ends.
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

// check returns evidence.ErrTooCostlyToRead once the file's time limit has passed, and the context's error once
// the caller's context has ended.
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

// enter waits until the process may use so many bytes of memory for a picture. A large picture gives up its
// turn among small files, since its decoder may compute for seconds without a read. Returns
// evidence.ErrTooCostlyToRead for more than maxMemory.
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
	b.gcPercent = debug.SetGCPercent(gcPercentBeside)
	b.until = b.until.Add(time.Since(begun))
	return nil
}

func (b *timeLimitedStream) leave() {
	if b.right == b.large {
		debug.SetGCPercent(b.gcPercent)
	}
	<-b.right
}

// checkSize returns an error for an impossible width or height in a picture's header.
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
