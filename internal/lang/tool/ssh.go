package tool

import (
	"time"

	"gopkg.in/yaml.v3"

	"github.com/flowrun/flowrun/internal/lang/keytable"
)

// SSH is the account on another machine in which a step runs its script.
type SSH struct {
	Pos            Pos
	Host           Text
	User, Port     *Text // nil = what the ssh client decides
	Key            *Text // the text of a private key
	KeyFile        *Text // path of a private key
	Jump           *Text // [USER@]HOST[:PORT] of the machine that the connection goes through
	KnownHosts     *Text // path of a file with the keys of hosts; nil = the files of the user and the system
	ConnectTimeout time.Duration
}

// DefaultConnectTimeout is the connect-timeout of a step that has none.
const DefaultConnectTimeout = 10 * time.Second

// sshField returns the field ssh. Its object is made when it is: most programs never ask for it.
func sshField() keytable.Field {
	object := keytable.NewObject("ssh", "An account on another machine.", func() []keytable.Field {
		return []keytable.Field{
			oneHost(keytable.Text("host", "", "Name or address of the machine, or an alias of your ssh settings.", func(s *SSH, v Text) { s.Host = v })).AsRequired(),
			keytable.Text("user", "", "User on that machine. Default: that of your ssh settings, or your own.", func(s *SSH, v Text) { s.User = &v }),
			keytable.Text("port", "", "Port. Default: that of your ssh settings, or 22.", func(s *SSH, v Text) { s.Port = &v }),
			keytable.Text("key", "", "Text of a private key without a passphrase, such as {env.DEPLOY_KEY}. It is masked.", func(s *SSH, v Text) { s.Key = &v }),
			keytable.Text("key-file", "", "Path of a private key without a passphrase.", func(s *SSH, v Text) { s.KeyFile = &v }),
			keytable.Text("jump", "", "Host that the connection goes through: [USER@]HOST[:PORT].", func(s *SSH, v Text) { s.Jump = &v }),
			keytable.Text("known-hosts", "", "Path of a file with the keys of hosts. Default: the files of the user and the system.", func(s *SSH, v Text) { s.KnownHosts = &v }),
			keytable.Duration("connect-timeout", "", "Time limit for the connection.", func(s *SSH, v time.Duration) { s.ConnectTimeout = v }).WithDefault("10s"),
		}
	}).WithCheck(checkSSH)
	return oneHost(textOr("ssh", "", object, "Runs the script of the step on another machine, through ssh. A text is the host. See ssh.md.", func(s *Step) *SSH {
		s.SSH = &SSH{ConnectTimeout: DefaultConnectTimeout}
		return s.SSH
	}, func(s *SSH, v Text) { s.Pos, s.Host = v.Pos, v }))
}

// oneHost wraps a field for a host so that a list of hosts is reported with the loop to write: each host then has its own
// result, log and retries.
func oneHost(f keytable.Field) keytable.Field {
	read := f.Set
	f.Set = func(d *keytable.Decoder, into any, n *yaml.Node) {
		if list := keytable.Deref(n); list.Kind == yaml.SequenceNode {
			d.Fail(list, "wrong-type", "expected one host, found a list", "to run the step on each host, write for-each: {items: [a, b], as: host, key: \"{host}\"} and ssh: \"{host}\"")
			return
		}
		read(d, into, n)
	}
	return f
}

func checkSSH(d *keytable.Decoder, into any, n *yaml.Node, content []*yaml.Node) {
	s := into.(*SSH)
	s.Pos = d.Pos(n)
	if keytable.ValueOf(content, "host") == nil {
		d.Fail(n, "no-value", "ssh has no host", "add host: with the name or address of the machine")
	}
	if file := keytable.KeyOf(content, "key-file"); s.Key != nil && file != nil {
		d.FailKey(file, "two-bodies", "ssh has both key and key-file", "keep one of the two")
	}
}
