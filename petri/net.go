package petri

// Net is a net or a part of one. It is a plain value: subnets are functions
// that return one, and diagrams, checks and proofs range over it.
type Net struct {
	Name string
	// Ports are the places the net shares with its surroundings; they fuse by
	// name and type. Every other place is private to this net.
	Ports []AnyPlace
	// Nets are the parts this net is composed of (see Compose).
	Nets []*Net
	// Transitions of the net itself, before those of its parts.
	Transitions []Transition
	// Env lists the places through which tokens enter from outside.
	Env []Env
	// Out lists the places through which tokens leave; a token put there leaves
	// the marking at once.
	Out []Output
	// Tasks are slow work that runs beside the net.
	Tasks []AnyTask
	// Caps limit places that are not environment places.
	Caps []Cap
	// Sinks are places where tokens may rest for ever.
	Sinks []AnyPlace
	// Final ends the run: once it is marked nothing fires and nothing enters.
	Final AnyPlace
	// Init is the initial marking. Each machine gets a copy of what a payload
	// points to; a payload that machines would share even so is refused.
	Init []Token

	// Imported marks a net of the field that was read from a file: parts that
	// cannot work are listed as Program.Notes instead of refused.
	Imported bool

	closed bool // outputs that some part consumes are inner places (Close)
}

// Env declares an environment place.
type Env struct {
	Place AnyPlace
	// Capacity is the most tokens that may wait there, 1 to MaxTokens; 0
	// means 1.
	Capacity int
	// Policy says what happens to a token that comes when it is full.
	Policy Policy
}

// Policy is what an environment place does when it is full.
type Policy uint8

const (
	// Refuse turns the new token away; the sender is told (ErrFull).
	Refuse Policy = iota
	// DropOldest removes the oldest token. Only for payload places: what
	// consumes from them consumes nothing else and produces only outputs, so
	// that their tokens decide nothing.
	DropOldest
	// Coalesce replaces the newest token. Only for payload places.
	Coalesce
)

// String is the name used in diagrams and errors.
func (p Policy) String() string { return [...]string{"refuse", "drop oldest", "coalesce"}[p] }

// Output declares an output place.
type Output struct {
	Place AnyPlace
	// Durable outputs wait until every event up to their own is stored.
	Durable bool
}

// Cap limits a place. A firing that would exceed it is a fault, so a proof
// must show that none does.
type Cap struct {
	Place AnyPlace
	Max   int
}

// MaxTokens is the most tokens any place may hold.
const MaxTokens = 1 << 16

// Compose makes one net of several: ports of equal name and type fuse, all
// other places stay private to their net. The ports of the parts are ports of
// the result. Instances of one subnet need different names. All problems are
// reported at once.
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

// Close composes an open net with automata of its environment for proofs and
// simulation: an output that an automaton consumes becomes an inner place, and
// an environment place that an automaton fills keeps its capacity. The result
// is not meant to be served.
func Close(name string, open *Net, automata ...*Net) (*Net, error) {
	n, err := Compose(name, append([]*Net{open}, automata...)...)
	if n != nil {
		n.closed = true
	}
	return n, err
}
