// Command up runs a Kubernetes of a single node until Ctrl-C, and says how kubectl and Helm find it (make kube).
//
//	up BIN LOGS [IMAGE…]
//
// BIN is the folder that kubernetes/build.sh prints. An image is the folder of an OCI layout, or an archive.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"partnerdeposits/lab/kube/node"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "kube:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	if len(args) < 2 {
		return errors.New("say where the programs are, and where the logs go")
	}
	n, err := node.Start(ctx, args[0], args[1])
	if err != nil {
		return err
	}
	for _, image := range args[2:] {
		if err := n.Import(ctx, image); err != nil {
			return errors.Join(err, n.Close())
		}
	}
	fmt.Printf("export KUBECONFIG=%s PATH=%s:$PATH\n", n.Kubeconfig, n.Bin)
	fmt.Printf("pods reach this machine at %s; Ctrl-C ends the node\n", node.Gateway)
	<-ctx.Done()
	return n.Close()
}
