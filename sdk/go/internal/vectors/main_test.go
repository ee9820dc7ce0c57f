package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestVectors_AllPass needs -count=1: go test does not see that a file outside of the module has changed.
func TestVectors_AllPass(t *testing.T) {
	files, err := filepath.Glob("../../../vectors/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no vectors: %v", err)
	}
	var out bytes.Buffer
	if !check(files, &out) {
		t.Error(out.String())
	}
}

// TestVectors_ThatAreChanged_Fail keeps the runner from passing what it does not compare.
func TestVectors_ThatAreChanged_Fail(t *testing.T) {
	for file, change := range map[string][2]string{
		"unwrap.json":  {`"reason": "expired"`, `"reason": "mismatch"`},
		"money.json":   {`"amount": "500.50"`, `"amount": "500.51"`},
		"retries.json": {`"waits": [0.5]`, `"waits": [0.25]`},
		"pages.json":   {`"requests": [`, `"requests": [{"method": "GET"}, `},
		"connect.json": {`&ts=1780391667&`, `&ts=1780391668&`},
		"errors.json":  {`"code": "unreadable_answer"`, `"code": "unreadable"`},
	} {
		text, err := os.ReadFile("../../../vectors/" + file)
		if err != nil {
			t.Fatal(err)
		}
		at := strings.LastIndex(string(text), change[0])
		if at < 0 {
			t.Fatalf("%s has no %s", file, change[0])
		}
		changed := filepath.Join(t.TempDir(), file)
		content := string(text[:at]) + change[1] + string(text[at+len(change[0]):])
		if err := os.WriteFile(changed, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		if check([]string{changed}, &out) || !strings.HasSuffix(out.String(), ", 1 failed\n") {
			t.Errorf("%s passes with %s:\n%s", file, change[1], out.String())
		}
	}
	if check(nil, &bytes.Buffer{}) || check([]string{"none.json"}, &bytes.Buffer{}) {
		t.Error("no case is a success")
	}
}

func TestServe_AnswersALineForALine(t *testing.T) {
	t.Setenv("API_URL", "http://127.0.0.1:0")
	t.Setenv("API_KEY", "svc_pk_test_serve")
	t.Setenv("RETRY_DELAY", "0.001")
	cases := []string{
		`{"kind":"standardSecret","input":{"secret":"svc_whsec_0123456789abcdef"}}`,
		`{"kind":"call","input":{"call":"deposits.get","args":["dep_1"]}}`,
		`{"kind":"call","input":{"call":"deposits.capture","args":["dep_1",{"amount":"1.005"}]}}`,
		`not JSON`,
	}
	want := `{"value":"whsec_c3ZjX3doc2VjXzAxMjM0NTY3ODlhYmNkZWY="}
{"error":{"connection":true}}
{"refused":true}
{"failure":"the line is not a case"}
`
	var out bytes.Buffer
	serve(strings.NewReader(strings.Join(cases, "\n")), &out)
	if out.String() != want {
		t.Errorf("got\n%swant\n%s", out.String(), want)
	}
}
