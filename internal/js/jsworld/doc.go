// Package jsworld runs scripts. A [World] is a fresh JavaScript environment for one call. For an
// expression it has only the language; for other scripts it also has built-in modules and host
// calls, which let the script ask flowrun for something. [World.Run] runs a [Task] and returns a
// value as JSON, or a [Failure] with its position.
//
// [Main] does this in a child process: it reads calls from a [Wire], writes results and host
// calls to it, and ends the process when a script exceeds its limits of time or memory. A child
// runs one call at a time. The package does not depend on how host calls are answered, which
// permissions exist, or how many children there are.
package jsworld
