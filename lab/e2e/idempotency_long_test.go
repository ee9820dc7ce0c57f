//go:build long

package e2e_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"partnerdeposits/lab/procs"
	"partnerdeposits/lab/world"
)

const (
	racedKeys   = 50
	racesPerKey = 20
	racers      = 4                // requests at the same time in a race, through two processes
	stuckAfter  = 30 * time.Second // the longest time that a key may stay without an answer
)

// betweenCommitAndAnswer lists the failpoints of http that a change passes after its commit (lab/faults/points.go).
var betweenCommitAndAnswer = []string{"store.committed", "cache.finishing", "api.answering"}

// victim is an http process that dies at failpoints and is started again at the same address.
type victim struct {
	*world.Node
	t     *testing.T
	kills map[string]int // by failpoint
}

func newVictim(t *testing.T, w *deployment, binary string) *victim {
	t.Helper()
	n, err := world.NewNode("http", binary)
	require.NoError(t, err)
	n.Env = append(slices.Clone(w.environ), n.Env[:2]...) // its addresses alone
	v := &victim{Node: n, t: t, kills: map[string]int{}}
	require.NoError(t, v.Start(t.Context()))
	t.Cleanup(func() { v.Process().Kill() })
	return v
}

// dieAgainAndAgain orders deaths at random failpoints until done is closed, and then leaves the process running.
func (v *victim) dieAgainAndAgain(done <-chan struct{}, dice *rand.Rand) error {
	for {
		point := betweenCommitAndAnswer[dice.IntN(len(betweenCommitAndAnswer))]
		v.Process().Tell(fmt.Sprintf("%s %d", point, 1+dice.IntN(3)))
		select {
		case <-done:
			v.Process().Tell("off")
			return nil
		case <-time.After(300 * time.Millisecond): // not reached: another order
		case <-v.Process().Done():
			if !v.Process().Killed() {
				return fmt.Errorf("http ended with %s:\n%s", v.Process().Ended(), v.Process().Log())
			}
			v.kills[point]++
			if err := v.Start(v.t.Context()); err != nil {
				return err
			}
		}
	}
}

// contest holds what the races have seen.
type contest struct {
	site    *deployment
	victims []*victim
	http    *http.Client

	mu       sync.Mutex
	broken   []string
	executed int           // answers that are no replay
	unknown  int           // requests without an answer
	waiting  int           // requests that met a request still running
	longest  time.Duration // until a race has its answer
}

func (c *contest) violate(format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.broken = append(c.broken, fmt.Sprintf(format, args...))
}

// key races racesPerKey times for a key. All answers have the same bytes, and one at most is no replay.
func (c *contest) key(ctx context.Context, number int, body string) {
	key, executed := uuid.NewString(), 0
	var first string
	for race := range racesPerKey {
		for began := time.Now(); ; {
			var group sync.WaitGroup
			answers := make(chan raceAnswer, racers)
			for i := range racers {
				group.Go(func() { answers <- c.post(ctx, c.victims[i%len(c.victims)].Base, key, body) })
			}
			group.Wait()
			close(answers)
			answered := false
			for a := range answers {
				c.note(a)
				switch {
				case a.status == http.StatusCreated:
					answered = true
					if first == "" {
						first = a.body
					}
					if a.body != first {
						c.violate("key %d: %s is not %s", number, a.body, first)
					}
					if !a.replayed {
						executed++
					}
				case a.status != 0 && !a.again():
					c.violate("key %d, race %d: %d %s", number, race, a.status, a.body)
				}
			}
			took := time.Since(began)
			if answered || took > stuckAfter {
				c.settle(number, took, answered)
				break
			}
			<-time.After(50 * time.Millisecond) // as a client that tries again
		}
	}
	if executed > 1 {
		c.violate("key %d: %d answers that are no replay", number, executed)
	}
}

func (c *contest) settle(number int, took time.Duration, answered bool) {
	if !answered {
		c.violate("key %d is stuck", number)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.longest = max(c.longest, took)
}

// raceAnswer is the answer to a request; status 0: none.
type raceAnswer struct {
	status   int
	body     string
	replayed bool
}

// again tells that the caller shall try again: the first request still runs, or the process is ending.
func (a raceAnswer) again() bool {
	return a.status == http.StatusConflict && strings.Contains(a.body, "idempotency_key_in_use") ||
		a.status == http.StatusServiceUnavailable
}

func (c *contest) note(a raceAnswer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case a.status == 0:
		c.unknown++
	case a.again():
		c.waiting++
	case !a.replayed:
		c.executed++
	}
}

func (c *contest) post(ctx context.Context, base, key, body string) raceAnswer {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, base+"/api/partner/v1/deposits",
		strings.NewReader(body))
	if err != nil {
		c.violate("%v", err)
		return raceAnswer{}
	}
	request.Header.Set("x-api-key", c.site.apiKey)
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Idempotency-Key", key)
	response, err := c.http.Do(request)
	if err != nil {
		return raceAnswer{}
	}
	defer func() { _ = response.Body.Close() }()
	read, err := io.ReadAll(response.Body)
	if err != nil {
		return raceAnswer{}
	}
	return raceAnswer{response.StatusCode, string(read), response.Header.Get("Idempotent-Replayed") == "true"}
}

// TestLong_Idempotency_AThousandRaces_WithProcessesKilledBetweenCommitAndAnswer: a key makes a deposit, every answer to
// the key has the same bytes, and no key is stuck.
func TestLong_Idempotency_AThousandRaces_WithProcessesKilledBetweenCommitAndAnswer(t *testing.T) {
	t.Parallel()
	dir := t.TempDir() + string(filepath.Separator)
	require.NoError(t, procs.Build{Tags: []string{"failpoints"}}.Into(t.Context(), dir, "lab/faults/http"))
	w := newWorld(t, "RATE_LIMIT_PER_MINUTE=1000000", "RATE_LIMIT_WRITES_PER_MINUTE=1000000")
	w.http(t)
	accountID := w.link(t, "villa-15")
	c := &contest{site: w,
		http: &http.Client{Timeout: 15 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: 64}}}
	for range 2 {
		c.victims = append(c.victims, newVictim(t, w, dir+"http"))
	}
	done := make(chan struct{})
	var killers, workers sync.WaitGroup
	for i, v := range c.victims {
		dice := rand.New(rand.NewPCG(uint64(i), 13))
		killers.Go(func() {
			if err := v.dieAgainAndAgain(done, dice); err != nil {
				c.violate("%v", err)
			}
		})
	}
	numbers := make(chan int)
	for range 5 {
		workers.Go(func() {
			for number := range numbers {
				c.key(t.Context(), number,
					fmt.Sprintf(
						`{"accountId":%q,"amount":100,"contractStartAt":"2030-06-01T14:00:00Z","contractEndAt":"2030-06-08T10:00:00Z","rentalContract":"race-%d"}`,
						accountID, number))
			}
		})
	}
	for number := range racedKeys {
		numbers <- number
	}
	close(numbers)
	workers.Wait()
	close(done)
	killers.Wait()

	require.Empty(t, c.broken)
	kills := map[string]int{}
	for _, v := range c.victims {
		for point, n := range v.kills {
			kills[point] += n
		}
	}
	t.Logf("figure: %d races, kills %v, %d executed, %d without an answer, %d in use, longest wait %v",
		racedKeys*racesPerKey, kills, c.executed, c.unknown, c.waiting, c.longest.Round(time.Millisecond))
	for _, point := range betweenCommitAndAnswer {
		require.Positive(t, kills[point], point)
	}
	made := map[string]int{}
	var page struct {
		Data []struct{ RentalContract string }
	}
	w.api(t).get("/deposits?limit=100", &page)
	for _, d := range page.Data {
		made[d.RentalContract]++
	}
	require.Len(t, made, racedKeys)
	require.Len(t, page.Data, racedKeys, "a deposit for each key: %v", made)
	raw, err := json.Marshal(made)
	require.NoError(t, err)
	require.NotContains(t, string(raw), ":2")
}
