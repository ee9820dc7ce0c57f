package files_test

import (
	"bytes"
	"encoding/binary"
	"image"
	"image/png"
	"testing"

	"github.com/stretchr/testify/require"

	"partnerdeposits/lab/filestest"
)

// hostilePNG is a picture with a text chunk that is a page, and the place.
func hostilePNG(t testing.TB, m image.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, png.Encode(&b, m))
	const header = 8 + 25
	text := filestest.Chunk("tEXt", []byte("Comment\x00<html><script>alert(1)</script>"+filestest.Place))
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
