package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"time"

	deposits "partnerdeposits/sdk/go"
)

type callInput struct {
	Call    string
	Args    []json.RawMessage
	Options struct {
		IdempotencyKey     *string
		FeedID             string
		WaitSeconds, Limit *int64
	}
	Random  float64
	Answers []answer
	Take    int
}

type answer struct {
	Status  int
	Headers map[string]string
	Body    json.RawMessage
	Text    string
	Cut     bool
}

// script is an HTTP transport that sends nothing: it stores the requests, and returns the scripted responses
// in order.
type script struct {
	answers  []answer
	requests []any
	keys     []string
	ranOut   bool
}

func (s *script) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	key := r.Header.Get("Idempotency-Key")
	s.keys = append(s.keys, key)
	request := object{"method": r.Method, "path": r.URL.RequestURI(), "key": orNull(key)}
	if len(body) > 0 {
		var fields map[string]json.RawMessage
		if err := json.Unmarshal(body, &fields); err != nil {
			return nil, err
		}
		request["body"], request["amount"] = json.RawMessage(body), orNull(string(fields["amount"]))
	}
	s.requests = append(s.requests, request)
	if s.ranOut = len(s.answers) == 0; s.ranOut {
		return nil, errors.New("no answer is left")
	}
	a := s.answers[0]
	s.answers = s.answers[1:]
	if a.Cut {
		return nil, io.ErrUnexpectedEOF
	}
	text := a.Text
	if a.Body != nil {
		text = string(a.Body)
	}
	stream := io.NopCloser(strings.NewReader(text))
	res := &http.Response{StatusCode: a.Status, Header: http.Header{}, Body: stream, Request: r}
	for name, value := range a.Headers {
		res.Header.Set(name, value)
	}
	return res, nil
}

// wired is an HTTP transport that counts the requests it sends over the network.
type wired struct{ requests int }

func (w *wired) RoundTrip(r *http.Request) (*http.Response, error) {
	w.requests++
	return http.DefaultTransport.RoundTrip(r)
}

var uuidV4 = regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)

func (in callInput) perform() object {
	if in.Answers == nil {
		real := &wired{}
		delay := 0.5
		if text, ok := os.LookupEnv("RETRY_DELAY"); ok {
			delay, _ = strconv.ParseFloat(text, 64)
		}
		random := func() float64 { return rand.Float64() * delay / 0.5 }
		c := deposits.New(os.Getenv("API_KEY"), deposits.WithBaseURL(os.Getenv("API_URL")),
			deposits.WithTransport(real), deposits.WithBackoff(time.After, random))
		value, err := in.on(c)
		return callOutcome(value, err, real.requests > 0)
	}
	s := &script{answers: in.Answers, requests: []any{}}
	waits := []float64{}
	after := func(d time.Duration) <-chan time.Time {
		waits = append(waits, d.Seconds())
		over := make(chan time.Time, 1)
		over <- time.Time{}
		return over
	}
	c := deposits.New("svc_pk_test_vectors", deposits.WithTransport(s),
		deposits.WithBackoff(after, func() float64 { return in.Random }))
	value, err := in.on(c)
	outcome := callOutcome(value, err, len(s.requests) > 0)
	outcome["requests"], outcome["waits"], outcome["sameKey"] = s.requests, waits, len(s.keys) > 0
	for _, key := range s.keys {
		if key != s.keys[0] || !uuidV4.MatchString(key) {
			outcome["sameKey"] = false
		}
	}
	if s.ranOut {
		return object{"failure": "a request more than answers", "requests": s.requests}
	}
	return outcome
}

func callOutcome(value any, err error, sent bool) object {
	var e *deposits.Error
	switch {
	case errors.As(err, &e):
		fields := object{"status": e.Status, "code": e.Code, "message": e.Message, "requestId": e.RequestID}
		return object{"error": fields}
	case err != nil && sent:
		return object{"error": object{"connection": true}}
	case err != nil:
		return object{"refused": true}
	}
	return object{"value": value}
}

// on makes the call of a test case, whose method is found by its name.
func (in callInput) on(c *deposits.Client) (any, error) {
	resource, name, _ := strings.Cut(in.Call, ".")
	named := func(want string) func(string) bool {
		return func(have string) bool { return strings.EqualFold(have, want) }
	}
	receiver := reflect.ValueOf(c.Resources).FieldByNameFunc(named(resource))
	if !receiver.IsValid() {
		return nil, fmt.Errorf("no resource %s", resource)
	}
	method, ok := receiver.Type().MethodByName(methodName(receiver.Type(), name))
	if !ok {
		return nil, fmt.Errorf("no method %s", in.Call)
	}
	args := []reflect.Value{receiver, reflect.ValueOf(context.Background())}
	for i := 2; i < method.Type.NumIn(); i++ {
		value := reflect.New(method.Type.In(i)).Elem()
		if err := in.argument(value, i-2); err != nil {
			return nil, err
		}
		args = append(args, value)
	}
	out := method.Func.CallSlice(args)
	if out[0].Kind() == reflect.Func {
		return in.collect(out[0])
	}
	err, _ := out[len(out)-1].Interface().(error)
	if err != nil || len(out) == 1 {
		return nil, err
	}
	return wire(out[0]), nil
}

func methodName(t reflect.Type, name string) string {
	for i := range t.NumMethod() {
		if strings.EqualFold(t.Method(i).Name, name) {
			return t.Method(i).Name
		}
	}
	return name
}

// collect returns the items of a list, at most as many as the test case wants.
func (in callInput) collect(seq reflect.Value) (any, error) {
	items := []any{}
	for item, err := range seq.Seq2() {
		if err, failed := err.Interface().(error); failed {
			return nil, err
		}
		if items = append(items, wire(item)); len(items) == in.Take {
			break
		}
	}
	return items, nil
}

// argument sets an argument of a method: the call options, or the value in the test case, if any.
func (in callInput) argument(value reflect.Value, at int) error {
	switch {
	case value.Type() == reflect.TypeFor[[]deposits.CallOption]():
		value.Set(reflect.ValueOf(in.callOptions()))
	case at < len(in.Args) && value.Kind() == reflect.Pointer:
		value.Set(reflect.New(value.Type().Elem()))
		return setFields(value.Elem(), in.Args[at])
	case at < len(in.Args):
		return decode(in.Args[at], value.Addr().Interface())
	case value.Kind() == reflect.Int64:
		value.SetInt(deposits.Oldest)
	}
	return nil
}

func (in callInput) callOptions() (opts []deposits.CallOption) {
	if in.Options.IdempotencyKey != nil {
		opts = append(opts, deposits.WithIdempotencyKey(*in.Options.IdempotencyKey))
	}
	if in.Options.FeedID != "" {
		opts = append(opts, deposits.WithFeedID(in.Options.FeedID))
	}
	if in.Options.WaitSeconds != nil {
		opts = append(opts, deposits.WithWaitSeconds(*in.Options.WaitSeconds))
	}
	if in.Options.Limit != nil {
		opts = append(opts, deposits.WithLimit(*in.Options.Limit))
	}
	return opts
}

// setFields sets the fields of a struct of parameters from JSON. Money is built from a text or an integer,
// since no other type fits.
func setFields(params reflect.Value, text json.RawMessage) error {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(text, &fields); err != nil {
		return err
	}
	for i := range params.NumField() {
		name, _, _ := strings.Cut(params.Type().Field(i).Tag.Get("json"), ",")
		value, given := fields[name]
		field := params.Field(i)
		delete(fields, name)
		isNull := string(value) == "null"
		switch {
		case !given || isNull && field.Type() == reflect.TypeFor[deposits.Money]():
		case field.Type() == reflect.TypeFor[deposits.Money]():
			var euros string
			var whole int64
			switch {
			case json.Unmarshal(value, &euros) == nil:
				field.Set(reflect.ValueOf(deposits.Euros(euros)))
			case json.Unmarshal(value, &whole) == nil:
				field.Set(reflect.ValueOf(deposits.Euros(whole)))
			default:
				return errors.New("no type of Go that Euros takes")
			}
		case isNull && field.Type() == reflect.TypeFor[deposits.Nullable[string]]():
			field.Set(reflect.ValueOf(deposits.Null[string]()))
		default:
			if err := decode(value, field.Addr().Interface()); err != nil {
				return err
			}
		}
	}
	if len(fields) > 0 {
		return fmt.Errorf("%s has no fields %v", params.Type(), fields)
	}
	return nil
}

// wire returns a value as test cases contain it: its fields over the JSON from which it was read, with
// amounts and times as text.
func wire(v reflect.Value) any {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return nil
		}
		return wire(v.Elem())
	case reflect.Slice:
		items := []any{}
		for i := range v.Len() {
			items = append(items, wire(v.Index(i)))
		}
		return items
	}
	switch value := v.Interface().(type) {
	case deposits.Money:
		return value.String()
	case time.Time:
		return value.Format("2006-01-02T15:04:05.000Z07:00")
	case deposits.EventData:
		var data any
		if err := decode(value.RawMessage, &data); err != nil {
			return nil
		}
		return data
	case interface{ Raw() json.RawMessage }:
		fields := object{}
		if err := decode(value.Raw(), &fields); err != nil {
			return nil
		}
		for name, field := range fields {
			fields[name] = withAmounts(field)
		}
		for i := range v.NumField() {
			name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
			if raw, there := fields[name]; name != "" && (there && raw != nil || !v.Field(i).IsZero()) {
				fields[name] = wire(v.Field(i))
			}
		}
		return fields
	}
	return v.Interface()
}

// withAmounts writes amounts with two decimals in fields that the library does not have. In Go these fields
// are raw JSON, whose numbers are exact; other languages read them into values.
func withAmounts(value any) any {
	switch value := value.(type) {
	case []any:
		for i := range value {
			value[i] = withAmounts(value[i])
		}
	case object:
		for name := range value {
			value[name] = withAmounts(value[name])
		}
		_, isAmount := value["amount"].(json.Number)
		if cents, ok := value["amountCents"].(json.Number); ok && isAmount {
			if n, err := cents.Int64(); err == nil {
				value["amount"] = deposits.Cents(n).String()
			}
		}
	}
	return value
}
