package wire

import "partnerdeposits/process/run"

// HTTPCommand's GCPercent keeps the process near 100 MB under 32 busy connections; 400 would cost 3 % less CPU and
// 40 MB more.
var HTTPCommand = run.Command{Name: "http", GCPercent: 200, Build: BuildHTTP, Healthcheck: Healthcheck}

// DispatcherCommand's GCPercent keeps the process near 60 MB under 32 busy connections; 300 would cost as much CPU
// and 4 MB more.
var DispatcherCommand = run.Command{Name: "dispatcher", GCPercent: 250, Build: BuildDispatcher,
	Healthcheck: Healthcheck}
