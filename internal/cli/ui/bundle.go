package ui

import (
	"cmp"
	"path/filepath"

	"github.com/flowrun/flowrun/hooks"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/js/bundle"
	"github.com/flowrun/flowrun/internal/lang/tool"
)

// bundleTool combines the file of a tool and everything it imports into one module.
func bundleTool(r hooks.BundleRequest) (*tool.Module, tool.Diagnostics) {
	ask, result, bad := Bundle(r)
	if bad.Err() != nil {
		return nil, bad
	}
	m := &tool.Module{File: r.File, Code: result.Code, Map: result.Map, Packages: ask.Installed}
	for _, f := range result.Files {
		if f.Path != ask.File {
			m.Files = append(m.Files, tool.Part{Path: f.Path, Digest: f.Digest})
		}
	}
	return m, append(bad, result.Diagnostics(cmp.Or(r.Name, r.File), ask.Packages)...)
}

// Bundle bundles a tool, and returns what the bundler was asked for too. Packages are taken from node_modules next to
// the tool, then from the folder that tool deps has filled.
func Bundle(r hooks.BundleRequest) (bundle.Request, bundle.Result, tool.Diagnostics) {
	file, err := filepath.Abs(r.File)
	if err != nil {
		file = r.File
	}
	ask := bundle.Request{File: file, Source: r.Source, Node: r.Node}
	for _, d := range r.Dependencies {
		ask.Packages = append(ask.Packages, d.Name)
	}
	var b bundle.Bundler
	if dir := engine.DefaultStateDir(); dir != "" {
		b.Cache = filepath.Join(dir, "bundles")
		ask.Installed = bundle.Packages(filepath.Join(dir, "npm"), r.Name, r.Dependencies, bundle.ReadLock(file)).Modules()
	}
	result, bad := b.Bundle(ask)
	return ask, result, bad
}
