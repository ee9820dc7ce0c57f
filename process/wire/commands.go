package wire

import "partnerdeposits/process/run"

// HTTPCommand is the command http. This GCPercent keeps the process near 100 MB under 32 busy connections; 400 costs
// 3 % less CPU and 40 MB more.
var HTTPCommand = run.Command{Name: "http", GCPercent: 200, Build: HTTP, Healthcheck: Healthcheck}

// DispatcherCommand is the command dispatcher. This GCPercent keeps the process near 60 MB under the load of 32 busy
// connections; 300 costs as much CPU and 4 MB more.
var DispatcherCommand = run.Command{Name: "dispatcher", GCPercent: 250, Build: Dispatcher, Healthcheck: Healthcheck}
