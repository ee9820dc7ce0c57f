// Command up runs a Kubernetes of a single node until Ctrl-C, and says how kubectl and Helm find it (make kube).
//
//	up BIN    the folder that kubernetes/build.sh prints
package main

import (
	"context"
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
	if len(args) != 2 {
		return fmt.Errorf("say where the programs are, and where the logs go")
	}
	n, err := node.Start(ctx, args[0], args[1])
	if err != nil {
		return err
	}
	fmt.Printf("export KUBECONFIG=%s PATH=%s:$PATH\n", n.Kubeconfig, n.Bin)
	fmt.Printf("pods reach this machine at %s; Ctrl-C ends the node\n", node.Gateway)
	<-ctx.Done()
	return n.Close()
}
