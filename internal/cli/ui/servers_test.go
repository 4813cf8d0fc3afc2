package ui

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/internal/model/mcpclient"
	"github.com/flowrun/flowrun/internal/service/config"
	"github.com/flowrun/flowrun/internal/test/readingtest"
)

// TestForeignServers holds what flowrun reads of servers that other programs have in their settings.
func TestForeignServers(t *testing.T) {
	readingtest.Check(t, filepath.Join("testdata", "servers.txt"), 80, func(t *testing.T, input string) string {
		return settingsReading(t, `{"mcpServers": `+input+`}`)
	})
}

// TestForeignSettings holds what it reads of their whole settings.
func TestForeignSettings(t *testing.T) {
	readingtest.Check(t, filepath.Join("testdata", "settings.txt"), 30, settingsReading)
}

// settingsReading returns what flowrun makes of the servers in a settings.json.
func settingsReading(t *testing.T, text string) string {
	project := t.TempDir()
	folder := filepath.Join(project, ".flowrun")
	if err := os.MkdirAll(filepath.Join(folder, "tools"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "settings.json"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := config.Load(config.Options{WorkingDirectory: project, Home: t.TempDir(), StateDir: t.TempDir(), TrustProject: true, Getenv: func(string) string { return "" }})
	if err != nil {
		return "error: " + strings.ReplaceAll(err.Error(), project, "PROJECT")
	}
	var words []string
	for _, s := range ServerConfigs(c) {
		words = append(words, serverReading(s)+notesReading(c, s.Name))
	}
	for _, s := range IgnoredServers(c) {
		words = append(words, fmt.Sprintf("%s is not used: %s", s.Name, s.Why))
	}
	return strings.Join(words, "; ")
}

func notesReading(c *config.Config, name string) string {
	if notes := ServerNotes(c, name); len(notes) > 0 {
		return " (" + strings.Join(notes, "; ") + ")"
	}
	return ""
}

func serverReading(s mcpclient.ServerConfig) string {
	words := []string{s.Name + ":"}
	add := func(key string, v any) {
		if text := fmt.Sprint(v); text != "" && text != "false" {
			words = append(words, key, text)
		}
	}
	add("type", s.Type)
	if s.Command != "" {
		add("command", fmt.Sprintf("%q", append([]string{s.Command}, s.Args...)))
	}
	add("url", s.URL)
	add("httpUrl", s.HTTPURL)
	add("cwd", s.Dir)
	add("envFile", s.EnvFile)
	for _, m := range []map[string]string{s.Env, s.Headers} {
		for _, name := range slices.Sorted(maps.Keys(m)) {
			words = append(words, name+"="+m[name])
		}
	}
	add("oauth", s.OAuth.ClientID)
	if s.Timeout != callTimeout {
		add("timeout", s.Timeout)
	}
	add("trust", s.Trust)
	add("include", strings.Join(s.Include, " "))
	add("exclude", strings.Join(s.Exclude, " "))
	return strings.Join(words, " ")
}
