package partnerapi

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// legacyVersion is the OpenAPI version for tools that cannot read 3.1.
const legacyVersion = "3.0.3"

// OpenAPI30JSON translates an OpenAPI 3.1 document to 3.0.3. Webhooks are left out: the callbacks of createWebhook
// describe the same bodies. It returns an error for a schema keyword that 3.0 lacks.
func OpenAPI30JSON(document []byte) ([]byte, error) {
	var doc map[string]any
	if err := json.Unmarshal(document, &doc); err != nil {
		return nil, fmt.Errorf("openapi-3.0.json: %w", err)
	}
	doc["openapi"] = legacyVersion
	delete(doc, "webhooks")
	delete(doc, "jsonSchemaDialect")
	if err := legacyNode(doc); err != nil {
		return nil, fmt.Errorf("openapi-3.0.json: %w", err)
	}
	out, err := json.Marshal(doc)
	if err != nil {
		return nil, fmt.Errorf("openapi-3.0.json: %w", err)
	}
	return out, nil
}

// legacyNode translates to OpenAPI 3.0, in place, all schemas below a node that is no schema itself.
func legacyNode(node any) error {
	switch v := node.(type) {
	case []any:
		for _, item := range v {
			if err := legacyNode(item); err != nil {
				return err
			}
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if err := legacyChild(v, key); err != nil {
				return fmt.Errorf("%s: %w", key, err)
			}
		}
	}
	return nil
}

func legacyChild(parent map[string]any, key string) error {
	switch key {
	// An example holds values, not schemas, so it is not translated.
	case "example", "examples":
		return nil
	case "schema":
		return legacySchema(parent[key])
	case "schemas":
		return legacySchemas(parent[key])
	}
	return legacyNode(parent[key])
}

func legacySchemas(node any) error {
	switch v := node.(type) {
	case []any:
		for _, s := range v {
			if err := legacySchema(s); err != nil {
				return err
			}
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if err := legacySchema(v[name]); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
	}
	return nil
}

var legacyKeywords = []string{
	"$ref", "additionalProperties", "allOf", "anyOf", "default", "deprecated", "description", "discriminator", "enum",
	"example",
	"exclusiveMaximum", "exclusiveMinimum", "externalDocs", "format", "items", "maxItems", "maxLength", "maxProperties",
	"maximum",
	"minItems", "minLength", "minProperties", "minimum", "multipleOf", "not", "nullable", "oneOf", "pattern", "properties",
	"readOnly",
	"required", "title", "type", "uniqueItems", "writeOnly",
}

// legacySchema translates a schema to OpenAPI 3.0, in place. A node that is no object stays: additionalProperties
// may be a bool.
func legacySchema(node any) error {
	s, ok := node.(map[string]any)
	if !ok {
		return nil
	}
	for _, translate := range []func(map[string]any) error{legacyType, legacyUnion, legacyBounds, legacyValues,
		legacyRef} {
		if err := translate(s); err != nil {
			return err
		}
	}
	for key := range s {
		if !slices.Contains(legacyKeywords, key) && (len(key) < 2 || key[:2] != "x-") {
			return fmt.Errorf("OpenAPI %s has no %q", legacyVersion, key)
		}
	}
	for _, key := range []string{"items", "additionalProperties", "not"} {
		if err := legacySchema(s[key]); err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
	}
	for _, key := range []string{"properties", "allOf", "anyOf", "oneOf"} {
		if err := legacySchemas(s[key]); err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
	}
	return nil
}

// legacyType replaces the type [string, null] with a nullable string, as OpenAPI 3.0 expects; other types
// likewise.
func legacyType(s map[string]any) error {
	types, ok := s["type"].([]any)
	if !ok {
		return nil
	}
	rest := slices.DeleteFunc(slices.Clone(types), func(t any) bool { return t == "null" })
	if len(rest) != 1 {
		return fmt.Errorf("OpenAPI %s has no type %v", legacyVersion, types)
	}
	s["type"] = rest[0]
	if len(rest) < len(types) {
		s["nullable"] = true
	}
	return nil
}

// legacyUnion replaces a choice between a schema and null with a nullable schema for OpenAPI 3.0.
func legacyUnion(s map[string]any) error {
	for _, key := range []string{"anyOf", "oneOf"} {
		choices, ok := s[key].([]any)
		if !ok {
			continue
		}
		rest := slices.DeleteFunc(slices.Clone(choices), func(c any) bool {
			choice, _ := c.(map[string]any)
			return choice["type"] == "null"
		})
		if len(rest) == len(choices) {
			continue
		}
		s["nullable"] = true
		s[key] = rest
		if len(rest) == 1 {
			delete(s, key)
			s["allOf"] = rest
		}
	}
	return nil
}

// legacyBounds replaces an exclusive bound with a bound and a flag for OpenAPI 3.0.
func legacyBounds(s map[string]any) error {
	for exclusive, inclusive := range map[string]string{"exclusiveMinimum": "minimum", "exclusiveMaximum": "maximum"} {
		bound, ok := s[exclusive].(float64)
		if !ok {
			continue
		}
		if _, both := s[inclusive]; both {
			return fmt.Errorf("OpenAPI %s cannot have both %s and %s", legacyVersion, exclusive, inclusive)
		}
		s[inclusive], s[exclusive] = bound, true
	}
	return nil
}

// legacyValues replaces const with an enum of one value, and examples with the first, for OpenAPI 3.0.
func legacyValues(s map[string]any) error {
	if value, ok := s["const"]; ok {
		s["enum"] = []any{value}
		delete(s, "const")
	}
	if examples, ok := s["examples"].([]any); ok {
		if len(examples) > 0 {
			s["example"] = examples[0]
		}
		delete(s, "examples")
	}
	return nil
}

// legacyRef wraps a $ref with siblings in allOf, since OpenAPI 3.0 ignores siblings of $ref.
func legacyRef(s map[string]any) error {
	ref, ok := s["$ref"]
	if !ok || len(s) == 1 {
		return nil
	}
	delete(s, "$ref")
	all, _ := s["allOf"].([]any)
	s["allOf"] = append([]any{map[string]any{"$ref": ref}}, all...)
	return nil
}
