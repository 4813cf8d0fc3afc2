// Package permtrace finds out which permissions a run needs. A [Recorder] gets every [systrace.Access] of the run's
// processes and scripts, and [Recorder.Report] returns the entries of required-permissions that would allow them, and
// those that the tool has but did not use.
//
// What every process may use anyway is left out. Files of a folder are merged into one entry for the folder if they
// are many. A [Record] keeps the report in the folder of the run, for flowrun validate.
package permtrace
