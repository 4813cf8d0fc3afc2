// Package addition parses the arguments of flowrun tool add, whose options are ordered: an option
// belongs to the step, parameter or test before it. Parse returns the draft of a definition and the
// problems of the command line. It does no I/O.
package addition
