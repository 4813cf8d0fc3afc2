// Package filestamp tells whether a file is still the same one, and unchanged, without reading it.
//
// The size and the time of the last modification do not suffice: a program that restores a file, or replaces it by
// another one, can leave both as they were. The time of the last change and the inode cannot be chosen.
package filestamp
