// Package call holds one call of one tool: its parameters, its environment, and everything that the steps of the call
// look up.
//
// Bind takes the given values through default, coercion, validation and transform, and reports all problems together.
// The result is Params. Params.Frame starts a call with them, and Frame.Begin prepares it for a run: it reads env
// files, fetches secrets and masks them, and creates the directories. Scope resolves the references in a step's texts
// to parameters, results of other steps, and the item of a loop.
//
// A call knows the plan and the session that it writes to. It does not know the graph, the run's store or who started
// the run.
package call
