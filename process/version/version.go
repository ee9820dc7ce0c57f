// Package version tells which build a binary is.
package version

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"
)

// Set by the linker: -ldflags "-X partnerdeposits/process/version.Version=…". Each variable that is empty gives way to
// the build information of a build in a checkout.
var (
	Version  string
	Revision string
	Date     string // RFC 3339 in UTC
)

const unknown = "unknown"

// Build is a build of a binary. A field that is not known is "unknown".
type Build struct {
	Version  string
	Revision string // the commit
	Date     string // of the build, or of the commit: equal builds have equal dates
	Go       string
}

// Read gives the build of this binary.
func Read() Build {
	b := Build{Version: Version, Revision: Revision, Date: Date, Go: runtime.Version()}
	if info, ok := debug.ReadBuildInfo(); ok {
		b.Version = cmp.Or(b.Version, info.Main.Version)
		for _, s := range info.Settings {
			switch s.Key {
			case "vcs.revision":
				b.Revision = cmp.Or(b.Revision, s.Value)
			case "vcs.time":
				b.Date = cmp.Or(b.Date, s.Value)
			}
		}
	}
	b.Version, b.Revision, b.Date = cmp.Or(b.Version, unknown), cmp.Or(b.Revision, unknown), cmp.Or(b.Date, unknown)
	return b
}

// Line describes the build of a command, as --version prints it.
func (b Build) Line(command string) string {
	return fmt.Sprintf("%s %s (revision %s, %s, built %s)", command, b.Version, b.Revision, b.Go, b.Date)
}
