package httpapi

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2asrv"
	"github.com/a2aproject/a2a-go/v2/a2asrv/taskstore"
)

// tasksMax is how many tasks of one workflow are remembered, and tasksOfOwner how many of them may be one owner's, so
// that nobody takes the places of all others. Of more, the oldest that has ended is forgotten; if none has, a new task
// is refused. Their runs stay in the journal.
const (
	tasksMax     = 1000
	tasksOfOwner = tasksMax / 2
)

// tasks remembers the tasks of A2A. It is safe for concurrent use.
type tasks struct {
	owner taskstore.Authenticator

	mu    sync.Mutex
	byID  map[a2a.TaskID]*task
	order []a2a.TaskID // the oldest first
}

type task struct {
	text    []byte // its JSON
	version taskstore.TaskVersion
	owner   string
	ended   bool
}

func newTasks() *tasks {
	return &tasks{owner: a2asrv.NewTaskStoreAuthenticator(), byID: map[a2a.TaskID]*task{}}
}

// Create remembers a task.
func (t *tasks) Create(ctx context.Context, one *a2a.Task) (taskstore.TaskVersion, error) {
	owner, err := t.owner(ctx)
	if err != nil {
		return 0, err
	}
	b, err := json.Marshal(one)
	if err != nil {
		return 0, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.byID[one.ID] != nil {
		return 0, taskstore.ErrTaskAlreadyExists
	}
	own := func(of *task) bool { return of.owner == owner }
	if t.count(own) >= tasksOfOwner && !t.forget(own) {
		return 0, fmt.Errorf("%d tasks of yours are at work or wait; try again later", tasksOfOwner)
	}
	all := func(*task) bool { return true }
	if len(t.order) >= tasksMax && !t.forget(all) {
		return 0, fmt.Errorf("%d tasks are at work or wait; try again later", len(t.order))
	}
	t.byID[one.ID], t.order = &task{b, 1, owner, one.Status.State.Terminal()}, append(t.order, one.ID)
	return 1, nil
}

// count counts tasks; mu is held.
func (t *tasks) count(of func(*task) bool) (n int) {
	for _, one := range t.byID {
		if of(one) {
			n++
		}
	}
	return n
}

// forget forgets the oldest of these tasks that has ended; mu is held.
func (t *tasks) forget(of func(*task) bool) bool {
	for i, id := range t.order {
		if one := t.byID[id]; one.ended && of(one) {
			delete(t.byID, id)
			t.order = append(t.order[:i:i], t.order[i+1:]...)
			return true
		}
	}
	return false
}

// Update changes a task.
func (t *tasks) Update(ctx context.Context, u *taskstore.UpdateRequest) (taskstore.TaskVersion, error) {
	owner, err := t.owner(ctx)
	if err != nil {
		return 0, err
	}
	b, err := json.Marshal(u.Task)
	if err != nil {
		return 0, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	old := t.byID[u.Task.ID]
	switch {
	case old == nil || old.owner != owner:
		return 0, a2a.ErrTaskNotFound
	case u.PrevVersion != taskstore.TaskVersionMissing && u.PrevVersion != old.version:
		return 0, taskstore.ErrConcurrentModification
	}
	old.text, old.ended = b, u.Task.Status.State.Terminal()
	old.version++
	return old.version, nil
}

// belongs reports whether there is a task of an owner with the id.
func (t *tasks) belongs(id a2a.TaskID, owner string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	one := t.byID[id]
	return one != nil && one.owner == owner
}

// Get returns a task of its owner.
func (t *tasks) Get(ctx context.Context, id a2a.TaskID) (*taskstore.StoredTask, error) {
	owner, err := t.owner(ctx)
	if err != nil {
		return nil, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	found := t.byID[id]
	if found == nil || found.owner != owner {
		return nil, a2a.ErrTaskNotFound
	}
	one := &a2a.Task{}
	if err := json.Unmarshal(found.text, one); err != nil {
		return nil, err
	}
	return &taskstore.StoredTask{Task: one, Version: found.version, User: owner}, nil
}

// List is not offered: the sessions API lists runs.
func (*tasks) List(context.Context, *a2a.ListTasksRequest) (*a2a.ListTasksResponse, error) {
	return nil, a2a.ErrUnsupportedOperation
}
