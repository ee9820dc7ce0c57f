package middleware

import (
	"bytes"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"

	"partnerdeposits/adapters/http/problem"
	"partnerdeposits/core/fault"
)

// RefuseSmuggling returns the middleware that refuses requests that a proxy in front could read otherwise (request
// smuggling): ambiguous body lengths, other HTTP versions, control characters, folded header lines and trailers.
// It also refuses compressed bodies (a few hundred bytes can unfold to megabytes) and bodies above MaxBodyBytes.
//
// Returns invalid_field, unsupported_media_type or payload_too_large.
func RefuseSmuggling() fiber.Handler {
	return func(c *fiber.Ctx) error {
		header := &c.Request().Header
		if f := framingFault(header); f != nil {
			// After an ambiguous request, the start of the next one cannot be found.
			c.Context().SetConnectionClose()
			return f
		}
		if header.IsHTTP11() && len(header.Host()) == 0 {
			return problem.ErrMalformedRequest.WithMessage("Host: is required")
		}
		if len(header.Peek(fiber.HeaderContentEncoding)) > 0 {
			return fault.ErrUnsupportedMediaType
		}
		if UploadBodyOf(c) == nil && len(c.Request().Body()) > MaxBodyBytes {
			return fault.ErrPayloadTooLarge
		}
		return c.Next()
	}
}

// framingFault returns the fault of an ambiguously framed request, or nil. It checks the raw headers, because
// fasthttp drops a Content-Length beside a Transfer-Encoding.
func framingFault(header *fasthttp.RequestHeader) *fault.Error {
	switch string(header.Protocol()) {
	case "HTTP/1.1", "HTTP/1.0":
	default:
		return problem.ErrMalformedRequest
	}
	lengths, encodings := 0, 0
	for raw := header.RawHeaders(); len(raw) > 0; {
		var line []byte
		line, raw, _ = bytes.Cut(raw, []byte{'\n'})
		line = bytes.TrimSuffix(line, []byte{'\r'})
		// fasthttp joins a folded line, which begins with a space or tab, to the header before, so it is refused.
		if len(line) > 0 && (line[0] == ' ' || line[0] == '\t') {
			return problem.ErrMalformedRequest.WithMessage("a header line must not begin with a space or a tab")
		}
		if bytes.IndexByte(line, '\r') >= 0 || bytes.IndexByte(line, 0) >= 0 {
			return problem.ErrMalformedRequest
		}
		switch name, value, _ := bytes.Cut(line, []byte{':'}); {
		case bytes.EqualFold(name, []byte("Content-Length")):
			lengths++
		case bytes.EqualFold(name, []byte("Transfer-Encoding")):
			encodings++
			if !bytes.EqualFold(bytes.Trim(value, " \t"), []byte("chunked")) {
				// HTTP allows only spaces and tabs around the value; bytes.TrimSpace would remove more.
				return problem.ErrMalformedRequest.WithMessage("Transfer-Encoding: must be chunked")
			}
		}
	}
	switch {
	case lengths > 0 && encodings > 0:
		return problem.ErrMalformedRequest.WithMessage("Transfer-Encoding: must not be combined with Content-Length")
	case lengths > 1 || encodings > 1:
		return problem.ErrMalformedRequest.WithMessage("Content-Length: must be given once")
	case encodings > 0 && hasTrailer(header):
		return problem.ErrMalformedRequest.WithMessage("Trailer: trailers are not accepted")
	}
	return nil
}

// endOfHeaders is a marker that no request can send, since a header name has no colon. It follows the headers of a
// chunked request, to which fasthttp adds trailers, where an API key would count.
var endOfHeaders = []byte(":end")

// markEnd adds the marker endOfHeaders to a chunked request, after the headers are read and before the body.
func markEnd(header *fasthttp.RequestHeader) fasthttp.RequestConfig {
	if header.ContentLength() < 0 && len(header.Peek(fiber.HeaderTransferEncoding)) > 0 {
		header.AddBytesKV(endOfHeaders, nil)
	}
	// The empty RequestConfig keeps the server's limits on bodies and times.
	return fasthttp.RequestConfig{}
}

// hasTrailer reports whether a chunked request has a header after the marker endOfHeaders, and removes the marker.
func hasTrailer(header *fasthttp.RequestHeader) bool {
	marked, found := false, false
	for key := range header.All() {
		// The iterator All adds the header Connection itself; fasthttp refuses a trailer of that name.
		found = found || (marked && !bytes.EqualFold(key, []byte(fiber.HeaderConnection)))
		marked = marked || bytes.Equal(key, endOfHeaders)
	}
	header.DelBytes(endOfHeaders)
	return found || !marked
}
