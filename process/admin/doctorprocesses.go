package admin

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"partnerdeposits/process/wire"
)

// remedies holds what to do when a check of a process's /readyz fails, by its name, or its name and problem.
var remedies = map[string]string{
	"postgres":                          "Check the DATABASE_URL of the process, that Postgres runs, and that the machine of the process may connect to Postgres.",
	"postgres " + wire.NoConnectionText: wayIn,
	"schema":                            "Run `admin migrate up` with the DATABASE_URL of the process.",
	"writes":                            "Run `admin doctor` with the DATABASE_URL of the process: it names the session that holds a lock, and the remedy of every other cause.",
	"redis":                             "Check the REDIS_URL of the process, and that Redis runs and takes writes. The process goes on without Redis, slower and without rate limits.",
	"outbound":                          "Mend the way out of the dispatchers: DNS, firewall, network. Restarting a process does not help.",
	"queue":                             "Mend Redis: the dispatcher returns to the queue once several writes have succeeded.",
	"sockets":                           "Raise the limit of descriptors of the process (LimitNOFILE, ulimit -n), and look who holds them: docs/runbooks/descriptors-run-out.md.",
	"log":                               "Look after the program that reads the log of the process: docs/runbooks/log-not-read.md.",
	"clock":                             "Synchronise the clocks (NTP). If every process tells the same, it is Postgres's: deliveries carry its time.",
	"keyset":                            "Give the process the SECRETS_KEYSET that the others have, with all its keys. Until then it takes no work.",
}

func processes(d wire.Diagnosis) []finding {
	list := make([]finding, 0, len(d.Processes))
	for _, p := range d.Processes {
		list = append(list, processFinding(p))
	}
	return list
}

func processFinding(p wire.ProcessState) finding {
	f := finding{name: "process " + p.URL}
	if p.Err != nil {
		f.problem = "does not answer: " + p.Err.Error()
		f.remedy =
			"See that the process runs, that the URL is its METRICS_ADDR, and that this machine may connect. The log tells why a process has ended."
		return f
	}
	seen, todo := []string{}, []string{}
	for _, check := range p.Checks {
		seen = append(seen, describe(check))
		if remedy := cmp.Or(remedies[check.Name+" "+check.Problem], remedies[check.Name]); check.Problem != "" && remedy != "" {
			todo = append(todo, remedy)
		}
	}
	state := p.Status + ": " + strings.Join(seen, ", ")
	if p.Well {
		f.detail = state
	} else {
		f.problem, f.remedy = state, strings.Join(todo, " ")
	}
	return f
}

// describe returns a check as text: its name, its problem, and the age of its last result and success.
func describe(check wire.HealthCheckState) string {
	text := check.Name + " ok"
	if check.Problem != "" {
		text = check.Name + " " + check.Problem
	}
	switch {
	case !check.Aged: // There is no age if the process runs an older version, or the check has not run yet.
		return text
	case check.Problem == "":
		return text + " (" + ago(check.Answer) + ")"
	case check.Passed:
		return text + " (" + ago(check.Answer) + ", passed " + ago(check.Success) + ")"
	}
	return text + " (" + ago(check.Answer) + ", never passed)"
}

func ago(age time.Duration) string { return fmt.Sprint(age.Round(100*time.Millisecond), " ago") }
