// Package node runs a Kubernetes of a single node on this machine, for the trials of the chart: the real API server,
// controllers, scheduler, kubelet and kube-proxy, with etcd, containerd and runc of the system. It needs root on Linux.
//
//	this process ─┬─ etcd ◄── kube-apiserver ◄─┬─ kube-controller-manager
//	              │              (gateway:6443) ├─ kube-scheduler
//	              │                             ├─ kube-proxy   ClusterIPs, by iptables
//	              │                             └─ kubelet ──► containerd ──► shims ──► pods on the bridge
//	              │
//	              └─ pipe ──► cleaner (bash)    pipe closed: ends and removes all of it
//
// GatewayAddress is the address of the bridge of the pods. There pods reach servers of this machine, such as Postgres
// and Redis. This machine reaches pods at their addresses, and Services at their ClusterIPs.
//
// Everything is below a single folder, and ends with the process that started it, also after SIGKILL. Two nodes would
// share the rules of iptables, so the second waits until the first is gone.
//
// A single node without a name server and a metrics server does not show the spread over nodes and zones, names of
// Services, and the decisions of a HorizontalPodAutoscaler. The bridge enforces no NetworkPolicy.
package node
