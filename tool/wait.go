package tool

import (
	"fmt"
	"strings"
	"time"

	"gopkg.in/yaml.v3"
)

// Wait is what a step waits for: one of these.
type Wait struct {
	Pos   Pos
	For   time.Duration // from the start of the step
	Until *Text         // a moment, RFC 3339
	File  *Text         // a path
	HTTP  *Text         // an address
	Port  *Text         // HOST:PORT
}

func checkWait(d *decoder, into any, n *yaml.Node, content []*yaml.Node) {
	into.(*Wait).Pos = d.pos(n)
	o := stepTable(d).Field("wait").Of
	switch found := bodies(o, content); {
	case len(found) == 0:
		d.fail(n, "no-body", "wait does not say for what", "add one of: "+strings.Join(o.keys(), ", "))
	case len(found) > 1:
		for _, second := range found[1:] {
			d.failKey(second, "two-bodies", fmt.Sprintf("a step waits for one thing: %s is given on line %d and %s on line %d", quote(found[0].Value), found[0].Line, quote(second.Value), second.Line),
				"keep one of the two, or make steps of them")
		}
	}
}
