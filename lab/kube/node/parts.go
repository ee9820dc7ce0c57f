package node

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"partnerdeposits/lab/procs"
)

// startLimit bounds the time until a part answers, on a busy machine.
const startLimit = 3 * time.Minute

// part is a program of the node.
type part struct {
	name  string
	args  []string
	ready func() error // nil: not awaited
}

func (n *Node) parts() []part {
	kubeconfig := "--kubeconfig=" + n.Kubeconfig
	serviceKey := n.file("service-account.pem")
	return []part{
		{"etcd", []string{
			"--data-dir=" + n.file("etcd"), "--logger=zap", "--log-level=warn",
			"--listen-client-urls=" + n.etcd, "--advertise-client-urls=" + n.etcd, "--listen-peer-urls=" + n.etcdPeer,
			"--initial-advertise-peer-urls=" + n.etcdPeer, "--initial-cluster=default=" + n.etcdPeer,
		}, func() error { return n.answers(n.etcd + "/health") }},
		{"containerd", []string{"--config=" + n.file("containerd.toml"), "--log-level=warn"}, n.containerdAnswers},
		{"kube-apiserver", []string{
			"--etcd-servers=" + n.etcd, "--bind-address=" + Gateway, "--advertise-address=" + Gateway,
			"--cert-dir=" + n.file("certificates"), "--token-auth-file=" + n.file("tokens.csv"),
			"--authorization-mode=RBAC", "--service-cluster-ip-range=" + services, "--allow-privileged=true",
			"--kubelet-preferred-address-types=InternalIP", // no name server knows the node
			"--service-account-issuer=https://kubernetes.default.svc", "--service-account-key-file=" + serviceKey,
			"--service-account-signing-key-file=" + serviceKey,
		}, func() error { return n.answers("https://" + Gateway + ":6443/readyz") }},
		{"kube-controller-manager", []string{
			kubeconfig, "--leader-elect=false", "--secure-port=0", "--service-account-private-key-file=" + serviceKey,
			"--root-ca-file=" + n.file("certificates/apiserver.crt"),
		}, nil},
		{"kube-scheduler", []string{kubeconfig, "--leader-elect=false", "--secure-port=0"}, nil},
		{"kubelet", []string{
			kubeconfig, "--config=" + n.file("kubelet.yaml"), "--root-dir=" + n.file("kubelet"),
			"--cert-dir=" + n.file("kubelet/pki"), "--hostname-override=node", "--node-ip=" + Gateway, "--node-labels=topology.kubernetes.io/zone=zone",
		}, n.nodeReady},
		{"kube-proxy", []string{"--config=" + n.file("kube-proxy.yaml")}, func() error { return n.answers(n.proxyHealth) }},
	}
}

// start runs the parts in their order.
func (n *Node) start(ctx context.Context) error {
	for _, p := range n.parts() {
		log, err := n.log(p.name)
		if err != nil {
			return err
		}
		path := filepath.Join(n.Bin, p.name)
		if _, err := os.Stat(path); err != nil {
			path, err = exec.LookPath(p.name) // of the system
			if err != nil {
				return err
			}
		}
		process, err := procs.Start(procs.Spec{Name: p.name, Path: path, Args: p.args, Env: n.environ(), Log: log})
		if err != nil {
			return err
		}
		n.processes = append(n.processes, process)
		if p.ready == nil {
			continue
		}
		limited, cancel := context.WithTimeout(ctx, startLimit)
		err = process.Await(limited, p.ready)
		cancel()
		if err != nil {
			return fmt.Errorf("%w\n(logs: %s)", err, n.logs)
		}
	}
	return nil
}

// environ is that of the parts: kubelet and kube-proxy call iptables and mount, containerd calls runc.
func (n *Node) environ() []string {
	return []string{"PATH=" + os.Getenv("PATH") + ":/usr/local/sbin:/usr/sbin:/sbin", "HOME=" + n.Dir, "TMPDIR=" + n.Dir}
}

// answers asks a part of the node for its health.
func (n *Node) answers(url string) error {
	_, err := n.get(url)
	return err
}

// get reads a page of a part. The request carries the token of the node only to addresses of this machine.
func (n *Node) get(url string) ([]byte, error) {
	request, err := http.NewRequest(http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Authorization", "Bearer "+n.token)
	response, err := n.client.Do(request)
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s answers %s: %s", url, response.Status, body)
	}
	return body, err
}

func healthClient() *http.Client {
	return &http.Client{Timeout: 5 * time.Second, Transport: &http.Transport{
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, //nolint:gosec // the certificate is made at the start
	}}
}

func (n *Node) containerdAnswers() error { return n.ctr(context.Background(), "version") }

func (n *Node) nodeReady() error {
	body, err := n.get("https://" + Gateway + ":6443/api/v1/nodes/node")
	if err != nil {
		return err
	}
	var node struct {
		Status struct {
			Conditions []struct{ Type, Status, Message string }
		}
	}
	if err := json.Unmarshal(body, &node); err != nil {
		return err
	}
	for _, condition := range node.Status.Conditions {
		if condition.Type == "Ready" && condition.Status == "True" {
			return nil
		}
	}
	return fmt.Errorf("the node is not ready: %+v", node.Status.Conditions)
}
