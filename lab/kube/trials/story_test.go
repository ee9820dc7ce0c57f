//go:build kube

package trials

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

// TestStory_OfARelease tells the life of a release: each step needs those before it.
func TestStory_OfARelease(t *testing.T) {
	r := newRelease(t, newNamespace(t), "deposits")
	before := r.inventory()

	begun := time.Now()
	r.install()
	p := r.newPartner()
	p.requireServing()
	t.Logf("figure: from `helm install` to the first verified webhook %.0f s", time.Since(begun).Seconds())
	r.requireHardened()

	r.changedSecretRollsThePods()
	p.requireServing()
	r.budgetHoldsAnEviction(p)
	good := r.revision()
	r.failedMigrationLeavesTheOldVersionServing(p)
	r.upgradeAndRollbackUnderLoad(p, good)

	_, err := r.helm("uninstall", r.name, "--wait", "--timeout="+patience.String())
	require.NoError(t, err)
	require.Eventually(t, func() bool { return slices.Equal(before, r.inventory()) }, 2*soon, often,
		"before the install there was\n%v, and after the uninstall\n%v", before, r.inventory())
}

// inventory lists every object of the namespace.
func (r *release) inventory() []string {
	r.t.Helper()
	kinds := strings.Fields(r.kubectl("api-resources", "--verbs=list", "--namespaced", "-o", "name"))
	kinds = slices.DeleteFunc(kinds, func(kind string) bool { return strings.HasPrefix(kind, "events") })
	all := strings.Fields(r.kubectl("get", strings.Join(kinds, ","), "-o", "name", "--ignore-not-found"))
	slices.Sort(all)
	return all
}

// requireHardened checks the pods as they run. Their namespace admits pods of the standard "restricted" alone.
func (r *release) requireHardened() {
	r.t.Helper()
	_, err := cluster.RunKubectl(r.t.Context(), "--namespace="+r.namespace, "run", "root", "--image=partnerdeposits:next")
	require.ErrorContains(r.t, err, `violates PodSecurity "restricted:latest"`)
	require.NotContains(r.t, r.kubectl("get", "pods", "-o", "yaml"), "kube-api-access", "a pod has a token")
	for _, component := range []string{"http", "dispatcher"} {
		_, err := cluster.RunKubectl(r.t.Context(), "--namespace="+r.namespace, "exec", "deployment/"+r.fullname(component),
			"--", "/bin/sh")
		require.ErrorContains(r.t, err, "no such file", "the image has a shell")
	}
}

// changedSecretRollsThePods shows that an upgrade rolls the pods when a Secret has changed, and leaves them otherwise.
func (r *release) changedSecretRollsThePods() {
	r.t.Helper()
	old := append(r.pods("http"), r.pods("dispatcher")...)
	require.Len(r.t, old, 4)
	require.NoError(r.t, r.deploy(present))
	require.ElementsMatch(r.t, old, append(r.pods("http"), r.pods("dispatcher")...), "nothing has changed")

	other := r.redisURL[:strings.LastIndex(r.redisURL, "/")]
	r.redisURL = fmt.Sprintf("%s/%d", other, redisNumber.Add(1))
	r.kubectl("patch", "secret", r.name, "--patch", fmt.Sprintf(`{"stringData": {"REDIS_URL": %q}}`, r.redisURL))
	require.NoError(r.t, r.deploy(present))
	for _, pod := range append(r.pods("http"), r.pods("dispatcher")...) {
		require.NotContains(r.t, old, pod, "a pod has the old Secret")
	}
}

// budgetHoldsAnEviction evicts both pods of http at once: the second has to wait until the first has a successor.
func (r *release) budgetHoldsAnEviction(p *partner) {
	r.t.Helper()
	pods := r.pods("http")
	require.Len(r.t, pods, 2)
	require.NoError(r.t, r.evict(pods[0]))
	require.ErrorContains(r.t, r.evict(pods[1]), "disruption budget")
	p.requireServing()
	require.Eventually(r.t, func() bool { return r.evict(pods[1]) == nil }, soon, often)
	p.requireServing()
	r.kubectl("rollout", "status", "deployment", r.fullname("http"), "--timeout="+soon.String())
}

func (r *release) evict(pod string) error {
	r.t.Helper()
	file := filepath.Join(r.t.TempDir(), "eviction.json")
	require.NoError(r.t, os.WriteFile(file, fmt.Appendf(nil,
		`{"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": %q, "namespace": %q}}`, pod, r.namespace), 0o600))
	_, err := cluster.RunKubectl(r.t.Context(), "create", "--filename="+file, "--raw",
		fmt.Sprintf("/api/v1/namespaces/%s/pods/%s/eviction", r.namespace, pod))
	return err
}

// failedMigrationLeavesTheOldVersionServing upgrades to a version whose migration fails.
func (r *release) failedMigrationLeavesTheOldVersionServing(p *partner) {
	r.t.Helper()
	old := append(r.pods("http"), r.pods("dispatcher")...)
	require.Error(r.t, r.deploy(broken))
	require.ElementsMatch(r.t, old, append(r.pods("http"), r.pods("dispatcher")...))
	p.requireServing()
	require.Contains(r.t, r.kubectl("logs", "--selector=app.kubernetes.io/component=migrate", "--tail=-1"),
		"division by zero", "the log of the failure is still there")
	for _, left := range r.inventory() { // an uninstall leaves hooks alone, but the Job goes after a day
		require.False(r.t, strings.Contains(left, "migrate") && !strings.Contains(left, "job") &&
			!strings.HasPrefix(left, "pod"), left)
	}
}

// upgradeAndRollbackUnderLoad goes forward to a version with a migration that has to wait for its lock, and back, under
// 100 requests a second.
func (r *release) upgradeAndRollbackUnderLoad(p *partner, good string) {
	r.t.Helper()
	old := append(r.pods("http"), r.pods("dispatcher")...)
	traffic := p.begin()
	database, err := pgx.Connect(r.t.Context(), r.localURL)
	require.NoError(r.t, err)
	defer func() { _ = database.Close(context.WithoutCancel(r.t.Context())) }()
	report, err := database.Begin(r.t.Context()) // a long transaction keeps a lock that the migration needs
	require.NoError(r.t, err)
	_, err = report.Exec(r.t.Context(), "SELECT FROM deposits LIMIT 1")
	require.NoError(r.t, err)

	upgraded := make(chan error, 1)
	go func() { upgraded <- r.deploy(next) }()
	require.Eventually(r.t, func() bool {
		said, _ := cluster.RunKubectl(r.t.Context(), "--namespace="+r.namespace, "logs", "--tail=-1",
			"--selector=app.kubernetes.io/component=migrate")
		return strings.Count(said, "the migration waits") >= 2
	}, 2*soon, often, "the migration does not wait for its lock")
	require.ElementsMatch(r.t, old, append(r.pods("http"), r.pods("dispatcher")...), "the old version serves meanwhile")
	require.NoError(r.t, report.Rollback(r.t.Context()))
	require.NoError(r.t, <-upgraded)
	for _, pod := range append(r.pods("http"), r.pods("dispatcher")...) {
		require.NotContains(r.t, old, pod)
	}
	var there bool
	require.NoError(r.t, database.QueryRow(r.t.Context(), `SELECT EXISTS (SELECT FROM information_schema.columns
		WHERE table_name = 'deposits' AND column_name = 'trial')`).Scan(&there))
	require.True(r.t, there, "the migration has run")

	_, err = r.helm("rollback", r.name, good, "--wait", "--timeout="+patience.String())
	require.NoError(r.t, err)
	require.Contains(r.t, r.kubectl("get", "deployments", "-o", "wide"), "partnerdeposits:"+present.tag)
	require.NotContains(r.t, r.kubectl("get", "deployments", "-o", "wide"), "partnerdeposits:"+next.tag)
	p.requireServing()
	traffic.requireNothingLost(r.t)
}
