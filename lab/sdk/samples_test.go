package sdk_test

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/http/partnerapi"
	"partnerdeposits/lab/rarely"
	"partnerdeposits/sdk/samples"
)

// TestSamples_OfEveryOperationRun runs the samples of the reference at /docs, in every language, on the sandbox. Ids of
// the examples are replaced by ids that exist.
func TestSamples_OfEveryOperationRun(t *testing.T) {
	t.Parallel()
	if !rarely.MustRun(t, rarely.LibraryTests) {
		return
	}
	var all map[string]map[string]string // by operation and language
	require.NoError(t, json.Unmarshal(samples.JSON, &all))
	doc, err := partnerapi.OpenAPIDocument()
	require.NoError(t, err)
	var operations []string
	for _, item := range doc.Paths.Map() {
		for _, op := range item.Operations() {
			operations = append(operations, op.OperationID)
		}
	}
	slices.Sort(operations)
	require.Equal(t, operations, slices.Sorted(maps.Keys(all)))
	last := slices.Index(operations, "deleteAccount") // the others need the account
	operations = append(slices.Delete(operations, last, last+1), "deleteAccount")

	t.Run("curl", func(t *testing.T) {
		t.Parallel()
		c := newConversation(t, languages()[0])
		commands := curlSamples(t, c.f, doc)
		runSamples(c, operations, func(operation string) string { return commands[operation] }, curlRunner)
	})
	forEach(t, func(t *testing.T, l language) {
		c := newConversation(t, l)
		runSamples(c, operations, func(operation string) string {
			return strings.ReplaceAll(all[operation][l.name], "{base_url}", c.f.APIBaseURL)
		}, sampleRunner)
	})
}

// runner writes the programs of a language and gives the command of each.
type runner func(t *testing.T, l language, texts map[string]string) func(operation string) []string

func runSamples(c *conversation, operations []string, sample func(string) string, runner runner) {
	t, l, f := c.t, c.l, c.f
	t.Helper()
	c.connect()
	p := &provider{c: c}
	p.begin()
	texts := map[string]string{}
	for _, operation := range operations {
		text := sample(operation)
		require.NotEmpty(t, text, operation)
		texts[operation] = p.withIDs(operation, text)
	}
	command := runner(t, l, texts)
	env := []string{"API_KEY=" + f.APIKey, "SDK=" + sdk(), "PYTHONPATH=" + filepath.Join(sdk(), "python", "src"),
		"PYTHONDONTWRITEBYTECODE=1"}
	for _, operation := range operations {
		said := in(t, t.TempDir(), env, command(operation)...)
		if strings.HasPrefix(operation, "get") || strings.HasPrefix(operation, "create") {
			require.NotEmpty(t, strings.TrimSpace(said), operation)
		}
	}
}

// curlSamples reads the commands from the page that the sandbox itself shows.
func curlSamples(t *testing.T, f facts, doc *openapi3.T) map[string]string {
	t.Helper()
	response, err := http.Get(f.APIBaseURL + "/docs/reference.md")
	require.NoError(t, err)
	defer response.Body.Close()
	page, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	commands := map[string]string{}
	for path, item := range doc.Paths.Map() {
		for method, op := range item.Operations() {
			_, section, found := strings.Cut(string(page), "\n### "+op.Summary+"\n\n`"+method+" "+path+"`")
			require.True(t, found, op.OperationID)
			_, command, _ := strings.Cut(section, "\n```sh\n")
			commands[op.OperationID], _, _ = strings.Cut(command, "\n```\n")
		}
	}
	return commands
}

// curlRunner runs commands in a shell whose curl fails on an error status. Not every machine has uuidgen.
func curlRunner(_ *testing.T, _ language, texts map[string]string) func(operation string) []string {
	const begin = "curl() { command curl --silent --show-error --fail-with-body \"$@\"; }\n" +
		"uuidgen() { cat /proc/sys/kernel/random/uuid; }\n"
	return func(operation string) []string { return []string{"bash", "-euc", begin + texts[operation]} }
}

// sampleRunner is the runner of samples with the libraries.
func sampleRunner(t *testing.T, l language, texts map[string]string) func(operation string) []string {
	t.Helper()
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	switch l.name {
	case "php":
		return func(operation string) []string {
			const begin = "<?php\nrequire getenv('SDK') . '/php/autoload.php';\n"
			return []string{"php", write(operation+".php", begin+texts[operation])}
		}
	case "node":
		require.NoError(t, os.MkdirAll(filepath.Join(dir, "node_modules"), 0o755))
		require.NoError(t, os.Symlink(filepath.Join(sdk(), "node"), filepath.Join(dir, "node_modules", "partner-deposits")))
		return func(operation string) []string { return []string{"node", write(operation+".mjs", texts[operation])} }
	case "python":
		return func(operation string) []string { return []string{python, write(operation+".py", texts[operation])} }
	}
	program, table := "", "" // one program for all, since each build takes a second
	for _, operation := range slices.Sorted(maps.Keys(texts)) {
		program += "\nfunc " + operation + "(ctx context.Context) error {\n" + texts[operation] + "\treturn nil\n}\n"
		table += "\t\t\"" + operation + "\": " + operation + ",\n"
	}
	write("main.go", `package main

import (
	"context"
	"fmt"
	"os"
	"time"

	deposits "partnerdeposits/sdk/go"
)

func main() {
	samples := map[string]func(context.Context) error{
`+table+`	}
	if err := samples[os.Args[1]](context.Background()); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}
`+program)
	write("go.mod", "module example.com/partner\n\ngo 1.23\n\nrequire partnerdeposits/sdk/go v1.0.0\n\n"+
		"replace partnerdeposits/sdk/go => "+filepath.Join(sdk(), "go")+"\n")
	in(t, dir, []string{"GOFLAGS=-mod=mod", "GOPROXY=off"}, "go", "build", "-o", "samples", ".")
	return func(operation string) []string { return []string{filepath.Join(dir, "samples"), operation} }
}

// provider makes what the samples name.
type provider struct {
	c                        *conversation
	webhook, delivery, event string
}

// begin makes what all samples share.
func (p *provider) begin() {
	p.webhook = p.post("/webhooks", object{"url": p.c.hook.url, "events": []string{"deposit.activated"}})
	p.delivery = p.post("/webhooks/"+p.webhook+"/test", nil)
	require.Eventually(p.c.t, func() bool { // the event of the link
		var events []struct{ ID string }
		p.do(http.MethodGet, "/events?limit=1", nil, &events)
		if len(events) > 0 {
			p.event = events[0].ID
		}
		return len(events) > 0
	}, soon, often)
	p.c.t.Cleanup(func() { p.do(http.MethodDelete, "/webhooks/"+p.webhook, nil, nil) })
}

var exampleID = regexp.MustCompile(`\b(acct|cli|dep|pwh|dlv|key|evt)_[0-9a-z]{26}`)

// withIDs replaces the ids of an example. Deposits and clients are made for each sample, since it may end them.
func (p *provider) withIDs(operation, text string) string {
	made := map[string]func() string{
		"acct": func() string { return p.c.accountID },
		"dlv":  func() string { return p.delivery },
		"evt":  func() string { return p.event },
		"cli": func() string {
			return p.post("/clients", object{"accountId": p.c.accountID, "email": "j@example.com", "firstName": "J",
				"lastName": "M"})
		},
		"key": func() string { return p.post("/api-keys", object{"name": "for a sample"}) },
		"pwh": func() string {
			if operation == "deleteWebhook" {
				return p.post("/webhooks", object{"url": p.c.hook.url + "/deleted"})
			}
			return p.webhook
		},
		"dep": func() string { return p.deposit(operation == "captureDeposit" || operation == "releaseDeposit") },
	}
	return exampleID.ReplaceAllStringFunc(text, func(id string) string {
		prefix, _, _ := strings.Cut(id, "_")
		return made[prefix]()
	})
}

func (p *provider) deposit(active bool) string {
	in := func(days int) string { return time.Now().UTC().AddDate(0, 0, days).Format(time.RFC3339) }
	id := p.post("/deposits", object{"accountId": p.c.accountID, "amount": 500, "contractStartAt": in(1),
		"contractEndAt": in(4)})
	if active {
		p.post("/test/deposits/"+id+"/simulate", object{"outcome": "activate"})
	}
	return id
}

// post gives the id in the answer.
func (p *provider) post(path string, body any) string {
	var made struct{ ID string }
	p.do(http.MethodPost, path, body, &made)
	require.NotEmpty(p.c.t, made.ID, path)
	return made.ID
}

func (p *provider) do(method, path string, body, into any) {
	t := p.c.t
	content, err := json.Marshal(body)
	require.NoError(t, err)
	if body == nil {
		content = nil
	}
	request, err := http.NewRequest(method, p.c.f.APIBaseURL+"/api/partner/v1"+path, bytes.NewReader(content))
	require.NoError(t, err)
	request.Header.Set("x-api-key", p.c.f.APIKey)
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	defer response.Body.Close()
	answer := struct{ Data any }{into}
	if into != nil {
		require.NoError(t, json.NewDecoder(response.Body).Decode(&answer))
	}
	require.Less(t, response.StatusCode, 300, "%s %s", method, path)
}
