// Package flowruntest tests a tool without running its commands: a [Script] defines the result of every step, and how
// long the step takes on a simulated clock.
//
// # The model
//
// The plan is the real one, and so are parameters, conditions, retries, waits, loops, handlers and timeouts. Only the
// work of a step (its command, its script, its Go function) is replaced by an [Answer]. The run executes in a bubble
// of testing/synctest: a step that takes an hour takes no time, two steps that take the same time end at the same
// moment, and the same script gives the same run every time. The [Run] holds the result, and what every step was
// asked to do.
//
// A step that is not in the script fails the test: if you add a step to a pipeline, its test must cover it.
//
// [TestStore] tests your own implementation of history.Store.
package flowruntest
