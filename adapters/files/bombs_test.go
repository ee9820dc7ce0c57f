package files_test

import (
	"bytes"
	"image"
	"testing"

	"github.com/stretchr/testify/require"

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
	five := filestest.Progressive(8, 8, 1, 1)
	five = bytes.Replace(five, []byte("\x00\x0b\x08\x00\x08\x00\x08\x01\x01\x11\x00"),
		[]byte("\x00\x17\x08\x00\x08\x00\x08\x05\x01\x11\x00\x02\x11\x00\x03\x11\x00\x04\x11\x00\x05\x11\x00"), 1)
	for what, sent := range map[string][]byte{
		"scans": filestest.Progressive(64, 64, 1, 65),
		"a scan behind a fill byte": bytes.ReplaceAll(filestest.Progressive(64, 64, 1, 65), []byte("\xff\xda"),
			[]byte("\xff\xff\xff\xda")),
		"scans behind restarts and strays": bytes.ReplaceAll(filestest.Progressive(64, 64, 1, 65), []byte("\xff\xda"),
			[]byte("\xff\xd0x\xff\x00\xff\xda")),
		"scans of a sequential picture": bytes.Replace(filestest.Progressive(64, 64, 1, 5), []byte("\xff\xc2"),
			[]byte("\xff\xc1"), 1),
		"five components":                  five,
		"coefficients of one component":    filestest.Progressive(6320, 6320, 1, 1),
		"coefficients of three components": filestest.Progressive(3400, 3400, 3, 1),
		"coefficients of four components":  filestest.Progressive(2700, 2700, 4, 1),
		"components other than YCbCr":      adobe(filestest.Progressive(3000, 3000, 3, 1), 0),
		"a lossless WebP":                  webP(losslessWebP(6320, 6320)),
		"a transparent WebP":               webP(riff("ALPH", []byte{1}), lossyWebP(6320, 6320)),
	} {
		_, _, err := clean(t, sent)
		require.ErrorIs(t, err, evidence.ErrHeavy, what)
	}
}

func TestJPEG_Of64Scans_IsKept(t *testing.T) {
	t.Parallel()
	require.Equal(t, image.Pt(640, 480),
		picture(t, kept(t, filestest.Progressive(640, 480, 3, 64), evidence.JPEG)).Bounds().Size())
}

func TestJPEG_ProgressiveAndLarge_IsKept(t *testing.T) {
	t.Parallel()
	_, content, err := clean(t, filestest.Progressive(2500, 2500, 1, 2))
	require.NoError(t, err)
	require.NotEmpty(t, content)
}
