package files

import (
	"bytes"
	"io"

	"partnerdeposits/core/evidence"
)

// tail is the number of bytes at the end of a PDF in which its end mark is searched.
const tail = 2 << 10

// writePDF copies a PDF without examining it between its beginning and its end mark, since the service never
// displays it.
func writePDF(w io.Writer, from source, size int64) error {
	if _, err := from.Seek(max(0, size-tail), io.SeekStart); err != nil {
		return err
	}
	end, err := io.ReadAll(io.LimitReader(from, tail))
	if err != nil {
		return err
	}
	if at := bytes.LastIndex(end, []byte("startxref")); at < 0 || !bytes.Contains(end[at:], []byte("%%EOF")) {
		return evidence.ErrDamaged
	}
	if err := from.rewind(); err != nil {
		return err
	}
	_, err = io.Copy(w, from)
	return err
}
