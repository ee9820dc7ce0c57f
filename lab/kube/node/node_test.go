//go:build kube

package node_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/lab/procs"
)

// A node whose owner is killed ends with its pods, and leaves no process, mount, bridge, rule or file.
func TestNode_OwnerIsKilled_NothingIsLeft(t *testing.T) {
	bin := os.Getenv("KUBE_BIN")
	up := filepath.Join(t.TempDir(), "up")
	said, err := exec.Command("go", "build", "-o", up, "partnerdeposits/lab/kube/up").CombinedOutput()
	require.NoError(t, err, string(said))
	owner, err := procs.Start(procs.Spec{Name: "up", Path: up, Args: []string{bin, t.TempDir()}, Env: os.Environ()})
	require.NoError(t, err)
	t.Cleanup(owner.Kill)
	dir := regexp.MustCompile(`KUBECONFIG=(\S+)/kubeconfig.yaml`)
	require.Eventually(t, func() bool { return dir.MatchString(owner.Log()) || !owner.Running() }, 4*time.Minute,
		100*time.Millisecond)
	require.Regexp(t, dir, owner.Log())
	folder := dir.FindStringSubmatch(owner.Log())[1]
	for _, args := range [][]string{
		{"run", "pause", "--image=pause:node", "--image-pull-policy=Never"},
		{"wait", "--for=condition=Ready", "pod/pause", "--timeout=2m"},
	} {
		args = append(args, "--kubeconfig="+folder+"/kubeconfig.yaml")
		require.Eventually(t, func() bool { // a namespace gets its service account a moment late
			said, err = exec.Command(filepath.Join(bin, "kubectl"), args...).CombinedOutput()
			return err == nil
		}, time.Minute, 100*time.Millisecond, "%s", said)
	}

	owner.Kill()
	require.Eventually(t, func() bool {
		_, err := os.Stat(folder)
		return os.IsNotExist(err)
	}, time.Minute, 100*time.Millisecond)
	commands, err := filepath.Glob("/proc/[0-9]*/cmdline")
	require.NoError(t, err)
	for _, command := range commands {
		text, _ := os.ReadFile(command) // none for a process that has ended
		require.NotContains(t, string(text), folder)
	}
	mounts, err := os.ReadFile("/proc/self/mounts")
	require.NoError(t, err)
	require.NotContains(t, string(mounts), folder)
	require.NoDirExists(t, "/sys/class/net/pdkube0")
	rules, err := exec.Command("iptables-save").Output()
	require.NoError(t, err)
	require.NotRegexp(t, "KUBE-SERVICES|pdkube0", string(rules))
	cgroups, err := filepath.Glob("/sys/fs/cgroup/*/k8s.io/*")
	require.NoError(t, err)
	require.Empty(t, cgroups)
}
