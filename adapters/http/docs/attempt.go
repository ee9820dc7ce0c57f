package docs

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

// attempt is the data of the form "Try it" in the API reference; assets/try.js builds the form from it.
type attempt struct {
	Path   string // Path of the API route as in openapi.yaml, such as /deposits/{depositId}.
	Params string // The route's parameters as JSON: [{"name", "in", "example"}].
	Body   string // Example of the request body; empty for none.
}

type attemptParam struct {
	Name    string `json:"name"`
	In      string `json:"in"`
	Example string `json:"example"`
}

func attemptOf(r route) *attempt {
	params := []attemptParam{}
	for _, ref := range append(append(openapi3.Parameters{}, r.item.Parameters...), r.op.Parameters...) {
		p := ref.Value
		out := attemptParam{Name: p.Name, In: p.In}
		if p.Example != nil {
			out.Example = fmt.Sprint(p.Example)
		}
		params = append(params, out)
	}
	encoded, err := json.Marshal(params)
	if err != nil {
		panic("docs: parameters do not encode: " + err.Error())
	}
	out := &attempt{Path: r.path, Params: string(encoded)}
	if r.op.RequestBody != nil {
		media := r.op.RequestBody.Value.Content.Get("application/json")
		out.Body = pretty(media.Example, media.Schema.Value)
	}
	return out
}

// listsOf maps path parameters to the GET routes that list their values: the path before the parameter, such as
// /api/partner/v1/deposits for depositId.
func listsOf(routes []route) map[string]string {
	read := map[string]bool{}
	for _, r := range routes {
		read[r.method+" "+r.path] = true
	}
	lists := map[string]string{}
	for _, r := range routes {
		for i, part := range splitPath(r.path) {
			before := strings.TrimSuffix(pathBefore(r.path, i), "/")
			if name := strings.Trim(part.Text, "{}"); part.Param && read["GET "+before] {
				lists[name] = before
			}
		}
	}
	return lists
}

func pathBefore(path string, n int) (before string) {
	for _, part := range splitPath(path)[:n] {
		before += part.Text
	}
	return before
}
