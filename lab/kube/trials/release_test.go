//go:build kube

package trials

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	"partnerdeposits/lab/hostiletest"
	"partnerdeposits/lab/kube/node"
	"partnerdeposits/lab/world"
)

const (
	soon  = time.Minute // bounds a wait
	often = 200 * time.Millisecond
	// patience is that of Helm for an install or an upgrade on a busy machine.
	patience = 4 * time.Minute
)

// release is the chart in a namespace, with stores of its own and a gateway in front of http.
type release struct {
	t                     *testing.T
	namespace, name       string
	databaseURL, redisURL string // for the pods
	localURL              string // of the database, for this machine
	origin                string // of the gateway
	gateway               *forwarder
	values                map[string]any
}

var redisNumber atomic.Int32

// newNamespace makes a namespace that admits pods of the standard "restricted" alone.
func newNamespace(t *testing.T) string {
	t.Helper()
	name := strings.ToLower(strings.NewReplacer("_", "-", "/", "-").Replace(t.Name()))
	name = "trial-" + strings.Trim(name[max(0, len(name)-40):], "-")
	kubectl(t, "create", "namespace", name)
	kubectl(t, "label", "namespace", name, "pod-security.kubernetes.io/enforce=restricted",
		"pod-security.kubernetes.io/enforce-version=latest")
	t.Cleanup(func() { _, _ = cluster.RunKubectl(context.Background(), "delete", "namespace", name, "--wait=false") })
	return name
}

// newRelease prepares all that the chart expects: a namespace, stores, and a Secret. Nothing is installed yet.
func newRelease(t *testing.T, namespace, name string) *release {
	t.Helper()
	r := &release{t: t, namespace: namespace, name: name}
	database := strings.ReplaceAll(namespace+"_"+name, "-", "_")
	var err error
	r.localURL, err = world.CreateDatabase(t.Context(), cluster.stores.PostgresURL, database, "")
	require.NoError(t, err)
	postgres := forward(t, node.GatewayAddress, world.HostPort(cluster.stores.PostgresURL))
	redis := forward(t, node.GatewayAddress, world.HostPort(cluster.stores.RedisURL))
	r.databaseURL = world.RewriteDatabaseURL(r.localURL, "", postgres.address, "")
	r.redisURL = fmt.Sprintf("redis://%s/%d", redis.address, redisNumber.Add(1))
	r.gateway = forward(t, "127.0.0.1", "")
	r.origin = "http://" + r.gateway.address
	r.kubectl("create", "secret", "generic", name, "--from-literal=DATABASE_URL="+r.databaseURL,
		"--from-literal=REDIS_URL="+r.redisURL, "--from-literal=SECRETS_KEYSET="+newKeyset(t))
	r.values = map[string]any{
		"image":   map[string]any{"tag": present.tag},
		"secrets": map[string]any{"existingSecret": name},
		"settings": map[string]any{
			"SERVICE_ENV": "development", "API_BASE_URL": r.origin, "DASHBOARD_BASE_URL": r.origin, "DRAIN_DELAY": "5s",
			"WEBHOOK_ALLOW_INSECURE_TARGETS": "true", "SCHEDULER_INTERVAL": "200ms",
			"RATE_LIMIT_PER_MINUTE": "1000000", "RATE_LIMIT_WRITES_PER_MINUTE": "1000000",
		},
		"http":       map[string]any{"replicas": 2},
		"dispatcher": map[string]any{"replicas": 2},
		"migration":  map[string]any{"backoffLimit": 0},
	}
	return r
}

// helm runs a command of Helm for the release.
func (r *release) helm(args ...string) (string, error) {
	r.t.Helper()
	return cluster.RunHelm(r.t.Context(), append(args, "--namespace="+r.namespace)...)
}

// deploy installs or upgrades the release with a version of the image, and waits until all pods are ready. The watcher,
// Helm 4's other way to wait, does not notice that a hook has failed, and waits until the timeout.
func (r *release) deploy(v version) error {
	r.t.Helper()
	r.values["image"] = map[string]any{"tag": v.tag}
	text, err := yaml.Marshal(r.values)
	if err != nil {
		return err
	}
	file := filepath.Join(r.t.TempDir(), "values.yaml")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		return err
	}
	begun := time.Now()
	_, err = r.helm("upgrade", "--install", r.name, chart, "--values="+chart+"/values-small.yaml", "--values="+file,
		"--wait=legacy", "--timeout="+patience.String())
	r.t.Logf("helm upgrade --install %s, image %s: %.0f s", r.name, v.tag, time.Since(begun).Seconds())
	return err
}

// install installs the release, and leads its gateway to the Service of http.
func (r *release) install() {
	r.t.Helper()
	require.NoError(r.t, r.deploy(present))
	r.gateway.target.Store(r.kubectl("get", "service", "--selector=app.kubernetes.io/instance="+r.name, "-o",
		"jsonpath={.items[0].spec.clusterIP}") + ":80")
}

// revision is the number of the present revision.
func (r *release) revision() string {
	r.t.Helper()
	said, err := r.helm("status", r.name, "-o", "json")
	require.NoError(r.t, err)
	var status struct{ Version int }
	require.NoError(r.t, json.Unmarshal([]byte(said), &status))
	return strconv.Itoa(status.Version)
}

// kubectl runs a command that must succeed, in the namespace of the release.
func (r *release) kubectl(args ...string) string {
	r.t.Helper()
	return kubectl(r.t, append([]string{"--namespace=" + r.namespace}, args...)...)
}

func kubectl(t *testing.T, args ...string) string {
	t.Helper()
	said, err := cluster.RunKubectl(context.WithoutCancel(t.Context()), args...)
	require.NoError(t, err)
	return strings.TrimSpace(said)
}

// pods lists the names of the pods of http or of the dispatcher that Kubernetes is not deleting.
func (r *release) pods(component string) (names []string) {
	r.t.Helper()
	var list struct {
		Items []struct {
			Metadata struct{ Name, DeletionTimestamp string }
		}
	}
	require.NoError(r.t, json.Unmarshal([]byte(r.kubectl("get", "pods", "-o", "json",
		"--selector=app.kubernetes.io/instance="+r.name+",app.kubernetes.io/component="+component)), &list))
	for _, pod := range list.Items {
		if pod.Metadata.DeletionTimestamp == "" {
			names = append(names, pod.Metadata.Name)
		}
	}
	return names
}

// admin runs a command of /admin in a pod of http, and reads its JSON.
func (r *release) admin(into any, args ...string) {
	r.t.Helper()
	said := r.kubectl(append([]string{"exec", "deployment/" + r.fullname("http"), "--", "/admin"},
		append(args, "--json")...)...)
	require.NoError(r.t, json.Unmarshal([]byte(said), into), said)
}

// fullname is the name of a Deployment of the release.
func (r *release) fullname(component string) string {
	return r.kubectl("get", "deployments", "-o", "jsonpath={.items[0].metadata.name}",
		"--selector=app.kubernetes.io/instance="+r.name+",app.kubernetes.io/component="+component)
}

// forwarder passes connections on to an address of this machine's, which may change.
type forwarder struct {
	address string
	target  atomic.Value // string
}

// forward listens at a free port of host until the test ends.
func forward(t *testing.T, host, target string) *forwarder {
	t.Helper()
	listener, err := net.Listen("tcp", net.JoinHostPort(host, "0"))
	require.NoError(t, err)
	f := &forwarder{address: listener.Addr().String()}
	f.target.Store(target)
	hostiletest.ServeOnListener(t, listener, func(from net.Conn) {
		to, err := net.DialTimeout("tcp", f.target.Load().(string), soon)
		if err != nil {
			return // the client sees the end of its connection
		}
		defer func() { _ = to.Close() }()
		go func() {
			_, _ = io.Copy(to, from)
			_ = to.(*net.TCPConn).CloseWrite()
		}()
		_, _ = io.Copy(from, to)
	})
	return f
}
