//go:build kube

// Package trials installs the chart on a real Kubernetes of a single node (package node) and tries what the chart
// promises. `make test-kube` runs it, as root on Linux: KUBE_BIN is the folder that
// kubernetes/build.sh prints, and KUBE_IMAGE that of `make image`. With KUBE_HOLD the node stays until Ctrl-C.
package trials

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"partnerdeposits/lab/backing"
	"partnerdeposits/lab/kube/node"
)

const (
	repository = "../../.."
	chart      = repository + "/deployments/helm/partnerdeposits"
	logs       = repository + "/.local/kube" // of the last node
)

// cluster is shared by the trials; each has a namespace, a database and a number of Redis of its own.
var cluster struct {
	*node.KubernetesNode
	stores *backing.PostgresAndRedis
	images string // a folder with programs and archives by the tag of their version
}

func TestMain(m *testing.M) {
	begun := time.Now()
	code := 1
	err := furnish(context.Background())
	fmt.Printf("figure: the node with its stores and images was up after %.0f s\n", time.Since(begun).Seconds())
	switch {
	case err != nil:
	case os.Getenv("KUBE_HOLD") != "":
		code = hold()
	default:
		code = backing.RunTests(m)
	}
	begun = time.Now()
	if cluster.KubernetesNode != nil {
		err = errors.Join(err, cluster.Close())
	}
	if cluster.stores != nil {
		err = errors.Join(err, cluster.stores.Close())
	}
	err = errors.Join(err, os.RemoveAll(cluster.images))
	fmt.Printf("figure: all of it was removed within %.0f s\n", time.Since(begun).Seconds())
	if err != nil {
		fmt.Fprintln(os.Stderr, "test-kube:", err)
		code = 1
	}
	os.Exit(code)
}

// hold keeps the node until Ctrl-C, in place of the trials (make kube).
func hold() (code int) {
	fmt.Printf("export KUBECONFIG=%s PATH=%s:$PATH\n", cluster.Kubeconfig, cluster.Bin)
	fmt.Printf("pods reach this machine at %s; Ctrl-C ends the node\n", node.GatewayAddress)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	<-ctx.Done()
	return 0
}

// furnish starts the node and the stores beside it, and gives the node the images.
func furnish(ctx context.Context) (err error) {
	absolute, err := filepath.Abs(logs)
	if err != nil {
		return err
	}
	built := make(chan error, 1)
	cluster.images = filepath.Join(absolute, "images")
	if err = os.RemoveAll(cluster.images); err != nil { // of a run that was killed
		return err
	}
	go func() { built <- buildImages(ctx, cluster.images) }()
	if cluster.KubernetesNode, err = node.Start(ctx, os.Getenv("KUBE_BIN"), absolute); err != nil {
		return errors.Join(err, <-built)
	}
	cluster.stores, err = backing.StartPostgresAndRedis(ctx, backing.Options{Private: true, FastUnsafe: true})
	if err = errors.Join(err, <-built); err != nil {
		return err
	}
	return importImages(ctx, cluster.images)
}
