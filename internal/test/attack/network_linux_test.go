package attack

import (
	"fmt"
	"io"
	"maps"
	"net"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/flowrun/flowrun/internal/os/confine"
	"github.com/flowrun/flowrun/internal/os/netns"
	"github.com/flowrun/flowrun/internal/test/waittest"
)

// networkEscapes are ways to a host that a tool's permissions do not list. A service on PORT of this
// machine sends a canary, and what arrives at UDP of the same port is noted. HOST is an address of
// this machine that is not loopback, OTHER a process outside. $GOT stands for what an escape that reads
// nothing gets. The tool may connect to GRANTED on localhost, and to api.example.com. Loot goes to the file granted/NAME.
var networkEscapes = map[string]string{
	"loopback":                    `cat </dev/tcp/127.0.0.1/$PORT`,
	"name":                        `cat </dev/tcp/localhost/$PORT`,
	"IPv6":                        `cat </dev/tcp/::1/$PORT`,
	"IPv4 in IPv6":                `cat </dev/tcp/::ffff:127.0.0.1/$PORT`,
	"another loopback address":    `cat </dev/tcp/127.8.8.8/$PORT`,
	"any address":                 `cat </dev/tcp/0.0.0.0/$PORT`,
	"address of the machine":      `cat </dev/tcp/$HOST/$PORT`,
	"proxy":                       `curl -sS -m 5 --noproxy '' http://127.0.0.1:$PORT/`,
	"tunnel":                      `curl -sS -m 5 --noproxy '' -p http://localhost:$PORT/`,
	"proxy to the machine":        `curl -sS -m 5 http://$HOST:$PORT/`,
	"proxy of another step":       `curl -sS -m 5 -x http://127.0.0.77:${HTTP_PROXY##*:} http://$HOST:$PORT/`,
	"granted name, wrong address": `curl -sS -m 5 --resolve api.example.com:$PORT:127.0.0.1 http://api.example.com:$PORT/`,
	"granted name as a user":      `curl -sS -m 5 http://api.example.com@$HOST:$PORT/`,
	"granted name as Host":        `curl -sS -m 5 -H 'Host: api.example.com' http://$HOST:$PORT/`,
	"granted name connects":       `curl -sS -m 5 --connect-to ::$HOST:$PORT http://api.example.com/`,
	"decimal":                     `curl -sS -m 5 --noproxy '' http://2130706433:$PORT/`,
	"metadata":                    `curl -fsS -m 5 http://169.254.169.254/latest && echo $GOT`,
	"raw request to the proxy":    `exec 3<>/dev/tcp/127.0.0.1/${HTTP_PROXY##*:}; printf 'CONNECT %s:%s HTTP/1.1\r\nHost: api.example.com\r\n\r\n' $HOST $PORT >&3; timeout 2 cat <&3`,
	"without environment":         `env -i bash -c "cat </dev/tcp/127.0.0.1/$PORT"`,
	"later":                       `exec 8>granted/lock; flock 8; (setsid bash -c "sleep 0.1; cat </dev/tcp/$HOST/$PORT >granted/later" >/dev/null 2>&1 &)`,
	"as root of a user namespace": `unshare -r bash -c "cat </dev/tcp/127.0.0.1/$PORT"; unshare -rn ip link && echo $GOT`,
	"another user":                `setpriv --reuid=1 bash -c "cat </dev/tcp/$HOST/$PORT"; su -s /bin/bash nobody -c "cat </dev/tcp/$HOST/$PORT"`,

	"UDP":              `echo UDP >/dev/udp/127.0.0.1/$PORT`,
	"UDP, machine":     `echo UDP-machine >/dev/udp/$HOST/$PORT`,
	"UDP, IPv6":        `echo UDP6 >/dev/udp/::1/$PORT`,
	"UDP, broadcast":   `perl -MSocket -e 'socket(S, PF_INET, SOCK_DGRAM, 0); setsockopt(S, SOL_SOCKET, SO_BROADCAST, 1); send(S, "broadcast", 0, sockaddr_in($ENV{PORT}, INADDR_BROADCAST))'`,
	"UDP, multicast":   `perl -MSocket -e 'socket(S, PF_INET, SOCK_DGRAM, 0); send(S, "multicast", 0, sockaddr_in($ENV{PORT}, inet_aton("224.0.0.1")))'`,
	"fast open":        `perl -MSocket -e 'socket(S, PF_INET, SOCK_STREAM, 0); send(S, "x", 0x20000000, sockaddr_in($ENV{PORT}, inet_aton($ENV{HOST}))) or exit; sysread S, $b, 99; print $b'`,
	"multipath TCP":    `perl -MSocket -e 'socket(S, PF_INET, SOCK_STREAM, 262) or exit; connect(S, sockaddr_in($ENV{PORT}, inet_aton($ENV{HOST}))) or exit; print <S>'`,
	"UDP lite":         `perl -MSocket -e 'socket(S, PF_INET, SOCK_DGRAM, 136) or exit; send(S, "lite", 0, sockaddr_in($ENV{PORT}, inet_aton($ENV{HOST}))) and print $ENV{GOT}'`,
	"SCTP":             `perl -MSocket -e 'socket(S, PF_INET, SOCK_STREAM, 132) or exit; connect(S, sockaddr_in($ENV{PORT}, inet_aton($ENV{HOST}))) and print $ENV{GOT}'`,
	"raw IP":           `perl -MSocket -e 'socket(S, PF_INET, SOCK_RAW, 1) and print $ENV{GOT}'`,
	"raw IPv6":         `perl -MSocket -e 'socket(S, 10, SOCK_RAW, 58) and print $ENV{GOT}'`,
	"packets":          `perl -MSocket -e 'socket(S, 17, SOCK_RAW, 768) and print $ENV{GOT}'`,
	"packets, cooked":  `perl -MSocket -e 'socket(S, 17, SOCK_DGRAM, 768) and print $ENV{GOT}'`,
	"virtual machines": `perl -MSocket -e 'socket(S, 40, SOCK_STREAM, 0) and print $ENV{GOT}'`,
	"kernel crypto":    `perl -MSocket -e 'socket(S, 38, SOCK_SEQPACKET, 0) and print $ENV{GOT}'`,
	"other families":   `perl -MSocket -e 'for (3, 4, 5, 9, 15, 21, 24, 29, 30, 31, 32, 41, 43, 44) { socket(S, $_, $_ == 30 ? SOCK_STREAM : SOCK_RAW, 0) and print "$ENV{GOT} $_" }'`,
	"names over UDP":   `perl -MSocket -e 'socket(S, PF_INET, SOCK_DGRAM, 0); send(S, "dns", 0, sockaddr_in($ENV{PORT}, inet_aton("127.0.0.53"))); exit' ; getent hosts api.example.com && echo $GOT; getent ahosts one.one.one.one && echo $GOT`,
	"ping":             `ping -c1 -W1 $HOST && echo $GOT; perl -MSocket -e 'socket(S, PF_INET, SOCK_DGRAM, 1) or exit; send(S, "\x08\x00\xf7\xff\x00\x00\x00\x00", 0, sockaddr_in(0, inet_aton($ENV{HOST}))) and print $ENV{GOT}'`,
	"own address":      `perl -MSocket -e 'socket(S, PF_INET, SOCK_STREAM, 0); bind(S, sockaddr_in(0, inet_aton($ENV{HOST}))) and print $ENV{GOT}'`,
	"another device":   `perl -MSocket -e 'socket(S, PF_INET, SOCK_STREAM, 0); for (map { m!([^/]+)$! } glob "/sys/class/net/*") { next if $_ eq "lo"; setsockopt(S, SOL_SOCKET, 25, $_) and print $ENV{GOT} }'`,
	"foreign address":  `perl -MSocket -e 'socket(S, PF_INET, SOCK_STREAM, 0); setsockopt(S, 0, 19, 1) and print $ENV{GOT}'`,

	"Unix socket":           `perl -MSocket -e 'socket(S, PF_UNIX, SOCK_STREAM, 0) or exit; connect(S, sockaddr_un("granted/sock")) or exit; print <S>'`,
	"abstract socket":       `perl -MSocket -e 'socket(S, PF_UNIX, SOCK_STREAM, 0) or exit; connect(S, pack("Sa*", 1, "\0$ENV{ABSTRACT}")) or exit; print <S>'`,
	"pair of sockets":       `perl -MSocket -e 'socketpair(A, B, PF_UNIX, SOCK_DGRAM, 0) or exit; send(A, "x", 0, sockaddr_un("granted/sock")) and print $ENV{GOT}'`,
	"pair to abstract":      `perl -MSocket -e 'socketpair(A, B, PF_UNIX, SOCK_STREAM, 0) or exit; connect(A, pack("Sa*", 1, "\0$ENV{ABSTRACT}")) or exit; print <A>'`,
	"namespace of init":     `nsenter -t 1 -n cat </dev/tcp/127.0.0.1/$PORT; nsenter -t 1 -n true && echo $GOT`,
	"namespace of flowrun":  `nsenter -t $PPID -n true && echo $GOT`,
	"namespace of another":  `nsenter -t $OTHER -n true && echo $GOT; nsenter -t $OTHER -U -n true && echo $GOT`,
	"namespace by its file": `perl -e 'for (1, $ENV{OTHER}, getppid) { open(F, "<", "/proc/$_/ns/net") or next; syscall(308, fileno(F), 0) == 0 and print $ENV{GOT} }'`,
	"namespace by a handle": `perl -e 'for (1, $ENV{OTHER}, getppid) { my $f = syscall(434, $_+0, 0); $f >= 0 and syscall(308, $f, 0x40000000) == 0 and print $ENV{GOT} }'`,
	"descriptor of another": `perl -e 'my $f = syscall(434, $ENV{OTHER}+0, 0); for my $n (3..30) { $f >= 0 and syscall(438, $f, $n, 0) >= 0 and print $ENV{GOT} }'`,
	"inherited descriptor":  `for f in /proc/self/fd/*; do case $(readlink $f) in socket:*|net:*|user:*) echo $GOT;; esac; done; cat <&9`,
	"new namespace":         `unshare -n true && echo $GOT; unshare -Un true && echo $GOT`,
	"link to init":          `ip link add a type veth peer name b netns 1 && echo $GOT; ip link add a type dummy && echo $GOT`,
	"address and route":     `ip addr add $HOST/24 dev lo && echo $GOT; ip route add default dev lo && echo $GOT`,
	"loopback down":         `ip link set lo down && echo $GOT`,
	"tunnel device":         `[ -r /dev/net/tun ] && exec 3<>/dev/net/tun && perl -e 'open(F, "<&=3"); ioctl(F, 0x400454ca, pack("a16S", "t0", 0x1001)) and print $ENV{GOT}'`,
	"kernel settings":       `echo 1 >/proc/sys/net/ipv4/ip_forward && echo $GOT`,
	"into another process":  `gdb -p $OTHER -batch 2>&1 | grep -q attached && echo $GOT; head -c 1 /proc/$OTHER/mem && echo $GOT`,
	"scheduled elsewhere":   `echo "cat </dev/tcp/$HOST/$PORT" | at now && echo $GOT; systemd-run true && echo $GOT`,
	"flowrun in flowrun":    `cd granted && printf 'name: n\ndescription: x\nbash: cat </dev/tcp/%s/%s\n' $HOST $PORT >n.yaml && FLOWRUN_STATE_DIR=$PWD/state $FLOWRUN run ./n.yaml`,
}

// reached notes what arrives at a service that must not be reached.
type reached struct {
	mu    sync.Mutex
	texts []string
}

func (r *reached) add(text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.texts = append(r.texts, text)
}

func (r *reached) all() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.texts)
}

// serveCanary sends a text to whoever connects: at once, or to a client that is granted the connection after its
// request, which it may send within the wait. HTTP clients do not expect an answer before their request.
func serveCanary(t *testing.T, network, address, text string, wait time.Duration) net.Addr {
	t.Helper()
	l, err := net.Listen(network, address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() { // a request that is not read would reset the connection
				defer c.Close()
				if wait > 0 {
					c.SetReadDeadline(time.Now().Add(wait))
					c.Read(make([]byte, 1))
				}
				fmt.Fprintf(c, "HTTP/1.0 200 OK\r\n\r\n%s\n", text)
				c.(interface{ CloseWrite() error }).CloseWrite()
				c.SetReadDeadline(time.Now().Add(waittest.Limit))
				io.Copy(io.Discard, c)
			}()
		}
	}()
	return l.Addr()
}

// hostAddress returns an address of this machine that is not loopback.
func hostAddress(t *testing.T) string {
	all, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range all {
		if n, ok := a.(*net.IPNet); ok && n.IP.To4() != nil && !n.IP.IsLoopback() {
			return n.IP.String()
		}
	}
	return "127.0.0.1"
}

// TestEnforcedNetwork: the steps of a tool that may reach two hosts reach nothing else, whoever runs
// it, and they reach these.
func TestEnforcedNetwork(t *testing.T) {
	if err := confine.CheckSandbox(); err != nil {
		t.Skip(err)
	}
	if err := netns.Available(program); err != nil {
		t.Skip(err)
	}
	for _, uid := range users() {
		t.Run(fmt.Sprint(uid), func(t *testing.T) {
			t.Parallel()
			const canary = "canary-of-the-service"
			s := newSite(t)
			s.write("granted/keep", "")
			port := serveCanary(t, "tcp", ":0", canary, 0).(*net.TCPAddr).Port
			granted := serveCanary(t, "tcp", "127.0.0.1:0", "what was granted", waittest.Limit).(*net.TCPAddr).Port
			abstract := fmt.Sprintf("flowrun-network-%d-%d", os.Getpid(), uid)
			serveCanary(t, "unix", "@"+abstract, canary, 0)
			serveCanary(t, "unix", s.path("granted/sock"), canary, 0)
			os.Chmod(s.path("granted/sock"), 0o777)
			var packets reached
			udp, err := net.ListenPacket("udp", fmt.Sprintf(":%d", port))
			if err != nil {
				t.Fatal(err)
			}
			defer udp.Close()
			go func() {
				b := make([]byte, 100)
				for {
					n, _, err := udp.ReadFrom(b)
					if err != nil {
						return
					}
					packets.add(string(b[:n]))
				}
			}()
			if uid != 0 {
				s.by(uid)
			}
			other := exec.Command("sleep", "300")
			other.SysProcAttr = &syscall.SysProcAttr{Credential: s.as}
			if err := other.Start(); err != nil {
				t.Fatal(err)
			}
			defer func() { other.Process.Kill(); other.Wait() }()
			names := slices.Sorted(maps.Keys(networkEscapes))
			text := "name: t\ndescription: x\nsecurity:\n  enforce: true\n  required-permissions: [filesystem:read:granted, filesystem:write:granted, " +
				fmt.Sprintf("filesystem:execute:%s, network:external:api.example.com, network:local:localhost:%d]\n", program, granted) +
				fmt.Sprintf("environment: {variables: {GOT: it-escaped, PORT: \"%d\", HOST: %q, OTHER: \"%d\", ABSTRACT: %q, FLOWRUN: %q}}\n", port, hostAddress(t), other.Process.Pid, abstract, program) +
				fmt.Sprintf("steps:\n  - name: granted\n    bash: |\n      exec 3<>/dev/tcp/127.0.0.1/%[1]d; echo please >&3; cat <&3 >granted/direct\n      curl -sS --noproxy '' http://localhost:%[1]d/ >granted/proxied\n", granted)
			for i, name := range names {
				text += fmt.Sprintf("  - name: s%d\n    continue-on-error: true\n    parallel: true\n    bash: |\n      exec >'granted/%s'\n      %s\n", i, name, networkEscapes[name])
			}
			text += "  - {name: end, bash: flock granted/lock true}\n" // of what an escape left in the background
			s.write("t.yaml", text)
			out := s.run("run", "./t.yaml")
			if out.code != 0 {
				t.Fatal(out)
			}
			if refused := fmt.Sprintf("network:local:localhost:%d is not in security.required-permissions", port); strings.Count(out.stderr, refused) < 2 {
				t.Errorf("the message of the step or the notice of the run does not name the permission: %s", out)
			}
			if doc := s.run("show", "latest", "-o", "json"); strings.Count(doc.stdout, `"refused_connections":`) < 2 {
				t.Errorf("the run document does not count the connections: %s", doc)
			}
			const last = "the last packet"
			if to, err := net.Dial("udp", fmt.Sprintf("127.0.0.1:%d", port)); err != nil {
				t.Fatal(err)
			} else if _, err := io.WriteString(to, last); err != nil {
				t.Fatal(err)
			}
			waittest.Until(t, last, func() bool { return slices.Contains(packets.all(), last) })
			for _, name := range names {
				if loot := s.read("granted/" + name); strings.Contains(loot, canary) || strings.Contains(loot, "it-escaped") {
					t.Errorf("%s: got %q", name, loot)
				}
			}
			if arrived := packets.all(); len(arrived) > 1 {
				t.Errorf("packets arrived: %q", arrived)
			}
			for _, way := range []string{"direct", "proxied"} {
				if got := s.read("granted/" + way); !strings.HasSuffix(got, "what was granted") {
					t.Errorf("%s to the granted port: %q", way, got)
				}
			}
			if uid == 0 {
				return // what follows is not for root
			}
			s.write("t.yaml", strings.Replace(text, "  enforce: true\n", "", 1))
			s.run("run", "./t.yaml")
			succeeded := 0
			for _, name := range names {
				if loot := s.read("granted/" + name); strings.Contains(loot, canary) || strings.Contains(loot, "it-escaped") {
					succeeded++
				}
			}
			if succeeded < 20 {
				t.Errorf("without enforcement only %d escapes succeed", succeeded)
			}
		})
	}
}
