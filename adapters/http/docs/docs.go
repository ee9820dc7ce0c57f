// Package docs serves the documentation for partners at /docs: the guides of docs/guides, and the reference made
// from openapi.yaml. It also serves /openapi.json, /openapi-3.0.json for programs that cannot read OpenAPI 3.1,
// and /egress.json. Pages are HTML for people and Markdown for programs, work without scripts and load nothing
// from other hosts. They are made at the first request, so that a process starts sooner.
package docs

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"encoding/json"
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
	// tryPolicy is the Content-Security-Policy that lets the script of "Try it" call this installation only.
	tryPolicy = policy + "; connect-src 'self'"

	cacheBriefly = "public, max-age=300"
	cacheForever = "public, max-age=31536000, immutable"
)

type Docs struct {
	files  map[string]*file
	policy string
}

// file is a file of the documentation site, whose content is made at the first request.
type file struct {
	contentType string
	cache       string
	made        func() (*content, error)
}

type content struct {
	etag  string
	plain []byte
	gzip  func() []byte
}

// New prepares the documentation site for the API at baseURL, which has no slash at its end. With tryIt readers
// can send requests with a test key; production has only live keys, so tryIt is false there.
func New(doc *openapi3.T, baseURL string, tryIt bool) *Docs {
	d := &Docs{policy: policy, files: map[string]*file{}}
	b := &builder{TryIt: tryIt, Index: site.DocsPath + "/entries.js"}
	b.Style = d.asset("docs", "css", "text/css; charset=utf-8", stylesheet)
	scripts := map[string][]byte{"docs": script, "search": searchScript}
	if tryIt {
		scripts["try"], d.policy = tryScript, tryPolicy
	}
	for _, name := range slices.Sorted(maps.Keys(scripts)) {
		b.Scripts = append(b.Scripts, d.asset(name, "js", "text/javascript; charset=utf-8", scripts[name]))
	}
	built := sync.OnceValues(func() (map[string][]byte, error) { return build(doc, baseURL, b) })
	page := func(path, contentType string) {
		d.add(path, contentType, cacheBriefly, func() ([]byte, error) {
			files, err := built()
			return files[path], err
		})
	}
	for _, c := range contents() {
		for _, p := range c.Pages {
			page(p.Path(), "text/html; charset=utf-8")
			page(p.File(), "text/markdown; charset=utf-8")
		}
	}
	page(b.Index, "text/javascript; charset=utf-8")
	page(site.LLMsTextPath, "text/plain; charset=utf-8")
	page(site.DocsPath+site.LLMsTextPath, "text/plain; charset=utf-8")

	document := sync.OnceValues(func() ([]byte, error) { return partnerapi.OpenAPIJSON(doc, baseURL) })
	d.add(site.OpenAPI31Path, fiber.MIMEApplicationJSON, cacheBriefly, document)
	d.add(site.OpenAPI30Path, fiber.MIMEApplicationJSON, cacheBriefly, func() ([]byte, error) {
		js, err := document()
		if err != nil {
			return nil, err
		}
		return partnerapi.OpenAPI30JSON(js)
	})
	return d
}

// AddEgressRanges adds /egress.json, the address ranges of webhook deliveries. Without ranges the file does not
// exist: an empty list would make a firewall block every delivery.
func (d *Docs) AddEgressRanges(ranges []string) *Docs {
	if len(ranges) > 0 {
		d.add(site.EgressAddressesPath, fiber.MIMEApplicationJSON, cacheBriefly, func() ([]byte, error) {
			return json.Marshal(map[string][]string{"addresses": ranges})
		})
	}
	return d
}

// asset adds a file under a name with a hash of its content, and returns its path.
func (d *Docs) asset(name, ending, contentType string, content []byte) string {
	path := site.DocsPath + "/" + name + "-" + etagOf(content) + "." + ending
	d.add(path, contentType, cacheForever, func() ([]byte, error) { return content, nil })
	return path
}

func (d *Docs) add(path, contentType, cache string, make func() ([]byte, error)) {
	d.files[path] = &file{contentType: contentType, cache: cache, made: sync.OnceValues(func() (*content, error) {
		plain, err := make()
		if err != nil {
			return nil, err
		}
		gzip := sync.OnceValue(func() []byte { return zipped(plain) })
		return &content{etag: `"` + etagOf(plain) + `"`, plain: plain, gzip: gzip}, nil
	})}
}

func etagOf(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:8])
}

func zipped(plain []byte) []byte {
	var out bytes.Buffer
	// The error is ignored: gzip.NewWriterLevel fails only for an invalid level.
	w, _ := gzip.NewWriterLevel(&out, gzip.BestCompression)
	_, _ = w.Write(plain) // The error is ignored: writing to a buffer in memory never fails.
	_ = w.Close()
	return out.Bytes()
}

// Mount adds the documentation's routes. The files below /docs share one route, since a route is a label of
// metrics.
func (d *Docs) Mount(router fiber.Router) {
	serve := func(c *fiber.Ctx, path string) error {
		f, ok := d.files[path]
		if !ok {
			return c.Next()
		}
		c.Set(fiber.HeaderContentSecurityPolicy, d.policy)
		return f.serve(c)
	}
	for path := range d.files {
		if !strings.HasPrefix(path, site.DocsPath+"/") {
			router.Get(path, func(c *fiber.Ctx) error { return serve(c, path) })
		}
	}
	router.Get(site.DocsPath+"/:file", func(c *fiber.Ctx) error { return serve(c, site.DocsPath+"/"+c.Params("file")) })
}

func (f *file) serve(c *fiber.Ctx) error {
	content, err := f.made()
	if err != nil {
		return err
	}
	c.Set(fiber.HeaderXContentTypeOptions, "nosniff")
	c.Set(fiber.HeaderCacheControl, f.cache)
	c.Set(fiber.HeaderETag, content.etag)
	c.Set(fiber.HeaderVary, fiber.HeaderAcceptEncoding)
	// Scripts of any website may read the documentation: the contract is public, and API tools in browsers load it.
	c.Set(fiber.HeaderAccessControlAllowOrigin, "*")
	if strings.Contains(c.Get(fiber.HeaderIfNoneMatch), content.etag) {
		return c.SendStatus(fiber.StatusNotModified)
	}
	c.Set(fiber.HeaderContentType, f.contentType)
	if middleware.AcceptsGzip(c.Get(fiber.HeaderAcceptEncoding)) {
		c.Set(fiber.HeaderContentEncoding, "gzip")
		return c.Send(content.gzip())
	}
	return c.Send(content.plain)
}
