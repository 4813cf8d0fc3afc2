package flowrun

import (
	"path"
	"strings"

	"github.com/flowrun/flowrun/tool"
)

// pathRules are how the values of parameters that are paths (path: true) are
// rewritten (S1-180 to S1-185).
type pathRules struct {
	tool.FilePaths
	os   string // windows, linux, macos
	home string
}

// value rewrites a path, or every path in an array.
func (r pathRules) value(v any) any {
	switch v := v.(type) {
	case string:
		return r.path(v)
	case []any:
		list := make([]any, len(v))
		for i, e := range v {
			list[i] = r.value(e)
		}
		return list
	}
	return v
}

// path rewrites one path. Both signs separate on Windows, and everywhere under
// auto-convert; else a \ is a character like any other.
func (r pathRules) path(s string) string {
	both := r.AutoConvert || r.os == "windows" && r.Normalize
	if s == "" || r.os == "windows" && strings.HasPrefix(s, `\\?\`) { // that form is taken as it is
		return s
	}
	home := r.home
	if both {
		s, home = strings.ReplaceAll(s, `\`, "/"), strings.ReplaceAll(home, `\`, "/")
	}
	if r.Normalize {
		if s == "~" || strings.HasPrefix(s, "~/") {
			s = home + s[1:]
		}
		volume, rest := r.volume(s)
		if rest != "" {
			rest = path.Clean(rest)
		}
		s = volume + rest
	}
	if both {
		s = strings.ReplaceAll(s, "/", r.separator())
	}
	return s
}

// separator is the platform's.
func (r pathRules) separator() string {
	switch {
	case r.os == "windows" && r.WindowsSeparator != "":
		return r.WindowsSeparator
	case r.os == "windows":
		return `\`
	case r.UnixSeparator != "":
		return r.UnixSeparator
	}
	return "/"
}

// volume splits C: or //server/share off a path of Windows with slashes.
func (r pathRules) volume(s string) (volume, rest string) {
	switch {
	case r.os != "windows":
		return "", s
	case len(s) >= 2 && s[1] == ':':
		return s[:2], s[2:]
	case !strings.HasPrefix(s, "//"):
		return "", s
	}
	end := len(s)
	if server := strings.IndexByte(s[2:], '/'); server >= 0 {
		if share := strings.IndexByte(s[2+server+1:], '/'); share >= 0 {
			end = 2 + server + 1 + share
		}
	}
	return s[:end], s[end:]
}

// paths warns where file-paths rewrites nothing, and where there is nothing that
// rewrites a path.
func (c *compiler) paths(def *tool.Definition) {
	rewrites := def.FilePaths.Normalize || def.FilePaths.AutoConvert
	some := false
	for _, p := range def.Parameters {
		some = some || p.Path
		if p.Path && !rewrites {
			c.report(tool.Diagnostic{Code: "no-effect", Severity: tool.Warning, Pos: p.Pos, Len: len(p.Name), Path: "parameters." + p.Name + ".path",
				Message: "path has no effect: the tool's file-paths rewrites no paths",
				Hint:    "set file-paths.normalize or file-paths.cross-platform.auto-convert, or remove it"})
		}
	}
	if rewrites && !some {
		c.report(tool.Diagnostic{Code: "no-effect", Severity: tool.Warning, Pos: def.FilePaths.Pos, Path: "file-paths",
			Message: "file-paths rewrites the values of parameters that are paths, and no parameter says that it is one",
			Hint:    "give such parameters path: true"})
	}
}
