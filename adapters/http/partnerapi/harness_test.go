package partnerapi_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/http/middleware"
	"partnerdeposits/adapters/http/middleware/jsonbody"
	"partnerdeposits/adapters/http/partnerapi"
	"partnerdeposits/adapters/http/problem"
	"partnerdeposits/lab/servetest"
)

// recorder stores the last request that a handler received. Only operations that the tests call are implemented.
type recorder struct {
	partnerapi.StrictServerInterface
	mu   sync.Mutex
	last any
}

func (r *recorder) keep(v any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.last = v
}

func (r *recorder) take() any {
	r.mu.Lock()
	defer r.mu.Unlock()
	v := r.last
	r.last = nil
	return v
}

func (r *recorder) CreateDeposit(_ context.Context,
	req partnerapi.CreateDepositRequestObject) (partnerapi.CreateDepositResponseObject, error) {
	r.keep(*req.Body)
	return partnerapi.CreateDeposit201JSONResponse{
		Data: partnerapi.CreatedDeposit{ID: "dep_1", Status: partnerapi.DepositPending}}, nil
}

func (r *recorder) CaptureDeposit(_ context.Context,
	req partnerapi.CaptureDepositRequestObject) (partnerapi.CaptureDepositResponseObject, error) {
	r.keep(*req.Body)
	return partnerapi.CaptureDeposit200JSONResponse{}, fiber.ErrTeapot
}

func (r *recorder) ListDeposits(_ context.Context,
	req partnerapi.ListDepositsRequestObject) (partnerapi.ListDepositsResponseObject, error) {
	r.keep(req.Params)
	link := `<https://api.example.com/next>; rel="next"`
	return partnerapi.ListDeposits200JSONResponse{
		Body:    partnerapi.DepositList{Data: []partnerapi.Deposit{}},
		Headers: partnerapi.ListDeposits200ResponseHeaders{Link: &link},
	}, nil
}

func (r *recorder) GetDeposit(_ context.Context,
	req partnerapi.GetDepositRequestObject) (partnerapi.GetDepositResponseObject, error) {
	r.keep(req.DepositID)
	return partnerapi.GetDeposit200JSONResponse{
		Data: partnerapi.Deposit{Amount: partnerapi.EurosOf(7050), Metadata: partnerapi.Metadata{}}}, nil
}

func (r *recorder) CreateWebhook(_ context.Context,
	req partnerapi.CreateWebhookRequestObject) (partnerapi.CreateWebhookResponseObject, error) {
	r.keep(*req.Body)
	return partnerapi.CreateWebhook201JSONResponse{}, nil
}

func (r *recorder) UpdateWebhook(_ context.Context,
	req partnerapi.UpdateWebhookRequestObject) (partnerapi.UpdateWebhookResponseObject, error) {
	r.keep(*req.Body)
	return partnerapi.UpdateWebhook200JSONResponse{}, nil
}

func (r *recorder) RotateWebhookSecret(_ context.Context,
	req partnerapi.RotateWebhookSecretRequestObject) (partnerapi.RotateWebhookSecretResponseObject, error) {
	r.keep(req.WebhookID)
	return partnerapi.RotateWebhookSecret200JSONResponse{}, nil
}

func (r *recorder) SimulateDeposit(_ context.Context,
	req partnerapi.SimulateDepositRequestObject) (partnerapi.SimulateDepositResponseObject, error) {
	r.keep(req.Body.Outcome)
	return partnerapi.SimulateDeposit200JSONResponse{}, fiber.ErrTeapot
}

func newApp(t testing.TB, api partnerapi.StrictServerInterface) *fiber.App {
	t.Helper()
	doc, err := partnerapi.Document()
	require.NoError(t, err)
	validator, err := partnerapi.NewValidator(doc)
	require.NoError(t, err)
	log := slog.New(slog.DiscardHandler)
	app := fiber.New(
		middleware.FiberConfig(middleware.ServerConfig{ErrorHandler: problem.Handler(problem.Config{Logger: log})}))
	app.Use(middleware.RequestID(), middleware.Deadline(10*time.Second), middleware.Framing(), jsonbody.Read)
	partnerapi.RegisterHandlers(checkedRouter{Router: app, check: validator.Check}, partnerapi.NewStrictHandler(api, nil))
	return app
}

// checkedRouter adds the validator's check to every route that the generated code registers.
type checkedRouter struct {
	fiber.Router
	check func(method, path string) fiber.Handler
}

func (r checkedRouter) Get(path string, h ...fiber.Handler) fiber.Router {
	return r.add("GET", path, h)
}

func (r checkedRouter) Post(path string, h ...fiber.Handler) fiber.Router {
	return r.add("POST", path, h)
}

func (r checkedRouter) Patch(path string, h ...fiber.Handler) fiber.Router {
	return r.add("PATCH", path, h)
}

func (r checkedRouter) Delete(path string, h ...fiber.Handler) fiber.Router {
	return r.add("DELETE", path, h)
}

func (r checkedRouter) add(method, path string, h []fiber.Handler) fiber.Router {
	return r.Router.Add(method, path, append([]fiber.Handler{r.check(method, path)}, h...)...)
}

type server struct {
	url string
	*recorder
}

func setup(t *testing.T) *server {
	t.Helper()
	r := &recorder{}
	return &server{url: "http://" + servetest.Serve(t, newApp(t, r)), recorder: r}
}

func (s *server) do(t *testing.T, method, path, body string) (int, string, http.Header) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, s.url+"/api/partner/v1"+path, strings.NewReader(body))
	require.NoError(t, err)
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	res, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer res.Body.Close()
	out, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	return res.StatusCode, string(out), res.Header
}

func (s *server) refused(t *testing.T, method, path, body string) (int, problem.Detail) {
	t.Helper()
	status, out, _ := s.do(t, method, path, body)
	var e problem.Envelope
	require.NoError(t, json.Unmarshal([]byte(out), &e), out)
	require.Nil(t, s.take(), "the handler was called")
	return status, e.Error
}

// valid is a valid deposit request with a field replaced by raw JSON; "" removes the field.
func valid(field, raw string) string {
	fields := map[string]string{
		"accountId":       `"acct_01jb2m1r6d9f4h8k3n5p7s2v0w"`,
		"amount":          `500`,
		"contractStartAt": `"2026-08-01T15:00:00Z"`,
		"contractEndAt":   `"2026-08-08T10:00:00Z"`,
	}
	fields[field] = raw
	var members []string
	for k, v := range fields {
		if v != "" {
			members = append(members, fmt.Sprintf("%q:%s", k, v))
		}
	}
	return "{" + strings.Join(members, ",") + "}"
}
