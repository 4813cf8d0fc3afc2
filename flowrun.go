// Package flowrun compiles tool definitions to graphs and runs them.
//
// It is the package that programs import to embed flowrun. It connects definitions (package tool) with their
// execution (package dag):
//
//	lib := library.New(library.Config{})          // where definitions are found
//	plan, err := flowrun.Compile(lib, "deploy")     // names resolved, graph checked
//	engine := flowrun.New(flowrun.Config{})         // the zero Config works
//	res, err := engine.Run(ctx, plan, map[string]any{"TARGET": "staging"})
//
// Compile turns every text of a Definition into a template or a condition (package expr), works out which step waits
// for which, and gives each step the runner that does its work (package steps). The result is a Plan: immutable, safe
// for any number of runs at once. Engine.Run binds the caller's parameters, walks the graph and returns a Result.
// LoadRun reads a recorded run, which you can continue with RecordedRun.Resume or RecordedRun.Retry. A step that
// failed is data in the Result; an error means that the run could not be started or carried out.
//
// There is no global state that runs share, and when Run returns, no goroutine and no process of the run is left.
package flowrun

import "github.com/flowrun/flowrun/internal/engine"

// HelperMain must be the first call in main of a program that embeds flowrun and wants whole process trees
// supervised: the engine starts the same program again as its supervisor process, which does its work inside this
// call. In the program itself HelperMain returns at once. A program that does not call it can still run everything;
// then flowrun kills the process group of a step, and reports processes that left the group in Result.Notices.
//
// Scripts in definitions also run in such a second process: a program that does not call HelperMain cannot run them
// unless it sets hooks.Config.InProcess.
func HelperMain() { engine.HelperMain() }
