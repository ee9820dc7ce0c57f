// Package files reads files that people sent (depositports.FileCleaner). A picture is decoded and written anew, upright
// and without its metadata; so nothing of the sent bytes is left but the pixels. A PDF is checked for its frame alone
// and kept as it is.
//
// Time and memory of each file are bounded. A process cleans at most two files at once: one large picture, and one
// other file. A PNG may take long but needs little memory, so its reader passes the turn to others between two reads.
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

// Bounds of a file (pages.md, "Files of a deposit").
const (
	readFor   = 10 * time.Second
	maxMemory = 160 << 20 // bytes; a progressive JPEG of it has coefficients of 128 MB
	small     = 20 << 20  // bytes of a picture that passes a large one: a photo of 12 megapixels
)

// Cleaner implements depositports.FileCleaner.
type Cleaner struct {
	turn    chan struct{} // holds the right to read a file that is no large picture
	large   chan struct{} // holds the right to the memory of a large picture
	readFor time.Duration
}

// New makes a cleaner. A process has one.
func New() *Cleaner {
	return &Cleaner{turn: make(chan struct{}, 1), large: make(chan struct{}, 1), readFor: readFor}
}

// Clean implements depositports.FileCleaner.
func (c *Cleaner) Clean(ctx context.Context, sent io.ReadSeeker, size int64) (depositports.CleanFile, error) {
	out, err := newScratch()
	if err != nil {
		return depositports.CleanFile{}, err
	}
	kept, err := c.write(ctx, out, sent, size)
	if err != nil {
		_ = out.Close()
		return depositports.CleanFile{}, verdict(ctx, err)
	}
	end, err := out.Seek(0, io.SeekEnd)
	if err == nil {
		_, err = out.Seek(0, io.SeekStart)
	}
	if err != nil {
		_ = out.Close()
		return depositports.CleanFile{}, err
	}
	return depositports.CleanFile{Type: kept, Size: end, Content: out}, nil
}

// CheckScratch returns an error unless files can be written to the directory for temporary files.
func CheckScratch() error {
	f, err := newScratch()
	if err != nil {
		return err
	}
	return f.Close()
}

// newScratch makes a file without a name, which ends with the process at the latest.
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

// errOwn marks an error of this machine: the sent file is not to blame.
var errOwn = errors.New("files: scratch")

// verdict makes a refusal of every error that the sent file caused.
func verdict(ctx context.Context, err error) error {
	var refused *fault.Error
	switch {
	case errors.As(err, &refused):
		return err
	case ctx.Err() != nil:
		return fault.ErrUnavailable.Because(ctx.Err())
	case errors.Is(err, errOwn):
		return err
	}
	return evidence.ErrDamaged.Because(err)
}

// write writes the sent file anew, and tells its type.
func (c *Cleaner) write(ctx context.Context, out *os.File, sent io.ReadSeeker,
	size int64) (kept evidence.Type, err error) {
	head := make([]byte, evidence.HeaderBytes)
	n, err := io.ReadFull(sent, head)
	if n == 0 {
		return "", evidence.ErrEmpty
	}
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		return "", err
	}
	kind, ok := evidence.Sniff(head[:n])
	if !ok {
		return "", evidence.ErrType
	}
	if _, err := sent.Seek(0, io.SeekStart); err != nil {
		return "", err
	}
	defer func() {
		if v := recover(); v != nil { // a decoder met bytes that it does not expect
			err = fmt.Errorf("files: decoder: %v", v)
		}
	}()
	b := &bounded{Cleaner: c, ctx: ctx, from: sent, to: out, yields: kind == evidence.PNG}
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

// source is the sent file: its reader is bounded.
type source struct {
	*bounded
	io.Seeker
}

func (s source) rewind() error {
	_, err := s.Seek(0, io.SeekStart)
	return err
}

// piece is the most that a decoder gets at once, in bytes: those of a compressed picture can be the work of seconds.
const piece = 128

// bounded ends a decoder after its time, and one whose caller is gone: decoders know no context, and come back for
// bytes.
type bounded struct {
	*Cleaner
	ctx    context.Context // of one call of Clean
	until  time.Time
	from   io.Reader
	to     io.Writer
	right  chan struct{} // turn or large
	yields bool          // the turn, between two reads
}

// take waits for a right.
func (b *bounded) take(right chan struct{}) error {
	select {
	case right <- struct{}{}:
		b.right = right
		return nil
	case <-b.ctx.Done():
		return b.ctx.Err()
	}
}

func (b *bounded) Read(p []byte) (int, error) {
	if err := b.check(); err != nil {
		return 0, err
	}
	return b.from.Read(p[:min(len(p), piece)])
}

// Write marks errors of the scratch file.
func (b *bounded) Write(p []byte) (int, error) {
	if err := b.check(); err != nil {
		return 0, err
	}
	n, err := b.to.Write(p)
	if err != nil {
		err = errors.Join(errOwn, err)
	}
	return n, err
}

// check returns evidence.ErrHeavy after the time of the file, in which the turns of others do not count.
func (b *bounded) check() error {
	if b.yields {
		begun := time.Now()
		<-b.turn
		b.turn <- struct{}{} // those who wait for it come first
		b.until = b.until.Add(time.Since(begun))
	}
	if time.Now().After(b.until) {
		return evidence.ErrHeavy
	}
	return b.ctx.Err()
}

// enter waits until the process may use so many bytes for the picture. A large picture gives up its turn for good: a
// decoder may compute for seconds without a read, as at the end of a progressive JPEG, and could not yield meanwhile.
// Returns evidence.ErrHeavy for more than maxMemory.
func (b *bounded) enter(bytes int) error {
	if bytes > maxMemory {
		return evidence.ErrHeavy
	}
	if bytes <= small || b.right == b.large {
		return nil
	}
	begun := time.Now()
	<-b.turn
	if err := b.take(b.large); err != nil {
		b.turn <- struct{}{} // to be given back at the end
		return err
	}
	addLarge(1)
	b.until = b.until.Add(time.Since(begun))
	return nil
}

func (b *bounded) leave() {
	if b.right == b.large {
		addLarge(-1)
	}
	<-b.right
}

// The process beside a large picture (ADR 0024). Two threads (GOMAXPROCS) are added, one for the decoder and one for
// the garbage collector: without them, requests wait for the decoder's time slices of 10 ms. The collector runs after
// 10 % of new garbage: with the percentage of the process, the garbage of requests could grow to twice the picture.
const (
	threadsBeside   = 2
	gcPercentBeside = 10
)

// largePictures are those in memory, also of other cleaners.
var largePictures struct {
	sync.Mutex
	count     int
	gcPercent int // without them
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

// checkSize refuses a picture by the size that its header tells, before a pixel is decoded.
func checkSize(width, height int) error {
	if width <= 0 || height <= 0 {
		return evidence.ErrDamaged
	}
	if uint64(width)*uint64(height) > evidence.MaxPixels {
		return evidence.ErrPixels
	}
	return nil
}

// largePicture is the number of pixels from which the memory of a picture is given back to the system at once.
const largePicture = 4_000_000

func giveBack(width, height int) {
	if width*height > largePicture {
		debug.FreeOSMemory()
	}
}
