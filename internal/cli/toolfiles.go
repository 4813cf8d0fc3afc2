package cli

import (
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun"
	"github.com/flowrun/flowrun/hooks"
	"github.com/flowrun/flowrun/tool"
)

// readScripts has a library read .tool.js and .tool.ts files. Completion runs none of
// them: whoever presses Tab has not asked for that.
func (a *app) readScripts(lib *tool.Library) {
	c := hooks.LoaderConfig{Runtime: a.javaScript(), Ahead: a.completes(), Bundle: bundled}
	if dir := flowrun.DefaultStateDir(); dir != "" {
		c.Cache = filepath.Join(dir, "descriptions")
	}
	load := hooks.Loader(c)
	for _, extension := range hooks.Extensions {
		lib.Handle(extension, load)
	}
}

// completes says whether a shell asks what could be typed next.
func (a *app) completes() bool {
	return len(a.Args) > 0 && (a.Args[0] == cobra.ShellCompRequestCmd || a.Args[0] == cobra.ShellCompNoDescRequestCmd)
}
