// Package runview shows runs to a person. During a run it prints progress (narrate.go, github.go).
// Afterwards it draws the steps as boxes, bars and notes, and suggests the next commands. Its input
// are plans, results and events; its output is text. It does not start runs, and reads the history
// only for completion.
package runview
