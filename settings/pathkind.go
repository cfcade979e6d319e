package settings

// PathKind says whether the value of a setting is a path, and of what.
type PathKind uint8

// The kinds of paths.
const (
	NotPath       PathKind = iota
	FilePath               // of a file; Changes compares its contents
	DirectoryPath          // of a directory, which may be missing
)

// aDirectory and newDirectory say which directories are valid, for people.
const (
	aDirectory   = "the path of a directory"
	newDirectory = aDirectory + "; it is made if it is missing"
)

// fileRow is the path of a file, which holds something.
func fileRow(key string, to *string, def, holds, doc string) Row {
	r := textRow(key, to, def, "the path of "+holds, doc, nil)
	r.Path = FilePath
	return r
}

// secretRow is the path of a file that holds a secret.
func secretRow(key string, to *string, holds, doc string) Row {
	return fileRow(key, to, "none", "a file with "+holds, doc)
}

// directoryRow is the path of a directory, or of nothing yet.
func directoryRow(key string, to *string, def, want, doc string) Row {
	r := textRow(key, to, def, want, doc, isDirectory)
	r.Path = DirectoryPath
	return r
}
