// Package bundle makes one CommonJS text of a .tool.js or .tool.ts and everything it
// imports: esbuild reads ES modules and TypeScript, and takes npm packages from
// node_modules beside the tool or from the cache that flowrun tool deps fills. It never
// installs anything by itself.
//
// What is bundled is bounded: files of the tool lie in its repository (or its folder,
// outside of one), packages there or in the cache, wherever links lead. So a definition
// cannot carry a private file of the machine into a world that may read none.
//
// Modules of Node itself stay as require in the text: package hooks has those that work
// without Node.
package bundle
