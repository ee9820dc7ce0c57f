package docs

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

// attempt is the data of the form behind "Try it": assets/try.js builds the form.
type attempt struct {
	Path   string // as in openapi.yaml
	Params string // JSON: [{"name", "in", "example"}]
	Body   string // the example, empty for a route without a body
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
	if err != nil { // cannot happen: the fields are strings
		panic("docs: parameters do not encode: " + err.Error())
	}
	out := &attempt{Path: r.path, Params: string(encoded)}
	if r.op.RequestBody != nil {
		media := r.op.RequestBody.Value.Content.Get("application/json")
		out.Body = pretty(media.Example, media.Schema.Value)
	}
	return out
}

// listsOf gives the route that lists what a parameter names, by the name of the parameter: "depositId" is an id of what
// GET /api/partner/v1/deposits lists. It is the path in front of the parameter, if that can be read.
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

// pathBefore gives the first n parts of a path.
func pathBefore(path string, n int) (before string) {
	for _, part := range splitPath(path)[:n] {
		before += part.Text
	}
	return before
}
