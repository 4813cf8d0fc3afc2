package cli

import (
	"bufio"
	"fmt"
	"os"
	"strings"
)

// answers says whether somebody can be asked: at a terminal that is typed into and read.
func (a *app) answers() bool {
	f, ok := a.Stdin.(*os.File)
	return ok && isTerminal(f) && isTerminal(a.Stderr)
}

// ask puts a question that yes or no answers, where somebody can be asked; an empty
// line means usual.
func (a *app) ask(question string, usual bool) bool {
	choices := "[y/N]"
	if usual {
		choices = "[Y/n]"
	}
	fmt.Fprintf(a.Stderr, "flowrun: %s %s ", question, choices)
	line, err := bufio.NewReader(a.Stdin).ReadString('\n')
	line = strings.ToLower(strings.TrimSpace(line))
	if line == "" && err == nil {
		return usual
	}
	return strings.HasPrefix(line, "y")
}
