package middleware

import (
	"bytes"
	"errors"
	"io"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"
)

// UploadDeadline bounds the time of a handler that reads an upload. The handler bounds its parts.
const UploadDeadline = 5 * time.Minute

// Upload is a body that its handler reads from the connection, part by part. Every other body is in memory before a
// handler runs.
type Upload struct {
	length int
	stream io.Reader
	read   int
	conn   interface{ SetReadDeadline(time.Time) error }
}

type uploadKey struct{}

// UploadOf gives the upload of a request; nil for a request whose body is in memory.
func UploadOf(c *fiber.Ctx) *Upload {
	u, _ := c.Context().UserValue(uploadKey{}).(*Upload)
	return u
}

// Length is the announced number of bytes; below 0 for a body in chunks.
func (u *Upload) Length() int { return u.length }

// ReadUntil bounds the time of the next reads.
func (u *Upload) ReadUntil(t time.Time) error { return u.conn.SetReadDeadline(t) }

// Read implements io.Reader.
func (u *Upload) Read(p []byte) (int, error) {
	n, err := u.stream.Read(p)
	u.read += n
	if errors.Is(err, io.EOF) && u.read < u.length {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

// whole reports whether the body was read to its end, so that the next request begins behind it.
func (u *Upload) whole() bool { return u.length >= 0 && u.read == u.length }

// bytesIn is the length of the body as far as it was read.
func bytesIn(c *fiber.Ctx) int {
	if u := UploadOf(c); u != nil {
		return u.read
	}
	return len(c.Request().Body())
}

func (h Hooks) uploads(header *fasthttp.RequestHeader) bool {
	return h.Uploads != nil && h.Uploads(header)
}

// tooLarge is a header that no request can send, as endOfHeaders is. It marks a body that is refused by its announced
// length.
var tooLarge = []byte(":too-large")

// headReceived is called between the headers and the body. fasthttp would wait for the first bytes of a large body
// before a handler runs: it gets none of a body that is refused, and waits for a single byte of an upload.
func (h Hooks) headReceived(header *fasthttp.RequestHeader) fasthttp.RequestConfig {
	config := markEnd(header)
	switch {
	case h.uploads(header):
		config.MaxRequestBodySize = 1
	case header.ContentLength() > hardBody:
		header.SetContentLength(0)
		header.AddBytesKV(tooLarge, []byte{'1'})
	}
	return config
}

// readBody brings the body of a request into memory, but for an upload, which it notes in ctx. fasthttp streams either
// every body of a server or none.
//
// Returns the errors that fasthttp would meet where it read the body itself.
func readBody(ctx *fasthttp.RequestCtx, hooks Hooks) (*Upload, error) {
	header := &ctx.Request.Header
	if len(header.PeekBytes(tooLarge)) > 0 {
		return nil, fasthttp.ErrBodyTooLarge
	}
	stream := ctx.RequestBodyStream()
	if stream == nil {
		return nil, nil //nolint:nilnil // no body, and no error
	}
	length := header.ContentLength()
	if hooks.uploads(header) {
		u := &Upload{length: length, stream: stream, conn: ctx.Conn()}
		ctx.SetUserValue(uploadKey{}, u)
		return u, nil
	}
	var body []byte
	var err error
	if length >= 0 {
		body = make([]byte, length)
		_, err = io.ReadFull(stream, body)
	} else {
		var b bytes.Buffer
		_, err = io.Copy(&b, io.LimitReader(stream, hardBody+1))
		body = b.Bytes()
	}
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	if err == nil && len(body) > hardBody {
		err = fasthttp.ErrBodyTooLarge
	}
	if err != nil {
		return nil, err
	}
	ctx.Request.SetBodyRaw(body) // lets go of the stream, and copies nothing
	return nil, nil              //nolint:nilnil // as above
}
