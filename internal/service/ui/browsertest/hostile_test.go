package browsertest

import (
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// hostile are texts that try to become code, or to break what surrounds them. Code would set
// window.pwned or open a dialog.
var hostile = map[string]string{
	"script":    `<script>window.pwned = 1; alert(1)</script>`,
	"image":     `<img src=x onerror="window.pwned = 1; alert(1)">`,
	"svg":       `<svg onload="window.pwned = 1"><script>alert(1)</script></svg>`,
	"attribute": `" autofocus onfocus="window.pwned = 1" x="' onmouseover='window.pwned = 1`,
	"link":      `javascript:window.pwned=1//[x](javascript:alert(1))`,
	"closing":   `</textarea></title></style></script></svg><iframe src="javascript:alert(1)"></iframe>`,
	"style":     `</style><style>* { display: none !important }</style>`,
	"entities":  `&lt;script&gt;window.pwned=1&lt;/script&gt; &#60;img src=x onerror=alert(1)&#62; \u003cscript\u003e`,
	"escapes":   "\x1b]8;;javascript:alert(1)\x1b\\click\x1b]8;;\x1b\\ \x1b]52;c;cHduZWQ=\x07 \x1b[31m<b onclick=alert(1)>red\x1b[0m \x1b[2J\x1b]0;title\x07",
	"rtl":       "abc \u202egnp.exe\u202c \u2066\u200f\u061c zero\u200bwidth \u2028 z\u0351\u0363\u0344\u0310a\u0352\u0345\u0318",
	"long":      strings.Repeat("nobreak", 4000),
	"object":    `__proto__ constructor ${window.pwned=1} <%= 1 %> {"a": "</script>"}`,
}

// writeHostile writes a tool for each text that shows it wherever a definition can have text.
func writeHostile(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for name, text := range hostile {
		item := text
		if len(item) > 1000 {
			item = item[:1000] // the key of a loop has a limit
		}
		doc, err := json.Marshal(map[string]any{
			"name": "hostile-" + name, "description": text, "tags": []string{"read"},
			"parameters": map[string]any{
				"TEXT":   map[string]any{"type": "string", "description": text, "default": text, "examples": []string{text}},
				"CHOICE": map[string]any{"type": "string", "description": text, "default": text, "validation": map[string]any{"enum": []string{text, "other"}}}},
			"steps": []any{
				map[string]any{"name": "say", "bash": `printf '%s\n' {TEXT}; printf '%s\n' {CHOICE} >&2`},
				map[string]any{"name": "each", "for-each": map[string]any{"items": []string{item}, "key": "{item}"}, "bash": "true"},
				map[string]any{"name": "line", "bash": `head -c 1000000 /dev/zero | tr '\0' x; echo`},
				map[string]any{"name": "gate", "approve": map[string]any{"prompt": text, "form": map[string]any{"properties": map[string]any{
					"V": map[string]any{"type": "string", "title": text, "description": text, "default": text}}}}},
			}})
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, "hostile-"+name+".json"), doc, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// tooWide is a function of the page that names the elements that make it too wide.
const tooWide = `var tooWide = () => [...document.querySelectorAll('body *')].filter((e) => (e.scrollWidth > e.clientWidth + 1 || e.getBoundingClientRect().right > innerWidth + 1) && getComputedStyle(e).overflowX === 'visible' && !e.closest('.clip, .sr-only') && ![...e.children].some((c) => c.scrollWidth > innerWidth || c.getBoundingClientRect().right > innerWidth + 1)).slice(0, 3).map((e) => e.tagName + '.' + e.getAttribute('class') + ' in ' + e.parentElement.tagName + '.' + e.parentElement.getAttribute('class')).join(', ');`

// TestHostile opens every view of every hostile text. Nothing of it may run, and the page keeps its
// layout.
func TestHostile(t *testing.T) {
	dir := t.TempDir()
	if err := writeHostile(filepath.Join(dir, "definitions")); err != nil {
		t.Fatal(err)
	}
	s, err := startService(filepath.Join(dir, "service"), filepath.Join(dir, "definitions"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.stop)
	views := map[string][]string{"all": {"/", "/runs", "/tools", "/waiting", "/locks"}}
	for name, text := range hostile {
		id, err := s.startRun("hostile-"+name, nil)
		if err == nil {
			err = s.await(id, "waiting")
		}
		if err != nil {
			t.Fatal(err)
		}
		run, tool := "/runs/"+id, "/tools/hostile-"+name
		if len(text) > 1000 {
			text = text[:1000]
		}
		text := url.QueryEscape(text)
		views[name] = []string{run, run + "/graph", run + "/timeline", run + "/steps", run + "/logs", run + "/logs?step=say", run + "/logs?step=line", run + "/events", run + "/definition",
			tool, tool + "/run", tool + "/graph", tool + "/history", tool + "/schema", tool + "/source", "/edit/hostile-" + name,
			"/runs?tool=" + text + "&status=" + text + "&q=" + text, run + "/logs?step=" + text + "&line=" + text + "&t=" + text, "/tools?q=" + text}
	}
	cases := 0
	for name, paths := range views {
		cases += len(paths)
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := open(t, s)
			b.expect("404") // of filters that name nothing
			b.expect("400")
			for _, path := range paths {
				b.goTo(path)
				b.settled()
				b.mu.Lock()
				for _, w := range b.wrong {
					if strings.HasPrefix(w, "dialog") {
						t.Errorf("%s: %s", path, w)
					}
				}
				b.mu.Unlock()
				if got := eval[string](b, tooWide+`(() => {
					const bad = [];
					if (window.pwned) bad.push('code ran');
					if (document.querySelector('script:not([src]), iframe, object, embed, [onerror], [onload], [onclick], [onfocus], [onmouseover], a[href^="javascript:"]')) bad.push('elements of the text');
					if (document.documentElement.scrollWidth > innerWidth) bad.push('too wide by ' + (document.documentElement.scrollWidth - innerWidth) + ': ' + tooWide());
					if (!document.querySelector('main h1').offsetParent) bad.push('hidden');
					return bad.join(', ');
				})()`); got != "" {
					t.Errorf("%.80s: %s", path, got)
				}
			}
		})
	}
	if cases < 60 {
		t.Errorf("only %d cases", cases)
	}
	fmt.Println(cases, "hostile cases")
}
