package partnerapi_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"partnerdeposits/adapters/http/middleware/jsonbody"
	"partnerdeposits/adapters/http/partnerapi"
)

// call is a case of a call: the answers that the service is said to give, and the requests that a library makes.
type call struct {
	Call    string
	Args    []any
	Random  float64
	Answers []struct {
		Cut     bool
		Status  int
		Headers map[string]string
		Body    any
	}
}

// withoutKey are the POSTs that take no Idempotency-Key: they are repeated only where nothing was done.
var withoutKey = []string{"apiKeys.create", "webhooks.rotateSecret", "webhooks.test", "webhooks.explain",
	"webhooks.replay", "deliveries.redeliver", "test.simulate", "connect.explain"}

const retries = 2

// mistakeOfCall checks what a case says of the service, and the waits by the rule of retries: two, from half a second,
// doubled, at random; Retry-After is a floor, and none above a minute is waited for.
func (r vectorRunner) mistakeOfCall(v vector) string {
	in := into[call](v.Input)
	for _, a := range in.Answers {
		if mistake := r.mistakeOfAnswer(a.Status, a.Body); mistake != "" {
			return mistake
		}
	}
	if v.Want["refused"] == true {
		return mistakeOfRefused(in)
	}
	waits, attempt, made := []float64{}, 0, 0
	for _, a := range in.Answers {
		made++
		again := slices.Contains([]int{http.StatusTooManyRequests, http.StatusServiceUnavailable}, a.Status) ||
			!slices.Contains(withoutKey, in.Call) && (a.Cut || codeOf(a.Body) == "idempotency_key_in_use" ||
				slices.Contains([]int{http.StatusInternalServerError, http.StatusBadGateway, http.StatusGatewayTimeout}, a.Status))
		floor := 0.0
		for name, value := range a.Headers {
			if strings.EqualFold(name, "Retry-After") && regexp.MustCompile(`^[0-9]+$`).MatchString(value) {
				floor, _ = strconv.ParseFloat(value, 64)
			}
		}
		switch {
		case !again:
			attempt = 0
		case attempt < retries && floor <= 60:
			waits = append(waits, max(in.Random*0.5*float64(int(1)<<attempt), floor))
			attempt++
		}
	}
	if want, told := v.Want["waits"]; told && !within(want, normal(waits)) {
		return fmt.Sprintf("waits: want %v, got %v", want, waits)
	}
	if want, told := v.Want["requests"].([]any); told {
		if len(want) != made {
			return fmt.Sprintf("%d requests for %d answers", len(want), made)
		}
		for _, q := range want {
			if mistake := mistakeOfAmount(in, q.(object)["amount"]); mistake != "" {
				return mistake
			}
		}
	}
	return ""
}

func codeOf(body any) string {
	envelope, _ := body.(object)
	e, _ := envelope["error"].(object)
	code, _ := e["code"].(string)
	return code
}

// mistakeOfAnswer compares an error that claims to be ours with the document: its form, and its status.
func (r vectorRunner) mistakeOfAnswer(status int, body any) string {
	code := codeOf(body)
	if !slices.Contains(r.doc.Components.Schemas["ErrorCode"].Value.Enum, any(code)) {
		return ""
	}
	if e := body.(object)["error"].(object); e["message"] == nil || e["requestId"] == nil {
		return "" // what a library makes of a broken envelope
	}
	if err := r.doc.Components.Schemas["Error"].Value.VisitJSON(body); err != nil {
		return err.Error()
	}
	if statuses := r.statuses()[code]; !slices.Contains(statuses, status) {
		return fmt.Sprintf("%s has the status %d, not one of %v", code, status, statuses)
	}
	return ""
}

// statuses gives the documented statuses of each code.
func (r vectorRunner) statuses() map[string][]int {
	all := map[string][]int{"route_not_found": {404}, "method_not_allowed": {405}, "payload_too_large": {413},
		"unsupported_media_type": {415}}
	for _, item := range r.doc.Paths.Map() {
		for _, op := range item.Operations() {
			for text, response := range op.Responses.Map() {
				status, err := strconv.Atoi(text)
				media := response.Value.Content.Get("application/json")
				if err != nil || media == nil {
					continue
				}
				for _, example := range media.Examples {
					code := codeOf(example.Value.Value)
					all[code] = append(all[code], status)
				}
			}
		}
	}
	return all
}

// amountOf gives the amount that a partner passes, as text.
func amountOf(in call) (string, bool) {
	for _, arg := range in.Args {
		if params, ok := arg.(object); ok && params["amount"] != nil {
			return fmt.Sprint(params["amount"]), true
		}
	}
	return "", false
}

// mistakeOfAmount reads the amount of a request with the reader of the service.
func mistakeOfAmount(in call, token any) string {
	if token == nil {
		return ""
	}
	passed, _ := amountOf(in)
	object, err := jsonbody.Object([]byte(`{"amount":` + token.(string) + `}`))
	if err != nil {
		return err.Error()
	}
	var euros partnerapi.Euros
	if err := json.Unmarshal([]byte(fmt.Sprint(object["amount"])), &euros); err != nil {
		return err.Error()
	}
	whole, cents, _ := strings.Cut(passed, ".")
	want, err := strconv.ParseInt(whole+(cents + "00")[:2], 10, 64)
	if got, e := euros.Cents(); err != nil || e != nil || int64(got) != want {
		return fmt.Sprintf("%s is read as %v cents, not as %d", token, got, want)
	}
	return ""
}

// mistakeOfRefused makes sure that a library refuses only what needs no request.
func mistakeOfRefused(in call) string {
	if len(in.Answers) > 0 {
		return "a call that is refused has answers"
	}
	return ""
}
