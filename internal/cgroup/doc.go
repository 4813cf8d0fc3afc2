// Package cgroup makes the cgroups of runs (Linux). A [Leaf] holds the processes of one run:
// it lists them, freezes them and kills them at once, and its name says whose it is. A
// [MemoryLimit] bounds the memory of one step. Both can be made only where this user may
// write to a hierarchy; the caller continues without one.
//
// The package does not know which processes belong to a run by other signs.
package cgroup
