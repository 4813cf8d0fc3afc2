package web_test

import (
	"archive/zip"
	"bytes"
	"io/fs"
	"net/url"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/service/web"
)

// readArtifacts reads the artifacts of a run of the tool keeps.
func (b *bench) readArtifacts() {
	b.Helper()
	id := b.start(`{"tool": "keeps"}`)
	b.becomes(id, dag.Succeeded)
	if _, doc := b.get("/api/v1/runs/" + id + "/artifacts"); !strings.Contains(string(doc), `"step":"make","name":"page"`) || strings.Contains(string(doc), b.dir) {
		b.Errorf("%s", doc)
	}
	if _, doc := b.get("/api/v1/runs?id=" + id); !strings.Contains(string(doc), `"artifacts":true`) {
		b.Errorf("the list does not say that the run has artifacts: %s", doc)
	}
	res, doc := b.get("/api/v1/runs/" + id + "/artifact?step=make&name=page")
	h := res.Header
	if !strings.Contains(string(doc), "<script>alert(1)</script>") || !strings.HasPrefix(h.Get("Content-Type"), "text/html") || h.Get("X-Content-Type-Options") != "nosniff" {
		b.Errorf("%s %v", doc, h)
	}
	if p := h.Get("Content-Security-Policy"); !strings.HasPrefix(p, "default-src 'none'; sandbox;") || strings.Contains(p, "script-src") || strings.Contains(p, "allow-") {
		b.Errorf("policy %s", p)
	}
	if res, _ := b.get("/api/v1/runs/" + id + "/artifact?step=make&name=page&download=1"); res.Header.Get("Content-Disposition") != "attachment; filename=page.html" {
		b.Errorf("%v", res.Header)
	}
	if _, doc := b.get("/api/v1/runs/" + id + "/artifact-files?step=make&name=dist"); !strings.Contains(string(doc), `"path":"sub/a.bin"`) {
		b.Errorf("%s", doc)
	}
	if res, doc := b.get("/api/v1/runs/" + id + "/artifact?step=make&name=dist&file=sub/a.bin"); string(doc) != "bin" || res.Header.Get("Content-Type") != "application/octet-stream" {
		b.Errorf("%s %v", doc, res.Header)
	}
	for query, want := range map[string][]string{"artifact?step=make&name=dist": {"sub/a.bin"}, "artifact-archive": {"make/dist/sub/a.bin", "make/page/page.html"}} {
		res, doc := b.get("/api/v1/runs/" + id + "/" + query)
		if res.Header.Get("Content-Type") != "application/zip" || !strings.HasPrefix(res.Header.Get("Content-Disposition"), "attachment;") {
			b.Errorf("%s: %v", query, res.Header)
		}
		z, err := zip.NewReader(bytes.NewReader(doc), int64(len(doc)))
		if err != nil {
			b.Fatalf("%s: %v", query, err)
		}
		for _, name := range want {
			if _, err := fs.ReadFile(z, name); err != nil {
				b.Errorf("%s: %v", query, err)
			}
		}
	}
	for query, status := range map[string]int{"": 404, "step=make": 404, "step=make&name=none": 404, "step=none&name=page": 404, "step=make&name=../x": 404,
		"step=make&name=dist&file=sub": 404, "step=make&name=dist&file=../dist.json": 404, "step=make&name=dist&file=" + url.QueryEscape("/etc/passwd"): 404,
		"step=make&name=dist&file=link": 404} {
		if res, doc := b.get("/api/v1/runs/" + id + "/artifact?" + query); res.StatusCode != status {
			b.Errorf("%s: %d %s", query, res.StatusCode, doc)
		}
	}
}

// TestArtifacts: files are served as they are, and no browser runs what is in them.
func TestArtifacts(t *testing.T) { newBench(t, web.Options{}).readArtifacts() }
