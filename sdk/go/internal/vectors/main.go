// Command vectors runs the test cases of sdk/vectors with the Go library. `go run ./internal/vectors [FILE
// …]` compares their outcomes and prints the cases that fail. With --serve it reads one case per line and
// writes its outcome; a call without scripted responses goes to API_URL with API_KEY.
package main

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"time"

	deposits "partnerdeposits/sdk/go"
)

type object = map[string]any

type vector struct {
	Name, Kind string
	Input      input
	Want       json.RawMessage
}

type input struct {
	Body, BodyBase64, Secret, URL, Base, Slug, ExternalID, Email, Name, ReturnURL, Page string
	Headers                                                                             map[string]any
	TS                                                                                  any
	Now, Tolerance, StoredVersion                                                       *int64
	Event                                                                               deposits.FeedEvent
	callInput
}

func main() {
	if len(os.Args) == 2 && os.Args[1] == "--serve" {
		serve(os.Stdin, os.Stdout)
		return
	}
	files := os.Args[1:]
	if len(files) == 0 {
		files, _ = filepath.Glob("../vectors/*.json")
	}
	if !check(files, os.Stdout) {
		os.Exit(1)
	}
}

// check runs the test cases of files and prints those that fail. It returns true when there are cases and
// none fails, else false.
func check(files []string, out io.Writer) bool {
	count, failed := 0, 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		var vectors []vector
		if err == nil {
			err = decode(text, &vectors)
		}
		if err != nil {
			failed++
			fmt.Fprintf(out, "%s: %v\n", file, err)
		}
		for _, v := range vectors {
			count++
			got, _ := json.Marshal(perform(v))
			var want, outcome any
			if decode(v.Want, &want) != nil || decode(got, &outcome) != nil || want == nil || !subset(want, outcome) {
				failed++
				fmt.Fprintf(out, "%s: %s\n  want %s\n  got  %s\n", filepath.Base(file), v.Name, v.Want, got)
			}
		}
	}
	fmt.Fprintf(out, "%d cases, %d failed\n", count, failed)
	return count > 0 && failed == 0
}

func serve(in io.Reader, out io.Writer) {
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadBytes('\n')
		if len(line) > 1 {
			var v vector
			outcome := object{"failure": "the line is not a case"}
			if decode(line, &v) == nil {
				outcome = perform(v)
			}
			text, _ := json.Marshal(outcome)
			fmt.Fprintf(out, "%s\n", text)
		}
		if err != nil {
			return
		}
	}
}

// perform runs a test case and returns its outcome.
func perform(v vector) object {
	in := v.Input
	switch v.Kind {
	case "unwrap":
		event, err := deposits.Unwrap(in.body(), in.header(), in.Secret, in.options()...)
		return signatureOutcome(wire(reflect.ValueOf(event)), err)
	case "verifyReturn":
		r, err := deposits.VerifyReturn(in.URL, in.Secret, in.options()...)
		if err != nil {
			return signatureOutcome(nil, err)
		}
		value := object{"status": r.Status, "accountId": r.AccountID, "externalId": r.ExternalID, "ts": r.TS}
		if r.Error != "" {
			value["error"] = r.Error
		}
		return object{"value": value}
	case "connectUrl":
		p := deposits.ConnectParams{Slug: in.Slug, Secret: in.Secret, ExternalID: in.ExternalID, Email: in.Email,
			Name: in.Name, ReturnURL: in.ReturnURL, Page: in.Page}
		if in.TS != nil {
			p.TS = deposits.Ptr(fmt.Sprint(in.TS))
		}
		return refusable(deposits.ConnectURL(in.Base, p))
	case "isNewer":
		stored := int64(0)
		if in.StoredVersion != nil {
			stored = *in.StoredVersion
		}
		return object{"value": deposits.IsNewer(&in.Event, stored)}
	case "standardSecret":
		return refusable(deposits.StandardSecret(in.Secret))
	case "call":
		return in.perform()
	}
	return object{"failure": "unknown kind " + v.Kind}
}

func signatureOutcome(value any, err error) object {
	if e, ok := err.(*deposits.SignatureError); ok {
		return object{"error": object{"reason": e.Reason, "hint": orNull(e.Hint)}}
	}
	return object{"value": value}
}

func refusable(value string, err error) object {
	if err != nil {
		return object{"refused": true}
	}
	return object{"value": value}
}

func (in input) body() []byte {
	if in.BodyBase64 == "" {
		return []byte(in.Body)
	}
	body, err := base64.StdEncoding.DecodeString(in.BodyBase64)
	if err != nil {
		panic(err) // The test case itself is invalid.
	}
	return body
}

// header returns the HTTP headers of a test case. Their names keep their case, as servers other than net/http
// may pass them on.
func (in input) header() http.Header {
	header := http.Header{}
	for name, value := range in.Headers {
		values, isList := value.([]any)
		if !isList {
			values = []any{value}
		}
		for _, one := range values {
			header[name] = append(header[name], fmt.Sprint(one))
		}
	}
	return header
}

func (in input) options() (opts []deposits.VerifyOption) {
	if in.Now != nil {
		opts = append(opts, deposits.WithClock(func() time.Time { return time.Unix(*in.Now, 0) }))
	}
	if in.Tolerance != nil {
		opts = append(opts, deposits.WithTolerance(time.Duration(*in.Tolerance)*time.Second))
	}
	return opts
}

// subset reports whether all of want is in got: null stands for absence, numbers compare by value, lists must
// have the same length.
func subset(want, got any) bool {
	switch want := want.(type) {
	case object:
		got, ok := got.(object)
		for name, value := range want {
			ok = ok && subset(value, got[name])
		}
		return ok
	case []any:
		got, ok := got.([]any)
		ok = ok && len(got) == len(want)
		for i := 0; ok && i < len(want); i++ {
			ok = subset(want[i], got[i])
		}
		return ok
	case json.Number:
		number, ok := got.(json.Number)
		w, wOK := new(big.Rat).SetString(want.String())
		g, gOK := new(big.Rat).SetString(number.String())
		return ok && wOK && gOK && w.Cmp(g) == 0
	}
	return want == got
}

func orNull(text string) any {
	if text == "" {
		return nil
	}
	return text
}

// decode decodes JSON with the digits of its numbers unchanged.
func decode(text []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	return d.Decode(into)
}
