package settings

import (
	"strings"
	"testing"
)

// TestJournalMistakes: settings of several nodes that cannot work are refused by name, without a password.
func TestJournalMistakes(t *testing.T) {
	t.Parallel()
	for _, c := range []mistake{
		{"two journals", "data_dir: d\njournal: nats://u:hush@a:1", nil, nil,
			[]string{"journal is a value not shown", "data_dir"}},
		{"no journal", "journal: redis://u:hush@a:1", nil, nil,
			[]string{"journal is a value not shown", "nats://", "postgres://"}},
		{"half a journal", "", []string{"VOICEGW_JOURNAL=nats://u:hush@a:1,postgres://b"}, nil,
			[]string{"not shown", "several"}},
		{"workflows alone", "workflows: d", nil, nil, []string{"workflows", "data_dir or journal"}},
		{"agents alone", "agents: d", nil, nil, []string{"agents", "data_dir or journal"}},
		{"advertised alone", "advertise: http://a:1", nil, nil,
			[]string{"advertise", "data_dir and cluster.listen, or journal"}},
		{"advertised directory", "data_dir: d\nadvertise: http://a:1", nil, nil,
			[]string{"advertise", "one process at a time"}},
		{"advertised password", "journal: nats://a:1\nadvertise: http://u:p@a:1", nil, nil,
			[]string{"advertise", "http://10"}},
		{"name of a node", "node: a.example", nil, nil, []string{"node", `"a.example"`, "letters, digits"}},
		{"two replicas", "journal: nats://a:1\njournal_replicas: 2", nil, nil,
			[]string{"journal_replicas", "1, 3 or 5"}},
		{"replicas of PostgreSQL", "journal: postgres://a/b\njournal_replicas: 3", nil, nil,
			[]string{"journal_replicas", "NATS"}},
		{"cluster without directory", "journal: nats://a:1\ncluster: {listen: '127.0.0.1:1'}", nil, nil,
			[]string{"cluster.listen", "data_dir beside it"}},
		{"cluster without routes", "data_dir: d\nnode: a\nadvertise: http://a:1\ncluster: {listen: '127.0.0.1:1'}", nil, nil,
			[]string{"cluster.listen", "node, advertise and cluster.routes"}},
		{"cluster without secret", "data_dir: d\nnode: a\nadvertise: http://a:1\n" +
			"cluster: {listen: '10.0.0.7:1', routes: '10.0.0.8:1'}", nil, nil,
			[]string{"cluster.listen", "cluster.secret_file"}},
		{"routes alone", "cluster: {routes: '10.0.0.8:1'}", nil, nil,
			[]string{"cluster.routes", "cluster.listen beside it"}},
		{"secret alone", "cluster: {secret_file: f}", nil, nil,
			[]string{"cluster.secret_file", "cluster.listen beside it"}},
		{"route without port", "data_dir: d\nnode: a\nadvertise: http://a:1\n" +
			"cluster: {listen: '127.0.0.1:1', routes: '10.0.0.8'}", nil, nil, []string{"cluster.routes", "HOST:PORT"}},
	} {
		t.Run(c.name, c.check)
		if _, err := configured(t, c.file, c.env, c.args...); err == nil || strings.Contains(err.Error(), "hush") {
			t.Errorf("%s: the message shows the password: %v", c.name, err)
		}
	}
}

// TestNodes: these settings work.
func TestNodes(t *testing.T) {
	t.Parallel()
	const self = "\nadvertise: http://10.0.0.7:8080\n"
	for _, text := range []string{
		"data_dir: d\nagents: d",
		"data_dir: d\nworkflows: d\nworkflow: {allow: [10.1.0.0/16], public_url: 'https://agents.example.com'}",
		"journal: nats://u:hush@a:1,nats://b:1\nagents: d\njournal_replicas: 3\nnode: gateway-1" + self,
		"journal: postgres:///sessions?host=/run/postgresql" + self,
		"data_dir: d\nnode: a" + self + "cluster: {listen: '127.0.0.1:1', routes: '127.0.0.1:2,127.0.0.1:3'}",
		"data_dir: d\nnode: a" + self + "cluster: {listen: '10.0.0.7:1', routes: ['10.0.0.8:1'], secret_file: f}",
	} {
		if s, err := configured(t, text, nil); err != nil || !s.HasSessions() {
			t.Errorf("%s: %v", text, err)
		}
	}
}
