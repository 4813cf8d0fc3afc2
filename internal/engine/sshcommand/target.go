package sshcommand

import (
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/flowrun/flowrun/internal/os/privatenet"
	"github.com/flowrun/flowrun/internal/os/shellword"
)

// Target is an account on another machine, and how to get there.
type Target struct {
	Host, User, Port string        // User and Port may be empty: the client decides
	Jump             string        // [USER@]HOST[:PORT] of the machine that the connection goes through; "": none
	Address          string        // IP address of Host at which to connect, with the keys known under Host; "": the client resolves Host
	JumpAddress      string        // the same for Jump
	KeyFile          string        // private key; "": the client decides
	KnownHosts       string        // file with the keys of hosts; "": those of the user and the system
	Timeout          time.Duration // to connect
	OwnOptions       bool          // the client reads no settings of the user or the system
	Log              string        // file for the messages of the client
	Shared           string        // socket of a connection to use, if it exists; "": none
}

// Argv returns the command line of the ssh client that runs a command on the target.
func (t *Target) Argv(command string) []string {
	return append(t.client("-T", "no"), command)
}

// SharedArgv returns the command line of the ssh client that keeps the connection Shared open. It ends when it is killed.
func (t *Target) SharedArgv() []string { return t.client("-N", "yes") }

// client returns the command line of a client without a command. mode is an option, and master is that for ControlMaster.
func (t *Target) client(mode, master string) []string {
	argv := append([]string{"ssh", mode}, t.options(t.Shared)...)
	argv = append(argv, "-o", "ControlMaster="+master)
	if t.User != "" {
		argv = append(argv, "-l", t.User)
	}
	if t.Port != "" {
		argv = append(argv, "-p", t.Port)
	}
	if t.Jump != "" {
		argv = append(argv, "-o", "ProxyCommand="+t.jumpCommand())
	}
	argv = append(argv, addressOptions(t.Host, t.Port, t.Address)...)
	return append(argv, "-o", "RemoteCommand=none", "--", t.Host)
}

// options returns the options of every connection. None of them lets the client ask anything or trust an unknown host.
// socket is that of a shared connection, "" for none: also none of the user's settings, because flowrun would not end it.
func (t *Target) options(socket string) []string {
	list := []string{"-a", "-x", "-E", t.Log}
	if t.OwnOptions {
		list = append(list, "-F", "none")
	}
	option := func(name, value string) { list = append(list, "-o", name+"="+value) }
	option("BatchMode", "yes")
	option("StrictHostKeyChecking", "yes")
	option("UpdateHostKeys", "no")
	option("ClearAllForwardings", "yes")
	option("PermitLocalCommand", "no")
	if socket == "" {
		option("ControlPath", "none")
	} else {
		option("ControlPath", `"`+socket+`"`)
	}
	option("LogLevel", "INFO")
	option("ServerAliveInterval", "15")
	option("ServerAliveCountMax", "3")
	option("ConnectTimeout", strconv.Itoa(max(1, int((t.Timeout+time.Second-1)/time.Second))))
	if t.KnownHosts != "" {
		option("UserKnownHostsFile", `"`+t.KnownHosts+`"`)
		option("GlobalKnownHostsFile", "none")
	}
	if t.KeyFile != "" {
		list = append(list, "-i", t.KeyFile)
		option("IdentitiesOnly", "yes")
	}
	return list
}

// jumpCommand returns the command that connects to the jump host. It is used in place of -J, with which the client would
// not apply these options to the jump host.
func (t *Target) jumpCommand() string {
	user, host, port := SplitAddress(t.Jump)
	words := append([]string{"ssh"}, t.options("")...)
	if user != "" {
		words = append(words, "-l", user)
	}
	if port != "" {
		words = append(words, "-p", port)
	}
	words = append(words, addressOptions(host, port, t.JumpAddress)...)
	words = append(words, "-W", "[%h]:%p", "--", host)
	return shellword.Join(shellword.Sh, words)
}

// addressOptions returns the options with which the client connects to an address and checks the key that it knows for the
// host. The alias is written as hosts are in files of known hosts, which the client does not do for an alias.
func addressOptions(host, port, address string) []string {
	if address == "" || address == host {
		return nil
	}
	alias := strings.ToLower(host)
	if port != "" && port != "22" {
		alias = "[" + alias + "]:" + port
	}
	return []string{"-o", "HostName=" + address, "-o", "HostKeyAlias=" + alias, "-o", "CheckHostIP=no"}
}

// SplitAddress splits [USER@]HOST[:PORT]. An IPv6 address with a port is in brackets.
func SplitAddress(s string) (user, host, port string) {
	if at := strings.LastIndexByte(s, '@'); at >= 0 {
		user, s = s[:at], s[at+1:]
	}
	if h, p, err := net.SplitHostPort(s); err == nil {
		return user, h, p
	}
	return user, strings.Trim(s, "[]"), ""
}

// CheckHost returns an error unless s can be a host: a name, an address, or an alias of the settings of the client.
func CheckHost(s string) error {
	switch {
	case s == "":
		return errors.New("the host is empty")
	case len(s) > 255:
		return errors.New("the name of the host has more than 255 characters")
	case strings.Contains(s, "@"):
		return fmt.Errorf("invalid host %q: write the user under user", s)
	case strings.HasPrefix(s, "-"), strings.Trim(s, letters+"0123456789._:%-") != "":
		return fmt.Errorf("invalid host %q: a host has letters, digits, '.', '_', '-' and ':', and does not begin with '-'", s)
	}
	if name, port, found := strings.Cut(s, ":"); found && !strings.Contains(port, ":") && name != "" {
		return fmt.Errorf("invalid host %q: write the port under port", s)
	}
	return privatenet.CheckHost(s)
}

const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// CheckUser returns an error unless s can be the name of a user.
func CheckUser(s string) error {
	switch {
	case s == "":
		return errors.New("the user is empty")
	case strings.HasPrefix(s, "-"), len(s) > 255, strings.Trim(s, letters+"0123456789._+@-") != "":
		return fmt.Errorf("invalid user %q: a user has letters, digits, '.', '_', '+', '@' and '-', and does not begin with '-'", s)
	}
	return nil
}

// CheckPort returns an error unless s is the number of a port.
func CheckPort(s string) error {
	if n, err := strconv.Atoi(s); err != nil || n < 1 || n > 65535 || strconv.Itoa(n) != s {
		return fmt.Errorf("invalid port %q: a port is a whole number from 1 to 65535", s)
	}
	return nil
}

// CheckJump returns an error unless s is [USER@]HOST[:PORT].
func CheckJump(s string) error {
	user, host, port := SplitAddress(s)
	var err error
	switch {
	case strings.Contains(s, ","):
		err = errors.New("only one host is possible")
	case strings.HasPrefix(s, "@"), strings.HasSuffix(s, ":") && !strings.HasSuffix(s, "::"):
		err = errors.New("write [USER@]HOST[:PORT]")
	case user != "" && CheckUser(user) != nil:
		err = CheckUser(user)
	case port != "" && CheckPort(port) != nil:
		err = CheckPort(port)
	default:
		err = CheckHost(host)
	}
	if err != nil {
		return fmt.Errorf("invalid jump host %q: %w", s, err)
	}
	return nil
}

// CheckPath returns an error if the ssh client would read more than a path from s: it replaces tokens with '%' and
// variables with '$' in options.
func CheckPath(s string) error {
	if strings.ContainsAny(s, "\"'\\$%`") || strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return fmt.Errorf("cannot use the path %q: ssh gives '\"', ''', '\\', '$', '%%', '`' and control characters in a path a meaning", s)
	}
	return nil
}
