//go:build kube

package trials

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/lab/backing"
	"partnerdeposits/lab/kube/node"
	"partnerdeposits/lab/receiver"
	"partnerdeposits/lab/world"
)

// Somebody who copies the commands of the guide gets from nothing to a verified webhook. Other than in the guide the
// receiver stands beside the node, because its image is in a registry, and addresses are those of the trial.
func TestGuide_FromNothing_LeadsToAVerifiedWebhook(t *testing.T) {
	t.Cleanup(func() {
		_, _ = cluster.RunKubectl(context.Background(), "delete", "namespace", "deposits", "--wait=false")
	})
	folder := t.TempDir()
	_, err := world.CreateDatabase(t.Context(), cluster.stores.PostgresURL, "guide", "")
	require.NoError(t, err)
	postgres := forward(t, node.GatewayAddress, world.HostPort(cluster.stores.PostgresURL))
	redis := forward(t, node.GatewayAddress, world.HostPort(cluster.stores.RedisURL))
	root, err := filepath.Abs(repository)
	require.NoError(t, err)
	port, err := backing.FreePort()
	require.NoError(t, err)
	verified := make(chan string, 16)
	other := strings.NewReplacer(
		"registry.example.com/partnerdeposits", "docker.io/library/partnerdeposits", "TAG=0.1.0", "TAG="+present.tag,
		"postgres://user:password@host:5432/deposits", world.RewriteDatabaseURL(cluster.stores.PostgresURL, "", postgres.address, "guide"),
		"redis://:password@host:6379/0", fmt.Sprintf("redis://%s/%d", redis.address, redisNumber.Add(1)),
		"CHART=deployments", "CHART="+root+"/deployments",
		"localhost:8080", fmt.Sprintf("localhost:%d", port), "8080:80", fmt.Sprintf("%d:80", port),
		"http://receiver.deposits.svc:8099", receive(t, filepath.Join(folder, "webhook.json"), verified),
	)
	script := []string{"set -euo pipefail", "trap 'kill $(jobs -p)' EXIT"}
	for _, block := range blocks(t, root+"/docs/guides/kubernetes.md", "From nothing to the first verified webhook") {
		text := other.Replace(block.text)
		switch {
		case block.kind == "yaml" && strings.HasPrefix(text, "settings:"):
			require.NoError(t, os.WriteFile(filepath.Join(folder, "trial.yaml"), []byte(text), 0o600))
		case block.kind == "sh" && strings.Contains(text, "receiver.yaml"):
			script = append(script, regexp.MustCompile("(?m)^curl .*").FindString(text)) // the test delivery
		case block.kind == "sh":
			script = append(script, text)
		}
	}
	begun := time.Now()
	cmd := exec.CommandContext(t.Context(), "bash", "-c", strings.Join(script, "\n"))
	cmd.Dir = folder
	cmd.Env = append(cluster.ToolEnv(), "PATH="+strings.Join([]string{cluster.Bin, filepath.Join(cluster.images, next.tag),
		os.Getenv("PATH")}, ":"))
	said, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s\n%s", strings.Join(script, "\n"), said)
	require.Equal(t, "deposit.activated", <-verified)
	t.Logf("figure: from nothing to the first verified webhook by the commands of the guide %.0f s",
		time.Since(begun).Seconds())
}

// receive serves an endpoint beside the node. The answer of the API, which the guide keeps in a file, has its secret.
func receive(t *testing.T, answer string, verified chan<- string) (url string) {
	t.Helper()
	listener, err := net.Listen("tcp", node.GatewayAddress+":0")
	require.NoError(t, err)
	secret := regexp.MustCompile(`svc_whsec_[0-9A-Za-z_-]*`)
	server := &http.Server{ReadHeaderTimeout: time.Minute,
		Handler: receiver.WebhookHandler(func(w receiver.Webhook) (receiver.Responder, func(bool)) {
			text, _ := os.ReadFile(answer) // no secret then, and nothing is verified
			if reason := w.VerifySignature(secret.FindString(string(text))); reason != "" {
				return receiver.RespondRefusal(string(reason)), nil
			}
			verified <- w.EventName()
			return receiver.RespondOK, nil
		})}
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(func() { _ = server.Close() })
	return "http://" + listener.Addr().String()
}

type block struct{ kind, text string }

// blocks lists the fenced code blocks of a section of a Markdown file, in their order.
func blocks(t *testing.T, file, section string) (all []block) {
	t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	_, behind, found := strings.Cut(string(text), "\n## "+section+"\n")
	require.True(t, found)
	behind, _, _ = strings.Cut(behind, "\n## ")
	for _, match := range regexp.MustCompile("(?ms)^```(\\w+)\n(.*?)^```$").FindAllStringSubmatch(behind, -1) {
		all = append(all, block{match[1], match[2]})
	}
	require.NotEmpty(t, all)
	return all
}
