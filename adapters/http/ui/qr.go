package ui

import (
	"fmt"
	"image/color"
	"strconv"
	"strings"

	"github.com/boombuler/barcode/qr"
)

// QR is a QR code drawn as SVG: the view box of its picture, and the path of its dark modules.
type QR struct{ Box, Path string }

// quiet is the width, in modules, of a QR code's light border, which scanners need.
const quiet = 4

// NewQR draws a text as a QR code that survives about 15 percent damage. Returns an error for too long a text.
func NewQR(text string) (QR, error) {
	code, err := qr.Encode(text, qr.M, qr.Auto)
	if err != nil {
		return QR{}, fmt.Errorf("ui: QR code: %w", err)
	}
	size := code.Bounds().Dx()
	var path strings.Builder
	for y := range size {
		for x := 0; x < size; {
			run := 0
			for x+run < size && dark(code.At(x+run, y)) {
				run++
			}
			if run > 0 {
				fmt.Fprintf(&path, "M%d %dh%dv1h-%dz", x+quiet, y+quiet, run, run)
			}
			x += max(run, 1)
		}
	}
	whole := strconv.Itoa(size + 2*quiet)
	return QR{Box: "0 0 " + whole + " " + whole, Path: path.String()}, nil
}

func dark(c color.Color) bool {
	r, _, _, _ := c.RGBA()
	return r == 0
}
