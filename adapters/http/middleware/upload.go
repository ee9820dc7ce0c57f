package middleware

import (
	"bytes"
	"errors"
	"io"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"
)

// UploadTimeout is the longest time of a handler that reads an upload; the handler limits each part.
const UploadTimeout = 5 * time.Minute

// UploadBody is a request body that its handler reads from the connection; all others are in memory.
type UploadBody struct {
	length int
	stream io.Reader
	read   int
	conn   interface{ SetReadDeadline(time.Time) error }
}

type uploadKey struct{}

// UploadBodyOf returns the upload of a request; nil for a body in memory.
func UploadBodyOf(c *fiber.Ctx) *UploadBody {
	u, _ := c.Context().UserValue(uploadKey{}).(*UploadBody)
	return u
}

// Length returns an upload's announced length in bytes; negative for a chunked body.
func (u *UploadBody) Length() int { return u.length }

func (u *UploadBody) SetReadDeadline(t time.Time) error { return u.conn.SetReadDeadline(t) }

// Read reads from the upload. A body that ends too early returns io.ErrUnexpectedEOF.
func (u *UploadBody) Read(p []byte) (int, error) {
	n, err := u.stream.Read(p)
	u.read += n
	if errors.Is(err, io.EOF) && u.read < u.length {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

// whole reports whether an upload was read to its end, so that the next request begins after it.
func (u *UploadBody) whole() bool { return u.length >= 0 && u.read == u.length }

// bytesIn returns the request body's length for the access log; of an upload, the part that was read.
func bytesIn(c *fiber.Ctx) int {
	if u := UploadBodyOf(c); u != nil {
		return u.read
	}
	return len(c.Request().Body())
}

func (h ServerHooks) uploads(header *fasthttp.RequestHeader) bool {
	return h.Uploads != nil && h.Uploads(header)
}

// tooLarge is a header that no request can send, since its name begins with a colon. It marks a request whose
// announced body is too large.
var tooLarge = []byte(":too-large")

// headReceived is the callback between a request's head and body. fasthttp would wait for a large body's first
// bytes before a handler runs: a body to be refused gets length 0, and of an upload one byte is awaited.
func (h ServerHooks) headReceived(header *fasthttp.RequestHeader) fasthttp.RequestConfig {
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

// readBody reads a request body into memory; an upload is stored in ctx unread. fasthttp itself streams either
// every body of a server or none.
//
// Returns the errors of fasthttp's own reading.
func readBody(ctx *fasthttp.RequestCtx, hooks ServerHooks) (*UploadBody, error) {
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
		u := &UploadBody{length: length, stream: stream, conn: ctx.Conn()}
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
	// SetBodyRaw replaces the stream by its bytes without copying them.
	ctx.Request.SetBodyRaw(body)
	return nil, nil //nolint:nilnil // as above
}
