package cli

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/internal/cli/ui"
)

// plugin is a program flowrun-NAME in a folder of PATH. flowrun NAME runs it, unless flowrun has a
// command NAME. Relative folders of PATH are ignored, and so is the working directory, which Windows
// searches first: a project must not be able to add commands.
type plugin struct{ name, path string }

const pluginPrefix = "flowrun-"

// findPlugin returns the plugin with a name.
func findPlugin(name string) (p plugin, ok bool) {
	if !isPluginName(name) {
		return p, false
	}
	for _, folder := range pluginFolders() {
		if path, err := exec.LookPath(filepath.Join(folder, pluginPrefix+name)); err == nil {
			return plugin{name, path}, true
		}
	}
	return p, false
}

// plugins returns all plugins, sorted by name.
func plugins() []plugin {
	var names []string
	for _, folder := range pluginFolders() {
		files, _ := os.ReadDir(folder) // PATH may contain folders that do not exist
		for _, f := range files {
			if name, ok := strings.CutPrefix(f.Name(), pluginPrefix); ok {
				if runtime.GOOS == "windows" {
					name = strings.TrimSuffix(name, filepath.Ext(name))
				}
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	var list []plugin
	for _, name := range slices.Compact(names) {
		if p, ok := findPlugin(name); ok {
			list = append(list, p)
		}
	}
	return list
}

func pluginFolders() []string {
	return slices.DeleteFunc(filepath.SplitList(os.Getenv("PATH")), func(folder string) bool { return !filepath.IsAbs(folder) })
}

// isPluginName reports whether a word can name a plugin: letters, digits, - and _.
func isPluginName(word string) bool {
	for i, r := range word {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
		if !letter && (i == 0 || r != '-' && r != '_') {
			return false
		}
	}
	return word != ""
}

// runAs runs the plugin for the arguments of flowrun. They must begin with its name: a plugin does not
// know the flags of flowrun.
func (p plugin) runAs(args []string) error {
	if args[0] != p.name {
		return ui.Usagef(nil, "cannot pass %s to %s; write flags after %q", args[0], p.path, p.name)
	}
	return p.run(args[1:])
}

// listPlugins writes the part of flowrun --help about plugins.
func listPlugins(w io.Writer) {
	list := plugins()
	if len(list) == 0 {
		return
	}
	rows := make([]tableRow, len(list))
	for i, p := range list {
		rows[i] = tableRow{p.name, p.path}
	}
	fmt.Fprintf(w, "\nPrograms in PATH, as commands:\n%s\n", twoColumns(rows))
}
