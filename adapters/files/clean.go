// Package files reads files that people sent (ports.FileCleaner). A picture is decoded and written anew, upright and without its metadata;
// so nothing of the sent bytes is left but the pixels. A PDF is checked for its frame alone and kept as it is.
//
// One file is read at a time in a process, since a picture of 40 megapixels takes 60 MB while it is turned.
package files

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"

	"partnerdeposits/core/evidence"
	"partnerdeposits/core/fault"
	"partnerdeposits/ports"
)

// Cleaner implements ports.FileCleaner.
type Cleaner struct {
	turn chan struct{} // holds the right to read a file
}

// New makes a cleaner. A process has one.
func New() *Cleaner { return &Cleaner{turn: make(chan struct{}, 1)} }

// Clean implements ports.FileCleaner.
func (c *Cleaner) Clean(ctx context.Context, sent io.ReadSeeker, size int64) (ports.CleanFile, error) {
	select {
	case c.turn <- struct{}{}:
		defer func() { <-c.turn }()
	case <-ctx.Done():
		return ports.CleanFile{}, fault.ErrUnavailable.Because(ctx.Err())
	}
	out, err := newScratch()
	if err != nil {
		return ports.CleanFile{}, err
	}
	kept, err := write(ctx, out, sent, size)
	if err != nil {
		_ = out.Close()
		return ports.CleanFile{}, verdict(ctx, err)
	}
	end, err := out.Seek(0, io.SeekEnd)
	if err == nil {
		_, err = out.Seek(0, io.SeekStart)
	}
	if err != nil {
		_ = out.Close()
		return ports.CleanFile{}, err
	}
	return ports.CleanFile{Type: kept, Size: end, Content: out}, nil
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
func write(ctx context.Context, out *os.File, sent io.ReadSeeker, size int64) (kept evidence.Type, err error) {
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
	from := source{&bounded{ctx: ctx, from: sent}, sent}
	w := bufio.NewWriterSize(owned{out}, 64<<10)
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

// source is the sent file: its reader ends with the context.
type source struct {
	io.Reader
	io.Seeker
}

func (s source) rewind() error {
	_, err := s.Seek(0, io.SeekStart)
	return err
}

// bounded ends a decoder whose caller is gone: decoders know no context, and come back for bytes.
type bounded struct {
	ctx  context.Context // of one call of Clean
	from io.Reader
}

func (b *bounded) Read(p []byte) (int, error) {
	if err := b.ctx.Err(); err != nil {
		return 0, err
	}
	return b.from.Read(p)
}

// owned marks errors of the scratch file.
type owned struct{ to io.Writer }

func (o owned) Write(p []byte) (int, error) {
	n, err := o.to.Write(p)
	if err != nil {
		err = errors.Join(errOwn, err)
	}
	return n, err
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
