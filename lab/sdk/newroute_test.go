package sdk_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"partnerdeposits/lab/docstest"
	"partnerdeposits/lab/rarely"
)

// madeUpRoute is a route that the API does not have, with a list, a type of its own, and a key.
const madeUpRoute = `
  /api/partner/v1/umbrellas:
    get:
      operationId: listUmbrellas
      tags: [Deposits]
      summary: List umbrellas
      description: Lists umbrellas.
      parameters:
        - {name: colour, in: query, description: Their colour., schema: {type: string}}
        - {$ref: '#/components/parameters/Limit'}
        - {$ref: '#/components/parameters/Cursor'}
      responses:
        '200':
          description: A page of umbrellas.
          content:
            application/json:
              schema:
                type: object
                required: [data, pagination]
                properties:
                  data: {type: array, items: {$ref: '#/components/schemas/Umbrella'}}
                  pagination: {$ref: '#/components/schemas/Pagination'}
    post:
      operationId: createUmbrella
      tags: [Deposits]
      summary: Create an umbrella
      description: Creates an umbrella.
      parameters:
        - {$ref: '#/components/parameters/IdempotencyKey'}
      requestBody:
        required: true
        content:
          application/json:
            schema: {$ref: '#/components/schemas/UmbrellaRequest'}
            example: {colour: red, amount: 12.50}
      responses:
        '201':
          description: The umbrella.
          content:
            application/json:
              schema: {type: object, required: [data], properties: {data: {$ref: '#/components/schemas/Umbrella'}}}
  /api/partner/v1/umbrellas/{umbrellaId}/open-wide:
    post:
      operationId: openUmbrella
      tags: [Deposits]
      summary: Open an umbrella
      description: Opens an umbrella.
      parameters:
        - {name: umbrellaId, in: path, required: true, description: Its id., schema: {type: string}}
      responses:
        '204': {description: It is open.}
`

const madeUpTypes = `
    UmbrellaRequest:
      type: object
      required: [colour]
      properties:
        colour: {type: string, description: Its colour.}
        amount: {type: number, format: double, description: 'What it costs, in euros.'}

    Umbrella:
      type: object
      description: An umbrella.
      required: [id, colour]
      properties:
        id: {type: string, description: Its id.}
        colour: {type: string, enum: [red, blue], description: Its colour.}
        madeAt: {type: string, format: date-time, description: When it was made.}
`

const madeUpCases = `[
{"name": "list", "kind": "call",
 "input": {"call": "umbrellas.list", "args": [{"colour": "red", "limit": 1}], "answers": [
   {"status": 200, "body": {"data": [{"id": "u1", "colour": "red"}],
    "pagination": {"nextCursor": "c2", "hasMore": true}}},
   {"status": 200, "body": {"data": [{"id": "u2", "colour": "red"}],
    "pagination": {"nextCursor": null, "hasMore": false}}}]},
 "want": {"value": [{"id": "u1"}, {"id": "u2"}], "requests": [
   {"method": "GET", "path": "/api/partner/v1/umbrellas?colour=red&limit=1"},
   {"method": "GET", "path": "/api/partner/v1/umbrellas?colour=red&limit=1&cursor=c2"}]}},
{"name": "create", "kind": "call",
 "input": {"call": "umbrellas.create", "args": [{"colour": "blue", "amount": "12.50"}], "answers": [
   {"status": 503},
   {"status": 201, "body": {"data": {"id": "u3", "colour": "blue", "madeAt": "2026-06-02T09:58:03.471Z"}}}]},
 "want": {"value": {"id": "u3"}, "sameKey": true, "requests": [
   {"method": "POST", "path": "/api/partner/v1/umbrellas", "amount": "12.50"}, {"body": {"colour": "blue"}}]}},
{"name": "act", "kind": "call",
 "input": {"call": "umbrellas.openWide", "args": ["u 1"], "answers": [{"status": 204}]},
 "want": {"requests": [{"method": "POST", "path": "/api/partner/v1/umbrellas/u%201/open-wide"}]}}
]`

// TestNewRoute_IsInEveryLibrary_WithNoLineByHand adds a route to the document, generates, and calls the route in each
// language.
func TestNewRoute_IsInEveryLibrary_WithNoLineByHand(t *testing.T) {
	t.Parallel()
	if !rarely.MustRun(t, rarely.LibraryTests) {
		return
	}
	root := t.TempDir()
	require.NoError(t, os.CopyFS(filepath.Join(root, "sdk"), os.DirFS(sdk())))
	document := docstest.ReadFile(t, "adapters/http/partnerapi/openapi.yaml")
	document = strings.Replace(document, "\npaths:\n", "\npaths:"+madeUpRoute, 1)
	document = strings.Replace(document, "\n  schemas:\n", "\n  schemas:"+madeUpTypes, 1)
	require.Equal(t, 2, strings.Count(document, "createUmbrella")+strings.Count(document, "    UmbrellaRequest:"))
	file := filepath.Join(root, "openapi.yaml")
	require.NoError(t, os.WriteFile(file, []byte(document), 0o600))
	in(t, docstest.RepositoryRoot(), nil, "go", "run", "./sdk/generate", "-document", file, "-out", filepath.Join(root,
		"sdk"))

	var samples map[string]map[string]string // of the reference at /docs
	text, err := os.ReadFile(filepath.Join(root, "sdk", "samples", "samples.gen.json"))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, &samples))
	require.Equal(t, "foreach ($client->umbrellas->list() as $each) {", strings.Split(samples["listUmbrellas"]["php"], "\n")[1])
	require.Contains(t, samples["createUmbrella"]["node"], "client.umbrellas.create({ colour: 'red', amount: '12.50' })")
	require.Contains(t, samples["createUmbrella"]["go"], `Colour: "red",`)
	require.Contains(t, samples["openUmbrella"]["python"], `client.umbrellas.open_wide("{umbrellaId}")`)

	cases := filepath.Join(root, "cases.json")
	require.True(t, json.Valid([]byte(madeUpCases)))
	require.NoError(t, os.WriteFile(cases, []byte(madeUpCases), 0o600))
	for _, l := range languages() {
		t.Run(l.name, func(t *testing.T) {
			said, err := l.command(t.Context(), t, filepath.Join(root, "sdk"), cases).CombinedOutput()
			require.NoError(t, err, string(said))
			require.Contains(t, string(said), "3 cases, 0 failed")
		})
	}
	in(t, filepath.Join(root, "sdk", "go"), nil, "go", "vet", "./...")
	in(t, filepath.Join(root, "sdk", "node"), nil, "tsc", "--noEmit", "-p", ".")
	in(t, filepath.Join(root, "sdk", "python"), []string{"MYPYPATH=src"}, python, "-m", "mypy", "--strict", "--cache-dir",
		t.TempDir(), "src")
}
