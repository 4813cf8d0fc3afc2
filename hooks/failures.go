package hooks

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"github.com/flowrun/flowrun/internal/js/jsrun"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/internal/os/ownership"
)

// A file that exceeds its limits of time or memory before it is described costs seconds, and
// every command that reads its folder meets it again. So such failures are cached like
// descriptions, and the time that they cost is limited.
const (
	// unloadableFor is how long such a failure is remembered. It expires, because a busy machine
	// may have been the reason.
	unloadableFor = 10 * time.Minute
	// maxSpent limits the time that failures may take within spentWindow, in timeouts of a file. After
	// that, further files are not described.
	maxSpent    = 3
	spentWindow = time.Minute
)

// rememberedFailure is a failure as it is stored.
type rememberedFailure struct {
	Problem   tool.Diagnostic
	Line, Col int
	At        time.Time
}

// failures holds the failures of one loader. mu guards all fields.
type failures struct {
	mu          sync.Mutex
	known       map[string]rememberedFailure
	spent       time.Duration
	windowStart time.Time // beginning of the window of spent
}

// failureKey returns the cache key of a failure. It covers everything that the failure depends
// on, including the limits.
func (l *loader) failureKey(m *tool.Module, name string) string {
	memory := int64(0)
	if l.Runtime != nil {
		memory = l.Runtime.MemoryLimit()
	}
	text := fmt.Sprintf("%s\n%s\n%s\n%d\n%s", describerDigest(), name, l.timeout, memory, m.Code)
	return tool.DigestOf([]byte("unloadable\n" + text))[len("sha256:"):][:40]
}

// knownFailure returns the remembered failure of a file, or nil.
func (l *loader) knownFailure(key string, m *tool.Module) *tool.Diagnostic {
	l.failures.mu.Lock()
	u, ok := l.failures.known[key]
	l.failures.mu.Unlock()
	if !ok && l.Cache != "" {
		text, err := ownership.ReadFile(filepath.Join(l.Cache, key))
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

// remember stores a failure in memory and in the cache.
func (l *loader) remember(key string, d *tool.Diagnostic, took time.Duration) {
	u := rememberedFailure{*d, d.Pos.Line, d.Pos.Col, time.Now()}
	f := &l.failures
	f.mu.Lock()
	if f.known == nil {
		f.known = map[string]rememberedFailure{}
	}
	if time.Since(f.windowStart) > spentWindow {
		f.windowStart, f.spent = time.Now(), 0
	}
	f.known[key] = u
	f.spent += took
	f.mu.Unlock()
	if text, err := json.Marshal(u); err == nil {
		l.writeCache(key, text)
	}
}

// exhausted returns why no further file is described, or nil.
func (l *loader) exhausted(ctx context.Context) *tool.Diagnostic {
	f := &l.failures
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case ctx.Err() != nil:
		return &tool.Diagnostic{Code: "tool-unloadable", Message: "the description of the tool was not read: " + context.Cause(ctx).Error()}
	case f.spent >= maxSpent*l.timeout && time.Since(f.windowStart) <= spentWindow:
		return &tool.Diagnostic{Code: "tool-unloadable", Message: fmt.Sprintf("the description of the tool was not read: other files took %s and returned nothing", f.spent.Round(time.Second)),
			Hint: "fix or remove the files that cannot be loaded, and retry after a minute"}
	}
	return nil
}

// worthRemembering reports whether a failure exceeded a limit. Other failures cost little time.
func worthRemembering(err error) bool {
	var e *jsrun.Error
	return errors.As(err, &e) && (e.Kind == jsrun.KindTimeout || e.Kind == jsrun.KindMemory)
}
