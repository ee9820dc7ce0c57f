package middleware

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"

	"partnerdeposits/core/site"
)

// leastCompressed is the smallest response body in bytes that is compressed; for smaller ones compressing takes
// longer than sending.
const leastCompressed = 2 << 10

// compressedTypes lists the media types of responses that are compressed: texts. Images and PDF are compressed
// already.
var compressedTypes = []string{fiber.MIMETextHTML, fiber.MIMEApplicationJSON, "text/css", "text/javascript", "text/csv"}

// secretMarks lists byte strings that show that a response contains a secret. Such a body is not compressed:
// whoever chooses a part of it could learn the secret from the compressed size (BREACH).
var secretMarks = [][]byte{[]byte("csrf_token"), []byte(site.CheckoutPathPrefix + "/"), []byte(`"secret"`),
	[]byte("svc_whsec_"),
	[]byte("svc_pk_")}

// Compress returns the middleware that compresses pages, lists and documents with gzip for callers that accept it.
func Compress() fiber.Handler {
	return func(c *fiber.Ctx) error {
		if err := c.Next(); err != nil {
			return err
		}
		// A stream is not compressed, since that would hold all of it in memory.
		if !c.Response().IsBodyStream() {
			CompressBody(c)
		}
		return nil
	}
}

// CompressBody compresses a response body in memory if it is long enough, has no secret, and the caller accepts
// gzip.
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

// AcceptsGzip reports whether an Accept-Encoding header allows gzip, by name or *, with a weight above 0 (RFC
// 9110, 12.5.3).
func AcceptsGzip(header string) bool {
	anyCoding := false
	for part := range strings.SplitSeq(header, ",") {
		coding, parameters, _ := strings.Cut(part, ";")
		allowed := weight(parameters) > 0
		switch strings.ToLower(strings.TrimSpace(coding)) {
		case "gzip":
			// In Accept-Encoding, an entry for gzip takes precedence over * (any encoding).
			return allowed
		case "*":
			anyCoding = allowed
		}
	}
	return anyCoding
}

// weight returns the parameter q of an Accept-Encoding entry: 1 if absent, 0 if invalid.
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
