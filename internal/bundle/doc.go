// Package bundle makes one CommonJS file of a .tool.js or .tool.ts and everything it
// imports: esbuild reads ES modules and TypeScript, and takes npm packages from
// node_modules beside the tool or from the cache that flowrun tool deps fills. It never
// installs anything by itself.
package bundle
