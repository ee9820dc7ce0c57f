package partnerapi

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"sync"

	"github.com/getkin/kin-openapi/openapi3"
)

//go:embed openapi.yaml
var documentYAML []byte

// Changelog is the list of changes to the API for partners, newest first, in the Markdown that the page at /docs
// can render.
//
//go:embed changelog.md
var Changelog string

// OpenAPIDocument returns the OpenAPI document, parsed once and shared. Callers must not change it.
var OpenAPIDocument = sync.OnceValues(LoadOpenAPIDocument)

// LoadOpenAPIDocument parses openapi.yaml into a new copy, which takes a tenth of a second. It does not compare the
// examples with their schemas, which would take another quarter of a second at each start; a test does.
func LoadOpenAPIDocument() (*openapi3.T, error) {
	loader := openapi3.NewLoader()
	// Line numbers are kept, because they give the order of fields, which maps lose.
	loader.IncludeOrigin = true
	doc, err := loader.LoadFromData(documentYAML)
	if err != nil {
		return nil, fmt.Errorf("openapi.yaml: %w", err)
	}
	if err := doc.Validate(context.Background(), openapi3.DisableExamplesValidation()); err != nil {
		return nil, fmt.Errorf("openapi.yaml: %w", err)
	}
	if err := MarkDeprecated(doc, Deprecations); err != nil {
		return nil, err
	}
	return doc, nil
}

// OpenAPIJSON renders an OpenAPI document as JSON with baseURL as the only server.
func OpenAPIJSON(doc *openapi3.T, baseURL string) ([]byte, error) {
	served := *doc
	served.Servers = openapi3.Servers{{URL: baseURL, Description: doc.Servers[0].Description}}
	out, err := json.Marshal(&served)
	if err != nil {
		return nil, fmt.Errorf("openapi.json: %w", err)
	}
	return out, nil
}
