// Package failpoint names the places where a process may die at the worst moment. The fault suite builds the services
// with the tag failpoints and kills them there (docs/guides/faults.md); in every other build a point costs nothing.
package failpoint
