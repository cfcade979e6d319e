package netfile

// mathML is the namespace of TINA's intervals.
const mathML = "http://www.w3.org/1998/Math/MathML"

// xmlSpaces lists the namespaces of attributes that are about the document: xmlns:x, xml:lang,
// xsi:schemaLocation.
func xmlSpaces() []string {
	return []string{"xmlns", "http://www.w3.org/XML/1998/namespace", "http://www.w3.org/2001/XMLSchema-instance"}
}

// content is what an element may contain.
type content struct {
	elements []string // elements to read
	skipped  []string // elements known to change nothing: layout, notes, queries
}

// grammar is the content of each element that is read. Everything that it does not list is refused.
func grammar() map[string]content {
	inNet := []string{"name", "page", "place", "transition", "arc", "referencePlace", "referenceTransition"}
	label := content{elements: []string{"text", "value"}, skipped: []string{"graphics"}}
	return map[string]content{
		"": {elements: []string{"pnml"}},
		// TAPAAL: constants appear in guards, which are refused where they restrict anything.
		"pnml": {elements: []string{"net", "feature"}, skipped: []string{"constant", "query", "queries", "k-bound"}},
		// PIPE: colours of tokens on the screen, rates by name, groups of states to measure. ProM:
		// accepted ends.
		"net": {elements: inNet, skipped: []string{"graphics", "labels", "token", "definition", "stategroup",
			"finalmarkings"}},
		"page": {elements: inNet, skipped: []string{"graphics"}},
		"place": {elements: []string{"name", "initialMarking", "capacity"}, skipped: []string{"graphics",
			"tagged"}},
		// PIPE: a rate gives a frequency, and any instant is possible.
		"transition": {elements: []string{"name", "delay", "timed", "priority"}, skipped: []string{"graphics",
			"rate", "infiniteServer", "orientation"}},
		"referencePlace":      {elements: []string{"name"}, skipped: []string{"graphics"}},
		"referenceTransition": {elements: []string{"name"}, skipped: []string{"graphics"}},
		"arc": {elements: []string{"name", "inscription", "type", "arctype"}, skipped: []string{"graphics", "arcpath",
			"tagged"}},
		"delay": {elements: []string{"interval"}, skipped: []string{"graphics"}},
		"name":  label, "initialMarking": label, "capacity": label, "timed": label, "priority": label,
		"inscription": label, "type": label, "arctype": label,
	}
}

// leaves lists the elements with text.
func leaves() []string { return []string{"text", "value"} }

// attributes lists the attributes of each element, each with the values that can be read, or none
// if any value can.
func attributes() map[string]map[string][]string {
	return map[string]map[string][]string{
		"net": {"id": nil, "type": nil, "active": {"true"}},
		// TAPAAL names here the engine that the net is for.
		"feature": {"isTimed": nil, "isGame": {"false"}, "isColored": {"false"}, "isStochastic": {"false"}},
		"page":    {"id": nil},
		"place": {"id": nil, "name": nil, "initialMarking": nil, "invariant": {"< inf"}, "displayName": nil,
			"nameOffsetX": nil, "nameOffsetY": nil, "positionX": nil, "positionY": nil},
		// TAPAAL's defaults for stochastic nets and games.
		"transition": {"id": nil, "name": nil, "urgent": {"false"}, "priority": {"0"}, "player": {"0"},
			"infiniteServer": nil, "distribution": {"constant"}, "value": {"1.0"}, "weight": {"1.0"}, "firingMode": nil,
			"displayName": nil, "angle": nil, "nameOffsetX": nil, "nameOffsetY": nil, "positionX": nil, "positionY": nil},
		"referencePlace":      {"id": nil, "ref": nil},
		"referenceTransition": {"id": nil, "ref": nil},
		"arc": {"id": nil, "source": nil, "target": nil, "type": nil, "weight": nil, "inscription": nil,
			"transportID": nil, "nameOffsetX": nil, "nameOffsetY": nil},
		"type": {"value": nil},
	}
}

// tools lists the tools whose additions describe a net and do not change it: units of the model
// checking contest, activities of a log.
func tools() []string { return []string{"nupn", "ProM"} }

// drawn lists elements with which any tool may describe how a net looks.
func drawn() []string {
	return []string{"graphics", "position", "offset", "dimension", "fill", "line", "font", "tokengraphics",
		"tokenposition"}
}

// netTypes lists the last parts of the types of net that are read, in lower case.
func netTypes() []string {
	return []string{"", "ptnet", "ptnetb", "basicpnml", "pnmlcoremodel", "tpn", "inhibitorptnet", "resetptnet",
		"resetinhibitorptnet"}
}
