//go:build !unix

package ownership

func verdict(string, bool) (uid int, why string) { return 0, "" }
