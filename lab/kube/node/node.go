package node

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"embed"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"text/template"

	"golang.org/x/sys/unix"

	"partnerdeposits/lab/backing"
	"partnerdeposits/lab/procs"
)

const (
	// GatewayAddress is this machine's address on the pods' network bridge.
	GatewayAddress = "10.213.0.1"

	pods     = "10.213.0.0/24"
	services = "10.214.0.0/24"
	name     = "partnerdeposits-kube"
	bridge   = "pdkube0"
)

// KubernetesNode is a Kubernetes cluster of a single node on this machine.
type KubernetesNode struct {
	Dir        string // Folder of all files of the Kubernetes node.
	Bin        string // Folder of kubectl and helm.
	Kubeconfig string // Path of an administrator's kubeconfig file.

	logs, token, etcd, etcdPeer, proxyHealth string

	processes []*procs.Process
	files     []*os.File
	cleaner   *exec.Cmd
	tie       io.Closer
}

// Start starts a Kubernetes node until Close or the end of this process. bin holds the programs of
// kubernetes/build.sh. Close keeps the folder logs.
func Start(ctx context.Context, bin, logs string) (_ *KubernetesNode, err error) {
	if runtime.GOOS != "linux" || os.Geteuid() != 0 {
		return nil, errors.New("a node of Kubernetes needs Linux and root")
	}
	n := &KubernetesNode{Bin: bin, logs: logs, token: rand.Text()}
	if n.Dir, err = os.MkdirTemp("", name+"-"); err != nil {
		return nil, err
	}
	n.Kubeconfig = n.file("kubeconfig.yaml")
	if err = n.startCleaner(ctx); err != nil {
		return nil, errors.Join(err, os.RemoveAll(n.Dir))
	}
	if err = n.furnish(); err == nil {
		err = n.start(ctx)
	}
	if err == nil {
		err = n.importPause(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, n.Close())
	}
	return n, nil
}

func (n *KubernetesNode) file(name string) string { return filepath.Join(n.Dir, name) }

//go:embed cleaner.sh
var cleanerScript string

// startCleaner waits until no other Kubernetes node runs on this machine, and starts the process that removes this
// one in the end.
func (n *KubernetesNode) startCleaner(ctx context.Context) error {
	lock, err := os.OpenFile("/run/"+name+".lock", os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	defer func() { _ = lock.Close() }()
	err = procs.AwaitCondition(ctx, nil, func() error { return unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB) })
	if err != nil {
		return fmt.Errorf("another node runs: %w", err)
	}
	if _, err := os.Stat("/sys/class/net/" + bridge); err == nil {
		return fmt.Errorf("the bridge %s is there, so a node was not removed: see %s", bridge, name)
	}
	cmd := exec.Command("bash", "-c", cleanerScript, "cleaner")
	cmd.Dir, cmd.ExtraFiles = "/", []*os.File{lock}
	cmd.Env = append(n.environ(), "NODE_DIR="+n.Dir, "NODE_BRIDGE="+bridge, "NODE_NAME="+name,
		"NODE_PROXY="+filepath.Join(n.Bin, "kube-proxy"))
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if cmd.Stderr, err = n.log("cleaner"); err != nil {
		return err
	}
	cmd.Stdout = cmd.Stderr
	if n.tie, err = cmd.StdinPipe(); err != nil {
		return err
	}
	n.cleaner = cmd
	return cmd.Start()
}

func (n *KubernetesNode) log(of string) (*os.File, error) {
	if err := os.MkdirAll(n.logs, 0o755); err != nil {
		return nil, err
	}
	file, err := os.Create(filepath.Join(n.logs, of+".log"))
	n.files = append(n.files, file)
	return file, err
}

// Close ends the Kubernetes node, and waits until its processes, files and network devices are removed.
func (n *KubernetesNode) Close() error {
	_ = n.tie.Close()
	err := n.cleaner.Wait()
	for _, process := range n.processes {
		<-process.Done()
	}
	for _, file := range n.files {
		_ = file.Close()
	}
	for _, gone := range []string{n.Dir, "/sys/class/net/" + bridge} {
		if _, left := os.Stat(gone); left == nil {
			err = errors.Join(err, fmt.Errorf("%s is left: see %s/cleaner.log", gone, n.logs))
		}
	}
	return err
}

//go:embed config
var configs embed.FS

// furnish writes the configuration of the node's programs, and creates the pods' bridge, on which the API server
// listens.
func (n *KubernetesNode) furnish() error {
	var ports [4]int
	for i := range ports {
		var err error
		if ports[i], err = backing.FreePort(); err != nil {
			return err
		}
	}
	local := func(i int) string { return fmt.Sprintf("http://127.0.0.1:%d", ports[i]) }
	n.etcd, n.etcdPeer, n.proxyHealth = local(0), local(1), local(2)+"/healthz"
	values := map[string]any{
		"Dir": n.Dir, "Token": n.token, "Gateway": GatewayAddress, "Pods": pods, "Name": name, "Bridge": bridge,
		"PauseImage": pauseImage, "CNI": cniFolder(),
		"ProxyHealth": ports[2], "ProxyMetrics": ports[3],
	}
	for _, folder := range []string{"certificates", "kubelet", "logs", "net.d", "plugins", "run"} {
		if err := os.Mkdir(n.file(folder), 0o755); err != nil {
			return err
		}
	}
	for file, to := range map[string]string{
		"containerd.toml": "containerd.toml", "net.conflist": "net.d/net.conflist", "kubeconfig.yaml": "kubeconfig.yaml",
		"kubelet.yaml": "kubelet.yaml", "kube-proxy.yaml": "kube-proxy.yaml",
	} {
		var text bytes.Buffer
		parsed := template.Must(template.ParseFS(configs, "config/"+file))
		if err := parsed.Execute(&text, values); err != nil {
			return err
		}
		if err := os.WriteFile(n.file(to), text.Bytes(), 0o600); err != nil {
			return err
		}
	}
	key, err := serviceAccountKey()
	return errors.Join(err, os.WriteFile(n.file("service-account.pem"), key, 0o600),
		os.WriteFile(n.file("tokens.csv"), []byte(n.token+`,admin,admin,"system:masters"`+"\n"), 0o600),
		os.WriteFile(n.file("resolv.conf"), nil, 0o644), n.keepSysctls(), makeBridge())
}

func serviceAccountKey() ([]byte, error) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return nil, err
	}
	block := &pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)}
	return pem.EncodeToMemory(block), nil
}

// keepSysctls stores the kernel settings that kubelet and the network plug-ins change, for the cleaner to restore.
func (n *KubernetesNode) keepSysctls() error {
	var kept strings.Builder
	for _, setting := range []string{
		"kernel/keys/root_maxbytes", "kernel/keys/root_maxkeys", "kernel/panic", "kernel/panic_on_oops",
		"net/ipv4/ip_forward", "vm/overcommit_memory", "vm/panic_on_oom",
	} {
		value, err := os.ReadFile("/proc/sys/" + setting)
		if err != nil {
			return err
		}
		fmt.Fprintf(&kept, "%s=%s\n", setting, bytes.TrimSpace(value))
	}
	return os.WriteFile(n.file("sysctls"), []byte(kept.String()), 0o600)
}

// makeBridge creates the pods' network bridge. A firewall rule lets pods reach each other through Services even
// where Docker forbids forwarding.
func makeBridge() error {
	for _, args := range [][]string{
		{"ip", "link", "add", bridge, "type", "bridge"},
		{"ip", "address", "add", GatewayAddress + "/24", "dev", bridge},
		{"ip", "link", "set", bridge, "up"},
		{"iptables", "-w", "-I", "FORWARD", "-i", bridge, "-o", bridge, "-j", "ACCEPT"},
	} {
		if said, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w: %s", strings.Join(args, " "), err, said)
		}
	}
	return nil
}

// cniFolder returns the folder of the CNI network plug-ins: Debian's, or the usual one.
func cniFolder() string {
	if _, err := os.Stat("/usr/lib/cni/bridge"); err == nil {
		return "/usr/lib/cni"
	}
	return "/opt/cni/bin"
}

func (n *KubernetesNode) RunKubectl(ctx context.Context, args ...string) (string, error) {
	return n.tool(ctx, "kubectl", args)
}

func (n *KubernetesNode) RunHelm(ctx context.Context, args ...string) (string, error) {
	return n.tool(ctx, "helm", args)
}

func (n *KubernetesNode) tool(ctx context.Context, tool string, args []string) (string, error) {
	return procs.RunForOutput(ctx, procs.ProcessSpec{
		Name: tool + " " + strings.Join(args, " "), Path: filepath.Join(n.Bin, tool), Args: args, Env: n.ToolEnv(),
	})
}

// ToolEnv returns the environment with which kubectl and Helm reach the node as an administrator.
func (n *KubernetesNode) ToolEnv() []string { return append(n.environ(), "KUBECONFIG="+n.Kubeconfig) }
