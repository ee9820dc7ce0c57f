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

// Changelog lists the changes of the contract for partners, in the Markdown that the page at /docs understands, newest
// first.
//
//go:embed changelog.md
var Changelog string

// Document returns openapi.yaml, parsed once and shared. Callers must not change the document.
var Document = sync.OnceValues(LoadDocument)

// LoadDocument parses openapi.yaml into a new copy, which takes a tenth of a second. It does not compare the examples
// with their schemas, which would take another quarter of a second at each start: a test of the document does.
func LoadDocument() (*openapi3.T, error) {
	loader := openapi3.NewLoader()
	loader.IncludeOrigin = true // line numbers give the order of fields, which maps lose
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

// DocumentJSON renders doc as JSON with baseURL as the only server.
func DocumentJSON(doc *openapi3.T, baseURL string) ([]byte, error) {
	served := *doc
	served.Servers = openapi3.Servers{{URL: baseURL, Description: doc.Servers[0].Description}}
	out, err := json.Marshal(&served)
	if err != nil {
		return nil, fmt.Errorf("openapi.json: %w", err)
	}
	return out, nil
}
