package keptstate

import (
	"errors"
	"io/fs"
	"os"
	"slices"

	"github.com/flowrun/flowrun/history"
)

// Lost returns the values that a tool had when its definition was in another file, which no longer exists: its project may have
// been moved, and state belongs to the file. all are the values of all tools. Lost returns nil if the tool has values of its
// own. Of several such files it takes the one that was written last.
func Lost(all []history.StateValue, id history.StateID) []history.StateValue {
	byFile := map[string][]history.StateValue{}
	last := ""
	for _, v := range all {
		switch {
		case v.StateID == id:
			return nil
		case v.Tool != id.Tool || v.File == "" || id.File == "":
			continue
		}
		byFile[v.File] = append(byFile[v.File], v)
		if missing(v.File) && (last == "" || slices.MaxFunc(byFile[last], byTime).At.Before(v.At)) {
			last = v.File
		}
	}
	return byFile[last]
}

func byTime(x, y history.StateValue) int { return x.At.Compare(y.At) }

func missing(file string) bool {
	_, err := os.Stat(file)
	return errors.Is(err, fs.ErrNotExist)
}
