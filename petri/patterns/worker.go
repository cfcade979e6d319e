package patterns

import (
	"fmt"

	"github.com/voicegw/voicegw/petri"
)

// Slots returns n tasks of one kind. Their places are name0_start, name0_in_flight, name0_done, and
// so on.
func Slots[I, O any](name string, n int) []petri.Task[I, O] {
	tasks := make([]petri.Task[I, O], n)
	for i := range tasks {
		at := fmt.Sprint(name, i)
		tasks[i] = petri.Task[I, O]{
			Start:    petri.Place[I](at + "_start"),
			InFlight: petri.Place[petri.Unit](at + "_in_flight"),
			Done:     petri.Place[petri.Result[O]](at + "_done"),
		}
	}
	return tasks
}

// Worker is one slot of work. While idle, it takes a job and starts the task. It passes the result
// on, whatever its outcome. Emptying the task's in-flight place cancels the work: the worker
// discards the result when it comes, and only then is idle again. While one of halts is marked, it
// starts nothing and passes nothing on. All places given are ports.
func Worker[I, O any](name string, job petri.Place[I], task petri.Task[I, O],
	result petri.Place[petri.Result[O]], halts ...petri.AnyPlace) *petri.Net {
	const idle, busy = petri.Place[petri.Unit]("idle"), petri.Place[petri.Unit]("busy")
	var halt petri.Arcs
	for _, p := range halts {
		halt = append(halt, p)
	}
	return &petri.Net{
		Name:  name,
		Ports: append([]petri.AnyPlace{job, result, task.Start, task.InFlight, task.Done}, halts...),
		Tasks: []petri.AnyTask{task},
		Init:  []petri.Token{idle.Token(petri.Unit{})},
		Transitions: []petri.Transition{
			{Name: "begin", In: petri.Arcs{job, idle}, Inhibit: halt, Out: petri.And(task.Start, task.InFlight, busy)},
			{Name: "deliver", In: petri.Arcs{task.Done, task.InFlight, busy}, Inhibit: halt, Out: petri.And(result, idle)},
			{Name: "forget", In: petri.Arcs{task.Done, busy}, Inhibit: petri.Arcs{task.InFlight}, Out: petri.And(idle)},
		},
	}
}
