package files_test

import (
	"bytes"
	"encoding/binary"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"io"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/files"
	"partnerdeposits/core/evidence"
	"partnerdeposits/lab/filestest"
)

// lossyWebP and losslessWebP tell a size, and have no pixels.
func lossyWebP(w, h uint16) []byte {
	return riff("VP8 ", []byte{0, 0, 0, 0x9d, 1, 0x2a, byte(w), byte(w >> 8), byte(h), byte(h >> 8)})
}

func losslessWebP(w, h uint32) []byte {
	bits := w - 1 | (h-1)<<14
	return riff("VP8L", []byte{0x2f, byte(bits), byte(bits >> 8), byte(bits >> 16), byte(bits >> 24)})
}

func TestPicture_ThatTakesTooMuchToRead_IsRefusedByItsMarkers(t *testing.T) {
	t.Parallel()
	adobe := func(sent []byte, transform byte) []byte {
		segment := append([]byte("\xff\xee\x00\x0eAdobe\x00\x64\x00\x00\x00\x00"), transform)
		return bytes.Join([][]byte{sent[:2], segment, sent[2:]}, nil)
	}
	five := filestest.ProgressiveJPEG(8, 8, 1, 1)
	five = bytes.Replace(five, []byte("\x00\x0b\x08\x00\x08\x00\x08\x01\x01\x11\x00"),
		[]byte("\x00\x17\x08\x00\x08\x00\x08\x05\x01\x11\x00\x02\x11\x00\x03\x11\x00\x04\x11\x00\x05\x11\x00"), 1)
	for what, sent := range map[string][]byte{
		"scans": filestest.ProgressiveJPEG(64, 64, 1, 65),
		"a scan behind a fill byte": bytes.ReplaceAll(filestest.ProgressiveJPEG(64, 64, 1, 65), []byte("\xff\xda"),
			[]byte("\xff\xff\xff\xda")),
		"scans behind restarts and strays": bytes.ReplaceAll(filestest.ProgressiveJPEG(64, 64, 1, 65), []byte("\xff\xda"),
			[]byte("\xff\xd0x\xff\x00\xff\xda")),
		"scans of a sequential picture": bytes.Replace(filestest.ProgressiveJPEG(64, 64, 1, 5), []byte("\xff\xc2"),
			[]byte("\xff\xc1"), 1),
		"five components":                  five,
		"coefficients of one component":    filestest.ProgressiveJPEG(6320, 6320, 1, 1),
		"coefficients of three components": filestest.ProgressiveJPEG(3400, 3400, 3, 1),
		"coefficients of four components":  filestest.ProgressiveJPEG(2700, 2700, 4, 1),
		"components other than YCbCr":      adobe(filestest.ProgressiveJPEG(3000, 3000, 3, 1), 0),
		"a lossless WebP":                  webP(losslessWebP(6320, 6320)),
		"a transparent WebP":               webP(riff("ALPH", []byte{1}), lossyWebP(6320, 6320)),
	} {
		_, _, err := clean(t, sent)
		require.ErrorIs(t, err, evidence.ErrTooCostlyToRead, what)
	}
}

func TestJPEG_Of64Scans_IsKept(t *testing.T) {
	t.Parallel()
	require.Equal(t, image.Pt(640, 480),
		picture(t, kept(t, filestest.ProgressiveJPEG(640, 480, 3, 64), evidence.JPEG)).Bounds().Size())
}

func TestJPEG_ProgressiveAndLarge_IsKept(t *testing.T) {
	t.Parallel()
	_, content, err := clean(t, filestest.ProgressiveJPEG(2500, 2500, 1, 2))
	require.NoError(t, err)
	require.NotEmpty(t, content)
}

// hostilePNG is a picture with a text chunk that is a page, and the place.
func hostilePNG(t testing.TB, m image.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, png.Encode(&b, m))
	const header = 8 + 25
	text := filestest.PNGChunk("tEXt", []byte("Comment\x00<html><script>alert(1)</script>"+filestest.GPSPosition))
	return bytes.Join([][]byte{b.Bytes()[:header], text, b.Bytes()[header:], []byte("<html>behind the end")}, nil)
}

// webP wraps chunks of a WebP.
func webP(chunks ...[]byte) []byte {
	body := append([]byte("WEBP"), bytes.Join(chunks, nil)...)
	return append(binary.LittleEndian.AppendUint32([]byte("RIFF"), uint32(len(body))), body...)
}

// riff is a chunk of a WebP.
func riff(kind string, data []byte) []byte {
	b := append(binary.LittleEndian.AppendUint32([]byte(kind), uint32(len(data))), data...)
	if len(data)%2 == 1 {
		b = append(b, 0)
	}
	return b
}

// resident reads a line of /proc/self/status, in megabytes; 0 where there is none.
func resident(b *testing.B, line string) float64 {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(status), line+":")
	kilobytes, err := strconv.Atoi(strings.Fields(rest)[0])
	require.NoError(b, err)
	return float64(kilobytes) / 1024
}

// pattern is a picture that is not kept in memory.
type pattern struct{ image.Rectangle }

func (p pattern) ColorModel() color.Model { return color.YCbCrModel }
func (p pattern) Bounds() image.Rectangle { return p.Rectangle }
func (p pattern) At(x, y int) color.Color { return color.YCbCr{uint8(x >> 4), uint8(y >> 4), 128} }

// Four pictures of 40 megapixels at once, each to be turned: the time of each, and the most memory of the process.
func BenchmarkClean40Megapixels(b *testing.B) {
	var sent bytes.Buffer
	require.NoError(b, jpeg.Encode(&sent, pattern{image.Rect(0, 0, 8000, 5000)}, nil))
	exif := append([]byte("\xff\xe1\x00\x00Exif\x00\x00"), filestest.ExifMetadata(6)...)
	exif[3] = byte(len(exif) - 2)
	photo := bytes.Join([][]byte{sent.Bytes()[:2], exif, sent.Bytes()[2:]}, nil)
	c := files.New()
	runtime.GC()
	for b.Loop() {
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				got, err := c.Sanitize(b.Context(), bytes.NewReader(photo), int64(len(photo)))
				if err != nil {
					b.Error(err)
					return
				}
				_, _ = io.Copy(io.Discard, got.Content)
				_ = got.Content.Close()
			})
		}
		wg.Wait()
	}
	b.ReportMetric(resident(b, "VmHWM"), "MB-most")
	b.ReportMetric(resident(b, "VmRSS"), "MB-after")
	b.ReportMetric(float64(b.Elapsed().Milliseconds())/float64(4*b.N), "ms/picture")
}
