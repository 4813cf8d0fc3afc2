package config

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/flowrun/flowrun/internal/lang/diagnostic"
	"github.com/flowrun/flowrun/internal/lang/duration"
	"github.com/flowrun/flowrun/internal/lang/keytable"
	"github.com/flowrun/flowrun/internal/lang/notifyrule"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/internal/os/home"
	"github.com/flowrun/flowrun/internal/os/ownership"
	"github.com/flowrun/flowrun/internal/os/projectfolder"
)

// Options say where settings are read. Empty fields are filled from the process.
type Options struct {
	WorkingDirectory string
	Home             string
	Getenv           func(string) string
	StateDir         string // where trust decisions are stored; "" trusts no project
	TrustProject     bool   // trusts the project for this process only (--trust-project)
}

// File is a place where settings may be.
type File struct {
	Layer  Layer
	Path   string
	Exists bool
}

// Layer is the source of a value, see the package comment.
type Layer string

// The layers, weakest first.
const (
	Default     Layer = "default"
	System      Layer = "system"
	User        Layer = "user"
	Project     Layer = "project"
	Environment Layer = "environment"
)

// Origin is the place where a value is set: a line of a file, or a variable.
type Origin struct {
	Layer    Layer
	Pos      tool.Pos // of files
	Variable string   // of the environment
}

// String returns file:line, the name of the variable, or the layer.
func (o Origin) String() string {
	switch {
	case o.Variable != "":
		return o.Variable
	case o.Pos.File != "":
		return fmt.Sprintf("%s:%d", o.Pos.File, o.Pos.Line)
	}
	return string(o.Layer)
}

// Value is one value that was set, or a default.
type Value struct {
	Key    string // dotted: history.keep, mcpServers.github.command
	Value  any    // string, bool, int64 or time.Duration
	List   bool   // one of the elements of a list
	Origin Origin
	// Ignored reports that the value needs trust which the project does not have.
	Ignored bool

	text string // of sizes and durations: the notation of a default
}

// Config holds the settings that apply.
type Config struct {
	Files  []File // every place that was read, the strongest first
	Values []Value
	Trust  Trust // of the project

	servers []DeclaredServer
}

// Load reads every layer. The Config holds what could be read. The error is a
// tool.Diagnostics with all problems of files and variables.
func Load(o Options) (*Config, error) {
	o.fill()
	l := &loader{Options: o, c: &Config{}}
	l.files()
	l.trust()
	l.environment()
	l.check()
	l.c.Values = effective(l.values)
	return l.c, l.found.Sorted().Err()
}

func (o *Options) fill() {
	if o.Getenv == nil {
		o.Getenv = os.Getenv
	}
	if o.WorkingDirectory == "" {
		o.WorkingDirectory, _ = os.Getwd() // on error there is no project
	}
	if abs, err := filepath.Abs(o.WorkingDirectory); err == nil {
		o.WorkingDirectory = abs
	}
	if o.Home == "" {
		o.Home, _ = home.Dir()
	}
}

type loader struct {
	Options
	c      *Config
	values []Value // weakest layer first
	found  tool.Diagnostics
}

// files reads the defaults and the files.
func (l *loader) files() {
	for _, l0 := range leaves() {
		if l0.field.Default != "" {
			v, _ := keytable.ParseSetting(l0.field, "default", l0.field.Default)
			l.values = append(l.values, Value{Key: l0.key, Value: v, Origin: Origin{Layer: Default}, text: l0.field.Default})
		}
	}
	l.file(System, cmp.Or(l.Getenv("FLOWRUN_GLOBAL_CONFIG"), "/etc/flowrun/config.yaml"), file)
	if dir := l.userDir(); dir != "" {
		l.file(User, filepath.Join(dir, "config.yaml"), file)
	}
	root, toolsProject := projectfolder.Of(l.WorkingDirectory, l.Home)
	l.c.Trust.Folder = cmp.Or(root, toolsProject)
	if root != "" {
		l.file(Project, filepath.Join(root, ".flowrun", "settings.json"), shared)
		l.file(Project, filepath.Join(root, ".flowrun", "config.yaml"), file)
	}
	slices.Reverse(l.c.Files)
}

// userDir returns the folder of the user's configuration.
func (o Options) userDir() string { return home.Settings(o.Getenv, o.Home) }

// UserDir returns the folder of the user's configuration, "" if there is none.
func UserDir() string {
	var o Options
	o.fill()
	return o.userDir()
}

func (l *loader) file(layer Layer, path string, o *keytable.Object) {
	src, err := read(path)
	if err == nil && !ownership.Counts(path) { // a file that others may write is ignored
		err = fs.ErrNotExist
	}
	l.c.Files = append(l.c.Files, File{layer, path, !errors.Is(err, fs.ErrNotExist)})
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	if err != nil {
		l.report(tool.Pos{File: path}, "unreadable", fmt.Sprintf("cannot read the configuration: %v", err), "make it readable or remove it")
		return
	}
	if o == shared {
		src = withoutComments(src)
	}
	list, objects, found := keytable.DecodeSettings(o, path, src)
	l.found = append(l.found, found...)
	l.c.servers = append(l.c.servers, declaredServers(objects)...)
	for _, s := range l.normalizeSpellings(list) {
		l.values = append(l.values, Value{Key: s.Path(), Value: s.Value, List: s.List, Origin: Origin{Layer: layer, Pos: s.Pos}})
	}
}

// read reads a regular file. It rejects anything else, because reading a pipe could block.
func read(path string) ([]byte, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR): // nothing can exist below a home of /dev/null
		return nil, fs.ErrNotExist
	case err != nil:
		return nil, errors.Unwrap(err)
	case !info.Mode().IsRegular():
		return nil, errors.New("it is not a regular file")
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, errors.Unwrap(err)
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, diagnostic.MaxFileSize+1))
}

func (l *loader) report(at tool.Pos, code, message, hint string) {
	l.found = append(l.found, tool.Diagnostic{Code: code, Severity: tool.Error, Pos: at, Message: message, Hint: hint})
}

func (l *loader) environment() {
	for _, key := range leaves() {
		name := key.variable()
		value := l.Getenv(name)
		if value == "" {
			continue
		}
		for _, part := range key.parts(value) {
			v, found := keytable.ParseSetting(key.field, name, part)
			l.found = append(l.found, found...)
			if found.Err() == nil {
				l.values = append(l.values, Value{Key: key.key, Value: v, List: key.field.Kind == keytable.KindTexts,
					Origin: Origin{Layer: Environment, Variable: name}})
			}
		}
	}
}

// checkSMTP reports a server for e-mails without a name, a port in the name, and an invalid sender.
func (l *loader) checkSMTP() {
	report := func(v Value, message, hint string) { l.report(v.Origin.Pos, "bad-notification", message, hint) }
	var first *Value
	hasHost := false
	for i, v := range l.values {
		if !strings.HasPrefix(v.Key, "smtp.") {
			continue
		}
		if first == nil {
			first = &l.values[i]
		}
		switch v.Key {
		case "smtp.host":
			hasHost = true
			if host, port, err := net.SplitHostPort(v.Text()); err == nil {
				report(v, fmt.Sprintf("the host %q contains a port", v.Text()), fmt.Sprintf("write host: %s and port: %s", host, port))
			}
		case "smtp.from":
			if err := notifyrule.CheckAddress(v.Text()); err != nil {
				report(v, "the sender "+err.Error(), "write name@example.com, or 'Name <name@example.com>'")
			}
		}
	}
	if first != nil && !hasHost {
		report(*first, "smtp has no host, so no e-mail can be sent", "add host: with the name of the server")
	}
}

// check reports problems that the table cannot express.
func (l *loader) check() {
	l.checkNotifications()
	l.checkWebhooks()
	l.checkPools()
	l.checkSMTP()
	l.checkTools()
	for _, v := range l.values {
		if v.Key != "history.older-than" {
			continue
		}
		if d, err := Age(v.Value.(string)); err != nil || d == 0 {
			at := v.Origin.Pos
			at.File = cmp.Or(at.File, v.Origin.Variable)
			l.report(at, "bad-duration", fmt.Sprintf("%q is not a valid age", v.Value), "write 30d, 2w, 12h or 1h30m")
		}
	}
}

// effective returns the values that apply, and the ignored ones, in the order of the table.
func effective(all []Value) []Value {
	rank := map[string]int{} // index of the strongest layer that sets a single value or a server
	for i, v := range all {
		if !v.Ignored && !accumulates(v) {
			rank[v.overrideKey()] = i
		}
	}
	var list []Value
	for _, v := range all {
		if v.Ignored || accumulates(v) || all[rank[v.overrideKey()]].Origin.same(v.Origin) {
			list = append(list, v)
		}
	}
	order := Keys()
	at := func(v Value) int {
		return slices.IndexFunc(order, func(k string) bool { return v.Key == k || strings.HasPrefix(v.Key, k+".") })
	}
	slices.SortStableFunc(list, func(x, y Value) int { return cmp.Compare(at(x), at(y)) })
	return list
}

// accumulates reports whether other layers cannot override the value: it is an element of a list,
// or part of a notification.
func accumulates(v Value) bool {
	return v.List && !strings.HasPrefix(v.Key, "mcpServers.") || strings.HasPrefix(v.Key, "notifications.")
}

// overrideKey returns the key that layers override as a whole: a server, a notification, a
// webhook, the server of e-mails, or the value itself.
func (v Value) overrideKey() string {
	parts := strings.Split(v.Key, ".")
	if parts[0] == "smtp" { // no part of one server is sent to another: the password above all
		return parts[0]
	}
	if slices.Contains([]string{servers.Key, "notifications", webhooks.Key, pools.Key}, parts[0]) && len(parts) > 1 {
		return parts[0] + "." + parts[1]
	}
	return v.Key
}

// same reports whether two values come from the same file, variable or default.
func (o Origin) same(p Origin) bool {
	return o.Layer == p.Layer && o.Pos.File == p.Pos.File && o.Variable == p.Variable
}

// Text returns the value as it would be written in a file.
func (v Value) Text() string {
	if v.text != "" {
		return v.text
	}
	if d, ok := v.Value.(time.Duration); ok {
		return duration.Text(d)
	}
	return fmt.Sprint(v.Value)
}

// hidden replaces a value that is not shown.
const hidden = "***"

// Shown returns Text, or a mask for what may be a secret: headers of servers, and their variables with the name of a secret
// or an address with a password, unless they only name a variable.
func (v Value) Shown() string {
	parts := strings.SplitN(v.Key, ".", 4)
	text := v.Text()
	switch {
	case parts[0] == "notifications" && strings.HasSuffix(v.Key, ".webhook"):
		return shownAddress(text)
	case len(parts) < 4 || parts[0] != servers.Key || strings.HasPrefix(text, "$") || text == "":
		return text
	case parts[2] == "headers", tool.LooksSecret(parts[3]), hasPassword(text):
		return hidden
	}
	return text
}

// hasPassword reports whether a text is a URL with a password or a token before its host.
func hasPassword(text string) bool {
	u, err := url.Parse(text)
	return strings.Contains(text, "://") && strings.Contains(text, "@") && (err != nil || u.User != nil)
}

// shownAddress returns only the host of a URL. Anyone with the complete URL could post to
// it.
func shownAddress(text string) string {
	u, err := url.Parse(text)
	switch {
	case strings.HasPrefix(text, "$") || text == "":
		return text
	case err != nil || u.Host == "" || strings.Contains(u.Host, "$"):
		return hidden
	}
	return u.Scheme + "://" + u.Host + "/" + hidden
}

// Get returns the values that apply to a key and to the keys below it. In a nil Config
// nothing is set.
func (c *Config) Get(key string) (list []Value) {
	if c == nil {
		return nil
	}
	for _, v := range c.Values {
		if !v.Ignored && (v.Key == key || strings.HasPrefix(v.Key, key+".")) {
			list = append(list, v)
		}
	}
	return list
}

// Duration returns the value of a key, zero if it is not set.
func (c *Config) Duration(key string) time.Duration { return valueOf[time.Duration](c, key) }

// Number returns a whole number, or a size in bytes, zero if it is not set.
func (c *Config) Number(key string) int64 { return valueOf[int64](c, key) }

// Word returns a text, "" if it is not set.
func (c *Config) Word(key string) string { return valueOf[string](c, key) }

func valueOf[T any](c *Config, key string) (v T) {
	if list := c.Get(key); len(list) > 0 {
		v, _ = list[0].Value.(T)
	}
	return v
}

// JSON returns the value for JSON documents, masked as in Shown. Durations are in
// milliseconds, sizes in bytes.
func (v Value) JSON() any {
	if shown := v.Shown(); strings.HasSuffix(shown, hidden) {
		return shown
	}
	if d, ok := v.Value.(time.Duration); ok {
		return d.Milliseconds()
	}
	return v.Value
}
