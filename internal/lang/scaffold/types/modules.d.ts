// Modules that flowrun has or bundles, without types of their own. See docs/reference/npm.md.
declare module '*'
