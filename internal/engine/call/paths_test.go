package call

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flowrun/flowrun/internal/lang/tool"
)

// TestPaths checks one path on the three systems, with each rule.
func TestPaths(t *testing.T) {
	normalize := tool.FilePaths{Normalize: true}
	convert := tool.FilePaths{AutoConvert: true}
	both := tool.FilePaths{Normalize: true, AutoConvert: true}
	slashes := tool.FilePaths{Normalize: true, AutoConvert: true, WindowsSeparator: "/"}
	for _, c := range []struct {
		rules        tool.FilePaths
		in           string
		unix, window string // on Linux and macOS, on Windows
	}{
		{tool.FilePaths{}, `a//b\..\c/`, `a//b\..\c/`, `a//b\..\c/`},
		{normalize, "a//b/../c", "a/c", `a\c`},
		{normalize, "a/./b/", "a/b", `a\b`},
		{normalize, "", "", ""},
		{normalize, ".", ".", "."},
		{normalize, "./", ".", "."},
		{normalize, "../../x", "../../x", `..\..\x`},
		{normalize, "/../x", "/x", `\x`},
		{normalize, "//server/share/a/../b", "/server/share/b", `\\server\share\b`},
		{normalize, "//server", "/server", `\\server`},
		{normalize, `a\..\b`, `a\..\b`, "b"},
		{normalize, `C:\x\..\y`, `C:\x\..\y`, `C:\y`},
		{normalize, `C:`, `C:`, `C:`},
		{normalize, `C:/`, `C:`, `C:\`},
		{normalize, `\\?\C:\x\..\y`, `\\?\C:\x\..\y`, `\\?\C:\x\..\y`},
		{normalize, "~", "/home/me", `C:\Users\me`},
		{normalize, "~/x/../y", "/home/me/y", `C:\Users\me\y`},
		{normalize, `~\x`, `~\x`, `C:\Users\me\x`},
		{normalize, "~other/x", "~other/x", `~other\x`},
		{normalize, "a/~/b", "a/~/b", `a\~\b`},
		{convert, `a//b\..\c/~`, "a//b/../c/~", `a\\b\..\c\~`},
		{convert, "~/x", "~/x", `~\x`},
		{both, `a\\b\..\c`, "a/c", `a\c`},
		{both, `~\x`, "/home/me/x", `C:\Users\me\x`},
		{slashes, `C:\a\b`, "C:/a/b", "C:/a/b"},
		{slashes, `\\server\share\b\`, "/server/share/b", "//server/share/b"},
		{tool.FilePaths{AutoConvert: true, UnixSeparator: `\`}, "a/b", `a\b`, `a\b`},
	} {
		for os, home := range map[string]string{"linux": "/home/me", "macos": "/home/me", "windows": `C:\Users\me`} {
			want := c.unix
			if os == "windows" {
				want = c.window
			}
			r := pathRules{FilePaths: c.rules, OS: os, Home: home}
			if got := r.value(c.in); got != want {
				t.Errorf("%s, %+v: %q is %q, want %q", os, c.rules, c.in, got, want)
			}
			if got := r.value(want); c.rules.Normalize && got != want {
				t.Errorf("%s, %+v: %q is rewritten again, to %q", os, c.rules, want, got)
			}
		}
	}
	r := pathRules{FilePaths: both, OS: "linux"}
	if diff := cmp.Diff([]any{"b", int64(5), []any{"c"}}, r.value([]any{`a\..\b`, int64(5), []any{"./c"}})); diff != "" {
		t.Error(diff)
	}
}
