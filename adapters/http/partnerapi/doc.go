// Package partnerapi is the partner API over HTTP. The contract is openapi.yaml: types, routing and decoding are
// generated from it (api.gen.go), requests are checked against it (validator.go), answers in tests too (contracttest),
// and /openapi.json and /docs show it. A handler decodes nothing itself: it gets what the document promises, calls one
// use case and maps the result. Errors are returned as they are; adapters/http/problem answers them.
package partnerapi

//go:generate oapi-codegen -config oapi-codegen.yaml openapi.yaml
