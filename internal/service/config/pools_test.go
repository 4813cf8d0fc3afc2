package config_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/flowrun/flowrun/history"
)

// TestPools checks that a number is the slots of a pool, and that rates are checked and need slots.
func TestPools(t *testing.T) {
	load := func(text string) (map[string]history.Pool, error) {
		c, err := newPlace(t, map[string]string{"home/.config/flowrun/config.yaml": text}).load()
		return c.Pools(), err
	}
	got, err := load("pools:\n  gpu: 2\n  db.main: {slots: 4, rate: 10/m}\n")
	want := map[string]history.Pool{"gpu": {Slots: 2}, "db.main": {Slots: 4, Rate: history.Rate{N: 10, Per: time.Minute}}}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Error(diff, err)
	}
	if _, err := load("pools: {my pool: 2}\n"); err == nil || !strings.Contains(err.Error(), `"my pool" cannot be the name of a pool`) {
		t.Error(err)
	}
	for text, want := range map[string]string{
		"{slots: 0}":             "out of range",
		"{slots: -1}":            "out of range",
		"0":                      "out of range",
		"many":                   "whole number",
		"{slots: 2, rate: fast}": `invalid rate "fast"`,
		"{slots: 2, rate: 0/m}":  `invalid rate "0/m"`,
		"{slots: 2, rate: 5/d}":  `invalid rate "5/d"`,
		"{slots: 2, rate: 10}":   `invalid rate "10"`,
		"{rate: 10/m}":           "the pool gpu has no slots",
		"{size: 2}":              `unknown key "size"`,
		"[2]":                    "expected a mapping",
	} {
		if _, err := load("pools:\n  gpu: " + text + "\n"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

func TestSMTP(t *testing.T) {
	for text, want := range map[string]string{
		"{port: 25}":                           "smtp has no host",
		"{host: 'mail.example.org:25'}":        `the host "mail.example.org:25" contains a port`,
		"{host: mail.example.org, from: Ada}":  `the sender "Ada" is not the address of an e-mail`,
		"{host: '::1', from: ada@example.org}": "",
	} {
		p := newPlace(t, map[string]string{"home/.config/flowrun/config.yaml": "smtp: " + text + "\n"})
		if _, err := p.load(); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}
