package files

import (
	"bufio"
	"encoding/binary"
	"errors"
	"image"
	"image/jpeg"
	"io"

	"partnerdeposits/core/evidence"
)

// quality is the JPEG quality of cleaned pictures: the loss is not visible.
const quality = 90

func writeJPEG(w io.Writer, from source) (evidence.MediaType, error) {
	frame, err := walkJPEG(bufio.NewReaderSize(from, 64<<10))
	if err != nil {
		return "", err
	}
	if err := from.enter(frame.memory()); err != nil {
		return "", err
	}
	defer giveBack(frame.width, frame.height)
	if err := from.rewind(); err != nil {
		return "", err
	}
	picture, err := jpeg.Decode(from)
	if err != nil {
		return "", err
	}
	if picture, err = upright(picture, frame.turn); err != nil {
		return "", err
	}
	return evidence.JPEG, encodeJPEG(w, picture)
}

func encodeJPEG(w io.Writer, picture image.Image) error {
	return jpeg.Encode(w, picture, &jpeg.Options{Quality: quality})
}

var exifMark = "Exif\x00\x00"

// orientationOfExif reads the orientation (tag 0x0112) from the first directory of an Exif segment.
func orientationOfExif(segment []byte) (int, bool) {
	if len(segment) < len(exifMark)+8 || string(segment[:len(exifMark)]) != exifMark {
		return 0, false
	}
	return orientationOfTIFF(segment[len(exifMark):])
}

func orientationOfTIFF(data []byte) (int, bool) {
	order, err := orderOfTIFF(data)
	if err != nil {
		return 0, false
	}
	at := uint64(order.Uint32(data[4:]))
	if at+2 > uint64(len(data)) {
		return 0, false
	}
	entries := data[at+2:]
	for range order.Uint16(data[at:]) {
		if len(entries) < 12 {
			return 0, false
		}
		if order.Uint16(entries) == 0x0112 && order.Uint16(entries[2:]) == 3 {
			turn := int(order.Uint16(entries[8:]))
			return turn, turn >= 1 && turn <= 8
		}
		entries = entries[12:]
	}
	return 0, false
}

func orderOfTIFF(data []byte) (binary.ByteOrder, error) {
	if len(data) >= 8 {
		switch string(data[:4]) {
		case "II*\x00":
			return binary.LittleEndian, nil
		case "MM\x00*":
			return binary.BigEndian, nil
		}
	}
	return nil, errors.New("files: no TIFF")
}
