// Command pause waits for a signal as the process that holds the namespaces of a pod. It replaces the pause image
// that a Kubernetes node would download.
package main

import (
	"os"
	"os/signal"
	"syscall"
)

func main() {
	end := make(chan os.Signal, 1)
	signal.Notify(end, syscall.SIGTERM, syscall.SIGINT)
	<-end
}
