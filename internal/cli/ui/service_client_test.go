package ui

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

// TestResponseError checks that an error which the service reports has the exit code that the same
// error has without a service.
func TestResponseError(t *testing.T) {
	for _, c := range []struct {
		status int
		code   string
		rest   string
		exit   int
		want   string
	}{
		{422, "invalid-parameters", `, "problems": [{"name": "N", "code": "type", "message": "is wrong"}]`, 6, "flowrun: parameter N: is wrong"},
		{422, "invalid-definition", `, "problems": [{"name": "steps[0]", "code": "no-body", "message": "line 5"}]`, 3, "flowrun: the service reports: it failed; steps[0]: no-body: line 5"},
		{422, "environment", "", 6, "flowrun: the service reports: it failed"},
		{404, "unknown-tool", `, "hint": "look there"`, 4, "flowrun: the service reports: it failed; look there"},
		{403, "refused", "", 5, "flowrun: refused: the service reports: it failed"},
		{403, "platform", "", 5, "flowrun: refused: the service reports: it failed"},
		{409, "live", "", 5, "flowrun: refused: the service reports: it failed"},
		{409, "asks", "", 7, "flowrun: the service reports: it failed"},
		{503, "draining", "", 8, "flowrun: the service reports: it failed"},
		{409, "ended", "", 5, "flowrun: refused: the service reports: it failed"},
		{404, "not-found", "", 4, "flowrun: the service reports: it failed"},
		{400, "unknown-field", "", 8, "flowrun: the service reports: it failed"},
		{500, "internal", "", 8, "flowrun: the service reports: it failed"},
	} {
		var stderr bytes.Buffer
		env := &Env{Terminal: Terminal{Stderr: &stderr}}
		exit := env.ReportError(responseError(c.status, []byte(fmt.Sprintf(`{"error": {"code": %q, "message": "it failed"%s}}`, c.code, c.rest))))
		if got := strings.TrimSpace(stderr.String()); exit != c.exit || got != c.want {
			t.Errorf("%s: exit %d, %q; want %d, %q", c.code, exit, got, c.exit, c.want)
		}
	}
	var stderr bytes.Buffer
	if exit := (&Env{Terminal: Terminal{Stderr: &stderr}}).ReportError(responseError(502, []byte("<html>"))); exit != 8 {
		t.Errorf("a response without an error: exit %d", exit)
	}
}
