package launch

import (
	"iter"
	"strings"

	"github.com/flowrun/flowrun/internal/cli/ui"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/lang/lint"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/internal/screen/console"
	"github.com/flowrun/flowrun/internal/service/config"
	"github.com/flowrun/flowrun/library"
)

// maxLimitNotes is how many tools NoteModelLimits names.
const maxLimitNotes = 10

// ListedDefinitions reads the definitions of listed tools, one after another, and yields those that are valid.
func ListedDefinitions(lib *library.Library, list []library.Listed) iter.Seq[*tool.Definition] {
	return func(yield func(*tool.Definition) bool) {
		for _, e := range list {
			if e.ShadowedBy != "" || e.Path == "" {
				continue
			}
			if def, found, err := lib.Load(e.Path); err == nil && def != nil && found.Err() == nil && !yield(def) {
				return
			}
		}
	}
}

// NoteUntrusted says that models' calls cannot read the project, if they could if the user trusted it.
func NoteUntrusted(env *ui.Env, c *config.Config) {
	if t := c.Trust; t.Folder != "" && Enforcement(c) == engine.EnforceModels && t.State != config.Trusted {
		env.Notef("models' calls cannot read the files of %s, because you do not trust it; to trust it: flowrun trust", console.Quote(t.Folder))
	}
}

// NoteModelLimits says which of the tools could not do everything when a model calls them, and what allows it. Otherwise
// their authors, who run them as people, would learn it from a failed call. brief names only the tools.
func NoteModelLimits(env *ui.Env, tools iter.Seq[*tool.Definition], brief bool) {
	c, err := ui.LoadSettings(false)
	if err != nil || Enforcement(c) == "" {
		return
	}
	var names, limits []string
	for def := range tools {
		if limit := lint.ForModels(def); limit != "" {
			names, limits = append(names, def.Name), append(limits, limit)
		}
	}
	more := max(len(limits)-maxLimitNotes, 0)
	switch {
	case len(names) == 0:
	case brief && more > 0:
		env.Notef("models' calls cannot do everything with %s and %d more; flowrun validate says what allows it", strings.Join(names[:maxLimitNotes], ", "), more)
	case brief:
		env.Notef("models' calls cannot do everything with %s; flowrun validate says what allows it", strings.Join(names, ", "))
	default:
		for _, limit := range limits[:len(limits)-more] {
			env.Notef("%s", limit)
		}
		if more > 0 {
			env.Notef("models' calls of %d more tools are limited too", more)
		}
	}
}
