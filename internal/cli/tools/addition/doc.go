// Package addition reads the words of flowrun tool add, whose options are ordered: an option
// belongs to the step, parameter or test before it. Words go in; the draft of a definition
// and the problems of the command line come out. Nothing is read or written.
package addition
