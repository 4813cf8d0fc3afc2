// Package call is one call of one tool: parameters and surroundings go in, and out comes
// everything that the steps of the call look up.
//
// Bind takes the given values through default, coercion, validation and transform, and
// reports all problems together. The result is Args. Args.Begin readies them for a run: it
// reads env files, fetches secrets and masks them, and makes the directories. Scope resolves
// the references of a step's texts against the Args, the results of other steps, and the
// item of a loop.
//
// A call knows the plan and the session that it writes to. It does not know the graph, the
// run's store or who runs it.
package call
