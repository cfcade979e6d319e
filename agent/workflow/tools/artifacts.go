package tools

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"

	"google.golang.org/adk/v2/artifact"
	"google.golang.org/genai"
)

// artifactsFolder is where a Folder has artifacts. The tool storage does not reach it.
const artifactsFolder = ownPrefix + "artifacts"

// userFiles begins the names of files that all sessions of a user share, as in ADK.
const userFiles = "user:"

// artifacts keeps the files of sessions in a Folder: a file of JSON for each version.
type artifacts struct {
	*Folder
	dir string
}

// Artifacts keeps the files of sessions in the folder, where they outlive the process, within its quota. dir tells
// those of one workflow from those of others.
func (s *Folder) Artifacts(dir string) (artifact.Service, error) {
	dir = path.Clean(dir)
	if err := checkPath(dir); err != nil {
		return nil, err
	}
	return &artifacts{s, path.Join(artifactsFolder, dir)}, nil
}

// place is the folder of a file, or of all files of a session if name is "".
func (a *artifacts) place(app, user, session, name string) (string, error) {
	if strings.HasPrefix(name, userFiles) {
		session = ""
	}
	place := path.Join(a.dir, "a-"+url.PathEscape(app), fmt.Sprintf("%x", sha256.Sum256([]byte(user))),
		"s-"+url.PathEscape(session))
	if name == "" {
		return place, nil
	}
	own := "f-" + url.PathEscape(name)
	if len(own) > storeNameMax {
		return "", fmt.Errorf("the name of the file has %d bytes, more than %d: %.40q", len(own), storeNameMax, name)
	}
	return path.Join(place, own), nil
}

// versions are those of a place, in order.
func (a *artifacts) versions(place string) ([]int64, error) {
	root, err := a.root()
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }()
	entries, err := fs.ReadDir(root.FS(), place)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, told(place, err)
	}
	var list []int64
	for _, e := range entries {
		if n, err := strconv.ParseInt(e.Name(), 10, 64); err == nil && n > 0 {
			list = append(list, n)
		}
	}
	slices.Sort(list)
	return list, nil
}

func numbered(place string, version int64) string {
	return path.Join(place, strconv.FormatInt(version, 10))
}

// Save stores the next version of a file.
func (a *artifacts) Save(_ context.Context, r *artifact.SaveRequest) (*artifact.SaveResponse, error) {
	if err := r.Validate(); err != nil {
		return nil, err
	}
	place, err := a.place(r.AppName, r.UserID, r.SessionID, r.FileName)
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(r.Part)
	if err != nil {
		return nil, err
	}
	a.saving.Lock()
	defer a.saving.Unlock()
	all, err := a.versions(place)
	if err != nil {
		return nil, err
	}
	next := int64(1)
	if len(all) > 0 {
		next = all[len(all)-1] + 1
	}
	root, err := a.root()
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }()
	if err := a.write(root, numbered(place, next), string(text), false); err != nil {
		return nil, told(r.FileName, err)
	}
	return &artifact.SaveResponse{Version: next}, nil
}

// load is a version of a file, the newest if version is 0.
func (a *artifacts) load(app, user, session, name string, version int64) (*genai.Part, int64, error) {
	place, err := a.place(app, user, session, name)
	if err != nil {
		return nil, 0, err
	}
	all, err := a.versions(place)
	if err != nil {
		return nil, 0, err
	}
	if version == 0 && len(all) > 0 {
		version = all[len(all)-1]
	}
	if !slices.Contains(all, version) {
		return nil, 0, fmt.Errorf("there is no file %q: %w", name, fs.ErrNotExist)
	}
	root, err := a.root()
	if err != nil {
		return nil, 0, err
	}
	defer func() { _ = root.Close() }()
	text, err := a.read(root, numbered(place, version))
	if err != nil {
		return nil, 0, told(name, err)
	}
	p := &genai.Part{}
	if err := json.Unmarshal([]byte(text), p); err != nil {
		return nil, 0, fmt.Errorf("the file %q is damaged: %w", name, err)
	}
	return p, version, nil
}

// Load reads a file.
func (a *artifacts) Load(_ context.Context, r *artifact.LoadRequest) (*artifact.LoadResponse, error) {
	if err := r.Validate(); err != nil {
		return nil, err
	}
	p, _, err := a.load(r.AppName, r.UserID, r.SessionID, r.FileName, r.Version)
	if err != nil {
		return nil, err
	}
	return &artifact.LoadResponse{Part: p}, nil
}

// Delete removes a version of a file, or all of them.
func (a *artifacts) Delete(_ context.Context, r *artifact.DeleteRequest) error {
	if err := r.Validate(); err != nil {
		return err
	}
	place, err := a.place(r.AppName, r.UserID, r.SessionID, r.FileName)
	if err != nil {
		return err
	}
	if r.Version > 0 {
		place = numbered(place, r.Version)
	}
	root, err := a.root()
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	a.saving.Lock()
	defer a.saving.Unlock()
	return told(r.FileName, root.RemoveAll(place))
}

// List lists the files of a session and those of its user.
func (a *artifacts) List(_ context.Context, r *artifact.ListRequest) (*artifact.ListResponse, error) {
	if err := r.Validate(); err != nil {
		return nil, err
	}
	root, err := a.root()
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }()
	list := []string{}
	for _, session := range []string{r.SessionID, ""} {
		place, _ := a.place(r.AppName, r.UserID, session, "")
		entries, err := fs.ReadDir(root.FS(), place)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, told(place, err)
		}
		for _, e := range entries {
			name, err := url.PathUnescape(strings.TrimPrefix(e.Name(), "f-"))
			if all, _ := a.versions(path.Join(place, e.Name())); err == nil && len(all) > 0 {
				list = append(list, name)
			}
		}
	}
	slices.Sort(list)
	return &artifact.ListResponse{FileNames: list}, nil
}

// Versions lists the versions of a file, the newest first.
func (a *artifacts) Versions(_ context.Context, r *artifact.VersionsRequest) (*artifact.VersionsResponse, error) {
	if err := r.Validate(); err != nil {
		return nil, err
	}
	place, err := a.place(r.AppName, r.UserID, r.SessionID, r.FileName)
	if err != nil {
		return nil, err
	}
	all, err := a.versions(place)
	if err == nil && len(all) == 0 {
		err = fmt.Errorf("there is no file %q: %w", r.FileName, fs.ErrNotExist)
	}
	slices.Reverse(all)
	return &artifact.VersionsResponse{Versions: all}, err
}

// GetArtifactVersion tells the type of a version of a file.
func (a *artifacts) GetArtifactVersion(_ context.Context, r *artifact.GetArtifactVersionRequest,
) (*artifact.GetArtifactVersionResponse, error) {
	if err := r.Validate(); err != nil {
		return nil, err
	}
	p, version, err := a.load(r.AppName, r.UserID, r.SessionID, r.FileName, r.Version)
	if err != nil {
		return nil, err
	}
	one := &artifact.ArtifactVersion{Version: version, MimeType: "text/plain"}
	if p.InlineData != nil {
		one.MimeType = p.InlineData.MIMEType
	}
	return &artifact.GetArtifactVersionResponse{ArtifactVersion: one}, nil
}
