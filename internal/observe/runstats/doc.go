// Package runstats computes statistics of the recorded runs of a tool from their events: how
// often the runs and their steps succeeded, how often only after a retry, how long they took, whether
// the newest runs differ from those before, and how each step ended in each run.
//
// flowrun stats and the HTTP API use it. It reads events and keeps a few numbers of each
// step; it knows nothing of plans, files or output formats.
package runstats
