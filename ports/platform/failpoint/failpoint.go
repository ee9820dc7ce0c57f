// Package failpoint names lines where the death of a process could lose data. The fault suite builds the services with
// the tag failpoints and kills or stops a process at such a line (docs/guides/faults.md). The suite also shifts the
// clock of a process's ids. In every other build this costs nothing.
package failpoint
