// Package failpoint names lines where the death of a process could lose data. The fault suite builds the services with the
// tag failpoints and kills a process at such a line (docs/guides/faults.md). In every other build a failpoint costs nothing.
package failpoint
