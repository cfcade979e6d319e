package petri

// Net is a net or a part of one. It is a plain value: a subnet is a function that returns a *Net,
// and drawings, checks and proofs iterate over it. Compile does not change it.
type Net struct {
	// Name is the name of the net, and the prefix of its places and transitions in a composition.
	Name string
	// Ports lists the places that the net shares with its surroundings. Ports of equal name and
	// type fuse. Every other place is private to this net.
	Ports []AnyPlace
	// Nets lists the parts of a composed net (see Compose).
	Nets []*Net
	// Transitions lists the transitions of the net itself. They come before those of its parts.
	Transitions []Transition
	// Env lists the places where tokens enter from outside.
	Env []Env
	// Out lists the places where tokens leave. A token produced there leaves the marking at once.
	Out []Output
	// Tasks lists the slow work that runs beside the net.
	Tasks []AnyTask
	// Caps limits places other than environment places.
	Caps []Cap
	// Sinks lists the places where tokens may rest for ever.
	Sinks []AnyPlace
	// Final is the place that ends the run: once it is marked, nothing fires and nothing enters. If
	// Final is nil, only the caller ends the run.
	Final AnyPlace
	// Init is the initial marking. Each machine receives its own copy of what a payload points to.
	// Compile refuses a payload that machines would still share.
	Init []Token

	// Imported marks a net that was read from a file. In such a net Compile accepts places and
	// transitions that can never be of use; it refuses them elsewhere.
	Imported bool

	closed bool // set by Close: an output that some part consumes is an inner place
}

// Env declares an environment place.
type Env struct {
	Place AnyPlace
	// Capacity is the largest number of tokens that may wait at the place, 1 to MaxTokens. 0 means
	// 1.
	Capacity int
	// Policy decides what happens to a token that arrives when the place is full.
	Policy Policy
}

// Policy is the behaviour of a full environment place.
type Policy uint8

const (
	// Refuse makes Inject return ErrFull. The marking does not change.
	Refuse Policy = iota
	// DropOldest removes the oldest token to make room. It makes the place a payload place, whose
	// tokens decide nothing: a transition that consumes from it consumes nothing else and produces
	// only outputs.
	DropOldest
	// Coalesce replaces the newest token. It makes the place a payload place, like DropOldest.
	Coalesce
)

// String returns the name used in drawings and errors.
func (p Policy) String() string { return [...]string{"refuse", "drop oldest", "coalesce"}[p] }

// Output declares an output place.
type Output struct {
	Place AnyPlace
	// Durable makes the tokens wait until every event up to their own is stored.
	Durable bool
}

// Cap limits a place other than an environment place to Max tokens, 1 to MaxTokens. A firing that
// would exceed the limit is a fault. A proof must show that no such firing exists.
type Cap struct {
	Place AnyPlace
	Max   int
}

// MaxTokens is the largest number of tokens that a place may hold.
const MaxTokens = 1 << 16

// Compose makes one net of several. Ports of equal name and type fuse and become ports of the
// result. All other places stay private to their net. Every instance of a subnet needs a name of
// its own. The error is an *Error that lists every problem.
func Compose(name string, nets ...*Net) (*Net, error) {
	c := &Net{Name: name, Nets: nets}
	var errs problems
	seen := map[string]*Net{}
	ports := map[string]portOwner{}
	for i, n := range nets {
		if n == nil {
			errs.add(Problem{Net: name}, "compose %s: part %d is nil", name, i)
			continue
		}
		if n.Name == "" {
			errs.add(Problem{Net: name}, "compose %s: part %d has no name", name, i)
		}
		if seen[n.Name] != nil {
			errs.add(Problem{Net: name},
				"compose %s: two parts are named %q; give each instance a name of its own", name, n.Name)
		}
		seen[n.Name] = n
		for _, p := range n.Ports {
			if isNil(p) {
				errs.add(Problem{Net: name}, "compose %s: net %q lists a nil port", name, n.Name)
				continue
			}
			c.addPort(p, n, ports, &errs)
		}
	}
	return c, errs.err()
}

type portOwner struct {
	net   *Net
	place AnyPlace
}

func (c *Net) addPort(p AnyPlace, owner *Net, ports map[string]portOwner, errs *problems) {
	old, ok := ports[p.String()]
	if !ok {
		ports[p.String()] = portOwner{owner, p}
		c.Ports = append(c.Ports, p)
		return
	}
	if a, b := old.place.typ(), p.typ(); a != b {
		errs.add(Problem{Net: c.Name},
			"compose %s: port %q is %s in net %q but %s in net %q; give both the same colour or rename one",
			c.Name, p.String(), typeName(a), old.net.Name, typeName(b), owner.Name)
	}
}

// Close composes an open net with automata of its environment, for proofs and simulation. An output
// that an automaton consumes becomes an inner place. An environment place that an automaton fills
// keeps its capacity. The result is not for serving calls.
func Close(name string, open *Net, automata ...*Net) (*Net, error) {
	n, err := Compose(name, append([]*Net{open}, automata...)...)
	if n != nil {
		n.closed = true
	}
	return n, err
}
