package flowrun

import (
	"fmt"
	"strings"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/expr"
	"github.com/flowrun/flowrun/internal/cache"
	"github.com/flowrun/flowrun/tool"
)

// cacheRule is a step's compiled cache.
type cacheRule struct {
	inputs, outputs []placedText
	env             []string
	key             *expr.Template // nil: none
	ttl             time.Duration  // 0: for ever
}

// placedText is a template and how it is written.
type placedText struct {
	*expr.Template
	written string
}

// cache compiles the step's cache; nil where it has none.
func (c *stepCompiler) cache() *cacheRule {
	def := c.step.Cache
	if def == nil {
		return nil
	}
	r := &cacheRule{ttl: def.TTL, key: c.text(def.Key, "cache.key", expr.Plain, c.names)}
	r.inputs = c.patterns(def.Inputs, "cache.inputs", cache.CheckInput)
	r.outputs = c.patterns(def.Outputs, "cache.outputs", cache.CheckOutput)
	for _, name := range def.Env {
		r.env = append(r.env, name.S)
	}
	return r
}

// patterns compiles patterns of files. One without holes is judged now, the others
// when the step runs.
func (c *stepCompiler) patterns(texts []tool.Text, key string, check func(string) error) []placedText {
	var list []placedText
	for i := range texts {
		at := &texts[i]
		path := fmt.Sprintf("%s[%d]", key, i)
		t := c.text(at, path, expr.Plain, c.names)
		if t == nil {
			continue
		}
		list = append(list, placedText{t, at.S})
		if !t.Static() {
			continue
		}
		text, err := t.Text(nil)
		if err == nil {
			err = check(text)
		}
		if err != nil {
			why, hint, _ := strings.Cut(err.Error(), "; ")
			c.report(tool.Diagnostic{Code: "bad-pattern", Severity: tool.Error, Pos: at.Pos, Len: max(1, len([]rune(at.S))), Path: c.key(path),
				Message: fmt.Sprintf("cannot use %q as a pattern of files: %s", at.S, why), Hint: hint})
		}
	}
	return list
}

// runner is what the step's node runs.
func (s *planStep) runner() dag.Runner {
	if s.cache == nil || s.run == nil {
		return s.run
	}
	return cachedStep{s}
}
