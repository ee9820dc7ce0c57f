package partnerapi_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/http/partnerapi"
)

// served returns both documents as the service serves them.
func served(t *testing.T) (current, legacy []byte) {
	t.Helper()
	doc, err := partnerapi.OpenAPIDocument()
	require.NoError(t, err)
	current, err = partnerapi.OpenAPIJSON(doc, apiBase)
	require.NoError(t, err)
	legacy, err = partnerapi.OpenAPI30JSON(current)
	require.NoError(t, err)
	return current, legacy
}

// Both documents are valid.
func TestDocuments_AreValid(t *testing.T) {
	t.Parallel()
	current, legacy := served(t)
	for version, text := range map[string][]byte{"3.1.0": current, "3.0.3": legacy} {
		doc, err := openapi3.NewLoader().LoadFromData(text)
		require.NoError(t, err, version)
		require.Equal(t, version, doc.OpenAPI)
		require.NoError(t, doc.Validate(t.Context(), openapi3.EnableExamplesValidation()), version)
	}
}

// The source is plain 3.1: the words of 3.0 mean nothing there, and readers skip them in silence.
func TestDocument_HasNoWordsOfOpenAPI30(t *testing.T) {
	t.Parallel()
	current, legacy := served(t)
	require.NotRegexp(t, `"nullable":|"exclusive(Minimum|Maximum)":(true|false)`, string(current))
	require.Contains(t, string(legacy), `"nullable":true`)
	require.NotContains(t, string(legacy), `"null"`)
	require.NotContains(t, string(legacy), `"webhooks":{`)
}

// The 3.0.3 document has the routes, statuses, fields and examples of the 3.1 document.
func TestLegacyJSON_KeepsTheContract(t *testing.T) {
	t.Parallel()
	current, legacy := served(t)
	load := func(text []byte) *openapi3.T {
		doc, err := openapi3.NewLoader().LoadFromData(text)
		require.NoError(t, err)
		return doc
	}
	a, b := load(current), load(legacy)
	require.Equal(t, outline(a), outline(b))
	require.Greater(t, len(outline(b)), 400)
}

// outline lists the operations with their statuses and examples, and the schemas with their properties.
func outline(doc *openapi3.T) map[string]string {
	out := map[string]string{}
	for path, item := range doc.Paths.Map() {
		for method, op := range item.Operations() {
			for status, ref := range op.Responses.Map() {
				text, _ := json.Marshal(ref.Value.Content) // cannot fail: the document was JSON
				out[method+" "+path+" "+status] = regexp.MustCompile(`"schema":\{[^}]*\}`).ReplaceAllString(string(text), "")
			}
		}
	}
	for name, ref := range doc.Components.Schemas {
		for field, property := range ref.Value.Properties {
			out[name+"."+field] = fmt.Sprint(property.Value.Description, property.Value.PermitsNull(), property.Value.Enum,
				property.Value.Format)
		}
		out[name] = fmt.Sprint(ref.Value.Required, ref.Value.Enum)
	}
	return out
}

func TestLegacyJSON_SaysTheSameInOlderWords(t *testing.T) {
	t.Parallel()
	const frame = `{"openapi":%q,"components":{"schemas":{"S":%s}},"paths":{"/a":{"get":{"parameters":[{"schema":%s,"example":{"type":["x","null"]}}]}}}%s}`
	cases := map[string]string{
		`{"type":["string","null"],"maxLength":3}`:                                 `{"maxLength":3,"nullable":true,"type":"string"}`,
		`{"type":["integer"]}`:                                                     `{"type":"integer"}`,
		`{"const":"a"}`:                                                            `{"enum":["a"]}`,
		`{"exclusiveMinimum":0,"type":"number"}`:                                   `{"exclusiveMinimum":true,"minimum":0,"type":"number"}`,
		`{"examples":["a","b"]}`:                                                   `{"example":"a"}`,
		`{"$ref":"#/x","description":"d"}`:                                         `{"allOf":[{"$ref":"#/x"}],"description":"d"}`,
		`{"$ref":"#/x"}`:                                                           `{"$ref":"#/x"}`,
		`{"anyOf":[{"$ref":"#/x"},{"type":"null"}]}`:                               `{"allOf":[{"$ref":"#/x"}],"nullable":true}`,
		`{"oneOf":[{"$ref":"#/x"},{"$ref":"#/y"},{"type":"null"}]}`:                `{"nullable":true,"oneOf":[{"$ref":"#/x"},{"$ref":"#/y"}]}`,
		`{"properties":{"type":{"type":["boolean","null"]}}}`:                      `{"properties":{"type":{"nullable":true,"type":"boolean"}}}`,
		`{"items":{"additionalProperties":{"type":["string","null"]}},"x-go":[1]}`: `{"items":{"additionalProperties":{"nullable":true,"type":"string"}},"x-go":[1]}`,
	}
	for in, want := range cases {
		got, err := partnerapi.OpenAPI30JSON(
			fmt.Appendf(nil, frame, "3.1.0", in, in, `,"webhooks":{"e":{}},"jsonSchemaDialect":"d"`))
		require.NoError(t, err, in)
		require.JSONEq(t, fmt.Sprintf(frame, "3.0.3", want, want, ""), string(got), in)
	}
	for _, in := range []string{`{"if":{}}`, `{"type":["string","integer"]}`, `{"properties":{"a":{"prefixItems":[]}}}`,
		`{"minimum":1,"exclusiveMinimum":0}`} {
		_, err := partnerapi.OpenAPI30JSON(fmt.Appendf(nil, frame, "3.1.0", in, `{}`, ""))
		require.Error(t, err, in)
	}
}
