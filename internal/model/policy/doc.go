// Package policy decides whether a call of a tool may run. All entry points use it.
//
// # The model
//
// A Request says which tool is called, at which EntryPoint, under which Rules, and whether a person can be
// asked. Decide returns a Decision: allow, refuse or ask, with the reason in words. It is a pure function
// that reads no file, no clock and no terminal. Therefore a table can describe it completely
// (policy_test.go).
//
// The rules, from the strongest to the weakest:
//
//  1. Deny. If a pattern denies the tool, or a tool that it uses, the call is refused, no matter who calls.
//  2. Elevated. For a tool that needs rights its caller does not have, a person is always asked. No
//     pattern and no entry point replaces that person.
//  3. Named. If a person names a tool (Run), or a client with the token does (Serve), that approves the tool
//     and the tools that it uses. A tool that a script calls was not named by anyone; the permissions
//     of the script have to name it (Request.Declared).
//  4. Allow by name, by a tag of your own, or by *.
//  5. Trust. The source of the tool is trusted as a whole.
//  6. Allow by what a tool does: read < write < run. A higher level includes the lower ones, so tool:write
//     covers tools that only read. A tool tagged read and write needs write. A tool without any of the
//     three has the highest risk, above run, and is covered by none of them.
//  7. Ask. If no person can be asked, refuse.
//
// A tool's claims about itself lower its risk only if they can be trusted. A tool that is known only by its
// file (Tool.File) is allowed only by * and by that path. A pattern by name means a tool of the place in
// which the pattern was written. An alias has the higher risk of its own and its base tool, and a
// pattern that denies its base tool denies the alias.
//
// Denying by what a tool does works in the other direction: denying write also denies run, and tools without
// a tag, because they can write too.
package policy
