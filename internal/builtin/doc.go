// Package builtin are the tools that come with flowrun: files, searching, the shell, the
// web, and what a model keeps for itself (S4-021).
package builtin
