//go:build unix

package ownership

import (
	"fmt"
	"os"
	"os/user"
	"strconv"
	"syscall"
)

// checkOwner returns the owner of a file or directory, and why other users than this one and root
// can write it, or "". With allowSudo, root under sudo accepts files of the user who called sudo. A
// file that does not exist is accepted.
func checkOwner(path string, allowSudo bool) (uid int, why string) {
	info, err := os.Stat(path)
	if err != nil {
		return 0, ""
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, ""
	}
	caller := -1
	if allowSudo && os.Geteuid() == 0 {
		if n, err := strconv.Atoi(os.Getenv("SUDO_UID")); err == nil {
			caller = n
		}
	}
	uid = int(st.Uid)
	switch mode := info.Mode().Perm(); {
	case uid != caller && OtherOwner(info) != "":
		return uid, OtherOwner(info)
	case mode&0o002 != 0:
		return uid, "every user can write to it"
	case mode&0o020 != 0 && !isPrivateGroup(uid, int(st.Gid)):
		return uid, fmt.Sprintf("group %d may write it", st.Gid)
	}
	return uid, ""
}

// checkInfo returns a *ForeignError if a file belongs to a user other than this one and root.
func checkInfo(path string, info os.FileInfo) error {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok || st.Uid == 0 || int(st.Uid) == os.Geteuid() {
		return nil
	}
	return &ForeignError{path, userName(int(st.Uid))}
}

// isPrivateGroup reports whether a group is the private group of the owner of a file: it has the
// same number, or, if it is the group of this process, the same name. Systems with an umask of 002
// give each user such a group. Root has none.
func isPrivateGroup(uid, gid int) bool {
	if uid == 0 {
		return false
	}
	if gid == uid {
		return true
	}
	if uid != os.Geteuid() || gid != os.Getegid() {
		return false
	}
	u, err := user.LookupId(strconv.Itoa(uid))
	if err != nil {
		return false
	}
	g, err := user.LookupGroupId(strconv.Itoa(gid))
	return err == nil && g.Name == u.Username
}

func userName(uid int) string {
	if u, err := user.LookupId(strconv.Itoa(uid)); err == nil {
		return fmt.Sprintf("%s (%d)", u.Username, uid)
	}
	return strconv.Itoa(uid)
}
