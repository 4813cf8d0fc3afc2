package tool

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/flowrun/flowrun/internal/lang/diagnostic"
	"github.com/flowrun/flowrun/internal/lang/keytable"
)

// Wait is what a step waits for: exactly one of For, Until, File, HTTP and Port.
type Wait struct {
	Pos   Pos
	For   time.Duration // from the start of the step
	Until *Text         // a time in RFC 3339 format
	File  *Text         // a path
	HTTP  *Text         // a URL
	Port  *Text         // HOST:PORT

	Status   int           // the status that HTTP must return; 0 = 200 to 299
	Interval time.Duration // between two checks of File, HTTP or Port; 0 = 1 s
}

func checkWait(d *keytable.Decoder, into any, n *yaml.Node, content []*yaml.Node) {
	into.(*Wait).Pos = d.Pos(n)
	o := stepTable(d).Field("wait").Of
	switch found := bodyKeys(o, content); {
	case len(found) == 0 && o.Misspells(content, o.BodyKeys()...):
	case len(found) == 0:
		d.Fail(n, "no-body", "wait has no condition", "add one of: "+strings.Join(o.BodyKeys(), ", "))
	case len(found) > 1:
		for _, second := range found[1:] {
			d.FailKey(second, "two-bodies", fmt.Sprintf("a wait can only have one condition: %s on line %d, %s on line %d", diagnostic.Quote(found[0].Value), found[0].Line, diagnostic.Quote(second.Value), second.Line),
				"keep one of the two, or write a step for each")
		}
	}
	idle := func(key, hint string, needs ...string) {
		if at := keytable.KeyOf(content, key); at != nil && !slices.ContainsFunc(needs, func(k string) bool { return keytable.KeyOf(content, k) != nil }) {
			d.FailKey(at, "no-effect", key+" has no effect here", hint)
		}
	}
	idle("status", "it is the status that a URL must return: add http, or remove it", "http")
	idle("interval", "it is the time between two checks of a file, a URL or a port: remove it", "file", "http", "port")
}
