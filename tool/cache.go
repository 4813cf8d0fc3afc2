package tool

import (
	"fmt"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/flowrun/flowrun/internal/diagnostic"
	"github.com/flowrun/flowrun/internal/keytable"
)

// Cache says when a step need not run again. One without anything counts only the
// command and the environment of the definition.
type Cache struct {
	Pos     Pos
	Inputs  []Text        // patterns of files it reads
	Outputs []Text        // patterns of files it makes
	Env     []Text        // names of inherited variables that count
	Key     *Text         // a text that counts; nil = none
	TTL     time.Duration // how long a result may be used; 0 = for ever
}

func checkCache(d *keytable.Decoder, into any, n *yaml.Node, content []*yaml.Node) {
	c := into.(*Cache)
	c.Pos = d.Pos(n)
	for _, name := range c.Env {
		if !variableName().MatchString(name.S) {
			d.Report(Diagnostic{Code: "bad-name", Severity: Error, Pos: name.Pos, Len: max(1, len([]rune(name.S))), Path: d.Path.String(),
				Message: fmt.Sprintf("%s cannot be the name of an environment variable", diagnostic.Quote(name.S)), Hint: "use letters, digits and '_', not beginning with a digit"})
		}
	}
}

// cacheOfTool reports a cache where there is no command of the tool's own.
func cacheOfTool(d *keytable.Decoder, t *draft, content []*yaml.Node) {
	key := keytable.KeyOf(content, "cache")
	switch {
	case key == nil || t.Alias: // which has no cache of its own
	case len(t.Steps) > 0:
		d.FailKey(key, "cache-without-command", "cannot cache a tool that has steps: cache applies to a command", "add cache to the steps whose results flowrun should store")
	}
}

// caches reports steps whose results cannot be kept.
func caches(d *keytable.Decoder, t *draft, lists []stepList) {
	for _, l := range lists {
		for i, s := range l.steps {
			at := fmt.Sprintf("%s[%d].cache", l.path, i)
			if t.Single {
				at = "cache"
			}
			if s.Cache != nil {
				cacheFits(d, t, s, at)
			}
		}
	}
}

func cacheFits(d *keytable.Decoder, t *draft, s *Step, at string) {
	one := Diagnostic{Code: "cannot-cache", Severity: Error, Pos: s.Cache.Pos, Len: 1, Path: at}
	if s.Body != nil {
		one.Message, one.Hint = s.Body.uncacheable()
	}
	switch {
	case one.Message != "":
	case s.Detach:
		one.Message, one.Hint = "cannot cache a step with detach: its result is the processes that it leaves running", "remove cache, or remove detach"
	case s.Interactive != nil && *s.Interactive, s.Interactive == nil && t.Interactive:
		one.Message, one.Hint = "cannot cache an interactive step: its result depends on a person's answers", "remove cache, or remove interactive"
	default:
		return
	}
	d.Report(one)
}
