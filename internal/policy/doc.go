// Package policy decides whether a call of a tool may go ahead. It is the one engine
// for every door a call can come through.
//
// # The model
//
// A Request says what is called, through which Door, under which Rules, and whether
// there is a person to ask. Decide answers it with a Verdict: go ahead, no, or ask,
// with the reason in words. It is a pure function: it reads no file, no clock and no
// terminal, so that the whole of it can be written down as a table (policy_test.go).
//
// From the strongest to the weakest:
//
//  1. Deny. A pattern that denies a tool, or one it uses inside, ends it, whoever calls.
//  2. Elevated. A tool that wants rights its caller does not have is always asked about.
//     No pattern and no door answers in place of a person.
//  3. Named. At the doors of a person (Run) and of who holds the token (Serve), naming
//     a tool approves it and what it uses inside. What a script calls nobody has named:
//     its permissions have to (Request.Declared).
//  4. Allow by name, by a tag of one's own, or by *.
//  5. Trust. Where the tool comes from is trusted as a whole.
//  6. Allow by what a tool does: read < write < run. Who may do more may do less, so
//     tool:write covers tools that only read. A tool tagged read and write needs write;
//     one without any of the three counts as the highest risk, above run, and is
//     covered by none of them.
//  7. Ask; and where nobody can be asked, no.
//
// What a tool says about itself lowers its risk only if somebody vouches for it: one that
// is known by its file alone (Tool.File) is allowed by * and by that path. A pattern by
// name means tools of the place it was written in. An alias has the higher risk of its own
// and its base tool's, and what denies its base denies it.
//
// Denying by what a tool does works the other way around: to deny write denies run and
// tools without a tag as well, which can write too.
package policy
