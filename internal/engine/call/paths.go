package call

import (
	"path"
	"strings"

	"github.com/flowrun/flowrun/internal/lang/tool"
)

// pathRules say how values of path parameters (path: true) are rewritten.
type pathRules struct {
	tool.FilePaths
	OS   string // windows, linux, macos
	Home string
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

// path rewrites one path. On Windows, and everywhere with auto-convert, both / and \ are separators.
// Otherwise \ is an ordinary character.
func (r pathRules) path(s string) string {
	both := r.AutoConvert || r.OS == "windows" && r.Normalize
	if s == "" || r.OS == "windows" && strings.HasPrefix(s, `\\?\`) { // Windows does not interpret paths of this form
		return s
	}
	home := r.Home
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

// separator returns the separator of the platform.
func (r pathRules) separator() string {
	switch {
	case r.OS == "windows" && r.WindowsSeparator != "":
		return r.WindowsSeparator
	case r.OS == "windows":
		return `\`
	case r.UnixSeparator != "":
		return r.UnixSeparator
	}
	return "/"
}

// volume splits C: or //server/share off a Windows path with forward slashes.
func (r pathRules) volume(s string) (volume, rest string) {
	switch {
	case r.OS != "windows":
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
