package flowrun

import (
	"path/filepath"

	"github.com/flowrun/flowrun/internal/call"
)

// cacheDir is where results are kept, "" for nowhere.
func (c *Config) cacheDir() string {
	switch {
	case c.CacheDir == NoCache, c.CacheDir == "" && c.StateDir == "":
		return ""
	case c.CacheDir == "":
		return filepath.Join(c.StateDir, "cache")
	}
	return c.CacheDir
}

func (e *Engine) caching(afresh bool) *call.Caching {
	if e.cache == nil {
		return nil
	}
	return &call.Caching{Open: e.cache, Afresh: afresh}
}
