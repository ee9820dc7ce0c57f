package files_test

import (
	"bytes"
	"image"
	"image/color"
	"image/jpeg"
	"io"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/files"
	"partnerdeposits/lab/filestest"
)

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
	exif := append([]byte("\xff\xe1\x00\x00Exif\x00\x00"), filestest.TIFF(6)...)
	exif[3] = byte(len(exif) - 2)
	photo := bytes.Join([][]byte{sent.Bytes()[:2], exif, sent.Bytes()[2:]}, nil)
	c := files.New()
	runtime.GC()
	for b.Loop() {
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				got, err := c.Clean(b.Context(), bytes.NewReader(photo), int64(len(photo)))
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
