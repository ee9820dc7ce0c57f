package main

import (
	"encoding/json"
	"strings"
)

// kept are the keywords of a schema that a validator needs.
var kept = []string{"type", "enum", "format", "pattern", "minimum", "maximum", "minLength", "maxLength", "minItems",
	"maxItems", "uniqueItems", "required"}

// clean gives a schema as JSON Schema: without descriptions and defaults, and with unknown fields refused, as the API
// server refuses them. Schemas that it refers to are added.
func (p pruned) clean(schema any, others map[string]map[string]any) any {
	from, ok := schema.(map[string]any)
	if !ok {
		return schema
	}
	if ref := reference(from); ref != "" {
		name := ref[strings.LastIndex(ref, "/")+1:]
		short := name[strings.LastIndex(name, ".")+1:]
		if _, there := p.defs[short]; !there && others != nil {
			p.defs[short] = true // ends circles
			p.defs[short] = p.clean(map[string]any(others[name]), others)
		}
		return map[string]any{"$ref": "#/$defs/" + short}
	}
	if from["x-kubernetes-int-or-string"] == true || from["format"] == "int-or-string" {
		return map[string]any{"type": []string{"integer", "string"}}
	}
	to := map[string]any{}
	for _, keyword := range kept {
		if value, there := from[keyword]; there {
			to[keyword] = value
		}
	}
	p.cleanFields(from, to, others)
	for _, keyword := range []string{"allOf", "anyOf", "oneOf"} {
		if list, _ := from[keyword].([]any); list != nil && from["properties"] == nil {
			var all []any
			for _, one := range list {
				all = append(all, p.clean(one, others))
			}
			to[keyword] = all
		}
	}
	return to
}

// cleanFields cleans the schemas of fields and items.
func (p pruned) cleanFields(from, to map[string]any, others map[string]map[string]any) {
	properties, _ := from["properties"].(map[string]any)
	if len(properties) > 0 {
		fields := map[string]any{}
		for name, field := range properties {
			if name != "status" && name != "managedFields" {
				fields[name] = p.clean(field, others)
			}
		}
		to["properties"] = fields
		to["additionalProperties"] = from["x-kubernetes-preserve-unknown-fields"] == true
	}
	if additional, there := from["additionalProperties"]; there {
		to["additionalProperties"] = p.clean(additional, others)
	}
	if items, there := from["items"]; there {
		to["items"] = p.clean(items, others)
	}
}

// reference is the name in $ref, which OpenAPI wraps in allOf where a default stands beside it.
func reference(schema map[string]any) string {
	if ref, _ := schema["$ref"].(string); ref != "" {
		return ref
	}
	text, err := json.Marshal(schema["allOf"])
	if err != nil {
		return ""
	}
	var all []struct {
		Ref string `json:"$ref"`
	}
	if json.Unmarshal(text, &all) != nil || len(all) != 1 {
		return ""
	}
	return all[0].Ref
}
