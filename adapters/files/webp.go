package files

import (
	"bufio"
	"encoding/binary"
	"errors"
	"image"
	"image/png"
	"io"

	"golang.org/x/image/webp"

	"partnerdeposits/core/evidence"
)

var errWebP = errors.New("files: no sound WebP")

// writeWebP writes a WebP picture as a JPEG, or as a PNG where the picture is lossless or transparent.
func writeWebP(w io.Writer, from source, size int64) (evidence.MediaType, error) {
	frame, err := readRIFF(from, size)
	if err != nil {
		return "", err
	}
	if err := from.enter(frame.width * frame.height * frame.bytes); err != nil {
		return "", err
	}
	defer giveBack(frame.width, frame.height)
	if err := from.rewind(); err != nil {
		return "", err
	}
	picture, err := webp.Decode(bufio.NewReader(from))
	if err != nil {
		return "", err
	}
	if transparent, ok := picture.(*image.NYCbCrA); ok && transparent.Opaque() {
		picture = &transparent.YCbCr
	}
	if picture, err = upright(picture, frame.turn); err != nil {
		return "", err
	}
	if _, ok := picture.(*image.YCbCr); ok {
		return evidence.JPEG, encodeJPEG(w, picture)
	}
	return evidence.PNG, png.Encode(w, picture)
}

type webpFrame struct {
	width, height, turn int
	bytes               int // Bytes of memory that the decoder needs for a pixel of the WebP picture.
}

// lossless is the bytes of memory per pixel of a lossless WebP, whose decoder may copy the picture.
const lossless = 8

// readRIFF reads the headers of a WebP's chunks. Returns evidence.ErrUnsupportedType for an animation.
func readRIFF(from source, size int64) (webpFrame, error) {
	// The decoder needs at most 2 bytes of memory for a pixel of a WebP in 4:2:0 subsampling.
	frame := webpFrame{turn: 1, bytes: 2}
	for at := int64(12); at+8 <= size; {
		if _, err := from.Seek(at, io.SeekStart); err != nil {
			return frame, err
		}
		var head [8]byte
		if _, err := io.ReadFull(from, head[:]); err != nil {
			return frame, err
		}
		length := int64(binary.LittleEndian.Uint32(head[4:]))
		if err := frame.chunk(string(head[:4]), io.LimitReader(from, min(length, 64<<10))); err != nil {
			return frame, err
		}
		at += 8 + length + length&1
	}
	if frame.width == 0 {
		return frame, errWebP
	}
	return frame, nil
}

func (f *webpFrame) chunk(kind string, r io.Reader) error {
	b := make([]byte, 10)
	switch kind {
	case "ANIM", "ANMF":
		return evidence.ErrUnsupportedType
	// The decoder of a WebP with transparency also reads a lossless picture.
	case "ALPH":
		f.bytes += lossless + 1
	case "EXIF":
		data, err := io.ReadAll(r)
		if turn, ok := orientationOfTIFF(data); ok {
			f.turn = turn
		} else if turn, ok := orientationOfExif(data); ok {
			f.turn = turn
		}
		return err
	case "VP8X":
		if _, err := io.ReadFull(r, b); err != nil {
			return err
		}
		return f.sized(1+int(b[4])+int(b[5])<<8+int(b[6])<<16, 1+int(b[7])+int(b[8])<<8+int(b[9])<<16)
	case "VP8 ":
		if _, err := io.ReadFull(r, b); err != nil {
			return err
		}
		return f.sized(int(binary.LittleEndian.Uint16(b[6:])&0x3fff), int(binary.LittleEndian.Uint16(b[8:])&0x3fff))
	case "VP8L":
		f.bytes = max(f.bytes, lossless)
		if _, err := io.ReadFull(r, b[:5]); err != nil {
			return err
		}
		bits := binary.LittleEndian.Uint32(b[1:])
		return f.sized(1+int(bits&0x3fff), 1+int(bits>>14&0x3fff))
	}
	return nil
}

func (f *webpFrame) sized(width, height int) error {
	f.width, f.height = max(f.width, width), max(f.height, height)
	return checkSize(width, height)
}
