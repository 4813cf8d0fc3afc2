package confine

import (
	"os"
	"strings"
)

// baseFiles are the files of the system that every process in a Sandbox may use: programs and
// libraries, what the C library reads to find names, certificates and time zones, and devices
// without data. docs/reference/isolation.md lists them. A name that ends with * stands for all files with that
// beginning.
var baseFiles = []struct {
	access Access
	paths  string
}{
	{Execute, "/usr /bin /sbin /lib /lib32 /lib64 /nix/store /gnu/store /run/current-system"},
	{Read, "/etc/alternatives /etc/ca-certificates /etc/crypto-policies /etc/debian_version /etc/default/locale /etc/fonts" +
		" /etc/gai.conf /etc/gitconfig /etc/group /etc/host.conf /etc/hostname /etc/hosts /etc/ImageMagick* /etc/inputrc /etc/java*" +
		" /etc/ld.so.cache /etc/ld.so.conf /etc/ld.so.conf.d /etc/ld.so.preload /etc/locale.alias /etc/locale.conf /etc/localtime" +
		" /etc/lsb-release /etc/magic /etc/mime.types /etc/nsswitch.conf /etc/os-release /etc/passwd /etc/perl" +
		" /etc/pki/ca-trust/extracted /etc/pki/tls/certs /etc/pki/tls/openssl.cnf /etc/protocols /etc/python* /etc/resolv.conf" +
		" /etc/services /etc/ssl/cert.pem /etc/ssl/certs /etc/ssl/openssl.cnf /etc/terminfo /etc/timezone"},
	{Read, "/proc /sys/devices/system/cpu /sys/fs/cgroup /sys/kernel/mm/transparent_hugepage"},
	{Read, "/dev/random /dev/urandom"},
	{Read | Write, "/dev/null /dev/zero /dev/full /dev/tty"},
}

// BaseFiles returns what every process in a Sandbox may use, in addition to its own FileRules. Not
// all of the files exist.
func BaseFiles() (list []FileRule) {
	etc := namesIn("/etc")
	for _, b := range baseFiles {
		for _, path := range strings.Fields(b.paths) {
			prefix, many := strings.CutSuffix(path, "*")
			if !many {
				list = append(list, FileRule{path, b.access})
				continue
			}
			for _, name := range etc {
				if strings.HasPrefix("/etc/"+name, prefix) {
					list = append(list, FileRule{"/etc/" + name, b.access})
				}
			}
		}
	}
	return list
}

// namesIn returns the names in a folder.
func namesIn(dir string) []string {
	f, err := os.Open(dir)
	if err != nil {
		return nil
	}
	defer f.Close()
	names, _ := f.Readdirnames(-1) // without those that cannot be read, nothing is granted
	return names
}
