// Package engine runs plans. It joins what the packages below it know separately:
//
//   - Compile makes a Plan of a definition (package compile): names resolved, graph checked. A Plan is immutable.
//   - Plan.Bind checks the parameters of one call (package call) and makes a frame of it.
//   - Engine.Run admits the run (its locks and slots), begins its record in the Store, walks its graph (packages graph
//     and dag) and returns a Result. Everything that happens is an event, which the journal records before it is acted on.
//   - LoadRun reads a recorded run. RecordedRun.Continue, Resume and Retry work out what is left of it, and Engine.Continue
//     runs that.
//   - Share does one step of a run that another engine walks, as Temporal does.
//
// A step that failed is data in the Result; an error means that the run could not be started or carried out. There is no
// global state that runs share, and when Run returns, no goroutine and no process of the run is left.
//
// Programs outside this module import it as package flowrun.
package engine
