package confine

// CloseFilesOnExec does nothing: on Windows only handles that are listed are inherited.
func CloseFilesOnExec() {}
