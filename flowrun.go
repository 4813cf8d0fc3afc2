// Package flowrun compiles tool definitions to graphs and runs them.
//
// It is what programs that embed flowrun import, and joins what is written (package tool) to
// what is run (package dag):
//
//	lib := tool.NewLibrary(tool.Config{})          // where definitions are found
//	plan, err := flowrun.Compile(lib, "deploy")     // names resolved, graph checked
//	engine := flowrun.New(flowrun.Config{})         // the zero Config works
//	res, err := engine.Run(ctx, plan, map[string]any{"TARGET": "staging"})
//
// Compile turns every text of a Definition into a template or a condition
// (package expr), works out which step waits for which, and gives each step the runner
// that does its work (package steps). The result is a Plan: immutable, safe for any
// number of runs at once. Engine.Run binds the caller's parameters, walks the graph and
// returns a Result. LoadRun reads a recorded run, which RecordedRun.Resume and Past.Retry continue. A step that failed is data in
// the Result; an error means that the run could not be made or carried out.
//
// There is no global state, and no goroutine and no process of the run is left
// when Run returns.
package flowrun

import (
	"github.com/flowrun/flowrun/hooks"
	"github.com/flowrun/flowrun/internal/supervisor"
)

// HelperMain must be the first call in main of a program that embeds flowrun and
// wants whole process trees supervised: the engine starts the same program again
// as its helper, and this call is where that second process goes to work. In the
// program itself it returns at once. A program that does not call it still runs
// everything; then a step's process group is killed, and what escaped from it is
// reported in Result.Notices.
//
// Scripts in definitions run in such a second process as well: a program that does not
// call HelperMain cannot run them unless it asks for hooks.Config.InProcess.
func HelperMain() {
	hooks.Main()
	supervisor.Main()
}
