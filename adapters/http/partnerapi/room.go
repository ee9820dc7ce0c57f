package partnerapi

import (
	"bytes"
	"errors"
	"time"

	"github.com/gofiber/fiber/v2"

	"partnerdeposits/adapters/http/middleware"
	"partnerdeposits/core/fault"
	"partnerdeposits/core/id"
)

// Limits on responses that are encoded but not yet received by their callers, and on lists that are being encoded
// (api.md §1, "Rate limits").
const (
	// Size in bytes from which a response counts against the limits of unreceived responses.
	bigAnswer    = 16 << 10
	answersOfOne = 8 << 20 // The most bytes of responses to one partner that it has not received yet.
	// The most bytes of responses, over all partners, that have not been received yet. A part of it, answersOfOne, is
	// reserved for partners that had none recently.
	answersOfAll = 32 << 20

	// The most lists of a partner that are read and encoded at once; its further list requests wait.
	listsOfOne = 2
	listsOfAll = 16 // The most lists of all partners that are read and encoded at once.
	listsKept  = 4  // How many of listsOfAll are reserved for partners that had no list recently.
	// Rate in bytes a second: a list occupies one of its partner's places for as long as sending the list at this
	// rate would take.
	listRate = 4 << 20
)

var (
	errUnread = fault.ErrRateLimited.WithMessage(
		"Too many answers to you are on their way. Read them, and retry after the time given in Retry-After.")
	errAnswers = fault.ErrUnavailable.WithCause(errors.New("partnerapi: answers on their way take all room"))
)

// room holds the limits of the process on responses that callers have not received yet, and on lists that are
// being encoded.
type room struct{ answers, lists middleware.ResourceBudget }

func newRoom(all int) *room {
	enough := errUnread.WithRetryAfter(fault.ErrUnavailable.RetryAfter)
	return &room{
		answers: middleware.ResourceBudget{Most: all, Each: answersOfOne, Kept: answersOfOne, Full: errAnswers,
			Enough: enough},
		lists: middleware.ResourceBudget{Most: listsOfAll, Each: listsOfOne, Kept: listsKept, Full: errAnswers,
			Enough: enough},
	}
}

// refused returns the error of a request that was refused because of a rate limit, and counts the refusal in the
// metrics.
func (a *api) refused(err error) error {
	if errors.Is(err, fault.ErrRateLimited) {
		a.OnRateLimited()
	}
	return err
}

// send counts a large response against the partner's limit of unreceived bytes until the caller has received it. A
// caller that receives it more slowly than the least rate loses its connection. Only responses to requests that
// changed nothing pass through send, so the request may still be refused here.
//
// Returns rate_limited or service_unavailable.
func (a *api) send(c *fiber.Ctx) error {
	if err := c.Next(); err != nil || len(c.Response().Body()) < bigAnswer {
		return err
	}
	middleware.CompressBody(c)
	body := c.Response().Body()
	hold, err := a.room.answers.TryAcquire(callerOf(c), len(body), len(body))
	if err != nil {
		c.Response().Header.Del(fiber.HeaderContentEncoding)
		return a.refused(err)
	}
	middleware.SendBodyWithMinRate(c, unreadResponse{bytes.NewReader(body), hold}, len(body))
	return nil
}

// unreadResponse is a large response that its caller has not fully received yet.
type unreadResponse struct {
	*bytes.Reader
	hold *middleware.BudgetPart
}

// Close ends the counting of a large response against the limits, once it is sent or the caller has disconnected.
func (u unreadResponse) Close() error {
	u.hold.Release()
	return nil
}

// readsAnswers refuses a list request before the work, if the partner has too many responses that it has not
// received.
func (a *api) readsAnswers(c *fiber.Ctx) error {
	if a.room.answers.ExceedsOwnerLimit(callerOf(c), pageBytes) {
		return a.refused(a.room.answers.Enough)
	}
	return c.Next()
}

// takeTurn limits how many lists of a partner are read and encoded at once. A list counts for as long as its
// response would take to send at listRate: many large pages that a partner requests at the same moment are
// produced one after another, so that requests of other partners get CPU time in between.
func (a *api) takeTurn(c *fiber.Ctx) error {
	turn, err := a.room.lists.Acquire(c.UserContext(), callerOf(c), 1, 1)
	if err != nil {
		return a.refused(err)
	}
	began := time.Now()
	defer func() {
		taken := time.Duration(len(c.Response().Body())) * time.Second / listRate
		turn.ReleaseWithOwnerCooldown(time.Until(began.Add(taken)))
	}()
	return c.Next()
}

func callerOf(c *fiber.Ctx) id.ID { return requestOf(c.UserContext()).caller.Partner.ID }
