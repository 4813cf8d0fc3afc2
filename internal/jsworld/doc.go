// Package jsworld runs scripts. A [World] is the language, made anew for one call, with what
// the form of the script brings: nothing for a body or an expression, built-in modules and
// the means to ask for a step or a module. A [Task] goes in; out comes a value as JSON or a
// [Failure] with its place.
//
// [Main] does this in a process of its own: it reads calls from a [Wire] and writes results
// and questions to it, ends itself when a script takes more time or memory than it may, and
// runs one call at a time. The package does not know who answers questions, which
// permissions there are, or how many processes run.
package jsworld
