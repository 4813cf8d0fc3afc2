package ui

import (
	"errors"
	"io/fs"
	"os"
	"strconv"
	"strings"
)

// message returns the text of an error for people. Go begins an error about a file with the system
// call, as in "open x: permission denied", which may not be what the command did; message leaves the
// call out, and the path too if the text before it has it already.
func message(err error) string { return withoutCalls(err.Error(), err) }

// withoutCalls changes, in a text that quotes err, what message changes.
func withoutCalls(text string, err error) string {
	switch e := err.(type) {
	case *fs.PathError:
		return replaceFileError(text, e.Error(), e.Path, e.Err)
	case *os.LinkError:
		return replaceFileError(text, e.Error(), e.New, e.Err)
	case interface{ Unwrap() []error }:
		for _, inner := range e.Unwrap() {
			text = withoutCalls(text, inner)
		}
		return text
	}
	if inner := errors.Unwrap(err); inner != nil {
		return withoutCalls(text, inner)
	}
	return text
}

// replaceFileError replaces what Go wrote about a file.
func replaceFileError(text, written, path string, cause error) string {
	before, after, found := strings.Cut(text, written)
	if !found {
		return text
	}
	if !names(before, path) {
		before += path + ": "
	}
	return before + cause.Error() + after
}

// names reports whether a text contains a path, in quotes or as a word.
func names(text, path string) bool {
	words := strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" \t\n\",;()", r) })
	for _, w := range words {
		if strings.TrimSuffix(w, ":") == path {
			return true
		}
	}
	return strings.Contains(text, strconv.Quote(path))
}
