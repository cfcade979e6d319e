package netfile

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/verify/netmodel"
	"github.com/voicegw/voicegw/verify/stateclass"
)

// spelling is a net as one tool writes it, the same in TINA's .net, and what it would be if what the
// spelling is about were not read.
type spelling struct{ name, text, same, not string }

func standard(body string) string {
	return `<?xml version="1.0"?><pnml xmlns="http://www.pnml.org/version-2009/grammar/pnml">
<net id="n" type="http://www.pnml.org/version-2009/grammar/ptnet"><page id="g">
` + body + "\n</page></net></pnml>"
}

// consumer has an arc from p, with one token, to t, which marks q.
func consumer(arc string) string {
	return standard(`<place id="p"><initialMarking><text>1</text></initialMarking></place>
<place id="q"/><transition id="t"/><arc id="a" source="t" target="q"/>` + arc)
}

// tapaal is a net of TAPAAL's with a place p with one token and an empty q.
func tapaal(body string) string {
	return `<?xml version="1.0" encoding="UTF-8" standalone="no"?>
<pnml xmlns="http://www.informatik.hu-berlin.de/top/pnml/ptNetb" xml:lang="en">
<constant name="k" value="3"/>
<net active="true" id="TAPN1" type="P/T net"><labels border="true" height="1">a note</labels>
<place displayName="true" id="p" initialMarking="1" invariant="&lt; inf" name="p" nameOffsetX="0" nameOffsetY="0" ` +
		`positionX="1" positionY="2"/>
<place displayName="true" id="q" initialMarking="0" invariant="&lt; inf" name="q"/>
` + body + `
</net><query active="true" name="Q"><formula><all-paths/></formula></query><k-bound bound="3"/>
<feature isGame="false" isTimed="true" isColored="false" isStochastic="false"/></pnml>`
}

const tapaalTransition = `<transition angle="0" displayName="true" id="t" infiniteServer="false" name="t" ` +
	`nameOffsetX="0" player="0" positionX="1" priority="0" urgent="false" distribution="constant" value="1.0" ` +
	`weight="1.0" firingMode="Oldest"/>`

// pipe is a net of PIPE's with a place p with one token, empty places q and r, and two transitions
// from p with what is given.
func pipe(first, second string) string {
	return `<?xml version="1.0" encoding="ISO-8859-1"?><pnml><net id="Net-One" type="P/T net">
<token id="Default" enabled="true" red="0" green="0" blue="0"/><labels x="1" y="2"><text>#r</text></labels>
<place id="p"><graphics><position x="1.0" y="2.0"/></graphics><name><value>p</value><graphics/></name>
<initialMarking><value>Default,1</value><graphics><offset x="0.0" y="0.0"/></graphics></initialMarking>
<capacity><value>0</value></capacity></place>
<place id="q"><name><value>q</value></name><initialMarking><value>Default,0</value></initialMarking></place>
<place id="r"><name><value>r</value></name></place>
<transition id="t"><name><value>t</value></name><orientation><value>90</value></orientation>
<rate><value>2.0</value></rate><infiniteServer><value>false</value></infiniteServer>` + first + `</transition>
<transition id="u"><name><value>u</value></name>` + second + `</transition>
<arc id="p to t" source="p" target="t"><graphics/><inscription><value>Default,1</value><graphics/></inscription>
<tagged><value>false</value></tagged><arcpath id="000" x="1" y="2" curvePoint="false"/><type value="normal"/></arc>
<arc id="t to q" source="t" target="q"><inscription><value>Default,1</value></inscription><type value="normal"/></arc>
<arc id="p to u" source="p" target="u"><type value="normal"/></arc><arc id="u to r" source="u" target="r"/>
</net></pnml>`
}

func spellings() []spelling {
	const (
		inhibited = "pl p (1)\npl q\ntr t p?-1 -> q"
		consumes  = "pl p (1)\npl q\ntr t p -> q"
		reads     = "pl p (1)\npl q\ntr t p?1 q?-2 -> q"
		choice    = "pl p (1)\npl q\npl r\ntr t p -> q\ntr u p -> r"
		first     = choice + "\npr t > u"
	)
	stop := `<arc id="b" source="q" target="t"><type value="inhibitor"/><inscription><text>2</text></inscription></arc>`
	return []spelling{
		{"inhibitor, attribute", consumer(`<arc id="b" source="p" target="t" type="inhibitor"/>`), inhibited, consumes},
		{"inhibitor, value", consumer(`<arc id="b" source="p" target="t"><type value="inhibitor"/></arc>`), inhibited,
			consumes},
		{"inhibitor, text", consumer(`<arc id="b" source="p" target="t"><type><text>inhibitor</text></type></arc>`),
			inhibited, consumes},
		{"inhibitor, ProM", consumer(`<arc id="b" source="p" target="t"><arctype><text>inhibitor</text></arctype></arc>`),
			inhibited, consumes},
		{"reset, ProM", consumer(`<arc id="b" source="p" target="t"><arctype><text>reset</text></arctype></arc>` + stop),
			"pl p (1)\npl q\npl none\ntr t p q?-2 -> q\ntr u p?-1 q?-2 -> q", "pl p (1)\npl q\npl none\ntr t p q?-2 -> q"},
		{"test, attribute", consumer(`<arc id="b" source="p" target="t" type="test"/>` + stop), reads, consumes},
		{"read, value", consumer(`<arc id="b" source="p" target="t"><type value="read"/></arc>` + stop), reads, consumes},
		{"weight, attribute", consumer(`<arc id="b" source="p" target="t" type="inhibitor" weight="2"/>` + stop),
			"pl p (1)\npl q\ntr t p?-2 q?-2 -> q", inhibited},
		{"TINA, interval", strings.Replace(standard(`<place id="p"><initialMarking><text>1</text></initialMarking></place>
<place id="q"/><place id="r"/><transition id="t"><delay><interval xmlns="http://www.w3.org/1998/Math/MathML" `+
			`closure="closed"><cn>1</cn><cn>2</cn></interval><graphics><offset x="1" y="0"/></graphics></delay></transition>
<transition id="u"><delay><interval xmlns="http://www.w3.org/1998/Math/MathML" closure="closed-open"><cn>3</cn>`+
			`<ci>infty</ci></interval></delay></transition><arc id="a" source="p" target="t"/><arc id="b" source="t" target="q"/>
<arc id="c" source="p" target="u"/><arc id="d" source="u" target="r"/>`), "version-2009/grammar/ptnet", "tina/tpn", 1),
			"pl p (1)\npl q\npl r\ntr t [1,2] p -> q\ntr u [3,w[ p -> r", choice},
		{"TAPAAL", tapaal(tapaalTransition + `
<arc id="a" inscription="[0,inf)" nameOffsetX="0" source="p" target="t" type="timed" weight="1"><arcpath id="0" ` +
			`arcPointType="false" xCoord="1" yCoord="2"/></arc>
<arc id="b" inscription="1" source="t" target="q" type="normal" weight="3"/>`),
			"pl p (1)\npl q\ntr t p -> q*3", consumes},
		{"TAPAAL, inhibitor", tapaal(tapaalTransition + `
<arc id="a" inscription="[0,inf)" source="p" target="t" type="tapnInhibitor" weight="1"/>
<arc id="b" inscription="1" source="t" target="q" type="normal" weight="1"/>`), inhibited, consumes},
		{"TAPAAL, transport", tapaal(tapaalTransition + `
<arc id="a" inscription="[0,inf):1" source="p" target="t" type="transport" weight="1" transportID="1"/>
<arc id="b" inscription="[0,inf):1" source="t" target="q" type="transport" weight="1" transportID="1"/>`),
			consumes, inhibited},
		{"PIPE", pipe("<timed><value>true</value></timed>", "<timed><value>true</value></timed>"), choice, first},
		{"PIPE, immediate", pipe("<timed><value>false</value></timed>", "<timed><value>true</value></timed>"), first, choice},
		{"PIPE, immediate alike", pipe("<timed><value>false</value></timed>",
			"<timed><value>false</value></timed><priority><value>1</value></priority>"), choice, first},
		{"PIPE, priority", pipe("<timed><value>false</value></timed><priority><value>2</value></priority>",
			"<timed><value>false</value></timed>"), first, choice},
		{"PIPE, priority of timed", pipe("<timed><value>true</value></timed><priority><value>2</value></priority>",
			"<timed><value>true</value></timed>"), choice, first},
		{"PIPE, inhibitor", strings.Replace(strings.Replace(pipe("", ""), `<type value="normal"/></arc><arc id="u to r"`,
			`<inscription><graphics/></inscription><type value="inhibitor"/></arc><arc id="u to r"`, 1),
			`</net>`, `<arc id="x" source="r" target="u"><type value="inhibitor"/></arc></net>`, 1),
			"pl p (1)\npl q\npl r\ntr t p -> q\ntr u p?-1 r?-1 -> r", choice},
		{"PIPE, kinds of token", strings.ReplaceAll(pipe("", ""), "Default,1", "Red,0,Default,1"), choice, inhibited},
		{"LoLA and others: what a tool draws", consumer(`<arc id="b" source="p" target="t">` +
			`<toolspecific tool="x" version="1"><graphics><position x="1"/></graphics></toolspecific></arc>`),
			consumes, inhibited},
	}
}

// story is everything that a net does, on its places by name: markings, state classes and their edges.
func story(t *testing.T, text string) string {
	t.Helper()
	m := read(t, text)
	g, err := stateclass.Explore(context.Background(), m, stateclass.Options{Merge: stateclass.Equality, Max: 1000})
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for c := range g.Classes() {
		list = append(list, m.Format(g.Marking(c, nil)))
	}
	slices.Sort(list)
	return fmt.Sprint(list, g.Edges(), len(g.Dead()), g.Complete)
}

// TestSpellings: a net means what the tool means that writes so.
func TestSpellings(t *testing.T) {
	for _, s := range spellings() {
		t.Run(s.name, func(t *testing.T) {
			have, want := story(t, s.text), story(t, s.same)
			if have != want {
				t.Errorf("does %s\nwant %s", have, want)
			}
			if other := story(t, s.not); want == other {
				t.Errorf("the test does not tell apart: %s", other)
			}
		})
	}
}

// TestUnknownRefused: what is not known, or known and not read, is refused with its line.
func TestUnknownRefused(t *testing.T) {
	in := func(body string) string { return standard("<place id='p'/><transition id='t'/>\n" + body) }
	for _, c := range []struct{ name, text, want string }{
		{"root", "<workspaceElements><cpnet/></workspaceElements>", ":1: the document is <workspaceElements>"},
		{"Romeo", `<TPN name="x"><place id="1"/></TPN>`, ":1: the document is <TPN>"},
		{"element", in("<place id='q'><colour/></place>"), ":4: the element <colour> in <place> is not known"},
		{"element of a net", in("<gate/>"), ":4: the element <gate> in <page> is not known"},
		{"attribute", in("<place id='q' tokens='3'/>"), ":4: the attribute tokens of <place> is not known"},
		{"attribute of an arc", in("<arc id='a'\nsource='p' target='t' kind='inhibitor'/>"),
			":5: the attribute kind of <arc>"},
		{"attribute of another namespace", in("<arc id='a' source='p' target='t' xmlns:x='o' x:type='inhibitor'/>"),
			":4: the attribute type of <arc> is not known"},
		{"stray text", in("<place id='q'><initialMarking>\n3</initialMarking></place>"),
			`:5: the text "3" is where no text is allowed`},
		{"marking twice", in("<place id='q' initialMarking='1'><initialMarking><text>1</text></initialMarking></place>"),
			":4: a second initialMarking in <place>"},
		{"text twice", in("<place id='q'><initialMarking><text>1</text><value>2</value></initialMarking></place>"),
			":4: a second text in <initialMarking>"},
		{"type twice", in("<arc id='a' source='p' target='t' type='normal'><type value='inhibitor'/></arc>"),
			":4: a second type in <arc>"},
		{"type spelled twice", in("<arc id='a' source='p' target='t'><type value='test'/>" +
			"<arctype><text>reset</text></arctype></arc>"), ":4: a second type in <arc>"},
		{"weight twice", in("<arc id='a' source='p' target='t' weight='2'><inscription><text>3</text></inscription></arc>"),
			":4: a second inscription in <arc>"},
		{"type", in("<arc id='a' source='p' target='t' type='stopwatch'/>"), `:4: an arc of type "stopwatch"`},
		{"inhibitor out", in("<arc id='a' source='t' target='p' type='inhibitor'/>"),
			`:4: an arc of type "inhibitor" from a transition`},
		{"tool", in("<place id='q'><toolspecific tool='y' version='1'><rate>3</rate></toolspecific></place>"),
			`:4: what the tool "y" adds, "rate", may change`},
		{"tool, attribute", in("<place id='q'><toolspecific tool='y' urgent='1'/></place>"), `adds, "urgent", may change`},
		{"tool, text", in("<place id='q'><toolspecific tool='y'>urgent</toolspecific></place>"),
			`adds, "urgent", may change`},
		{"namespace", in("<x:place xmlns:x='other' id='q'/>"), ":4: the element <place> is of another namespace"},
		{"net type", strings.Replace(in(""), "grammar/ptnet", "grammar/stochasticptnet", 1), ":2: the net has type"},
		{"huge marking", in("<place id='q'><initialMarking><text>99999999999999999999</text></initialMarking></place>"),
			":4: the number"},
		{"weight 0", in("<arc id='a' source='p' target='t' weight='0'/>"), `:4: the number "0"; want 1 to`},
		{"constant weight", tapaal(tapaalTransition + "<arc id='a' source='p' target='t' type='timed' weight='k'/>"),
			`:7: the number "k"`},
		{"age", tapaal(tapaalTransition + "<arc id='a' inscription='[2,4]' source='p' target='t' type='timed' weight='1'/>"),
			`:7: the arc has the inscription "[2,4]"`},
		{"invariant", strings.Replace(tapaal(""), "&lt; inf", "&lt;= 5", 1), `:5: <place> has invariant="<= 5"`},
		{"urgent", tapaal(strings.Replace(tapaalTransition, `urgent="false"`, `urgent="true"`, 1)),
			`:7: <transition> has urgent`},
		{"player", tapaal(strings.Replace(tapaalTransition, `player="0"`, `player="1"`, 1)), `:7: <transition> has player`},
		{"distribution", tapaal(strings.Replace(tapaalTransition, "constant", "uniform", 1)), `has distribution="uniform"`},
		{"shared", strings.Replace(tapaal(""), "<constant", "<shared-place name='s' initialMarking='1'/><constant", 1),
			":3: the element <shared-place> in <pnml>"},
		{"colours", strings.Replace(tapaal(""), `isColored="false"`, `isColored="true"`, 1), `has isColored="true"`},
		{"inactive", strings.Replace(tapaal(""), `active="true" id`, `active="false" id`, 1), `:4: <net> has active="false"`},
		{"capacity", strings.Replace(pipe("", ""), "<capacity><value>0", "<capacity><value>2", 1),
			`:5: the place has the capacity "2"`},
		{"kinds of token", strings.Replace(pipe("", ""), "Default,1", "Red,1", 1),
			`tokens of kind "Default" beside those of kind`},
		{"a kind beside none", consumer("<arc id='b' source='p' target='t'>" +
			"<inscription><text>Red,1</text></inscription></arc>"), `:4: tokens of kind "Red" beside those of kind "Default"`},
		{"kinds in one place", strings.Replace(pipe("", ""), "Default,1", "Red,1,Blue,1", 1), `tokens of kind "Blue" beside`},
		{"half a kind", strings.Replace(pipe("", ""), "Default,1", "Default,1,Red", 1), "no list of kinds"},
		{"timed", pipe("<timed><value>perhaps</value></timed>", ""), `:9: the transition is timed "perhaps"`},
		{"timed or not", pipe("<timed><value>true</value></timed>", ""), ":10: transition u has a priority or is timed"},
		{"priority of what", pipe("<priority><value>2</value></priority>", "<priority><value>1</value></priority>"),
			":8: transition t has a priority"},
		{"open interval", in(delay("open", "<cn>3</cn><cn>5</cn>")), ":4: the interval is open"},
		{"half open", in(delay("closed-open", "<cn>3</cn><cn>5</cn>")), ":4: the interval is closed-open"},
		{"inverted", in(delay("closed", "<cn>5</cn><cn>3</cn>")), ":4: the interval from 5 to 3 is empty"},
		{"negative", in(delay("closed", "<cn>-5</cn><cn>3</cn>")), `:4: the bounds "-5" and "3"`},
		{"fraction", in(delay("closed", "<cn>1</cn><cn>2.5</cn>")), `:4: the bounds "1" and "2.5"`},
		{"overflow", in(delay("closed", "<cn>1</cn><cn>9223372036854775807</cn>")), "are no whole numbers"},
		{"constant", in(delay("closed", "<cn>1</cn><ci>k</ci>")), `:4: the bounds "1" and "k"`},
		{"three bounds", in(delay("closed", "<cn>1</cn><cn>2</cn><cn>3</cn>")), "this one 3"},
	} {
		_, err := Read("bad", []byte(c.text))
		var e *Error
		if !errors.As(err, &e) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v; want %q", c.name, err, c.want)
		}
	}
}

func delay(closure, bounds string) string {
	return "<transition id='v'><delay><interval closure='" + closure + "'>" + bounds + "</interval></delay></transition>"
}

// TestReadBack: nets that we write are read as what was written.
func TestReadBack(t *testing.T) {
	for seed := range uint64(300) {
		text := plain(seed)
		f, err := Read("plain", []byte(text))
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		p, err := petri.Compile(f.Net)
		if err != nil {
			t.Fatal(err)
		}
		tina, err := WriteTINA(p, netmodel.Interleave)
		if err != nil {
			t.Fatal(err)
		}
		pnml, err := WritePNML(p)
		if err != nil {
			t.Fatal(err)
		}
		for text, timed := range map[string]bool{string(tina): true, string(pnml): false} {
			if have, want := said(read(t, text).Program(), timed), said(p, timed); have != want {
				t.Fatalf("%s\nsays %s\nwant %s", text, have, want)
			}
		}
	}
}
