//go:build long

package e2e_test

import "strings"

// truths are the faults.
func truths() []truth {
	debug := watchedOf{environ: []string{"LOG_LEVEL=debug"}}
	return []truth{
		{
			fault: "nobody reads the log of http", of: debug,
			begin: func(x *watched) func() { return x.unreadLog(x.http, binary(x.t, "http")) },
			alert: "LogNotRead", summary: "Nobody reads the log of http", book: "The program behind stderr of the process",
			ready: `"log":"` + unread + `"`, doctor: "log " + unread, shows: failing("log"),
		},
		{
			fault: "nobody reads the log of a dispatcher", of: debug,
			begin: func(x *watched) func() { return x.unreadLog(x.dispatch, binary(x.t, "dispatcher")) },
			alert: "LogNotRead", summary: "Nobody reads the log of dispatcher", book: "The program behind stderr of the process",
			ready: `"log":"` + unread + `"`, doctor: "log " + unread, shows: failing("log"),
		},
	}
}

// failing reports whether the first row shows that a check of a process fails.
func failing(check string) func(x *watched) bool {
	return func(x *watched) bool {
		for name, value := range x.shown("Failing checks") {
			if strings.HasSuffix(name, " "+check) && value == 0 {
				return true
			}
		}
		return false
	}
}
