package node

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"partnerdeposits/lab/procs"
)

// startLimit bounds the start of a program of the node on a busy machine.
const startLimit = 3 * time.Minute

type part struct {
	name string
	args []string
	// A function that waits for the program's answer; nil: no wait.
	ready wait
}

// wait returns once a program of the Kubernetes node answers.
type wait func(context.Context, *procs.Process) error

func (n *KubernetesNode) parts() []part {
	kubeconfig := "--kubeconfig=" + n.Kubeconfig
	serviceKey := n.file("service-account.pem")
	answers := func(url string) wait {
		return func(ctx context.Context, p *procs.Process) error { return p.AwaitHTTPOK(ctx, url) }
	}
	succeeds := func(run func(context.Context, ...string) (string, error), args ...string) wait {
		return func(ctx context.Context, p *procs.Process) error {
			return p.AwaitCondition(ctx, func() error { _, err := run(ctx, args...); return err })
		}
	}
	return []part{
		{"etcd", []string{
			"--data-dir=" + n.file("etcd"), "--logger=zap", "--log-level=warn",
			"--listen-client-urls=" + n.etcd, "--advertise-client-urls=" + n.etcd, "--listen-peer-urls=" + n.etcdPeer,
			"--initial-advertise-peer-urls=" + n.etcdPeer, "--initial-cluster=default=" + n.etcdPeer,
		}, answers(n.etcd + "/health")},
		{"containerd", []string{"--config=" + n.file("containerd.toml"), "--log-level=warn"}, succeeds(n.ctr, "version")},
		{"kube-apiserver", []string{
			"--etcd-servers=" + n.etcd, "--bind-address=" + GatewayAddress, "--advertise-address=" + GatewayAddress,
			"--cert-dir=" + n.file("certificates"), "--token-auth-file=" + n.file("tokens.csv"),
			"--authorization-mode=RBAC", "--service-cluster-ip-range=" + services, "--allow-privileged=true",
			// No name server resolves the node's name, so the API server uses its address.
			"--kubelet-preferred-address-types=InternalIP",
			"--service-account-issuer=https://kubernetes.default.svc", "--service-account-key-file=" + serviceKey,
			"--service-account-signing-key-file=" + serviceKey,
		}, succeeds(n.RunKubectl, "get", "--raw=/readyz")},
		{"kube-controller-manager", []string{
			kubeconfig, "--leader-elect=false", "--secure-port=0", "--service-account-private-key-file=" + serviceKey,
			"--root-ca-file=" + n.file("certificates/apiserver.crt"),
		}, nil},
		{"kube-scheduler", []string{kubeconfig, "--leader-elect=false", "--secure-port=0"}, nil},
		{"kubelet", []string{
			kubeconfig, "--config=" + n.file("kubelet.yaml"), "--root-dir=" + n.file("kubelet"),
			"--cert-dir=" + n.file("kubelet/pki"), "--hostname-override=node", "--node-ip=" + GatewayAddress,
			"--node-labels=topology.kubernetes.io/zone=zone",
		}, succeeds(n.RunKubectl, "wait", "--for=condition=Ready", "node/node", "--timeout=1s")},
		{"kube-proxy", []string{"--config=" + n.file("kube-proxy.yaml")}, answers(n.proxyHealth)},
	}
}

// start starts the programs of the Kubernetes node in order, and waits for each to answer.
func (n *KubernetesNode) start(ctx context.Context) error {
	for _, p := range n.parts() {
		log, err := n.log(p.name)
		if err != nil {
			return err
		}
		path := filepath.Join(n.Bin, p.name)
		if _, err := os.Stat(path); err != nil {
			// A program that build.sh does not build is the operating system's.
			path, err = exec.LookPath(p.name)
			if err != nil {
				return err
			}
		}
		process, err := procs.Start(procs.ProcessSpec{Name: p.name, Path: path, Args: p.args, Env: n.environ(), Log: log})
		if err != nil {
			return err
		}
		n.processes = append(n.processes, process)
		if p.ready == nil {
			continue
		}
		limited, cancel := context.WithTimeout(ctx, startLimit)
		err = p.ready(limited, process)
		cancel()
		if err != nil {
			return fmt.Errorf("%w\n(logs: %s)", err, n.logs)
		}
	}
	return nil
}

// environ is the environment of the node's programs, with the system folders in PATH, where they find iptables,
// mount and runc.
func (n *KubernetesNode) environ() []string {
	return []string{"PATH=" + os.Getenv("PATH") + ":/usr/local/sbin:/usr/sbin:/sbin", "HOME=" + n.Dir, "TMPDIR=" + n.Dir}
}
