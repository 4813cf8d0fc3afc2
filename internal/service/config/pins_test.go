package config_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/flowrun/flowrun/internal/lang/tool"
)

// TestPinsParts: a definition is the one that the user trusted only if the files of its folder that it was made of are, too.
func TestPinsParts(t *testing.T) {
	const folder = "project/.flowrun/tools/"
	for about, c := range map[string]struct {
		change func(p *place) // after the trust
		want   bool
	}{
		"unchanged":                   {func(*place) {}, true},
		"helper changed":              {func(p *place) { p.write(folder+"helper.js", "evil") }, false},
		"linked helper changed":       {func(p *place) { p.write("elsewhere/linked.js", "evil") }, false},
		"link leads elsewhere":        {func(p *place) { p.write("elsewhere/evil.js", "evil"); p.link("evil.js") }, false},
		"helper added":                {func(p *place) { p.write(folder+"new.js", "evil") }, false},
		"file of a subfolder changed": {func(p *place) { p.write(folder+"lib/deep.js", "other") }, true}, // not recorded
		"other file changed":          {func(p *place) { p.write(folder+"unrelated.js", "other") }, true},
		"definition changed":          {func(p *place) { p.write(folder+"a.tool.js", "other") }, false},
	} {
		t.Run(about, func(t *testing.T) {
			p := newPlace(t, map[string]string{folder + "a.tool.js": "tool", folder + "helper.js": "helper", folder + "unrelated.js": "unrelated",
				folder + "lib/deep.js": "deep", "elsewhere/linked.js": "linked"})
			p.link("linked.js")
			c0, err := p.load()
			if err != nil {
				t.Fatal(err)
			}
			if err := c0.Decide(filepath.Join(p.dir, "state"), true); err != nil {
				t.Fatal(err)
			}
			c.change(p)
			file := filepath.Join(p.dir, folder, "a.tool.js")
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			def := &tool.Definition{File: file, Source: text}
			for _, name := range []string{"helper.js", "new.js", "lib/deep.js", "link.js"} { // as a bundler names them
				if path, err := filepath.EvalSymlinks(filepath.Join(p.dir, folder, name)); err == nil {
					text, _ := os.ReadFile(path)
					def.Files = append(def.Files, tool.Part{Path: path, Digest: tool.DigestOf(text)})
				}
			}
			if got := c0.Trust.Pins(def); got != c.want {
				t.Errorf("pinned: %v, want %v", got, c.want)
			}
		})
	}
}

// link makes link.js in the tool folder lead to a file that is elsewhere.
func (p *place) link(name string) {
	p.Helper()
	link := filepath.Join(p.dir, "project/.flowrun/tools/link.js")
	_ = os.Remove(link)
	if err := os.Symlink(filepath.Join(p.dir, "elsewhere", name), link); err != nil {
		p.Skip(err)
	}
}
