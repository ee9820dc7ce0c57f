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

// Changelog lists the API's changes for partners, newest first, in Markdown.
//
//go:embed changelog.md
var Changelog string

// OpenAPIDocument returns the OpenAPI document, parsed once and shared. Callers must not change it.
var OpenAPIDocument = sync.OnceValues(LoadOpenAPIDocument)

// LoadOpenAPIDocument parses openapi.yaml into a new copy, which takes a tenth of a second. A test, not the start,
// compares the examples with their schemas.
func LoadOpenAPIDocument() (*openapi3.T, error) {
	loader := openapi3.NewLoader()
	// Line numbers keep the order of fields, which maps lose.
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

func OpenAPIJSON(doc *openapi3.T, baseURL string) ([]byte, error) {
	served := *doc
	served.Servers = openapi3.Servers{{URL: baseURL, Description: doc.Servers[0].Description}}
	out, err := json.Marshal(&served)
	if err != nil {
		return nil, fmt.Errorf("openapi.json: %w", err)
	}
	return out, nil
}
