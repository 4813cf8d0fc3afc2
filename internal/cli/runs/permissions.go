package runs

import (
	"encoding/json"
	"fmt"
	"regexp"
	"sync"

	"github.com/flowrun/flowrun/internal/cli/ui"
	"github.com/flowrun/flowrun/internal/engine/runresult"
	"github.com/flowrun/flowrun/internal/screen/console"
)

// printPermissions prints on stderr the security section that a traced run needs.
func printPermissions(env *ui.Env, res *runresult.Result) {
	lines := []string{"security:", "  enforce: true", "  required-permissions:"}
	for _, p := range res.Permissions.Needed {
		lines = append(lines, "    - "+entryText(p))
	}
	if len(res.Permissions.Needed) == 0 {
		lines[2] += " []"
	}
	env.Notef("run %s needed these permissions; to grant no others, put this into the definition:", res.ID)
	for _, line := range lines {
		fmt.Fprintln(env.Stderr, console.Clean(line))
	}
	if direct := res.Permissions.Direct; len(direct) > 0 {
		env.Notef("programs connected to %s without a proxy, which only the permission network allows", ui.Listed(direct))
	}
	for _, p := range res.Permissions.Unused {
		env.Notef("the run did not use the permission %s", p)
	}
}

// plainEntry matches entries that YAML reads as text without quotes.
var plainEntry = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[\w.:/{}~@%+,=*\[\]-]*[^:]$`) })

// entryText returns an entry as an item of a list in YAML.
func entryText(p string) string {
	if plainEntry().MatchString(p) {
		return p
	}
	quoted, _ := json.Marshal(p) // text always has a JSON form, which is YAML too
	return string(quoted)
}
