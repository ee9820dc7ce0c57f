package main

import (
	"bufio"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

const secret = "svc_whsec_q1w2e3r4t5y6u7i8o9p0a1s2d3f4g5h6"

// TestReceiver_VerifiesARawBody runs the command as a process of its own.
func TestReceiver_VerifiesARawBody(t *testing.T) {
	binary := filepath.Join(t.TempDir(), "receiver")
	if out, err := exec.Command("go", "build", "-o", binary, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	port := freePort(t)
	cmd := exec.Command(binary)
	cmd.Env = append(os.Environ(), "PORT="+port, "WEBHOOK_SECRET="+secret)
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	url := "http://127.0.0.1:" + port + "/hooks/deposits"
	awaitListener(t, port)
	body := `{"event":"deposit.activated","createdAt":"2026-06-02T11:20:09.512Z","data":{"rentalContract":"é\u003c"}}`

	if status, text := post(t, url, body, body); status != http.StatusNoContent || text != "" {
		t.Errorf("a webhook got %d %q", status, text)
	}
	line, err := bufio.NewReader(stderr).ReadString('\n')
	if err != nil || line != "verified deposit.activated\n" {
		t.Errorf("printed %q, %v", line, err)
	}
	if status, text := post(t, url, body, body+" "); status != http.StatusBadRequest || text != "mismatch\n" {
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

func post(t *testing.T, url, signed, sent string) (int, string) {
	t.Helper()
	timestamp := strconv.FormatInt(time.Now().Unix(), 10)
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(timestamp + "." + signed))
	req, err := http.NewRequest(http.MethodPost, url, strings.NewReader(sent))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("X-Svc-Timestamp", timestamp)
	req.Header.Set("X-Svc-Signature", "sha256="+hex.EncodeToString(mac.Sum(nil)))
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(text)
}

func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	return port
}

func awaitListener(t *testing.T, port string) {
	t.Helper()
	for deadline := time.After(10 * time.Second); ; {
		conn, err := net.Dial("tcp", "127.0.0.1:"+port)
		if err == nil {
			conn.Close()
			return
		}
		select {
		case <-deadline:
			t.Fatal(err)
		case <-time.After(10 * time.Millisecond):
		}
	}
}
