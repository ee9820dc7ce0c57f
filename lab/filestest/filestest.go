// Package filestest makes uploaded files for tests: pictures with metadata, hostile JPEGs, PDFs.
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

// GPSPosition is the place of the photo in the metadata of test pictures.
const GPSPosition = "GPS 48.8584 N 2.2945 E"

// ColoredCornersImage returns a picture with red, green, blue and white corners, clockwise from the upper left.
func ColoredCornersImage(w, h int) *image.NRGBA {
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

// JPEG returns a JPEG with orientation and place of the photo in its Exif metadata, and with an HTML page with a
// script as its comment.
func JPEG(t testing.TB, m image.Image, orientation int) []byte {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, jpeg.Encode(&b, m, nil))
	exif := append([]byte("Exif\x00\x00"), ExifMetadata(orientation)...)
	comment := []byte("<html><script>alert(1)</script></html>")
	return bytes.Join([][]byte{b.Bytes()[:2], segment(0xe1, exif), segment(0xfe, comment), b.Bytes()[2:]}, nil)
}

// ProgressiveJPEG returns a valid black JPEG with components (1, 3 or 4; 4:4:4) and scans. Each small scan makes a
// decoder visit every block.
func ProgressiveJPEG(w, h, components, scans int) []byte {
	frame := binary.BigEndian.AppendUint16(binary.BigEndian.AppendUint16([]byte{8}, uint16(h)), uint16(w))
	frame = append(frame, byte(components))
	for i := range components {
		frame = append(frame, byte(i+1), 0x11, 0)
	}
	// The JPEG's single Huffman code, a 0 bit, begins a run of up to 32,767 blocks.
	code := append([]byte{0x10, 1}, append(make([]byte, 15), 0xe0)...)
	pixels, left := []byte{}, ((w+7)/8)*((h+7)/8)
	for bits, n := uint64(0), 0; left > 0 || n > 0; {
		for n < 8 && left > 0 {
			run := min(left, 1<<15-1)
			if run < 1<<14 {
				run = 1 << 14 // A run of blocks in a JPEG may be longer than the picture.
			}
			bits, n, left = bits<<15|uint64(run-1<<14), n+15, left-run
		}
		if n < 8 {
			bits, n = bits<<(8-n), 8
		}
		n -= 8
		if pixels = append(pixels, byte(bits>>n)); pixels[len(pixels)-1] == 0xff {
			pixels = append(pixels, 0)
		}
	}
	table := append([]byte{0}, bytes.Repeat([]byte{1}, 64)...)
	parts := [][]byte{{0xff, 0xd8}, segment(0xdb, table), segment(0xc2, frame), segment(0xc4, code)}
	for i := range scans {
		// The first scan of the JPEG sends all bits but the lowest, each later scan only the lowest.
		low := byte(0x01)
		if i > 0 {
			low = 0x10
		}
		parts = append(parts, segment(0xda, []byte{1, 1, 0, 1, 63, low}), pixels)
	}
	return bytes.Join(append(parts, []byte{0xff, 0xd9}), nil)
}

// ExifMetadata returns an Exif body with an orientation and the place of the photo.
func ExifMetadata(orientation int) []byte {
	b := []byte("MM\x00*\x00\x00\x00\x08\x00\x01\x01\x12\x00\x03\x00\x00\x00\x01")
	b = binary.BigEndian.AppendUint16(b, uint16(orientation))
	return append(b, "\x00\x00\x00\x00\x00\x00"+GPSPosition...)
}

func segment(marker byte, data []byte) []byte {
	return append(binary.BigEndian.AppendUint16([]byte{0xff, marker}, uint16(len(data)+2)), data...)
}

func PNGChunk(kind string, data []byte) []byte {
	b := append(binary.BigEndian.AppendUint32(nil, uint32(len(data))), kind...)
	b = append(b, data...)
	return binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b[4:]))
}

// PNGHeader returns the beginning of a PNG file, without pixels.
func PNGHeader(w, h uint32, depth, colour, interlace byte) []byte {
	data := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, w), h)
	return append([]byte("\x89PNG\r\n\x1a\n"), PNGChunk("IHDR", append(data, depth, colour, 0, 0, interlace))...)
}

func PDF() []byte {
	return []byte(
		"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj 2 0 obj<</Type/Pages/Kids[]/Count 0>>endobj\ntrailer<</Root 1 0 R>>\nstartxref\n9\n%%EOF\n")
}
