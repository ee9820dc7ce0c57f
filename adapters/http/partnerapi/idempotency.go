package partnerapi

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"

	"github.com/gofiber/fiber/v2"

	"partnerdeposits/adapters/http/middleware/jsonbody"
	"partnerdeposits/app/idempotent"
	"partnerdeposits/ports"
	"partnerdeposits/ports/failpoint"
)

const (
	headerIdempotencyKey = "Idempotency-Key"
	headerReplayed       = "Idempotent-Replayed"
)

// idempotencyKey reads the key, where one was sent, and stands between JSON and field shapes (api.md §1): a request
// that is refused on its way to the use case is held against its key first, which may hold an answer, or another body.
//
// Returns invalid_idempotency_key, idempotency_key_in_use or idempotency_key_reused.
func (a *api) idempotencyKey(c *fiber.Ctx) error {
	sent := c.Request().Header.PeekAll(headerIdempotencyKey)
	if len(sent) == 0 {
		return c.Next()
	}
	if len(sent) > 1 {
		return ports.ErrInvalidKey
	}
	parsed, err := idempotent.ParseKey(string(sent[0]))
	if err != nil {
		return err
	}
	found := callOf(c.UserContext())
	found.key = &ports.IdempotencyKey{
		PartnerID: found.caller.Partner.ID, Route: c.Method() + " " + strings.TrimRight(found.path, "/"),
		Key: parsed, Fingerprint: idempotent.Fingerprint(jsonbody.Of(c)),
	}
	err = c.Next()
	if err == nil || found.decided {
		return err
	}
	response, err := a.Keys.Refuse(c.UserContext(), found.key, a.Clock.Now(), err)
	if err != nil {
		return err
	}
	return answer(response).send(c)
}

// asked hands a request over to its use case: its key, and how the result is written.
func asked[T any](ctx context.Context, encode func(T) (idempotent.Response, error)) idempotent.Call[T] {
	found := callOf(ctx)
	found.decided = true
	return idempotent.Call[T]{Key: found.key, Encode: encode}
}

// written renders an answer to the byte.
func written(status int, v any) (idempotent.Response, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return idempotent.Response{}, err
	}
	return idempotent.Response{Status: status, Body: bytes.TrimSuffix(b.Bytes(), []byte{'\n'})}, nil
}

// answer is a response that is written already: that of every keyed operation.
type answer idempotent.Response

func (r answer) send(c *fiber.Ctx) error {
	failpoint.Hit("api.answering")
	if r.Replayed {
		c.Set(headerReplayed, "true")
	}
	c.Set(fiber.HeaderContentType, fiber.MIMEApplicationJSON)
	return c.Status(r.Status).Send(r.Body)
}

// VisitCreateDepositResponse sends the answer.
func (r answer) VisitCreateDepositResponse(c *fiber.Ctx) error { return r.send(c) }

// VisitCancelDepositResponse sends the answer.
func (r answer) VisitCancelDepositResponse(c *fiber.Ctx) error { return r.send(c) }

// VisitCaptureDepositResponse sends the answer.
func (r answer) VisitCaptureDepositResponse(c *fiber.Ctx) error { return r.send(c) }

// VisitCreateClientResponse sends the answer.
func (r answer) VisitCreateClientResponse(c *fiber.Ctx) error { return r.send(c) }

// VisitCreateWebhookResponse sends the answer.
func (r answer) VisitCreateWebhookResponse(c *fiber.Ctx) error { return r.send(c) }
