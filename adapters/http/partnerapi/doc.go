// Package partnerapi serves the partner API over HTTP. openapi.yaml is the contract: types, decoding and routing
// are generated from it (api.gen.go), requests and, in tests, responses are checked against it, and /openapi.json,
// /openapi-3.0.json and /docs show it (ADR 0015).
//
// routes.go has the route table and the order of checks. A handler receives a checked request, calls a use case
// and converts the result. Errors become responses in adapters/http/problem.
package partnerapi

//go:generate oapi-codegen -config oapi-codegen.yaml openapi.yaml
//go:generate go run partnerdeposits/sdk/generate -document openapi.yaml -out ../../../sdk
