package tools

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/flowrun/flowrun/internal/cli/ui"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/internal/os/shellword"
	"github.com/flowrun/flowrun/internal/screen/console"
)

// Show prints the help of a tool: what it does, how to run it, its parameters and its tests.
func Show(env *ui.Env, name string) error {
	plan, err := ui.Compile(env, name)
	if err != nil {
		return err
	}
	_, err = fmt.Fprint(env.Stdout, toolText(plan, name))
	return err
}

func toolText(plan *engine.Plan, name string) string {
	def := plan.Definition
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s\n", console.Clean(def.Name), paragraph(def.Description, ""))
	if def.Deprecated {
		fmt.Fprintf(&b, "\nDeprecated%s\n", ui.AfterColon(paragraph(def.DeprecatedMessage, "")))
	}
	fmt.Fprintf(&b, "\nUsage:\n  %s\n", usageLine(def, name))
	if len(def.Parameters) > 0 {
		b.WriteString("\nParameters:\n")
	}
	for _, p := range def.Parameters {
		writeParameter(&b, p, plan.Secret(p.Name))
	}
	if len(def.Tests) > 0 {
		b.WriteString("\nTests:\n")
	}
	for _, t := range def.Tests {
		fmt.Fprintf(&b, "  %s%s\n", console.Clean(t.Name), ui.AfterColon(paragraph(t.Description, "    ")))
	}
	fmt.Fprintf(&b, "\nflowrun run %s --dry-run shows what would run. flowrun help run explains the flags.\n", console.Clean(shellword.Sh(name)))
	return b.String()
}

// paragraph returns text of a definition, with indent before each line but the first.
func paragraph(text, indent string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	for i, line := range lines {
		lines[i] = console.Clean(line)
	}
	return strings.Join(lines, "\n"+indent)
}

// usageLine returns the command that runs the tool. Parameters that can be omitted are in brackets.
func usageLine(def *tool.Definition, name string) string {
	words := []string{"flowrun run " + console.Clean(shellword.Sh(name))}
	for _, p := range def.Parameters {
		if p.Deprecated {
			continue
		}
		word := console.Clean(p.Name) + "=" + cmp.Or(p.Type, "value")
		if !mustGive(p) {
			word = "[" + word + "]"
		}
		words = append(words, word)
	}
	return strings.Join(words, " ")
}

func mustGive(p *tool.Parameter) bool { return p.Required && p.Default == nil }

// writeParameter writes what is known about a parameter. The values of a secret one are not shown.
func writeParameter(b *strings.Builder, p *tool.Parameter, secret bool) {
	const indent = "      "
	kind := p.Type
	if mustGive(p) {
		kind += ", required"
	}
	fmt.Fprintf(b, "  %s (%s)%s\n", console.Clean(p.Name), kind, ui.AfterColon(paragraph(p.Description, indent)))
	line := func(label, text string) {
		if text != "" {
			fmt.Fprintf(b, "%s%s%s\n", indent, label, paragraph(text, indent))
		}
	}
	line("", p.DetailedHelp)
	if p.Default != nil && !secret {
		line("default: ", cmp.Or(valueText(*p.Default), `""`))
	}
	line("one of: ", values(p.Validation.Enum))
	line("", limits(p.Validation))
	if !secret {
		line("examples: ", values(p.Examples))
	}
	if p.Deprecated && p.DeprecatedAlternative.S != "" {
		line("deprecated; use ", p.DeprecatedAlternative.S)
	} else if p.Deprecated {
		line("", "deprecated")
	}
}

// valueText returns a value as a person writes it: a scalar as in the definition, otherwise JSON.
func valueText(v tool.Value) string {
	if v.List != nil || v.Map != nil {
		return ui.ParamText(v.Data())
	}
	return v.Spelling()
}

func values(list []tool.Value) string {
	var words []string
	for _, v := range list {
		words = append(words, valueText(v))
	}
	return strings.Join(words, ", ")
}

// limits returns the other validation rules of a parameter.
func limits(v tool.Validation) string {
	var words []string
	if v.Minimum != nil {
		words = append(words, fmt.Sprintf("minimum: %v", *v.Minimum))
	}
	if v.Maximum != nil {
		words = append(words, fmt.Sprintf("maximum: %v", *v.Maximum))
	}
	if v.MinLength != nil {
		words = append(words, fmt.Sprintf("minimum length: %d", *v.MinLength))
	}
	if v.MaxLength != nil {
		words = append(words, fmt.Sprintf("maximum length: %d", *v.MaxLength))
	}
	if v.Pattern != nil {
		words = append(words, "pattern: "+v.Pattern.S)
	}
	return strings.Join(words, ", ")
}
