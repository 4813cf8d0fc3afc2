package dotenv

import (
	"fmt"
	"strings"
)

// Problem is something wrong with a file. It holds no text of the file but names of
// variables.
type Problem struct {
	File      string // as it was given to Parse
	Line, Col int    // from 1; Col counts characters
	Warning   bool   // the file can be used all the same
	Message   string
}

func (p Problem) String() string {
	return fmt.Sprintf("%s:%d:%d: %s", p.File, p.Line, p.Col, p.Message)
}

// Problems is everything wrong with a file, in order. It is an error where one of
// them is no warning; see Err.
type Problems []Problem

func (ps Problems) Error() string {
	lines := make([]string, len(ps))
	for i, p := range ps {
		lines[i] = p.String()
	}
	return strings.Join(lines, "\n")
}

// Err is the problems that keep the file from being used, nil when there are none.
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

// Warnings are the other ones.
func (ps Problems) Warnings() (list Problems) {
	for _, p := range ps {
		if p.Warning {
			list = append(list, p)
		}
	}
	return list
}
