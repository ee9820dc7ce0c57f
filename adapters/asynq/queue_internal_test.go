package asynq

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"partnerdeposits/core/id"
	"partnerdeposits/lab/redistest"
	webhookports "partnerdeposits/ports/webhooks"
)

// tasks is a queue in memory behind a gate, under a simulated clock.
type tasks struct {
	redis.UniversalClient
	mu     sync.Mutex
	n      int
	asked  int
	failed error
}

func (q *tasks) EvalSha(ctx context.Context, _ string, _ []string, _ ...any) *redis.Cmd {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.asked++
	cmd := redis.NewCmd(ctx)
	switch {
	case q.failed != nil:
		cmd.SetErr(q.failed)
	case q.n == 0:
		cmd.SetErr(redis.Nil)
	default:
		q.n--
		cmd.SetVal("task")
	}
	return cmd
}

func (q *tasks) add(n int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.n += n
}

func (q *tasks) polls() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.asked
}

// polled is a gate that a server polls.
type polled struct {
	*pollGate
	*tasks
	works atomic.Bool
	rings chan struct{}
	taken atomic.Int64
}

// behindGate runs a server's polls while story runs. The bell works.
func behindGate(t *testing.T, story func(t *testing.T, p *polled)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := &polled{tasks: &tasks{}, rings: make(chan struct{}, 1)}
		p.works.Store(true)
		ctx, stop := context.WithCancel(t.Context())
		p.pollGate = &pollGate{
			UniversalClient: p.tasks, takes: takeScript, polled: make(chan struct{}), own: make(chan struct{}, ownJobs),
			jobs: p.rings, works: p.works.Load, closed: ctx.Done(),
		}
		var server sync.WaitGroup
		server.Go(func() {
			for ctx.Err() == nil {
				if p.pollGate.EvalSha(context.WithoutCancel(ctx), takeScript, nil).Err() == nil {
					p.taken.Add(1)
				} else {
					<-time.After(checkInterval)
				}
			}
		})
		story(t, p)
		polls := p.polls()
		stop()
		server.Wait()
		require.Equal(t, polls, p.polls(), "a closed gate takes no task")
	})
}

func pass(span time.Duration) {
	<-time.After(span)
	synctest.Wait()
}

func TestGate_AtRest_PollsOnceASecond_AndQuicklyWithoutABell(t *testing.T) {
	behindGate(t, func(t *testing.T, p *polled) {
		pass(time.Minute)
		require.InDelta(t, 60, p.polls(), 1)

		p.works.Store(false)
		pass(time.Second)
		before := p.polls()
		pass(6 * time.Second)
		require.InDelta(t, 1000, p.polls()-before, 100)
	})
}

func TestGate_AnOwnJob_IsTakenAtOnce_WithASinglePoll(t *testing.T) {
	behindGate(t, func(t *testing.T, p *polled) {
		pass(1500 * time.Millisecond)
		before := p.polls()
		p.add(1)
		p.own <- struct{}{}
		synctest.Wait()
		require.EqualValues(t, 1, p.taken.Load())
		require.Equal(t, before+1, p.polls())
	})
}

func TestGate_ARing_TakesAllTasks(t *testing.T) {
	behindGate(t, func(t *testing.T, p *polled) {
		pass(100 * time.Millisecond)
		p.add(50)
		p.rings <- struct{}{}
		synctest.Wait()
		require.EqualValues(t, 50, p.taken.Load())
	})
}

// A dispatcher that died before its ring leaves a task. An own job then takes the turn of that task, and is itself
// left.
func TestGate_ATaskThatNobodyAnnounced_WaitsASecond_AlsoUnderOwnJobs(t *testing.T) {
	behindGate(t, func(t *testing.T, p *polled) {
		pass(100 * time.Millisecond)
		p.add(1)
		for range 30 {
			pass(50 * time.Millisecond)
			p.add(1)
			p.own <- struct{}{}
		}
		synctest.Wait()
		require.EqualValues(t, 31, p.taken.Load())
	})
}

// No poll may sleep while a task waits: the simulated clock moves only when everything sleeps.
func TestGate_NoSignalIsLost(t *testing.T) {
	behindGate(t, func(t *testing.T, p *polled) {
		pass(100 * time.Millisecond)
		began := time.Now()
		const jobs, processes = 500, 4
		var all sync.WaitGroup
		for range processes {
			all.Go(func() {
				for range jobs {
					p.add(1)
					p.own <- struct{}{}
				}
			})
		}
		all.Wait()
		pass(time.Millisecond)
		require.EqualValues(t, jobs*processes, p.taken.Load())
		require.Less(t, time.Since(began), 100*time.Millisecond)
	})
}

func TestGate_WhileRedisIsAway_PollsAtTheInterval(t *testing.T) {
	behindGate(t, func(t *testing.T, p *polled) {
		p.works.Store(false)
		p.mu.Lock()
		p.failed = errors.New("connection refused")
		p.mu.Unlock()
		pass(time.Second)
		before := p.polls()
		pass(6 * time.Second)
		require.InDelta(t, 1000, p.polls()-before, 100, "asynq itself does not wait after an error")
	})
}

func TestPayload_ReadsAsItWasWritten(t *testing.T) {
	job := webhookports.DeliveryJob{Urgent: true, Claims: []webhookports.Claim{
		{DeliveryID: id.ID{1}, SubscriptionID: id.ID{8}, Seq: 1},
		{DeliveryID: id.ID{2}, SubscriptionID: id.ID{9}, Seq: 70_000},
	}}
	got, err := decode(encode(job))
	require.NoError(t, err)
	require.Empty(t, cmp.Diff(job, got))
}

func TestPayload_OfAnotherForm_IsRefused(t *testing.T) {
	good := encode(webhookports.DeliveryJob{Claims: []webhookports.Claim{{DeliveryID: id.ID{1}, Seq: 1}}})
	for _, b := range [][]byte{nil, {}, good[:len(good)-1], append(good[:len(good):len(good)], 0),
		append([]byte{1}, good[1:]...), good[:headerSize]} {
		_, err := decode(b)
		require.ErrorIs(t, err, errPayload)
	}
}

// A dispatcher of the release before reads this payload and no other, so its bytes are fixed.
func TestPayload_OfAJobWithDueTimes_HasTheBytesOfARelease(t *testing.T) {
	job := webhookports.DeliveryJob{Urgent: true,
		Claims: []webhookports.Claim{{DeliveryID: id.ID{2}, SubscriptionID: id.ID{1}, Seq: 3, DueAt: time.UnixMilli(1)}}}
	zeros := strings.Repeat("00", 15)
	require.Equal(t, "0201"+"01"+zeros+"02"+zeros+"00000003", hex.EncodeToString(encode(job)))
}

func TestHeaders_OfAJob_CarryTheDueTimes(t *testing.T) {
	at := time.UnixMilli(1_790_000_000_123)
	job := webhookports.DeliveryJob{Claims: []webhookports.Claim{
		{DeliveryID: id.ID{1}, Seq: 1, DueAt: at}, {DeliveryID: id.ID{2}, Seq: 1},
		{DeliveryID: id.ID{3}, Seq: 1, DueAt: at.Add(-time.Hour)},
	}}
	got, err := decode(encode(job))
	require.NoError(t, err)
	readHeaders(&got, headersOf(job))
	require.Empty(t, cmp.Diff(job, got))
	for range 29 {
		job.Claims = append(job.Claims, webhookports.Claim{DeliveryID: id.ID{4}, Seq: 1, DueAt: at})
	}
	require.Less(t, len(headersOf(job)[dueHeader]), 100, "asynq writes them again at each step")
}

func TestHeaders_OfAJob_CarryPartnersAndWhatWasRequested(t *testing.T) {
	one, two := id.ID{7}, id.ID{8}
	job := webhookports.DeliveryJob{}
	for n, owner := range []id.ID{one, one, two, {}, {}, one} {
		job.Claims = append(job.Claims, webhookports.Claim{DeliveryID: id.ID{byte(n + 1)}, Seq: 1,
			DueAt: time.UnixMilli(1), PartnerID: owner, Requested: n%3 == 1})
	}
	read := func(headers map[string]string) webhookports.DeliveryJob {
		got, err := decode(encode(job))
		require.NoError(t, err)
		readHeaders(&got, headers)
		return got
	}
	require.Empty(t, cmp.Diff(job, read(headersOf(job))))
	for n := range job.Claims {
		job.Claims[n].DueAt = time.Time{}
	}
	require.Empty(t, cmp.Diff(job, read(headersOf(job))), "without due times")
	for cut := range ownersOf(job) {
		short := base64.RawStdEncoding.EncodeToString(ownersOf(job)[:cut])
		for n, c := range read(map[string]string{ownersHeader: short}).Claims {
			require.Contains(t, []id.ID{{}, job.Claims[n].PartnerID}, c.PartnerID, cut)
		}
	}
	kept := webhookports.DeliveryJob{Kept: true, Claims: []webhookports.Claim{{PartnerID: one}}}
	require.Nil(t, ownersOf(kept), "the workers of the own process know the partner")
}

func TestHeaders_ThatAreMissingOrDoNotFit_LeaveTheJobReadable(t *testing.T) {
	older := webhookports.DeliveryJob{Claims: []webhookports.Claim{{DeliveryID: id.ID{1}, Seq: 1}, {DeliveryID: id.ID{2},
		Seq: 1}}}
	require.Empty(t, headersOf(older))
	for _, headers := range []map[string]string{nil, {}, {dueHeader: ""}, {dueHeader: "AA"}, {dueHeader: "%"},
		{"other": "x"}} {
		got, err := decode(encode(older))
		require.NoError(t, err)
		readHeaders(&got, headers)
		require.Empty(t, cmp.Diff(older, got), "%v", headers)
	}
}

// An asynq that takes tasks by another script would poll without a pause.
func TestServe_AnAsynqWithAnotherScript_IsRefused(t *testing.T) {
	t.Parallel()
	q := New(redistest.New(t), slog.New(slog.DiscardHandler))
	q.takes = "the script of another version"
	ctx, stop := context.WithTimeout(t.Context(), startPatience+5*time.Second)
	defer stop()
	err := q.Serve(ctx, 1, func(context.Context, webhookports.DeliveryJob) {})
	require.ErrorIs(t, err, ErrUnknownScripts)
}

func TestServe_WithoutRedis_StartsAndStops(t *testing.T) {
	t.Parallel()
	client := redis.NewClient(&redis.Options{Addr: "127.0.0.1:1", MaxRetries: -1})
	ctx, stop := context.WithTimeout(t.Context(), startPatience+time.Second)
	defer stop()
	err := New(client, slog.New(slog.DiscardHandler)).Serve(ctx, 1, func(context.Context, webhookports.DeliveryJob) {})
	require.NoError(t, err, "the scripts are known although Redis does not answer")
	require.NoError(t, client.Close())
}
