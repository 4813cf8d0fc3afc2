package servertest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// randomCases are definitions that a seeded generator writes: always the same. How their steps end does not depend
// on which of them is faster.
func randomCases(n int) (list []*testCase) {
	for i := range n {
		d := &drawing{Rand: rand.New(rand.NewPCG(22, uint64(i))), left: 14, tools: map[string]string{}}
		c := &testCase{name: fmt.Sprintf("random-%d", i), text: d.definition(), tools: d.tools}
		if d.hangs {
			c.text = "x-script: {cancel: hangs}\n" + c.text
		}
		list = append(list, c)
	}
	return list
}

type drawing struct {
	*rand.Rand
	left  int // steps that may still be drawn
	count int // of all steps, so that each has a name of its own
	tools map[string]string
	hangs bool
}

func (d *drawing) chance(percent int) bool { return d.IntN(100) < percent }

func (d *drawing) oneOf(list ...string) string { return list[d.IntN(len(list))] }

func (d *drawing) definition() string {
	var b strings.Builder
	if d.chance(10) {
		b.WriteString("ignore-errors: true\n")
	}
	names := d.steps(&b, "steps:\n", "  ", 2+d.IntN(6), 2, nil, true)
	if d.chance(20) {
		fmt.Fprintf(&b, "output: \"<{%s.output}>\"\n", names[d.IntN(len(names))])
	}
	for _, key := range []string{"on-success", "on-failure", "finally"} {
		if d.chance(25) {
			fmt.Fprintf(&b, "%s:\n", key)
			name := d.name()
			fmt.Fprintf(&b, "  - {name: %s, bash: %q}\n", name, d.leaf("{run.status} {run.exit-code} {run.failed-step}", d.oneOf("0", "0", "5")))
		}
	}
	if d.chance(10) {
		fmt.Fprintf(&b, "resources: {cleanup: [{final-command: 'echo cleaned >> %s/cleaned'}]}\n", dirMark)
	}
	return b.String()
}

func (d *drawing) name() string {
	d.count++
	return fmt.Sprintf("s%d", d.count)
}

// steps writes a list of steps and returns their names. known are the steps that they can also mention.
func (d *drawing) steps(b *strings.Builder, key, indent string, n, depth int, known []string, top bool) (names []string) {
	b.WriteString(key)
	hang := -1
	if top && n > 2 && d.chance(20) {
		hang = 1 + d.IntN(n-1)
	}
	for i := 0; i < n && (d.left > 0 || i == 0); i++ {
		d.left--
		name := d.name()
		if i == hang {
			d.hangs = true
			fmt.Fprintf(b, "%s- name: %s\n%s  run-condition: success() || failure()\n%s  bash: %q\n", indent, name, indent, indent, d.started()+"; touch "+dirMark+"/hangs; sleep 300")
			names = append(names, name)
			continue
		}
		d.step(b, indent, name, depth, slices.Concat(known, names), names, d.hangs && top)
		names = append(names, name)
	}
	return names
}

// step writes one step. If late, the run has been cancelled before the step can start.
func (d *drawing) step(b *strings.Builder, indent, name string, depth int, known, before []string, late bool) {
	fmt.Fprintf(b, "%s- name: %s\n", indent, name)
	in := indent + "  "
	if len(before) > 0 && !late {
		switch d.IntN(4) {
		case 0:
			fmt.Fprintf(b, "%sparallel: true\n", in)
		case 1:
			fmt.Fprintf(b, "%swait-for: [%s]\n", in, d.oneOf(before...))
		}
	}
	if len(known) > 0 && d.chance(30) {
		up := d.oneOf(known...)
		fmt.Fprintf(b, "%srun-condition: %q\n", in, d.oneOf("success()", "failure()", "always()", "success() || failure()", "!cancelled()", "cancelled()",
			"always() && success()", "{"+up+".exit-code} == 0", "{"+up+".status} == 'failed'", "{"+up+".output} contains 'o'", "always() && {"+up+".attempts} == 1"))
	}
	if d.chance(20) {
		fmt.Fprintf(b, "%scontinue-on-error: true\n", in)
	}
	loop := depth > 0 && d.chance(15)
	if loop {
		fmt.Fprintf(b, "%sfor-each: {items: %s", in, d.oneOf("[a, b]", "1..3", "[0, 3]", "[]"))
		if d.chance(40) {
			fmt.Fprintf(b, ", max-parallel: %d", 1+d.IntN(2))
		}
		if d.chance(30) {
			fmt.Fprintf(b, ", min-success: %d", 1+d.IntN(2))
		}
		b.WriteString("}\n")
	}
	if d.chance(30) {
		d.policy(b, in)
	}
	switch kind := d.IntN(10); {
	case kind < 2 && depth > 0:
		d.steps(b, in+"steps:\n", in+"  ", 1+d.IntN(3), depth-1, known, false)
	case kind < 4 && depth > 0:
		d.nested(b, in, known, depth)
	case kind == 4:
		fmt.Fprintf(b, "%swait: {for: %dms}\n", in, 1+d.IntN(30))
	case kind == 5:
		fmt.Fprintf(b, "%stimeout: 150ms\n%sbash: %q\n", in, in, d.started()+"; sleep 300")
	default:
		says := "of " + name
		if loop {
			says = "of {item}"
		} else if len(known) > 0 && d.chance(50) {
			says = "after {" + d.oneOf(known...) + ".output}"
		}
		fmt.Fprintf(b, "%sbash: %q\n", in, d.leaf(says, d.oneOf("0", "0", "0", "0", "3", "$((FLOWRUN_ATTEMPT < 2))", "$((FLOWRUN_ATTEMPT < 3 ? 7 : 0))")))
	}
	if d.chance(8) {
		fmt.Fprintf(b, "%s%s: [{name: %s, run: \"echo {%s.status}\"}]\n", in, d.oneOf("on-success", "on-failure", "finally"), d.name(), name)
	}
}

func (d *drawing) policy(b *strings.Builder, in string) {
	fmt.Fprintf(b, "%serror-handling:\n", in)
	retry, fallback := d.chance(70), d.chance(40)
	if retry || !fallback {
		fmt.Fprintf(b, "%s  retry: {attempts: %d, delay: %dms}\n", in, 1+d.IntN(2), 1+d.IntN(20))
	}
	if fallback {
		fmt.Fprintf(b, "%s  fallback: %q\n", in, d.leaf("fallback", d.oneOf("0", "0", "9")))
	}
}

// nested writes the use of a tool of its own.
func (d *drawing) nested(b *strings.Builder, in string, known []string, depth int) {
	inner := &drawing{Rand: d.Rand, left: 4, tools: d.tools}
	var text strings.Builder
	text.WriteString("parameters: {V: {description: value, default: none}}\nenvironment: {V: \"{V}\"}\n")
	inner.steps(&text, "steps:\n", "  ", 1+d.IntN(3), depth-1, nil, false)
	if d.chance(30) {
		text.WriteString("finally: [{name: final, run: \"echo {V}\"}]\n")
	}
	name := fmt.Sprintf("nested%d", len(d.tools))
	d.tools[name] = text.String()
	fmt.Fprintf(b, "%suse-tool: ./%s.yaml\n", in, name)
	if len(known) > 0 && d.chance(50) {
		fmt.Fprintf(b, "%swith: {V: \"{%s.output}\"}\n", in, d.oneOf(known...))
	}
}

// started is the command that writes to the trace that a step begins.
func (d *drawing) started() string { return `echo "+ $FLOWRUN_STEP" >> ` + dirMark + `/trace` }

// leaf is a script that prints, writes to the trace when it begins and ends, and exits with a code.
func (d *drawing) leaf(says, code string) string {
	return d.started() + `; printf '%s\n' ` + `"` + says + `"` + `; echo "- $FLOWRUN_STEP" >> ` + dirMark + `/trace; exit ` + code
}
