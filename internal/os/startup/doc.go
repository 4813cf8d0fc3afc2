// Package startup prepares the Go runtime before the rest of the program is initialized. That is not
// possible in main: the initialization of 250 packages is most of the time of a short command.
//
// Packages that are ready to be initialized are initialized in the order of their import paths, so
// this package must import as little as possible.
package startup
