// Package bundle turns a .tool.js or .tool.ts and everything it imports into one CommonJS
// text. esbuild reads ES modules and TypeScript, and takes npm packages from node_modules
// beside the tool or from the cache that flowrun tool deps fills. The package never
// installs anything.
//
// Only some files may be bundled: the tool's files must be in its repository (or in its
// folder, outside of a repository), packages there or in the cache, after links are
// resolved. Otherwise a definition could bring a private file of the machine into a script
// that may not read files.
//
// Modules of Node.js stay as require in the text: package hooks provides those that work
// without Node.js.
package bundle
