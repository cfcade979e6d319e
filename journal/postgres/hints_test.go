package postgres_test

import (
	"context"
	"errors"
	"testing"

	"github.com/voicegw/voicegw/journal"
)

// TestHints takes hints away and adds false ones. Watchers and readers are told of each change, once.
func TestHints(t *testing.T) {
	schema := schemaOf(t.TempDir())
	e := shared.open(t, schema)
	ctx, cancel := context.WithCancel(t.Context())
	told, ended := make(chan journal.Doc, 10), make(chan error, 1)
	put := func(key string) {
		t.Helper()
		if _, err := e.Put(ctx, key, []byte("x"), 0); err != nil {
			t.Fatal(err)
		}
	}
	next := func(key string, removed bool) {
		t.Helper()
		if d := <-told; d.Key != key || (d.Revision == 0) != removed {
			t.Errorf("told of %+v, want %s", d, key)
		}
	}
	put("doc/a")
	put("doc/b")
	go func() { ended <- e.Watch(ctx, "doc/", func(d journal.Doc) { told <- d }) }()
	next("doc/a", false)
	next("doc/b", false)

	// A hint of a document that has not changed, of one that does not exist, of another prefix, and nonsense.
	shared.exec(t, schema, `
		SELECT pg_notify('hints', 'x d:doc/a'), pg_notify('hints', 'x d:doc/none'), pg_notify('hints', 'x d:other'),
			pg_notify('hints', 'x l:doc/a'), pg_notify('hints', ''), pg_notify('hints', 'x d:')`)
	put("doc/c")
	next("doc/c", false)

	// The connection that hears breaks. What has changed meanwhile shows when there is another.
	shared.exec(t, schema, `
		DELETE FROM docs WHERE key = 'doc/b';
		UPDATE docs SET revision = nextval('revisions') WHERE key = 'doc/c';
		INSERT INTO docs VALUES ('doc/d', '', nextval('revisions'), now());
		SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'voicegw journal hints'`)
	next("doc/c", false)
	next("doc/d", false)
	next("doc/b", true)
	put("doc/e")
	next("doc/e", false)
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if len(told) > 0 {
		t.Errorf("told of %+v", <-told)
	}
}
