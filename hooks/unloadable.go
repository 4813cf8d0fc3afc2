package hooks

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/flowrun/flowrun/tool"
)

// A file that runs out of time or memory before it has said what it is costs seconds, and
// is met again by every command that looks through its folder. So the failure is remembered
// as an answer is, and what one folder can cost is bounded.
const (
	// unloadableFor is how long such a failure is remembered. It ends, because a busy
	// machine may have been the reason.
	unloadableFor = 10 * time.Minute
	// maxSpent bounds the time that failures take within spentWindow. After that, files
	// are not asked.
	maxSpent    = 3 * describeTimeout
	spentWindow = time.Minute
)

// unloadable is a failure as it is kept.
type unloadable struct {
	Problem   tool.Diagnostic
	Line, Col int
	At        time.Time
}

// failures are those of one loader.
type failures struct {
	mu    sync.Mutex
	known map[string]unloadable
	spent time.Duration
	since time.Time // when spent began to count
}

// failureKey names a failure by all that it depends on, the bounds included.
func (l *loader) failureKey(m *tool.Module, name string) string {
	memory := int64(0)
	if l.Runtime != nil {
		memory = l.Runtime.config.Memory
	}
	text := fmt.Sprintf("%s\n%s\n%s\n%d\n%s", glueDigest(), name, describeTimeout, memory, m.Code)
	return tool.DigestOf([]byte("unloadable\n" + text))[len("sha256:"):][:40]
}

// failed is what is remembered of a file that could not say what it is, nil for nothing.
func (l *loader) failed(key string, m *tool.Module) *tool.Diagnostic {
	l.failures.mu.Lock()
	u, ok := l.failures.known[key]
	l.failures.mu.Unlock()
	if !ok && l.Cache != "" {
		text, err := os.ReadFile(filepath.Join(l.Cache, key))
		ok = err == nil && json.Unmarshal(text, &u) == nil
	}
	if age := time.Since(u.At); !ok || age < 0 || age > unloadableFor {
		return nil
	}
	d := u.Problem
	if u.Line > 0 {
		d.Pos = tool.Pos{File: m.File, Line: u.Line, Col: u.Col}
	}
	return &d
}

// remember keeps a failure for others.
func (l *loader) remember(key string, d *tool.Diagnostic, took time.Duration) {
	u := unloadable{*d, d.Pos.Line, d.Pos.Col, time.Now()}
	f := &l.failures
	f.mu.Lock()
	if f.known == nil {
		f.known = map[string]unloadable{}
	}
	if time.Since(f.since) > spentWindow {
		f.since, f.spent = time.Now(), 0
	}
	f.known[key] = u
	f.spent += took
	f.mu.Unlock()
	if text, err := json.Marshal(u); err == nil {
		l.write(key, text)
	}
}

// exhausted says why no file is asked any more, nil while files are.
func (l *loader) exhausted(ctx context.Context) *tool.Diagnostic {
	f := &l.failures
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case ctx.Err() != nil:
		return &tool.Diagnostic{Code: "tool-unloadable", Message: "the description of the tool was not read: " + context.Cause(ctx).Error()}
	case f.spent >= maxSpent && time.Since(f.since) <= spentWindow:
		return &tool.Diagnostic{Code: "tool-unloadable", Message: fmt.Sprintf("the description of the tool was not read: other files took %s and returned nothing", f.spent.Round(time.Second)),
			Hint: "fix or remove the files that cannot be loaded, and retry after a minute"}
	}
	return nil
}

// worthRemembering says whether a failure took what the bounds allow.
func worthRemembering(err error) bool {
	var e *Error
	return errors.As(err, &e) && (e.Kind == KindTimeout || e.Kind == KindMemory)
}
