package ui

import (
	"cmp"
	"os"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/internal/engine/runresult"
	"github.com/flowrun/flowrun/internal/lang/locale"
)

var languages = []string{string(locale.English), string(locale.German)}

// LanguageFlag adds --lang, which all commands have.
func (t *Terminal) LanguageFlag(root *cobra.Command) {
	root.PersistentFlags().Var(&choiceFlag{&t.language, languages}, "lang", "`language` of translated messages in JSON documents: en|de (default: from LC_ALL, LC_MESSAGES, LANG)")
	root.RegisterFlagCompletionFunc("lang", cobra.FixedCompletions(languages, cobra.ShellCompDirectiveNoFileComp))
}

// Language returns the language of messages that are translated.
func (t *Terminal) Language() locale.Language {
	return cmp.Or(locale.Language(t.language), locale.Of(os.Getenv))
}

// WriteResult prints the document of a run.
func WriteResult(env *Env, r *runresult.Result) error {
	r.Language = string(env.Language())
	return r.WriteJSON(env.Stdout)
}
