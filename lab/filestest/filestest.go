// Package filestest makes files as people and attackers send them.
package filestest

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/color"
	"image/jpeg"
	"testing"

	"github.com/stretchr/testify/require"
)

// Place is a text in the metadata of the pictures: where a photo was taken.
const Place = "GPS 48.8584 N 2.2945 E"

// Corners is a picture whose corners differ: red, green, blue and white, from the upper left clockwise.
func Corners(w, h int) *image.NRGBA {
	m := image.NewNRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			c := color.NRGBA{R: 255, A: 255}
			switch {
			case x >= w/2 && y < h/2:
				c = color.NRGBA{G: 255, A: 255}
			case x >= w/2:
				c = color.NRGBA{B: 255, A: 255}
			case y >= h/2:
				c = color.NRGBA{R: 255, G: 255, B: 255, A: 255}
			}
			m.SetNRGBA(x, y, c)
		}
	}
	return m
}

// JPEG is a picture with an Exif segment of that orientation, the place, and a comment that is a page.
func JPEG(t testing.TB, m image.Image, orientation int) []byte {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, jpeg.Encode(&b, m, nil))
	exif := append([]byte("Exif\x00\x00"), TIFF(orientation)...)
	comment := []byte("<html><script>alert(1)</script></html>")
	return bytes.Join([][]byte{b.Bytes()[:2], segment(0xe1, exif), segment(0xfe, comment), b.Bytes()[2:]}, nil)
}

// TIFF is the body of Exif metadata.
func TIFF(orientation int) []byte {
	b := []byte("MM\x00*\x00\x00\x00\x08\x00\x01\x01\x12\x00\x03\x00\x00\x00\x01")
	b = binary.BigEndian.AppendUint16(b, uint16(orientation))
	return append(b, "\x00\x00\x00\x00\x00\x00"+Place...)
}

func segment(marker byte, data []byte) []byte {
	return append(binary.BigEndian.AppendUint16([]byte{0xff, marker}, uint16(len(data)+2)), data...)
}

// Chunk is a chunk of a PNG.
func Chunk(kind string, data []byte) []byte {
	b := append(binary.BigEndian.AppendUint32(nil, uint32(len(data))), kind...)
	b = append(b, data...)
	return binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b[4:]))
}

// PNGHeader is the beginning of a PNG that tells its size.
func PNGHeader(w, h uint32, depth, colour, interlace byte) []byte {
	data := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, w), h)
	return append([]byte("\x89PNG\r\n\x1a\n"), Chunk("IHDR", append(data, depth, colour, 0, 0, interlace))...)
}

// PDF is a document.
func PDF() []byte {
	return []byte("%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj 2 0 obj<</Type/Pages/Kids[]/Count 0>>endobj\ntrailer<</Root 1 0 R>>\nstartxref\n9\n%%EOF\n")
}
