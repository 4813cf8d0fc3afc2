// Package jscheck parses and checks scripts without running them. A [Source] is the author's
// text together with its form. [Source.Parse] returns a [Tree], or the syntax error and its
// offset. A Tree reports likely mistakes (undeclared names, endless loops, a body that returns
// nothing), lists the members of a variable that the script reads, and gives the program to
// compile. [Outline] finds the positions of a tool's methods and of the values they return.
//
// All offsets and positions refer to the author's file. The package does not depend on what runs
// the script: the caller passes in the names of the globals.
package jscheck
