package webhook

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"partnerdeposits/core/webhook"
)

func judge(status int) (webhook.AttemptResult, string) {
	switch {
	case status < 100:
		return webhook.ResultConnectFailed, unreadable
	case status >= 200 && status < 300:
		return webhook.ResultSuccess, ""
	case isRedirect(status):
		return webhook.ResultRedirect,
			"The endpoint answered " + statusLine(status) + "; redirects are not followed. Register the final URL."
	default:
		return webhook.ResultNon2xx, "The endpoint answered " + statusLine(status) + "."
	}
}

func isRedirect(status int) bool {
	switch status {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect,
		http.StatusPermanentRedirect:
		return true
	}
	return false
}

func statusLine(status int) string {
	return strings.TrimSpace(strconv.Itoa(status) + " " + http.StatusText(status))
}

// retryAfter returns the Retry-After header of a response with status 429 or 503, given in seconds or as a date;
// 0: none.
func retryAfter(r *http.Response, now time.Time) time.Duration {
	if r.StatusCode != http.StatusTooManyRequests && r.StatusCode != http.StatusServiceUnavailable {
		return 0
	}
	value := strings.TrimSpace(r.Header.Get("Retry-After"))
	seconds, err := strconv.ParseUint(value, 10, 64)
	if err == nil || errors.Is(err, strconv.ErrRange) {
		return time.Duration(min(seconds, uint64(webhook.MaxRetryAfter/time.Second))) * time.Second
	}
	if at, err := http.ParseTime(value); err == nil {
		return min(max(at.Sub(now), 0), webhook.MaxRetryAfter)
	}
	return 0
}

var buffers = sync.Pool{New: func() any { return new([maxBody]byte) }}

// readSnippet returns the start of a response's body, for the partner's developer. The body cannot change the
// result of the attempt, because the status is known.
func (s *Sender) readSnippet(body io.Reader, cancel context.CancelFunc) string {
	if body == http.NoBody {
		return ""
	}
	defer time.AfterFunc(s.bodyTimeout, cancel).Stop()
	buffer, _ := buffers.Get().(*[maxBody]byte)
	defer buffers.Put(buffer)
	n, _ := io.ReadFull(body, buffer[:])
	return printable(buffer[:n])
}

func printable(b []byte) string {
	// Cut some bytes behind the bound, so that a character at the bound stays whole; the rest is removed below.
	cut := b[:min(len(b), webhook.MaxResponseSnippet+utf8.UTFMax)]
	s := strings.ToValidUTF8(strings.ReplaceAll(string(cut), "\x00", "\uFFFD"), "\uFFFD")
	if len(s) <= webhook.MaxResponseSnippet {
		return s
	}
	end := webhook.MaxResponseSnippet
	for !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end]
}
