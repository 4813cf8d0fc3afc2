// Package trigger finds the events that start tools: files that arrive or change.
//
// # The model
//
// A [Files] compares the files of a pattern with those that it knows, each time its owner calls
// Step with a new [Scan]. A new version of a file becomes an event when it has not changed for
// the settle time, so that a file that is still being written does not start a run.
//
// An event is identified by a number, [Key], which is computed from the path, the size and the
// times of the file. Whoever records that number can find out whether an event was handled,
// even if the service was restarted in between. [Versions] is the range of the numbers that
// one version of a file can have: a file that was removed and returned unchanged has the same
// version and another number.
//
// The files are polled, for the reasons that package watch gives. All times are passed in.
//
// [Missed] and [Decide] are the rules for events that were missed, and for those that happen
// while a run is active. They are pure functions.
package trigger
