// Package procid says which process is which. An [Identity] names one for as long as the
// machine runs, a [Mark] the run and the owner that started it, a [Tag] the process that
// made something, and a birthmark (Linux) is a sign that every descendant of an owner
// carries. [ReadTable] is the processes of the machine with their marks, as one look finds
// them.
//
// The package reads and names; it neither starts processes nor ends them.
package procid
