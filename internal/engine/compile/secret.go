package compile

import (
	"fmt"
	"strings"

	"github.com/flowrun/flowrun/internal/engine/compile/texts"
	"github.com/flowrun/flowrun/internal/engine/mask"
	"github.com/flowrun/flowrun/internal/engine/plan"
	"github.com/flowrun/flowrun/internal/lang/expr"
	"github.com/flowrun/flowrun/internal/lang/tool"
)

// secretSources compiles the secrets that have a source. owner distinguishes the secrets of different steps.
func secretSources(c *texts.Parser, list []tool.Secret, path, owner string, n texts.Names, note func(tool.Text, []expr.Ref)) []plan.SecretSource {
	var out []plan.SecretSource
	for i, s := range list {
		if !s.Sourced() {
			continue
		}
		if n.HasParameter(s.Name.S) {
			c.Errorf("two-values", s.Name, "rename the secret; to mask the parameter, write only its name",
				"%s is the name of a parameter and also of a secret with a source", s.Name.S)
		}
		part := func(at *tool.Text, key string, sh expr.Shell) *expr.Template {
			key = fmt.Sprintf("%s[%d].%s", path, i, key)
			t := c.Template(at, key, sh, n)
			if t == nil || !c.Accepts(texts.CheckVariable(n, s.Name.S, *at, key, t)) || !c.Accepts(mentionsNone(*at, t.Refs(), "secrets are fetched before the first step runs", "write a fixed source, or use a parameter")) {
				return nil
			}
			note(*at, t.Refs())
			return t
		}
		src := plan.SecretSource{Name: s.Name.S, Key: owner + "/" + s.Name.S, File: part(s.File, "file", expr.Plain), Argv: part(s.Command, "command", expr.Argv)}
		if s.Env != nil {
			src.Env = s.Env.S
		}
		out = append(out, src)
	}
	return out
}

// plainSecrets returns the secrets that have only a name.
func plainSecrets(list []tool.Secret) []tool.Text {
	var names []tool.Text
	for _, s := range list {
		if !s.Sourced() {
			names = append(names, s.Name)
		}
	}
	return names
}

// refuseShortSecret reports a secret in the definition with which its step would fail, because it cannot be masked.
func refuseShortSecret(c *stepTexts, at tool.Text, key string, t *expr.Template) bool {
	if !t.Static() {
		return false
	}
	text, err := t.Text(nil)
	if err != nil {
		return false
	}
	if err = new(mask.Mask).Add(text); err == nil {
		return false
	}
	why, hint, _ := strings.Cut(err.Error(), "; ")
	c.problem(at, key, "unknown-secret", tool.Error, "cannot mask the secret: "+why, hint)
	return true
}
