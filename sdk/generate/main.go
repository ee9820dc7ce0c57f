// Command generate writes the partners' libraries in every language from the OpenAPI document.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"text/template"
)

// languages lists the generators, each of which returns files by path below sdk/.
var languages = []func(api *API) (map[string][]byte, error){php, node, python, generateGo, samples}

func main() {
	document := flag.String("document", "adapters/http/partnerapi/openapi.yaml", "the OpenAPI document")
	out := flag.String("out", "sdk", "the folder of the libraries")
	names := flag.Bool("names", false, "print the names of all methods instead")
	flag.Parse()
	if err := run(*document, *out, *names); err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}

func run(document, out string, names bool) error {
	text, err := os.ReadFile(document) //nolint:gosec // the path comes from a go:generate line
	if err != nil {
		return err
	}
	version, err := os.ReadFile(filepath.Join(out, "VERSION"))
	if err != nil {
		return err
	}
	api, err := read(text, strings.TrimSpace(string(version)))
	if err != nil {
		return err
	}
	if names {
		for _, r := range api.Resources {
			for _, m := range r.Methods {
				fmt.Println(r.Name + "." + m.Name)
			}
		}
		return nil
	}
	for _, language := range languages {
		files, err := language(api)
		if err != nil {
			return err
		}
		for name, content := range files {
			path := filepath.Join(out, filepath.FromSlash(name))
			if err := os.WriteFile(path, content, 0o644); err != nil { //nolint:gosec // source code is for everyone to read
				return err
			}
		}
	}
	return nil
}

// render fills a language's template with the API.
func render(name, text string, functions template.FuncMap, api *API) ([]byte, error) {
	t, err := template.New(name).Funcs(functions).Parse(text)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	err = t.Execute(&out, api)
	return out.Bytes(), err
}
