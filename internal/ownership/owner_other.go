//go:build !unix

package ownership

func checkOwner(string, bool) (uid int, why string) { return 0, "" }
