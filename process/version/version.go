// Package version holds the version, revision and date of the running binary.
package version

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"
)

// Values that the linker sets: -ldflags "-X partnerdeposits/process/version.Version=…". The Go toolchain's
// information about a checkout replaces an empty one.
var (
	Version  string
	Revision string
	Date     string // The date of the build, as RFC 3339 in UTC.
)

const unknown = "unknown"

// Build describes a binary's build, with "unknown" for unknown fields.
type Build struct {
	Version  string
	Revision string
	Date     string // The date of the build or of its commit. Equal builds have equal dates.
	Go       string
}

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

// VersionLine describes a command's build, as --version prints it.
func (b Build) VersionLine(command string) string {
	return fmt.Sprintf("%s %s (revision %s, %s, built %s)", command, b.Version, b.Revision, b.Go, b.Date)
}
