package middleware

import (
	"bytes"

	"github.com/gofiber/fiber/v2"

	"partnerdeposits/adapters/http/problem"
	"partnerdeposits/core/fault"
)

// Framing refuses requests whose body must not be looked at: of doubtful length (a proxy in front could see another
// request in it), compressed (a few hundred bytes can unfold to megabytes), or larger than MaxBody.
func Framing() fiber.Handler {
	return func(c *fiber.Ctx) error {
		header := &c.Request().Header
		if f := framingFault(header.RawHeaders()); f != nil {
			c.Context().SetConnectionClose() // what follows on this connection cannot be trusted
			return f
		}
		if header.IsHTTP11() && len(header.Host()) == 0 {
			return problem.ErrMalformed.WithMessage("Host: is required")
		}
		if len(header.Peek(fiber.HeaderContentEncoding)) > 0 {
			return fault.ErrMediaType
		}
		if len(c.Request().Body()) > MaxBody {
			return fault.ErrTooLarge
		}
		return c.Next()
	}
}

// framingFault reads the header block as it came: fasthttp keeps neither a Content-Length beside a Transfer-Encoding
// nor a second Content-Length.
func framingFault(raw []byte) *fault.Error {
	lengths, encodings := 0, 0
	for len(raw) > 0 {
		line := raw
		if i := bytes.IndexByte(raw, '\n'); i >= 0 {
			line, raw = raw[:i], raw[i+1:]
		} else {
			raw = nil
		}
		switch name, value, _ := bytes.Cut(line, []byte{':'}); {
		case bytes.EqualFold(name, []byte("Content-Length")):
			lengths++
		case bytes.EqualFold(name, []byte("Transfer-Encoding")):
			encodings++
			if !bytes.EqualFold(bytes.TrimSpace(value), []byte("chunked")) {
				return problem.ErrMalformed.WithMessage("Transfer-Encoding: must be chunked")
			}
		}
	}
	switch {
	case lengths > 0 && encodings > 0:
		return problem.ErrMalformed.WithMessage("Transfer-Encoding: must not be combined with Content-Length")
	case lengths > 1 || encodings > 1:
		return problem.ErrMalformed.WithMessage("Content-Length: must be given once")
	}
	return nil
}
