package exec

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"sync"

	"github.com/voicegw/voicegw/journal"
)

// Store keeps state that sessions share. It is safe for concurrent use. A place is a path of names, such as
// app/digest.
type Store interface {
	// Load returns the values of a place; none is an empty map.
	Load(ctx context.Context, place string) (map[string]any, error)
	// Set sets one value of a place. Setting it again has the same effect. It refuses a value with which the place
	// would have more than PlaceMax bytes, since a run begins with all of them.
	Set(ctx context.Context, place, key string, value any) error
}

// PlaceMax is how many bytes of JSON the values of a place have at most.
const PlaceMax = 100 << 10

// placeOf is the JSON of a place, if it may be that large.
func placeOf(place string, values map[string]any) ([]byte, error) {
	b, err := json.Marshal(values)
	if err == nil && len(b) > PlaceMax {
		err = fmt.Errorf("exec: the state of %s would have %d bytes; at most %d are allowed", place, len(b), PlaceMax)
	}
	return b, err
}

// MemoryStore is a Store that ends with the process.
type MemoryStore struct {
	mu     sync.Mutex
	places map[string]map[string]any
}

// NewMemoryStore returns an empty MemoryStore.
func NewMemoryStore() *MemoryStore { return &MemoryStore{places: map[string]map[string]any{}} }

// Load returns the values of a place.
func (s *MemoryStore) Load(_ context.Context, place string) (map[string]any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	values := maps.Clone(s.places[place])
	if values == nil {
		values = map[string]any{}
	}
	return values, nil
}

// Set sets one value.
func (s *MemoryStore) Set(_ context.Context, place, key string, value any) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	values := maps.Clone(s.places[place])
	if values == nil {
		values = map[string]any{}
	}
	values[key] = value
	if _, err := placeOf(place, values); err != nil {
		return err
	}
	s.places[place] = values
	return nil
}

// journalStore keeps each place in a document of a journal.
type journalStore struct{ engine journal.Engine }

// NewJournalStore returns a Store in documents of a journal, which all processes of the journal share. The
// values of a place have at most PlaceMax bytes of JSON together.
func NewJournalStore(engine journal.Engine) Store { return journalStore{engine} }

func (s journalStore) Load(ctx context.Context, place string) (map[string]any, error) {
	values, _, err := s.load(ctx, place)
	return values, err
}

func (s journalStore) load(ctx context.Context, place string) (map[string]any, uint64, error) {
	values := map[string]any{}
	doc, err := s.engine.Get(ctx, docOf(place))
	if errors.Is(err, journal.ErrNotFound) {
		return values, 0, nil
	}
	if err == nil {
		err = json.Unmarshal(doc.Value, &values)
	}
	if err != nil {
		return nil, 0, fmt.Errorf("exec: load the state of %s: %w", place, err)
	}
	return values, doc.Revision, nil
}

// conflictsMax is how often a value is tried to be set while others change the same place.
const conflictsMax = 100

func (s journalStore) Set(ctx context.Context, place, key string, value any) error {
	for range conflictsMax {
		values, revision, err := s.load(ctx, place)
		if err != nil {
			return err
		}
		values[key] = value
		b, err := placeOf(place, values)
		if err == nil {
			_, err = s.engine.Put(ctx, docOf(place), b, revision)
		}
		if err == nil || !errors.Is(err, journal.ErrConflict) {
			return err
		}
	}
	return fmt.Errorf("exec: the state of %s changes too fast: %w", place, journal.ErrConflict)
}

func docOf(place string) string { return "workflow/state/" + place }
