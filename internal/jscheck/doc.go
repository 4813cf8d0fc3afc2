// Package jscheck reads scripts without running them. A [Source] goes in, which is the
// author's text and how it is read; [Source.Parse] makes a [Tree] of it, or says what the
// syntax error is and where. A Tree answers what is wrong with a script that the language
// allows (names that nothing declares, loops without an end, a body that returns nothing),
// which members of a variable it reads, and what is to be compiled. [Outline] finds the
// places of a tool's methods and of what they return.
//
// Offsets and places are those of the author's file. The package does not know what runs a
// script: the names of the globals are given to it.
package jscheck
