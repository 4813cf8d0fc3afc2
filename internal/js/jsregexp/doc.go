// Package jsregexp translates regular expressions that goja cannot run as they are written: those with properties of
// Unicode, such as \p{L}, those with the flag v, and those with the boundaries of words \b and \B.
//
// # The model
//
// A [Set] is a set of code points. Every property is one ([Property]), and so is every class, in whatever way its parts
// are combined. [Translate] replaces properties, and with the flag v all classes, by plain classes with the ranges of
// their sets, and boundaries by assertions about the characters beside them. It leaves the rest of a pattern as it is. What the language does not allow is an error; its text is that
// of Node.js.
//
// The properties are those of Unicode 17, in properties.zlib, which generate.mjs writes. Lone surrogates are in no class
// of the result. Properties of strings, such as \p{RGI_Emoji}, are not supported.
package jsregexp
