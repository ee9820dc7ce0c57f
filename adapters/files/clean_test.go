package files_test

import (
	"bytes"
	"compress/zlib"
	"context"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"
	"os"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/files"
	"partnerdeposits/core/evidence"
	"partnerdeposits/core/fault"
	"partnerdeposits/lab/filestest"
)

func clean(t testing.TB, sent []byte) (evidence.MediaType, []byte, error) {
	t.Helper()
	got, err := files.New().Sanitize(t.Context(), bytes.NewReader(sent), int64(len(sent)))
	if err != nil {
		return "", nil, err
	}
	content, err := io.ReadAll(got.Content)
	require.NoError(t, err)
	require.NoError(t, got.Content.Close())
	require.EqualValues(t, len(content), got.Size)
	return got.Type, content, nil
}

// kept is a file that is kept, as its type.
func kept(t testing.TB, sent []byte, want evidence.MediaType) []byte {
	t.Helper()
	got, content, err := clean(t, sent)
	require.NoError(t, err)
	require.Equal(t, want, got)
	found, ok := evidence.SniffMediaType(content)
	require.True(t, ok)
	require.Equal(t, want, found)
	return content
}

func picture(t testing.TB, content []byte) image.Image {
	t.Helper()
	m, _, err := image.Decode(bytes.NewReader(content))
	require.NoError(t, err)
	return m
}

// corners reads the colours of the corners, from the upper left clockwise.
func corners(m image.Image) (names string) {
	b := m.Bounds()
	for _, at := range []image.Point{{b.Min.X + 2, b.Min.Y + 2}, {b.Max.X - 3, b.Min.Y + 2}, {b.Max.X - 3, b.Max.Y - 3},
		{b.Min.X + 2, b.Max.Y - 3}} {
		c := color.NRGBAModel.Convert(m.At(at.X, at.Y)).(color.NRGBA)
		switch {
		case c.R > 200 && c.G > 200 && c.B > 200:
			names += "w"
		case c.R > 200:
			names += "r"
		case c.G > 200:
			names += "g"
		case c.B > 200:
			names += "b"
		default:
			names += "?"
		}
	}
	return names
}

func TestJPEG_StandsUprightAndTellsNothingBesidesItsPixels(t *testing.T) {
	t.Parallel()
	// Red, green, blue, white clockwise, as the orientation turns them (Exif 2.32, 4.6.4).
	for orientation, want := range map[int]string{0: "rgbw", 1: "rgbw", 2: "grwb", 3: "bwrg", 4: "wbgr", 5: "rwbg",
		6: "wrgb", 7: "bgrw", 8: "gbwr", 9: "rgbw"} {
		t.Run(strconv.Itoa(orientation), func(t *testing.T) {
			t.Parallel()
			sent := filestest.JPEG(t, filestest.ColoredCornersImage(101, 67), orientation)
			require.Contains(t, string(sent), filestest.GPSPosition)
			content := kept(t, sent, evidence.JPEG)
			for _, gone := range []string{"Exif", filestest.GPSPosition, "<script>", "<html"} {
				require.NotContains(t, string(content), gone)
			}
			m := picture(t, content)
			require.Equal(t, want, corners(m))
			size := image.Pt(101, 67)
			if orientation >= 5 && orientation <= 8 {
				size = image.Pt(67, 101)
			}
			require.Equal(t, size, m.Bounds().Size())
		})
	}
}

func TestJPEG_GrayAndLargerThanAStrip_StandsUpright(t *testing.T) {
	t.Parallel()
	gray := image.NewGray(image.Rect(0, 0, 300, 200))
	for y := range 200 {
		for x := range 300 {
			gray.SetGray(x, y, color.Gray{uint8(x / 2)})
		}
	}
	m := picture(t, kept(t, filestest.JPEG(t, gray, 6), evidence.JPEG))
	require.Equal(t, image.Pt(200, 300), m.Bounds().Size())
	for y := 5; y < 300; y += 30 {
		got := m.At(77, y).(color.Gray).Y
		require.InDelta(t, y/2, got, 6, "row %d was column %d", y, y)
	}
}

func TestJPEG_WithoutItsEnd_IsRefused(t *testing.T) {
	t.Parallel()
	sent := filestest.JPEG(t, filestest.ColoredCornersImage(400, 300), 1)
	for _, n := range []int{3, 20, 200, len(sent) / 2, len(sent) - 100} {
		_, _, err := clean(t, sent[:n])
		require.ErrorIs(t, err, evidence.ErrDamaged, "%d of %d bytes", n, len(sent))
	}
}

func TestPNG_KeepsItsPixelsAlone(t *testing.T) {
	t.Parallel()
	m := filestest.ColoredCornersImage(50, 30)
	m.SetNRGBA(25, 15, color.NRGBA{1, 2, 3, 4})
	content := kept(t, hostilePNG(t, m), evidence.PNG)
	for _, gone := range []string{"tEXt", filestest.GPSPosition, "<html"} {
		require.NotContains(t, string(content), gone)
	}
	require.Equal(t, "rgbw", corners(picture(t, content)))
	require.Equal(t, color.NRGBA{1, 2, 3, 4}, picture(t, content).At(25, 15))
	palette := image.NewPaletted(image.Rect(0, 0, 9, 9),
		color.Palette{color.NRGBA{1, 2, 3, 255}, color.NRGBA{9, 8, 7, 100}})
	palette.SetColorIndex(4, 4, 1)
	got := picture(t, kept(t, hostilePNG(t, palette), evidence.PNG))
	require.Equal(t, color.NRGBA{9, 8, 7, 100}, color.NRGBAModel.Convert(got.At(4, 4)))
	deep := image.NewNRGBA64(image.Rect(0, 0, 3, 3))
	deep.SetNRGBA64(1, 1, color.NRGBA64{1000, 2000, 3000, 4000})
	require.Equal(t, color.NRGBA64{1000, 2000, 3000, 4000},
		picture(t, kept(t, hostilePNG(t, deep), evidence.PNG)).At(1, 1))
}

// rows is a PNG of gray pixels whose packed rows are data.
func rows(t testing.TB, header, data []byte, between ...[]byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zlib.NewWriter(&b)
	_, err := w.Write(data)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	half := b.Len() / 2
	return bytes.Join([][]byte{header, bytes.Join(between, nil), filestest.PNGChunk("IDAT", b.Bytes()[:half]),
		filestest.PNGChunk("IDAT", b.Bytes()[half:]), filestest.PNGChunk("IEND", nil)}, nil)
}

func TestPNG_InterlacedAndOfEveryDepth_IsReadAsBefore(t *testing.T) {
	t.Parallel()
	// Adam7 of 8 × 8 pixels: 1, 1, 2, 4, 8, 16 and 32 pixels.
	var packed []byte
	for _, pass := range [][2]int{{1, 1}, {1, 1}, {1, 2}, {2, 2}, {2, 4}, {4, 4}, {4, 8}} {
		for range pass[0] {
			packed = append(packed, 0)
			packed = append(packed, bytes.Repeat([]byte{byte(pass[1] * 20)}, pass[1])...)
		}
	}
	sent := rows(t, filestest.PNGHeader(8, 8, 8, 0, 1), packed)
	want := picture(t, sent)
	require.Equal(t, want, picture(t, kept(t, sent, evidence.PNG)))
	bit := rows(t, filestest.PNGHeader(9, 2, 1, 0, 0), []byte{0, 0xaa, 0x80, 0, 0x55, 0})
	require.Equal(t, picture(t, bit), picture(t, kept(t, bit, evidence.PNG)))
}

func TestPNG_ThatLies_IsRefused(t *testing.T) {
	t.Parallel()
	gray := filestest.PNGHeader(4, 4, 8, 0, 0)
	sound := make([]byte, 20)
	require.Equal(t, evidence.PNG, must(clean(t, rows(t, gray, sound))))
	animated := rows(t, gray, sound, filestest.PNGChunk("acTL", make([]byte, 8)), filestest.PNGChunk("fcTL", make([]byte,
		26)))
	require.NotContains(t, string(kept(t, animated, evidence.PNG)), "acTL")
	for what, sent := range map[string][]byte{
		"more pixels than the header tells": rows(t, gray, make([]byte, 21)),
		"a bomb behind the pixels":          rows(t, gray, make([]byte, 50<<20)),
		"fewer pixels":                      rows(t, gray, make([]byte, 19)),
		"an unknown filter":                 rows(t, gray, bytes.Repeat([]byte{5}, 20)),
		"an unknown colour":                 rows(t, filestest.PNGHeader(4, 4, 8, 5, 0), sound),
		"a depth that the colour has not":   rows(t, filestest.PNGHeader(4, 4, 4, 2, 0), sound),
		"no width":                          rows(t, filestest.PNGHeader(0, 4, 8, 0, 0), sound),
		"a width beyond the format":         rows(t, filestest.PNGHeader(1<<31, 1, 8, 0, 0), sound),
		"two palettes": rows(t, gray, sound, filestest.PNGChunk("PLTE", make([]byte, 3)),
			filestest.PNGChunk("PLTE", make([]byte, 3))),
		"a palette of megabytes": rows(t, gray, sound, filestest.PNGChunk("PLTE", make([]byte, 3<<20))),
		"no pixels":              append(gray, filestest.PNGChunk("IEND", nil)...),
		"a header alone":         gray,
		"a chunk before the header": append([]byte("\x89PNG\r\n\x1a\n"),
			filestest.PNGChunk("CgBI", make([]byte, 4))...),
		"a chunk longer than the file":        append(gray[:len(gray):len(gray)], 0xff, 0xff, 0xff, 0xff, 't', 'E', 'X', 't'),
		"a checksum that is not the header's": append(append([]byte{}, gray[:len(gray)-1]...), gray[len(gray)-1]+1),
	} {
		_, _, err := clean(t, sent)
		require.ErrorIs(t, err, evidence.ErrDamaged, what)
	}
}

func must(kind evidence.MediaType, _ []byte, err error) evidence.MediaType {
	if err != nil {
		return evidence.MediaType(err.Error())
	}
	return kind
}

// A few bytes tell of a picture that would fill the memory. It is refused by its header.
func TestPixelBombs_AreRefusedByTheirHeaders(t *testing.T) {
	t.Parallel()
	small := filestest.JPEG(t, filestest.ColoredCornersImage(16, 16), 1)
	frame := bytes.Index(small, []byte{0xff, 0xc0})
	require.Positive(t, frame)
	tall := bytes.Clone(small)
	copy(tall[frame+5:], "\xff\xff\xff\xff")
	lossy, err := os.ReadFile("testdata/lossy.webp")
	require.NoError(t, err)
	inner := bytes.Clone(lossy[12:])
	copy(inner[14:], "\xff\x3f\xff\x3f")
	canvas := riff("VP8X", []byte{0, 0, 0, 0, 99, 0, 0, 99, 0, 0})
	for what, sent := range map[string][]byte{
		"JPEG": tall, "PNG": filestest.PNGHeader(1<<31-1, 1<<31-1, 16, 6, 0),
		"PNG, one pixel too many": filestest.PNGHeader(40_000_001, 1, 1, 0, 0),
		"WebP with a large canvas": webP(
			riff("VP8X", []byte{0, 0, 0, 0, 255, 255, 255, 255, 255, 255}), lossy[12:]),
		"WebP with a small canvas":           webP(canvas, inner),
		"lossless WebP with a small canvas":  webP(canvas, riff("VP8L", []byte("\x2f\xff\xff\xff\x0f...."))),
		"WebP with a second, larger picture": webP(canvas, lossy[12:], inner),
	} {
		_, _, err := clean(t, sent)
		require.ErrorIs(t, err, evidence.ErrTooManyPixels, what)
	}
}

func TestPNG_Of40Megapixels_IsKept(t *testing.T) {
	t.Parallel()
	sent := rows(t, filestest.PNGHeader(8000, 5000, 1, 0, 0), make([]byte, 5000*1001))
	require.Equal(t, evidence.PNG, must(clean(t, sent)))
}

func TestWebP_BecomesJPEGOrPNG(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]evidence.MediaType{"lossy": evidence.JPEG, "lossless": evidence.PNG,
		"transparent": evidence.PNG} {
		sent, err := os.ReadFile("testdata/" + name + ".webp")
		require.NoError(t, err)
		require.NotZero(t, picture(t, kept(t, sent, want)).Bounds().Dx(), name)
	}
	lossy, err := os.ReadFile("testdata/lossy.webp")
	require.NoError(t, err)
	m := picture(t, kept(t, lossy, evidence.JPEG)).Bounds().Size()
	w, h := byte(m.X-1), byte(m.Y-1)
	turned := webP(riff("VP8X", []byte{8, 0, 0, 0, w, 0, 0, h, 0, 0}), lossy[12:], riff("EXIF", filestest.ExifMetadata(6)))
	content := kept(t, turned, evidence.JPEG)
	require.Equal(t, image.Pt(m.Y, m.X), picture(t, content).Bounds().Size())
	require.NotContains(t, string(content), filestest.GPSPosition)
	_, _, err = clean(t,
		webP(riff("VP8X", []byte{2, 0, 0, 0, w, 0, 0, h, 0, 0}), riff("ANIM", make([]byte, 6)), lossy[12:]))
	require.ErrorIs(t, err, evidence.ErrUnsupportedType, "an animation")
	for n := 12; n < len(lossy); n += 97 {
		_, _, err := clean(t, lossy[:n])
		require.ErrorIs(t, err, evidence.ErrDamaged, "%d bytes", n)
	}
}

func TestPDF_IsKeptAsItIs(t *testing.T) {
	t.Parallel()
	require.Equal(t, filestest.PDF(), kept(t, filestest.PDF(), evidence.PDF))
	padded := append(filestest.PDF(), bytes.Repeat([]byte("\n"), 1000)...)
	require.Equal(t, padded, kept(t, padded, evidence.PDF))
	for what, sent := range map[string][]byte{
		"without an end":                  filestest.PDF()[:60],
		"an end far before the last byte": append(filestest.PDF(), make([]byte, 3000)...),
	} {
		_, _, err := clean(t, sent)
		require.ErrorIs(t, err, evidence.ErrDamaged, what)
	}
}

func TestOtherContent_IsRefusedWhateverItsName(t *testing.T) {
	t.Parallel()
	var moving bytes.Buffer
	require.NoError(t, gif.Encode(&moving, filestest.ColoredCornersImage(4, 4), nil))
	for what, sent := range map[string][]byte{
		"page":    []byte("<!doctype html><script>alert(1)</script>"),
		"drawing": []byte("<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>"),
		"GIF":     moving.Bytes(), "program": []byte("MZ\x90\x00"), "archive": []byte("PK\x03\x04"),
		"page before a PDF": append([]byte("<html>"), filestest.PDF()...),
	} {
		_, _, err := clean(t, sent)
		require.ErrorIs(t, err, evidence.ErrUnsupportedType, what)
	}
	_, _, err := clean(t, nil)
	require.ErrorIs(t, err, evidence.ErrEmpty)
}

func TestClean_EndsWithItsContext(t *testing.T) {
	t.Parallel()
	c := files.New()
	sent := filestest.JPEG(t, filestest.ColoredCornersImage(64, 64), 1)
	ctx, cancel := context.WithCancel(t.Context())
	reader := &hanging{Reader: bytes.NewReader(sent), at: cancel}
	_, err := c.Sanitize(ctx, reader, int64(len(sent)))
	require.ErrorIs(t, err, fault.ErrUnavailable)
	got, err := c.Sanitize(t.Context(), bytes.NewReader(sent), int64(len(sent)))
	require.NoError(t, err, "the turn is given back")
	require.NoError(t, got.Content.Close())
}

// hanging ends the context after its first bytes.
type hanging struct {
	*bytes.Reader
	at    func()
	reads int
}

func (h *hanging) Read(p []byte) (int, error) {
	if h.reads++; h.reads == 3 {
		h.at()
	}
	return h.Reader.Read(p[:min(len(p), 64)])
}

func FuzzClean(f *testing.F) {
	small := filestest.ColoredCornersImage(9, 7)
	for orientation := range 9 {
		f.Add(filestest.JPEG(f, small, orientation))
	}
	f.Add(hostilePNG(f, small))
	f.Add(filestest.PDF())
	for _, name := range []string{"lossy", "lossless"} {
		sent, err := os.ReadFile("testdata/" + name + ".webp")
		require.NoError(f, err)
		f.Add(sent)
	}
	c := files.New()
	f.Fuzz(func(t *testing.T, sent []byte) {
		if m, _, err := image.DecodeConfig(bytes.NewReader(sent)); err == nil && m.Width*m.Height > 1<<20 {
			return // large pictures are slow, and no different
		}
		got, err := c.Sanitize(t.Context(), bytes.NewReader(sent), int64(len(sent)))
		if err != nil {
			require.Equal(t, fault.Unprocessable, fault.KindOf(err), "%v", err)
			return
		}
		content, err := io.ReadAll(got.Content)
		require.NoError(t, err)
		require.NoError(t, got.Content.Close())
		switch got.Type {
		case evidence.JPEG:
			_, err = jpeg.Decode(bytes.NewReader(content))
		case evidence.PNG:
			_, err = png.DecodeConfig(bytes.NewReader(content))
		}
		require.NoError(t, err, "what is kept can be read")
	})
}
