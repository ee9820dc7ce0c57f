package middleware

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"

	"partnerdeposits/core/site"
)

// leastCompressed is the size in bytes from which a body is compressed. A smaller body fits a packet or two as it is,
// and its compression would cost more time than its transport.
const leastCompressed = 2 << 10

// compressedTypes are the media types of texts. Images and PDF are compressed already.
var compressedTypes = []string{fiber.MIMETextHTML, fiber.MIMEApplicationJSON, "text/css", "text/javascript", "text/csv"}

// secretMarks are parts of a body that only stand beside a secret: a CSRF token, a checkout URL, a webhook's secret or
// an API key. Whoever chooses a part of such a body (a query, a name, a booking) could learn the secret from the
// compressed size (BREACH), so the body stays as it is.
var secretMarks = [][]byte{[]byte("csrf_token"), []byte(site.Checkouts + "/"), []byte(`"secret"`), []byte("svc_whsec_"),
	[]byte("svc_pk_")}

// Compress compresses pages, lists and documents with gzip for callers that accept it.
func Compress() fiber.Handler {
	return func(c *fiber.Ctx) error {
		if err := c.Next(); err != nil {
			return err
		}
		if !c.Response().IsBodyStream() { // reading a stream here would hold the whole of it
			CompressBody(c)
		}
		return nil
	}
}

// CompressBody compresses the body of the answer, which is in memory, if that is worth it and the caller accepts it.
func CompressBody(c *fiber.Ctx) {
	body := c.Response().Body()
	if len(body) < leastCompressed || !compressible(c, body) {
		return
	}
	c.Vary(fiber.HeaderAcceptEncoding)
	if AcceptsGzip(c.Get(fiber.HeaderAcceptEncoding)) {
		c.Set(fiber.HeaderContentEncoding, "gzip")
		c.Response().SetBodyRaw(fasthttp.AppendGzipBytesLevel(nil, body, fasthttp.CompressBestSpeed))
	}
}

func compressible(c *fiber.Ctx, body []byte) bool {
	header := &c.Response().Header
	if c.Response().StatusCode() != fiber.StatusOK || len(header.ContentEncoding()) > 0 {
		return false
	}
	mediaType, _, _ := bytes.Cut(header.ContentType(), []byte{';'})
	known := false
	for _, t := range compressedTypes {
		known = known || string(mediaType) == t
	}
	if !known {
		return false
	}
	for _, mark := range secretMarks {
		if bytes.Contains(body, mark) {
			return false
		}
	}
	return true
}

// AcceptsGzip reports whether an Accept-Encoding header allows gzip: by name or by *, with a weight above 0
// (RFC 9110, 12.5.3).
func AcceptsGzip(header string) bool {
	anyCoding := false
	for part := range strings.SplitSeq(header, ",") {
		coding, parameters, _ := strings.Cut(part, ";")
		allowed := weight(parameters) > 0
		switch strings.ToLower(strings.TrimSpace(coding)) {
		case "gzip":
			return allowed // has precedence over *
		case "*":
			anyCoding = allowed
		}
	}
	return anyCoding
}

// weight reads the parameter q; 1 without it, 0 for a weight that cannot be read.
func weight(parameters string) float64 {
	name, value, found := strings.Cut(parameters, "=")
	if !found || !strings.EqualFold(strings.TrimSpace(name), "q") {
		return 1
	}
	q, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
	if err != nil {
		return 0
	}
	return q
}
