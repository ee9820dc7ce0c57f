// Package docs serves openapi.yaml as /openapi.json for programs, as /openapi-3.0.json for programs that cannot read
// OpenAPI 3.1, and as /docs for people. All are rendered once, at start. The page works without scripts and loads
// nothing from other hosts.
package docs

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"fmt"
	"html/template"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/gofiber/fiber/v2"

	"partnerdeposits/adapters/http/middleware"
	"partnerdeposits/adapters/http/partnerapi"
	"partnerdeposits/core/site"
)

//go:embed assets/page.gohtml
var pageSource string

//go:embed assets/docs.css
var stylesheet []byte

//go:embed assets/docs.js
var script []byte

//go:embed assets/search.js
var searchScript []byte

//go:embed assets/try.js
var tryScript []byte

const (
	policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
	// tryPolicy lets the script of "Try it" call this installation, and nothing else.
	tryPolicy = policy + "; connect-src 'self'"

	cacheBriefly = "public, max-age=300"
	cacheForever = "public, max-age=31536000, immutable"
)

// Docs holds the rendered files.
type Docs struct {
	files  map[string]*file // by path
	policy string
}

// file is a rendered file.
type file struct {
	contentType string
	cache       string
	etag        string
	plain       []byte
	gzip        func() []byte // compressed when a reader first asks, so that a process starts sooner
}

// New renders doc for the API at baseURL, which has no slash at its end. With tryIt the page sends requests to this
// installation for readers who type a test key; production has live keys only and goes without.
func New(doc *openapi3.T, baseURL string, tryIt bool) (*Docs, error) {
	js, err := partnerapi.DocumentJSON(doc, baseURL)
	if err != nil {
		return nil, err
	}
	legacy, err := partnerapi.LegacyJSON(js)
	if err != nil {
		return nil, err
	}
	model, err := newPage(doc, baseURL)
	if err != nil {
		return nil, err
	}
	style := newFile("text/css; charset=utf-8", cacheForever, stylesheet)
	model.StylePath = site.Docs + "/docs-" + style.etag + ".css"
	d := &Docs{policy: policy, files: map[string]*file{model.StylePath: style}}
	scripts := map[string][]byte{"docs": script, "search": searchScript}
	if tryIt {
		scripts["try"], model.TryIt, d.policy = tryScript, true, tryPolicy
	}
	for _, name := range slices.Sorted(maps.Keys(scripts)) {
		code := newFile("text/javascript; charset=utf-8", cacheForever, scripts[name])
		path := site.Docs + "/" + name + "-" + code.etag + ".js"
		model.ScriptPaths, d.files[path] = append(model.ScriptPaths, path), code
	}

	page, err := template.New("page").Parse(pageSource)
	if err != nil {
		return nil, fmt.Errorf("docs page: %w", err)
	}
	var html bytes.Buffer
	if err := page.Execute(&html, model); err != nil {
		return nil, fmt.Errorf("docs page: %w", err)
	}
	d.files[site.Document31] = newFile(fiber.MIMEApplicationJSON, cacheBriefly, js)
	d.files[site.Document30] = newFile(fiber.MIMEApplicationJSON, cacheBriefly, legacy)
	d.files[site.Docs] = newFile("text/html; charset=utf-8", cacheBriefly, html.Bytes())
	return d, nil
}

func newFile(contentType, cache string, content []byte) *file {
	sum := sha256.Sum256(content)
	zipped := sync.OnceValue(func() []byte {
		var out bytes.Buffer
		w, _ := gzip.NewWriterLevel(&out, gzip.BestCompression) // cannot fail: the level is valid
		_, _ = w.Write(content)                                 // cannot fail: writes to a buffer
		_ = w.Close()
		return out.Bytes()
	})
	return &file{contentType: contentType, cache: cache, etag: hex.EncodeToString(sum[:8]), plain: content, gzip: zipped}
}

// Register adds /openapi.json, /openapi-3.0.json, /docs, and the stylesheet and scripts of the page.
func (d *Docs) Register(router fiber.Router) {
	for path, f := range d.files {
		router.Get(path, func(c *fiber.Ctx) error {
			c.Set(fiber.HeaderContentSecurityPolicy, d.policy)
			return f.serve(c)
		})
	}
}

func (f *file) serve(c *fiber.Ctx) error {
	etag := `"` + f.etag + `"`
	c.Set(fiber.HeaderXContentTypeOptions, "nosniff")
	c.Set(fiber.HeaderCacheControl, f.cache)
	c.Set(fiber.HeaderETag, etag)
	c.Set(fiber.HeaderVary, fiber.HeaderAcceptEncoding)
	c.Set(fiber.HeaderAccessControlAllowOrigin, "*") // the contract is public; API tools in browsers read it
	if strings.Contains(c.Get(fiber.HeaderIfNoneMatch), etag) {
		return c.SendStatus(fiber.StatusNotModified)
	}
	c.Set(fiber.HeaderContentType, f.contentType)
	if middleware.AcceptsGzip(c.Get(fiber.HeaderAcceptEncoding)) {
		c.Set(fiber.HeaderContentEncoding, "gzip")
		return c.Send(f.gzip())
	}
	return c.Send(f.plain)
}
