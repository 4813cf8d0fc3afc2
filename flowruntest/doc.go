// Package flowruntest tests a tool without running its commands: a [Script] says
// what every step answers, and how long it takes on a clock that costs no time.
//
// # The model
//
// The plan is the real one, and so are parameters, conditions, retries, waits,
// loops, handlers and timeouts; only the work of a step (its command, its script, its Go
// function) is replaced by an [Answer]. The run lives in a bubble of
// testing/synctest: a step that takes an hour takes none, two steps that take the
// same time end at the same moment, and the same script gives the same run every
// time. What the run came to, and what every step was asked to do, is in the [Run].
//
// A step that the script does not know fails the test: a pipeline that grew a step
// is a pipeline whose test must say something about it.
//
// [TestStore] is a contract for those who write a flowrun.Store of their own.
package flowruntest
