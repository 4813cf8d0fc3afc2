package confine

// CloseFilesOnExec does nothing: on Windows only the handles that are named are inherited.
func CloseFilesOnExec() {}
