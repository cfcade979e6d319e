//go:build unix

package tools

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"google.golang.org/adk/v2/artifact"
	"google.golang.org/genai"
)

// files are artifacts of one session.
type files struct {
	testing.TB
	artifact.Service
	user, session string
}

func (f files) save(name, text string) error {
	_, err := f.Save(f.Context(), &artifact.SaveRequest{AppName: "w", UserID: f.user, SessionID: f.session, FileName: name,
		Part: genai.NewPartFromBytes([]byte(text), "text/csv")})
	return err
}

// load is the content of a version of a file, or "none".
func (f files) load(name string, version int64) string {
	found, err := f.Load(f.Context(), &artifact.LoadRequest{AppName: "w", UserID: f.user, SessionID: f.session,
		FileName: name, Version: version})
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "none"
	case err != nil:
		return err.Error()
	}
	return string(found.Part.InlineData.Data)
}

func (f files) list() string {
	found, err := f.List(f.Context(), &artifact.ListRequest{AppName: "w", UserID: f.user, SessionID: f.session})
	if err != nil {
		return err.Error()
	}
	return strings.Join(found.FileNames, " ")
}

// TestArtifacts holds artifacts in a folder to what ADK's do in memory.
func TestArtifacts(t *testing.T) {
	root := t.TempDir()
	in := folder(t, root, 0).Folder
	kept, err := in.Artifacts("./files")
	if err != nil {
		t.Fatal(err)
	}
	for name, s := range map[string]artifact.Service{"memory": artifact.InMemoryService(), "folder": kept} {
		t.Run(name, func(t *testing.T) {
			ada, again, bob := files{t, s, "t/ada", "s1"}, files{t, s, "t/ada", "s2"}, files{t, s, "t/bob", "s1"}
			for _, one := range []struct{ name, text string }{{"plan.txt", "one"}, {"plan.txt", "two"}, {"..", "dots"},
				{"ü b%2F", "odd"}, {"user:all", "shared"}} {
				if err := ada.save(one.name, one.text); err != nil {
					t.Fatal(err)
				}
			}
			for got, want := range map[string]string{ada.load("plan.txt", 0): "two", ada.load("plan.txt", 1): "one",
				ada.load("..", 0): "dots", ada.load("ü b%2F", 0): "odd", again.load("user:all", 0): "shared",
				again.load("plan.txt", 0) + bob.load("plan.txt", 0) + ada.load("plan.txt", 3) + bob.load("user:all", 0): strings.
					Repeat("none", 4),
				ada.list(): ".. plan.txt user:all ü b%2F", again.list(): "user:all", bob.list() + "!": "!"} {
				if got != want {
					t.Errorf("got %q, want %q", got, want)
				}
			}
			v, err := s.Versions(t.Context(), &artifact.VersionsRequest{AppName: "w", UserID: "t/ada", SessionID: "s1",
				FileName: "plan.txt"})
			if err != nil || !slices.Equal(v.Versions, []int64{2, 1}) {
				t.Errorf("the versions are %v, %v", v, err)
			}
			m, err := s.GetArtifactVersion(t.Context(), &artifact.GetArtifactVersionRequest{AppName: "w", UserID: "t/ada",
				SessionID: "s1", FileName: "plan.txt"})
			if err != nil || m.ArtifactVersion.Version != 2 || m.ArtifactVersion.MimeType != "text/csv" {
				t.Errorf("the version is %v, %v", m, err)
			}
			gone := &artifact.DeleteRequest{AppName: "w", UserID: "t/ada", SessionID: "s1", FileName: "plan.txt"}
			if err := errors.Join(s.Delete(t.Context(), gone), s.Delete(t.Context(), gone)); err != nil ||
				ada.load("plan.txt", 0) != "none" || strings.Contains(ada.list(), "plan") {
				t.Errorf("after it was deleted: %v, %s", err, ada.list())
			}
		})
	}
	reopened, err := folder(t, root, 0).Folder.Artifacts("files")
	if got := (files{t, reopened, "t/ada", "s2"}).load("user:all", 0); err != nil || got != "shared" {
		t.Errorf("after the folder was opened again: %q, %v", got, err)
	}
}

// TestArtifactsStay keeps artifacts within their folder and its quota, and away from the tool storage.
func TestArtifactsStay(t *testing.T) {
	root := t.TempDir()
	cfg := folder(t, root, 2000)
	for _, dir := range []string{"..", "/tmp", "a/../../b", "", "a\\b", ".voicegw-x"} {
		if _, err := cfg.Folder.Artifacts(dir); err == nil {
			t.Errorf("the directory %q is accepted", dir)
		}
	}
	s, err := cfg.Folder.Artifacts("files")
	if err != nil {
		t.Fatal(err)
	}
	f := files{t, s, "u", "../../../x"}
	if err := f.save("a", "text"); err != nil || f.load("a", 0) != "text" {
		t.Errorf("a session with dots: %v", err)
	}
	for _, bad := range []struct{ name, text, want string }{{"big", strings.Repeat("x", 3000), "the quota is 2000 bytes"},
		{strings.Repeat("n", 300), "x", "302 bytes, more than 200"}, {"a/b", "x", "path separators"}} {
		if err := f.save(bad.name, bad.text); err == nil || !strings.Contains(err.Error(), bad.want) {
			t.Errorf("%.9s: %v, want %s", bad.name, err, bad.want)
		}
	}
	k := newKit(t, cfg)
	k.fails(t, "storage", args("read", artifactsFolder+"/files/x", nil), "is reserved")
	outside := t.TempDir()
	if err := os.WriteFile(filepath.Join(outside, "1"), []byte(`{"text": "secret"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	place, _ := s.(*artifacts).place("w", "u", "s", "link")
	link := filepath.Join(root, place)
	if err := errors.Join(os.MkdirAll(filepath.Dir(link), 0o700), os.Symlink(outside, link)); err != nil {
		t.Fatal(err)
	}
	if got := (files{t, s, "u", "s"}).load("link", 0); got == "none" || strings.Contains(got, "secret") {
		t.Errorf("behind a link out of the folder: %q", got)
	}
}
