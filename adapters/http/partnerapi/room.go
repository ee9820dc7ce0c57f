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

// Bounds of answers that their callers have not taken yet (api.md §1, "Rate limits").
const (
	bigAnswer    = 16 << 10 // bytes from which an answer counts
	answersOfOne = 8 << 20  // of a partner, in bytes
	answersOfAll = 32 << 20 // of a process; a partner that had none lately finds answersOfOne of them free

	listsOfOne = 2       // lists of a partner that are read and encoded at once; others of it wait
	listsOfAll = 16      // of a process
	listsKept  = 4       // of these, for partners that had none lately
	listRate   = 4 << 20 // bytes a second of a turn
)

var (
	errUnread = fault.ErrRateLimited.WithMessage(
		"Too many answers to you are on their way. Read them, and retry after the time given in Retry-After.")
	errAnswers = fault.ErrUnavailable.Because(errors.New("partnerapi: answers on their way take all room"))
)

// room is what the answers of a process to its partners may take.
type room struct{ answers, lists middleware.Budget }

func newRoom(all int) *room {
	enough := errUnread.WithRetryAfter(fault.ErrUnavailable.RetryAfter)
	return &room{
		answers: middleware.Budget{Most: all, Each: answersOfOne, Kept: answersOfOne, Full: errAnswers,
			Enough: enough},
		lists: middleware.Budget{Most: listsOfAll, Each: listsOfOne, Kept: listsKept, Full: errAnswers, Enough: enough},
	}
}

// refused counts a refusal of the partner.
func (a *api) refused(err error) error {
	if errors.Is(err, fault.ErrRateLimited) {
		a.OnRateLimited()
	}
	return err
}

// send counts a large answer to a reading request until the caller has taken the answer. A caller that takes it more
// slowly than the least rate loses its connection. The request has changed nothing, so it may still be refused here.
//
// Returns rate_limited or service_unavailable.
func (a *api) send(c *fiber.Ctx) error {
	if err := c.Next(); err != nil || len(c.Response().Body()) < bigAnswer {
		return err
	}
	middleware.CompressBody(c)
	body := c.Response().Body()
	hold, err := a.room.answers.Take(callerOf(c), len(body), len(body))
	if err != nil {
		c.Response().Header.Del(fiber.HeaderContentEncoding)
		return a.refused(err)
	}
	middleware.SendPaced(c, unread{bytes.NewReader(body), hold}, len(body))
	return nil
}

// unread is a big answer that its caller has not taken yet.
type unread struct {
	*bytes.Reader
	hold *middleware.Hold
}

// Close implements io.Closer.
func (u unread) Close() error {
	u.hold.Give()
	return nil
}

// readsAnswers refuses a list before the work, if there is no room for its answer.
func (a *api) readsAnswers(c *fiber.Ctx) error {
	if a.room.answers.Spent(callerOf(c), pageBytes) {
		return a.refused(a.room.answers.Enough)
	}
	return c.Next()
}

// takeTurn has few lists of a partner be read and encoded at once. A turn lasts until its answer could have been sent
// at listRate: many large pages that a partner asks for in one moment are made one after another, and the requests of
// others find a core between them.
func (a *api) takeTurn(c *fiber.Ctx) error {
	turn, err := a.room.lists.Wait(c.UserContext(), callerOf(c), 1, 1)
	if err != nil {
		return a.refused(err)
	}
	began := time.Now()
	defer func() {
		taken := time.Duration(len(c.Response().Body())) * time.Second / listRate
		turn.GiveAfter(time.Until(began.Add(taken)))
	}()
	return c.Next()
}

func callerOf(c *fiber.Ctx) id.ID { return requestOf(c.UserContext()).caller.Partner.ID }
