package permtrace

import "path"

// created holds what a run has created: for each file or folder, the folder that was there before. What it contains is
// created too.
type created map[string]string

// maxCreated limits how many files are remembered one by one.
const maxCreated = 10_000

// add adds a file or folder that is created in a folder. If there are too many, all of that folder counts as created.
func (c created) add(file, folder string) {
	if len(c) < maxCreated {
		c[file] = folder
	} else {
		c[folder] = folder
	}
}

// folderOf returns the folder that was there before a file was created, "" if the run has not created the file.
func (c created) folderOf(file string) string {
	for ; file != "/" && file != "."; file = path.Dir(file) {
		if folder, ok := c[file]; ok {
			return folder
		}
	}
	return ""
}
