// Package failpoint names the lines of code at which the death of a process could lose data. The fault suite
// builds the services with the build tag failpoints and kills or stops a process at such a line
// (docs/guides/measuring.md).
package failpoint
