package main

import (
	"fmt"
	"path/filepath"
)

// part is a row of the table.
type part struct {
	name   string
	lane   string
	quiet  bool     // judges rates or times, which a busy machine breaks
	limit  int      // minutes, several times the usual
	folder string   // of the package
	test   string   // its name without TestLong_; "": the folder has a command
	more   []string // arguments; the last of a name counts
}

// alone is the lane of parts that load the machine, or that judge rates or times: nothing runs beside them. The other
// lanes hold parts that mostly wait, and run beside each other.
const alone = ""

const (
	e2e    = "lab/e2e"
	faults = "lab/faults"
)

// parts are the schedule. The first parts are short, so that a mistake shows soon.
var parts = []part{
	{name: "rolling", quiet: true, limit: 5, folder: e2e, test: "RollingRestart_FailsLosesAndRepeatsNothing"},
	{name: "upgrade", quiet: true, limit: 30, folder: e2e,
		test: "Upgrade_ForwardBackAndForward_FailsLosesAndRepeatsNothing"},
	{name: "keyset", quiet: true, limit: 10, folder: e2e,
		test: "Keyset_RotatedWhileServing_FailsLosesAndRepeatsNothing"},
	{name: "redis-full", quiet: true, limit: 10, folder: e2e, test: "RedisFull_LosesNothingAndDelaysLittle"},
	{name: "redis-cluster", quiet: true, limit: 20, folder: e2e,
		test: "RedisCluster_AnyNodeKilled_LosesNothingAndDelaysLittle"},
	{name: "broken-receivers", quiet: true, limit: 10, folder: e2e, test: "BrokenReceivers_PageNobody"},
	{name: "api-slow", quiet: true, limit: 20, folder: e2e, test: "Runbooks", more: []string{
		"-test.run=^TestLong_Runbooks$/^" + apiSlow + "$",
	}},
	{name: "faults", quiet: true, limit: 60, folder: faults, // half of make faults, which takes 40 minutes
		more: []string{"-events=100000", "-faults=45", "-hits=10"}},

	{name: "alerts", lane: "alerts", limit: 60, folder: e2e, test: "AlertsInTrueTime"},
	{name: "runbooks", lane: "runbooks", limit: 60, folder: e2e, test: "Runbooks", more: []string{
		"-test.skip=^TestLong_Runbooks$/^" + apiSlow + "$", "-test.parallel=2",
	}},
	{name: "payments", lane: "others", limit: 45, folder: faults, test: "Payments_ThreeHundredKillsAroundTheProvider"},
	{name: "payment-variants", lane: "others", limit: 20, folder: faults, test: "Payments_BrokenVariantsAreCaught"},
	{name: "stop", lane: "others", limit: 15, folder: e2e, test: "StopOfEverything_IsPagedWithinFiveMinutes"},
	{name: "outbound", lane: "others", limit: 40, folder: e2e,
		test: "OutboundBroken_IsPagedOnce_AndDeliveriesFlowAgainByThemselves"},
	{name: "objectives", lane: "others", limit: 25, folder: e2e, test: "AlertsOnObjectives_FireByAFaultAndClearAfterIt"},
}

// apiSlow is the runbook whose alert compares the times of answers. The other runbooks allow for a busy machine.
const apiSlow = "api-slow"

func (p part) program() string {
	name := filepath.Base(p.folder)
	if p.test != "" {
		name += ".test"
	}
	return filepath.Join(logs, name)
}

func (p part) arguments() []string {
	if p.test == "" {
		return p.more
	}
	always := []string{"-test.v", fmt.Sprintf("-test.timeout=%dm", p.limit), "-test.run=^TestLong_" + p.test + "$"}
	return append(always, p.more...)
}
