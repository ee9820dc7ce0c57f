package files

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"

	"partnerdeposits/core/evidence"
)

// Limits on the contents of a JPEG (pages.md, "Files of a deposit"). The number of scans is limited because
// each makes the decoder visit every block.
const (
	maxScans      = 64
	maxComponents = 4
)

// Markers of a JPEG (ITU T.81, table B.1).
const (
	markBaseline    = 0xc0
	markProgressive = 0xc2
	markRestart     = 0xd0
	markEnd         = 0xd9
	markScan        = 0xda
	markExif        = 0xe1
	markAdobe       = 0xee
)

var errJPEG = errors.New("files: no sound JPEG")

// jpegFrame holds what the markers of a JPEG say about the picture.
type jpegFrame struct {
	width, height int
	samples       int // Number of samples of all components of the JPEG, rounded up to whole blocks.
	components    int
	// Whether the JPEG is progressive: its decoder also keeps a coefficient of 4 bytes per sample.
	progressive bool
	// Whether the JPEG's components may be other than YCbCr, such as RGB.
	rgb         bool
	scans, turn int
}

// walkJPEG reads the markers of a JPEG. Returns evidence.ErrTooCostlyToRead for too many scans or components.
func walkJPEG(r *bufio.Reader) (jpegFrame, error) {
	f := jpegFrame{}
	if _, err := r.Discard(2); err != nil {
		return f, err
	}
	for {
		marker, err := nextMarker(r)
		if err != nil || marker == markEnd {
			return f, err
		}
		segment, err := readSegment(r)
		if err != nil {
			return f, err
		}
		if err := f.read(marker, segment); err != nil {
			return f, err
		}
	}
}

// nextMarker returns the next marker of a JPEG, after pixels, restart markers and fill bytes.
func nextMarker(r *bufio.Reader) (byte, error) {
	for {
		if _, err := r.ReadSlice(0xff); errors.Is(err, bufio.ErrBufferFull) {
			continue
		} else if err != nil {
			return 0, err
		}
		marker, err := r.ReadByte()
		for marker == 0xff && err == nil {
			marker, err = r.ReadByte()
		}
		if err != nil || marker != 0 && (marker < markRestart || marker > markRestart+7) {
			return marker, err
		}
	}
}

func readSegment(r *bufio.Reader) ([]byte, error) {
	var length [2]byte
	if _, err := io.ReadFull(r, length[:]); err != nil {
		return nil, err
	}
	n := int(binary.BigEndian.Uint16(length[:])) - 2
	if n < 0 {
		return nil, errJPEG
	}
	segment := make([]byte, n)
	_, err := io.ReadFull(r, segment)
	return segment, err
}

func (f *jpegFrame) read(marker byte, segment []byte) error {
	switch {
	case marker >= markBaseline && marker <= markProgressive:
		f.progressive = marker == markProgressive
		return f.size(segment)
	case marker == markScan:
		if f.scans++; f.scans > maxScans || !f.progressive && f.scans > maxComponents {
			return evidence.ErrTooCostlyToRead
		}
	case marker == markExif && f.turn == 0:
		f.turn, _ = orientationOfExif(segment)
	case marker == markAdobe && len(segment) >= 12 && string(segment[:5]) == "Adobe":
		f.rgb = f.rgb || segment[11] != 1
	}
	return nil
}

func (f *jpegFrame) size(segment []byte) error {
	if len(segment) < 6 || f.components > 0 {
		return errJPEG
	}
	n := int(segment[5])
	if n > maxComponents {
		return evidence.ErrTooCostlyToRead
	}
	if len(segment) != 6+3*n || n == 0 {
		return errJPEG
	}
	f.height, f.width = int(binary.BigEndian.Uint16(segment[1:])), int(binary.BigEndian.Uint16(segment[3:]))
	if err := checkSize(f.width, f.height); err != nil {
		return err
	}
	f.components, f.rgb = n, f.rgb || segment[6] == 'R'
	across, down, blocks := int(segment[7]>>4), int(segment[7]&15), 0
	for at := 7; at < len(segment); at += 3 {
		blocks += int(segment[at]>>4) * int(segment[at]&15)
	}
	if n == 1 { // The sampling factors of a JPEG with one component mean nothing and are ignored.
		across, down, blocks = 1, 1, 1
	}
	if across == 0 || down == 0 {
		return errJPEG
	}
	f.samples = ceil(f.width, 8*across) * ceil(f.height, 8*down) * blocks * 64
	return nil
}

func ceil(a, b int) int { return (a + b - 1) / b }

// memory returns the bytes of memory that the decoder of the JPEG needs.
func (f *jpegFrame) memory() int {
	bytes := f.samples
	if f.progressive {
		bytes += 4 * f.samples
	}
	// The decoder copies a JPEG of four components, or of RGB, into a second picture.
	if f.components == 4 || f.components == 3 && f.rgb {
		bytes += 4 * f.width * f.height
	}
	return bytes
}
