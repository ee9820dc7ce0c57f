package main

import (
	"bufio"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
)

const secret = "svc_whsec_q1w2e3r4t5y6u7i8o9p0a1s2d3f4g5h6"

// lab/sdk runs the command as a process of its own.
func TestReceiver_VerifiesARawBody(t *testing.T) {
	t.Setenv("WEBHOOK_SECRET", secret)
	printed, stderr, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	usual := os.Stderr
	os.Stderr = stderr
	t.Cleanup(func() { os.Stderr = usual })
	body := `{"event":"deposit.activated","createdAt":"2026-06-02T11:20:09.512Z","data":{"rentalContract":"é\u003c"}}`

	if status, text := post(body, body); status != http.StatusNoContent || text != "" {
		t.Errorf("a webhook got %d %q", status, text)
	}
	line, err := bufio.NewReader(printed).ReadString('\n')
	if err != nil || line != "verified deposit.activated\n" {
		t.Errorf("printed %q, %v", line, err)
	}
	if status, text := post(body, body+" "); status != http.StatusBadRequest || text != "mismatch\n" {
		t.Errorf("a forged webhook got %d %q", status, text)
	}
}

// TestGuide_ShowsThisReceiver compares the function with the block of the guide.
func TestGuide_ShowsThisReceiver(t *testing.T) {
	code, err := os.ReadFile("main.go")
	if err != nil {
		t.Fatal(err)
	}
	guide, err := os.ReadFile("../../../../docs/guides/start-go.md")
	if err != nil {
		t.Fatal(err)
	}
	function := string(code[strings.Index(string(code), "func receive("):])
	if !strings.Contains(string(guide), "```go\n"+function+"```\n") {
		t.Errorf("the guide has no block with\n%s", function)
	}
}

func post(signed, sent string) (int, string) {
	timestamp := strconv.FormatInt(time.Now().Unix(), 10)
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(timestamp + "." + signed))
	req := httptest.NewRequest(http.MethodPost, "/hooks/deposits", strings.NewReader(sent))
	req.Header.Set("X-Svc-Timestamp", timestamp)
	req.Header.Set("X-Svc-Signature", "sha256="+hex.EncodeToString(mac.Sum(nil)))
	answer := httptest.NewRecorder()
	receive(answer, req)
	return answer.Code, answer.Body.String()
}
