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

// quality of JPEGs that are written anew: the loss is not visible, and sizes stay near those of cameras.
const quality = 90

func writeJPEG(w io.Writer, from source) (evidence.Type, error) {
	config, err := jpeg.DecodeConfig(bufio.NewReader(from))
	if err != nil {
		return "", err
	}
	if err := checkSize(config.Width, config.Height); err != nil {
		return "", err
	}
	defer giveBack(config.Width, config.Height)
	if err := from.rewind(); err != nil {
		return "", err
	}
	turn := orientationOfJPEG(bufio.NewReader(from))
	if err := from.rewind(); err != nil {
		return "", err
	}
	picture, err := jpeg.Decode(from)
	if err != nil {
		return "", err
	}
	if picture, err = upright(picture, turn); err != nil {
		return "", err
	}
	return evidence.JPEG, encodeJPEG(w, picture)
}

func encodeJPEG(w io.Writer, picture image.Image) error {
	return jpeg.Encode(w, picture, &jpeg.Options{Quality: quality})
}

// orientationOfJPEG reads the orientation of the Exif segment; 1 without a sound one.
func orientationOfJPEG(r *bufio.Reader) int {
	if _, err := r.Discard(2); err != nil { // the mark of JPEG
		return 1
	}
	for {
		var head [4]byte
		if _, err := io.ReadFull(r, head[:]); err != nil || head[0] != 0xff {
			return 1
		}
		for head[1] == 0xff { // fill bytes
			next, err := r.ReadByte()
			if err != nil {
				return 1
			}
			head[1], head[2], head[3] = head[2], head[3], next
		}
		length := int(binary.BigEndian.Uint16(head[2:])) - 2
		if head[1] == 0xda || length < 0 { // the pixels begin
			return 1
		}
		if head[1] != 0xe1 {
			if _, err := r.Discard(length); err != nil {
				return 1
			}
			continue
		}
		segment := make([]byte, length)
		if _, err := io.ReadFull(r, segment); err != nil {
			return 1
		}
		if turn, ok := orientationOfExif(segment); ok {
			return turn
		}
	}
}

var exifMark = "Exif\x00\x00"

// orientationOfExif reads the tag 0x0112 of the first directory; false if there is none.
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
