package dotenv

import (
	"fmt"
	"strings"
)

// Problem is a problem of a file. It contains no text of the file except names of
// variables.
type Problem struct {
	File      string // as passed to Parse
	Line, Col int    // start at 1; Col counts characters
	Warning   bool   // the file can be used nevertheless
	Message   string
}

func (p Problem) String() string {
	return fmt.Sprintf("%s:%d:%d: %s", p.File, p.Line, p.Col, p.Message)
}

// Problems lists the problems of a file, in order. It is an error if one of them is not a
// warning; see Err.
type Problems []Problem

func (ps Problems) Error() string {
	lines := make([]string, len(ps))
	for i, p := range ps {
		lines[i] = p.String()
	}
	return strings.Join(lines, "\n")
}

// Err returns the problems that make the file unusable, nil if there are none.
func (ps Problems) Err() error {
	var bad Problems
	for _, p := range ps {
		if !p.Warning {
			bad = append(bad, p)
		}
	}
	if len(bad) == 0 {
		return nil
	}
	return bad
}

// Warnings returns the problems that are warnings.
func (ps Problems) Warnings() (list Problems) {
	for _, p := range ps {
		if p.Warning {
			list = append(list, p)
		}
	}
	return list
}
