//go:build unix

package ownership

import (
	"fmt"
	"os"
	"os/user"
	"strconv"
	"syscall"
)

// checkOwner is whose a file or folder is, and why it is not this user's alone; "" where it
// is, or is root's. lenient lets root under sudo use what is of the user who called sudo.
func checkOwner(path string, allowSudo bool) (uid int, why string) {
	info, err := os.Stat(path)
	if err != nil {
		return 0, ""
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, ""
	}
	me := os.Geteuid()
	caller := -1
	if allowSudo && me == 0 {
		if n, err := strconv.Atoi(os.Getenv("SUDO_UID")); err == nil {
			caller = n
		}
	}
	uid = int(st.Uid)
	switch mode := info.Mode().Perm(); {
	case uid != 0 && uid != me && uid != caller:
		return uid, fmt.Sprintf("it belongs to user %s", userName(uid))
	case mode&0o002 != 0:
		return uid, "every user may write it"
	case mode&0o020 != 0 && !isPrivateGroup(uid, int(st.Gid)):
		return uid, fmt.Sprintf("group %d may write it", st.Gid)
	}
	return uid, ""
}

// isPrivateGroup says whether a group is the private one of the user whom a file belongs to: by
// its number, or, where it is the group of this process, by its name. Systems with an
// umask of 002 give every user one. Root has none.
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
