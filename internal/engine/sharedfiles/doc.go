// Package sharedfiles knows which steps of a run work at the same time, and which files each of them says it writes. Of
// a file that two of them may have written at the same time, nobody can say whose it is.
package sharedfiles
