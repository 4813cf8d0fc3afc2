// Package procid identifies processes. An [Identity] names one process for as long as the machine
// runs. A [Mark] names the run and the owner that started a process. A [Tag] names the process that
// made a file or a cgroup. A birthmark (Linux) identifies the owner in every descendant.
// [ReadTable] returns all processes of the machine with their marks.
//
// The package reads and names processes; it neither starts nor ends them.
package procid
