// Package servername knows which names MCP servers can have. The name of a server is the beginning of the names of its tools
// (SERVER__TOOL) and part of the keys of its settings, so it cannot be any text. Names of other programs are made valid.
package servername

import (
	"errors"
	"regexp"
	"strings"
	"sync"
)

// Separator is between the name of a server and that of its tool.
const Separator = "__"

// maxLength is the greatest length of a name, in bytes.
const maxLength = 60

var (
	valid   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9_-]*[A-Za-z0-9-])?$`) })
	invalid = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[^A-Za-z0-9_-]+|_{2,}`) })
)

// Check returns an error if a server cannot have a name.
func Check(name string) error {
	if len(name) > maxLength || !valid().MatchString(name) || strings.Contains(name, Separator) {
		return errors.New("names of servers have at most 60 characters: letters, digits, - and single _")
	}
	return nil
}

// Of returns the name of a server that another program names otherwise: a - stands for all characters between two valid
// ones. If nothing valid is left, it returns the name itself.
func Of(written string) string {
	if Check(written) == nil {
		return written
	}
	name := strings.Trim(invalid().ReplaceAllString(written, "-"), "-_")
	if name = strings.TrimRight(name[:min(len(name), maxLength)], "_"); Check(name) != nil {
		return written
	}
	return name
}
