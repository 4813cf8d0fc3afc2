// Package runview is what a person sees of a run: its narration while it goes on
// (narrate.go, github.go), and afterwards its steps as boxes, bars and notes, and what can
// be done next. Plans, results and events go in, lines and pictures come out. It neither
// starts runs nor reads the history, but for completions.
package runview
