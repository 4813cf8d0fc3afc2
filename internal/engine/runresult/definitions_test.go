package runresult

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flowrun/flowrun/internal/lang/tool"
)

// TestDefinitions: the definitions of a run have names without folders, and each is named once.
func TestDefinitions(t *testing.T) {
	one, two := "sha256:"+strings.Repeat("1", 64), "sha256:"+strings.Repeat("2", 64)
	got := DefinitionsOf([]tool.Source{
		{Name: "./a.yaml", File: "/home/ada/a.yaml", Digest: one, Text: []byte("a")},
		{From: "/home/ada/a.yaml", Name: "b", File: `C:\tools\b.yaml`, Scope: tool.ScopeUser, Digest: two, Text: []byte("b")},
		{From: "/home/ada/b.yaml", Name: "a", File: "/home/ada/a.yaml", Digest: one, Text: []byte("a")},
		{From: "/home/ada/a.yaml", Name: "found", Scope: tool.ScopeDiscovered, Digest: one, Text: []byte("f")},
	})
	want := []Definition{{Name: "a.yaml", Digest: one, Text: []byte("a")}, {Name: "b.yaml", Scope: tool.ScopeUser, Digest: two, Text: []byte("b")},
		{Name: "found", Scope: tool.ScopeDiscovered, Digest: one, Text: []byte("f")}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if got := got[0].ShortDigest(); got != "sha256:111111111111" {
		t.Error(got)
	}
	if b, err := json.Marshal(got[0]); err != nil || string(b) != `{"name":"a.yaml","digest":"`+one+`"}` {
		t.Errorf("%s %v", b, err)
	}
}
