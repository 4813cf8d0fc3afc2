package ui

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
)

// Format formats a message for people. Go begins an error about a file with the system call, as in
// "open x: permission denied", which may not be what the command did. Format leaves the call out of
// the errors among args, and the path too if the text before it has it already.
func Format(format string, args ...any) string {
	text := fmt.Sprintf(format, args...)
	for _, arg := range args {
		if err, ok := arg.(error); ok {
			text = withoutCalls(text, err)
		}
	}
	return text
}

// withoutCalls leaves the system calls out of a text that quotes err.
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
