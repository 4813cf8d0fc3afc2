package servername_test

import (
	"strings"
	"testing"

	"github.com/flowrun/flowrun/internal/model/servername"
)

func TestOf(t *testing.T) {
	long := strings.Repeat("x", 60)
	for written, want := range map[string]string{
		"files": "files", "a-b_c": "a-b_c", "7": "7", "end-": "end-",
		"my server": "my-server", "My  Server (beta)": "My-Server-beta", "my.server": "my-server", "@scope/name": "scope-name", "a__b": "a-b", "a___b": "a-b",
		"Größe": "Gr-e", "_comment": "comment", "x_": "x", "io.github.user/server": "io-github-user-server",
		long: long, long + "y": long, strings.Repeat("x", 59) + "_y": strings.Repeat("x", 59),
		"": "", "数据": "数据", "...": "...", "__": "__",
	} {
		got := servername.Of(written)
		if got != want || got != written && servername.Check(got) != nil {
			t.Errorf("%q: %q, want %q", written, got, want)
		}
	}
}
