// Package cgroup makes cgroups for runs (Linux). A [Leaf] contains the processes of one run: it can
// list, freeze and kill all of them, and its name says which run made it. A [Limit] limits
// what the processes of one step use together, and counts it. Both can be made only if this user may
// write to a hierarchy.
//
// Package proc knows the other signs by which a process belongs to a run; this package does not.
package cgroup
