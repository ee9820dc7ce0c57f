package main

import (
	"slices"
	"strings"
)

// nameOf derives resource and method from a path: POST /deposits/{depositId}/send-link/batch becomes
// deposits.sendLinkBatch, and GET /webhooks/{webhookId}/deliveries deliveries.list.
func nameOf(paths []string, path, verb, shape string) (resource, method string) {
	parts := strings.Split(strings.TrimPrefix(path, pathPrefix), "/")
	root := 0
	for i := 2; i < len(parts); i++ {
		if isParam(parts[i-1]) && !isParam(parts[i]) && isCollection(paths, parts[:i+1]) {
			root = i
		}
	}
	rest := parts[root+1:]
	var words []string
	for i, part := range rest {
		if !isParam(part) && (i+1 == len(rest) || !isParam(rest[i+1])) {
			words = append(words, strings.Split(part, "-")...)
		}
	}
	item := len(rest) > 0 && isParam(rest[0])
	switch {
	case len(words) > 0:
		method = camel(words)
	case verb == "GET" && shape == ShapePage:
		method = "list"
	case verb == "GET":
		method = "get"
	case verb == "POST" && !item:
		method = "create"
	case verb == "PATCH":
		method = "update"
	default:
		method = strings.ToLower(verb)
	}
	return camel(strings.Split(parts[root], "-")), method
}

// isCollection reports whether another path of the API leads to an item below this one.
func isCollection(paths []string, parts []string) bool {
	prefix := pathPrefix + strings.Join(parts, "/") + "/{"
	return slices.ContainsFunc(paths, func(path string) bool { return strings.HasPrefix(path, prefix) })
}

func isParam(part string) bool { return strings.HasPrefix(part, "{") }

func camel(words []string) string {
	out := words[0]
	for _, word := range words[1:] {
		out += title(word)
	}
	return out
}
