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

// Limits on responses not yet received by callers, and on lists being encoded (api.md §1, "Rate limits").
const (
	// Size in bytes from which an unreceived response counts against the limits.
	bigAnswer    = 16 << 10
	answersOfOne = 8 << 20 // The most unreceived response bytes of a partner.
	// The most unreceived response bytes of all partners; answersOfOne of it is reserved for partners that had none
	// recently.
	answersOfAll = 32 << 20

	// The most lists of a partner encoded at once; further list requests wait.
	listsOfOne = 2
	listsOfAll = 16
	listsKept  = 4 // Part of listsOfAll reserved for partners without a recent list.
	// Rate in bytes a second: a list occupies a place for as long as sending it at this rate would take.
	listRate = 4 << 20
)

var (
	errUnread = fault.ErrRateLimited.WithMessage(
		"Too many answers to you are on their way. Read them, and retry after the time given in Retry-After.")
	errAnswers = fault.ErrUnavailable.WithCause(errors.New("partnerapi: answers on their way take all room"))
)

// room limits unreceived responses and lists being encoded in the process.
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

// refused counts a rate-limited request in the metrics and returns its error.
func (a *api) refused(err error) error {
	if errors.Is(err, fault.ErrRateLimited) {
		a.OnRateLimited()
	}
	return err
}

// send counts a large response against the partner's unreceived bytes; a caller below the least rate loses its
// connection. Only requests that changed nothing pass through send, so they may still be refused.
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

type unreadResponse struct {
	*bytes.Reader
	hold *middleware.BudgetPart
}

// Close stops counting a large response, once it is sent or the caller has disconnected.
func (u unreadResponse) Close() error {
	u.hold.Release()
	return nil
}

// readsAnswers refuses a list request early, if the partner has too many unreceived responses.
func (a *api) readsAnswers(c *fiber.Ctx) error {
	if a.room.answers.ExceedsOwnerLimit(callerOf(c), pageBytes) {
		return a.refused(a.room.answers.Enough)
	}
	return c.Next()
}

// takeTurn limits how many lists of a partner are encoded at once, each for as long as sending it at listRate
// takes: simultaneous large pages come in turn, so that other partners get CPU time.
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
