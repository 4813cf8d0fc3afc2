package tool

import (
	"fmt"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/flowrun/flowrun/internal/lang/diagnostic"
	"github.com/flowrun/flowrun/internal/lang/keytable"
	"github.com/flowrun/flowrun/internal/lang/value"
)

// Cache specifies when the stored result of a step may be used instead of running the step. Even an empty Cache depends
// on the command and on the environment of the definition.
type Cache struct {
	Pos     Pos
	Inputs  []Text        // patterns of the files that the step reads
	Outputs []Text        // patterns of the files that the step creates
	Env     []Text        // names of the inherited variables that the step depends on
	Key     *Text         // any other text that the step depends on; nil = none
	TTL     time.Duration // how long a result may be used; 0 = forever
}

func checkCache(d *keytable.Decoder, into any, n *yaml.Node, content []*yaml.Node) {
	c := into.(*Cache)
	c.Pos = d.Pos(n)
	for _, name := range c.Env {
		if !value.IsVariableName(name.S) {
			d.Report(Diagnostic{Code: "bad-name", Severity: Error, Pos: name.Pos, Len: max(1, len([]rune(name.S))), Path: d.Path.String(),
				Message: fmt.Sprintf("%s cannot be the name of an environment variable", diagnostic.Quote(name.S)), Hint: "use letters, digits and '_', not beginning with a digit"})
		}
	}
}

// checkToolCache reports a cache at the top of a tool that has no command of its own.
func checkToolCache(d *keytable.Decoder, t *Draft, content []*yaml.Node) {
	key := keytable.KeyOf(content, "cache")
	switch {
	case key == nil || t.Alias: // an alias cannot have a cache; checkAlias reports it
	case len(t.Steps) > 0:
		d.FailKey(key, "cache-without-command", "cannot cache a tool that has steps: cache applies to a command", "add cache to the steps whose results flowrun should store")
	}
}

// checkCaches reports each cache of a step whose result cannot be stored.
func checkCaches(d *keytable.Decoder, t *Draft, lists []stepList) {
	for _, l := range lists {
		for i, s := range l.steps {
			at := fmt.Sprintf("%s[%d].cache", l.path, i)
			if t.Single {
				at = "cache"
			}
			if s.Cache != nil {
				checkCacheable(d, t, s, at)
			}
		}
	}
}

func checkCacheable(d *keytable.Decoder, t *Draft, s *Step, at string) {
	one := Diagnostic{Code: "cannot-cache", Severity: Error, Pos: s.Cache.Pos, Len: 1, Path: at}
	if s.Body != nil {
		one.Message, one.Hint = s.Body.uncacheable()
	}
	switch {
	case one.Message != "":
	case s.SSH != nil:
		one.Message, one.Hint = "cannot cache a step that runs over ssh: flowrun does not know what is on the other machine", "remove cache"
	case s.Detach:
		one.Message, one.Hint = "cannot cache a step with detach: its result is the processes that it leaves running", "remove cache, or remove detach"
	case s.Interactive != nil && *s.Interactive, s.Interactive == nil && t.Interactive:
		one.Message, one.Hint = "cannot cache an interactive step: its result depends on a person's answers", "remove cache, or remove interactive"
	default:
		return
	}
	d.Report(one)
}
