package deploycheck

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/moby/buildkit/frontend/dockerfile/instructions"
	"github.com/moby/buildkit/frontend/dockerfile/linter"
	"github.com/moby/buildkit/frontend/dockerfile/parser"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	"helm.sh/helm/v3/pkg/strvals"
	apps "k8s.io/api/apps/v1"
	core "k8s.io/api/core/v1"
	policy "k8s.io/api/policy/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/yaml"
	strict "sigs.k8s.io/yaml"

	"github.com/voicegw/voicegw/settings"
)

// deploy is the path of a file in deploy/.
func deploy(name ...string) string {
	return filepath.Join(append([]string{"..", "..", "deploy"}, name...)...)
}

// objects are the objects of some manifests.
type objects struct {
	configs     map[string]core.ConfigMap
	services    []core.Service
	deployments []apps.Deployment
	accounts    []core.ServiceAccount
	budgets     []policy.PodDisruptionBudget
}

// decode decodes manifests strictly: a field that its type does not have is an error.
func decode(text []byte) (*objects, error) {
	all := &objects{configs: map[string]core.ConfigMap{}}
	docs := yaml.NewYAMLReader(newReader(text))
	for {
		doc, err := docs.Read()
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return nil, err
		}
		if len(bytes.TrimSpace(doc)) == 0 {
			continue
		}
		var kind meta.TypeMeta
		if err := strict.Unmarshal(doc, &kind); err != nil {
			return nil, err
		}
		if err := all.add(kind, doc); err != nil {
			return nil, fmt.Errorf("%s: %w\n%s", kind.Kind, err, doc)
		}
	}
}

func (o *objects) add(kind meta.TypeMeta, doc []byte) error {
	var name string
	var err error
	switch kind.APIVersion + " " + kind.Kind {
	case "v1 ConfigMap":
		var v core.ConfigMap
		err = strict.UnmarshalStrict(doc, &v)
		name, o.configs[v.Name] = v.Name, v
	case "v1 Service":
		var v core.Service
		err = strict.UnmarshalStrict(doc, &v)
		name, o.services = v.Name, append(o.services, v)
	case "v1 ServiceAccount":
		var v core.ServiceAccount
		err = strict.UnmarshalStrict(doc, &v)
		name, o.accounts = v.Name, append(o.accounts, v)
	case "apps/v1 Deployment":
		var v apps.Deployment
		err = strict.UnmarshalStrict(doc, &v)
		name, o.deployments = v.Name, append(o.deployments, v)
	case "policy/v1 PodDisruptionBudget":
		var v policy.PodDisruptionBudget
		err = strict.UnmarshalStrict(doc, &v)
		name, o.budgets = v.Name, append(o.budgets, v)
	default:
		return fmt.Errorf("no test knows %s %s", kind.APIVersion, kind.Kind)
	}
	if bad := validation.IsDNS1035Label(name); err == nil && len(bad) > 0 {
		err = fmt.Errorf("the name %q: %v", name, bad)
	}
	return err
}

// check checks what the types do not: that the parts fit each other and the settings, and that a
// gateway reads its settings beside the variables that Kubernetes sets.
func (o *objects) check() error {
	if len(o.deployments) != 1 || len(o.accounts) != 1 || len(o.budgets) != 1 || len(o.services) == 0 {
		return fmt.Errorf("%d deployments, %d accounts, %d budgets, %d services", len(o.deployments), len(o.accounts),
			len(o.budgets), len(o.services))
	}
	d := o.deployments[0]
	pod := d.Spec.Template.Spec
	c := pod.Containers[0]
	labels := d.Spec.Template.Labels
	selectors := []map[string]string{d.Spec.Selector.MatchLabels, o.budgets[0].Spec.Selector.MatchLabels}
	for _, s := range o.services {
		selectors = append(selectors, s.Spec.Selector)
		for _, p := range s.Spec.Ports {
			if !slices.ContainsFunc(c.Ports, func(own core.ContainerPort) bool { return own.Name == p.TargetPort.StrVal }) {
				return fmt.Errorf("the service %s leads to port %q, which the container does not have", s.Name,
					p.TargetPort.StrVal)
			}
		}
	}
	for _, s := range selectors {
		for key, value := range s {
			if labels[key] != value {
				return fmt.Errorf("the pods have no label %s=%s", key, value)
			}
		}
	}
	if pod.ServiceAccountName != o.accounts[0].Name {
		return fmt.Errorf("the account is %q", pod.ServiceAccountName)
	}
	return errors.Join(hardened(pod), mounts(pod), o.settings(pod))
}

// hardened wants a pod without rights that it does not need.
func hardened(pod core.PodSpec) error {
	c := pod.Containers[0]
	s, p := c.SecurityContext, pod.SecurityContext
	switch {
	case s == nil || p == nil:
		return errors.New("there is no security context")
	case p.RunAsNonRoot == nil || !*p.RunAsNonRoot || p.RunAsUser == nil || *p.RunAsUser == 0:
		return errors.New("it may run as root")
	case s.AllowPrivilegeEscalation == nil || *s.AllowPrivilegeEscalation:
		return errors.New("it may gain privileges")
	case s.ReadOnlyRootFilesystem == nil || !*s.ReadOnlyRootFilesystem:
		return errors.New("its file system can be written")
	case s.Capabilities == nil || !slices.Equal(s.Capabilities.Drop, []core.Capability{"ALL"}):
		return errors.New("it has capabilities")
	case p.SeccompProfile == nil || p.SeccompProfile.Type != core.SeccompProfileTypeRuntimeDefault:
		return errors.New("it has no seccomp profile")
	case pod.AutomountServiceAccountToken == nil || *pod.AutomountServiceAccountToken:
		return errors.New("it gets a token of the cluster")
	}
	return nil
}

// mounts wants a volume for each mount.
func mounts(pod core.PodSpec) error {
	for _, m := range pod.Containers[0].VolumeMounts {
		if !slices.ContainsFunc(pod.Volumes, func(v core.Volume) bool { return v.Name == m.Name }) {
			return fmt.Errorf("there is no volume %q", m.Name)
		}
	}
	return nil
}

// settings reads the file of settings as the gateway does, and compares the pod with it.
func (o *objects) settings(pod core.PodSpec) error {
	c := pod.Containers[0]
	var config core.ConfigMap
	for _, v := range pod.Volumes {
		if v.ConfigMap != nil {
			config = o.configs[v.ConfigMap.Name]
		}
	}
	dir, err := os.MkdirTemp("", "deploycheck-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	text := config.Data["voicegw.yaml"]
	file := filepath.Join(dir, "voicegw.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		return err
	}
	if want := []string{"serve", "--config", "/etc/voicegw/voicegw.yaml"}; !slices.Equal(c.Args, want) {
		return fmt.Errorf("the arguments are %q, want %q", c.Args, want)
	}
	env := o.links()
	for _, v := range c.Env {
		if v.ValueFrom != nil && v.ValueFrom.FieldRef != nil && v.ValueFrom.FieldRef.FieldPath == "status.hostIP" {
			env = append(env, v.Name+"=203.0.113.7")
		}
	}
	s, err := settings.Read(settings.Sources{File: file, Environ: env})
	if err != nil {
		return fmt.Errorf("%w\n%s", err, text)
	}
	l := s.Limits
	grace := time.Duration(*pod.TerminationGracePeriodSeconds) * time.Second
	if need := l.DrainDelay + l.DrainLimit + l.ShutdownTimeout; grace < need+5*time.Second {
		return fmt.Errorf("the grace period is %v, and a gateway may take %v to end", grace, need)
	}
	if l.DrainDelay < 2*time.Duration(c.ReadinessProbe.PeriodSeconds)*time.Second {
		return fmt.Errorf("the gateway drains for %v before it refuses calls; the probe asks every %d s", l.DrainDelay,
			c.ReadinessProbe.PeriodSeconds)
	}
	startup := c.StartupProbe
	if time.Duration(startup.PeriodSeconds*startup.FailureThreshold)*time.Second < 2*time.Minute {
		return errors.New("the startup probe gives up before the proof does")
	}
	for _, p := range []*core.Probe{c.StartupProbe, c.LivenessProbe, c.ReadinessProbe} {
		if !slices.Contains([]string{"/healthz", "/readyz"}, p.HTTPGet.Path) || p.HTTPGet.Port.StrVal != "http" {
			return fmt.Errorf("a probe asks %s at port %s", p.HTTPGet.Path, p.HTTPGet.Port.String())
		}
	}
	memory := c.Resources.Limits.Memory().Value() >> 20
	if need := int64(256 + 2*s.CallsMax()); memory != need || c.Resources.Requests.Memory().Value()>>20 != need {
		return fmt.Errorf("%d calls may take %d MB, and the limit is %d MB", s.CallsMax(), need, memory)
	}
	if _, limited := c.Resources.Limits[core.ResourceCPU]; limited {
		return errors.New("a limit on the processor delays audio")
	}
	return errors.Join(o.listeners(c, s), written(c, s))
}

// written wants a volume for each directory that the gateway writes.
func written(c core.Container, s *settings.Settings) error {
	for _, dir := range []string{s.Archive, s.Records.Dir, s.DataDir} {
		if dir != "" && !slices.ContainsFunc(c.VolumeMounts, func(m core.VolumeMount) bool {
			return !m.ReadOnly && (dir == m.MountPath || strings.HasPrefix(dir, m.MountPath+"/"))
		}) {
			return fmt.Errorf("%s cannot be written", dir)
		}
	}
	return nil
}

// listeners compares the ports of the container with the settings.
func (o *objects) listeners(c core.Container, s *settings.Settings) error {
	want := map[string]string{"http": s.Listen, "admin": s.AdminListen, "webrtc": s.WebRTC.Listen}
	for _, p := range c.Ports {
		if !strings.HasSuffix(want[p.Name], fmt.Sprintf(":%d", p.ContainerPort)) {
			return fmt.Errorf("port %s is %d, and the gateway listens on %q", p.Name, p.ContainerPort, want[p.Name])
		}
		delete(want, p.Name)
	}
	for name, address := range want {
		if address != "" {
			return fmt.Errorf("the container has no port %s for %s", name, address)
		}
	}
	return nil
}

// links are the variables that Kubernetes sets for the services.
func (o *objects) links() []string {
	var list []string
	for _, s := range o.services {
		name := strings.ToUpper(strings.ReplaceAll(s.Name, "-", "_"))
		for i, p := range s.Spec.Ports {
			if i == 0 {
				list = append(list, name+"_SERVICE_HOST=10.96.0.17", fmt.Sprintf("%s_SERVICE_PORT=%d", name, p.Port),
					fmt.Sprintf("%s_PORT=tcp://10.96.0.17:%d", name, p.Port))
			}
			at := fmt.Sprintf("%s_PORT_%d_TCP", name, p.Port)
			list = append(list, fmt.Sprintf("%s_SERVICE_PORT_%s=%d", name, strings.ToUpper(p.Name), p.Port),
				fmt.Sprintf("%s=tcp://10.96.0.17:%d", at, p.Port), at+"_PROTO=tcp", fmt.Sprintf("%s_PORT=%d", at, p.Port),
				at+"_ADDR=10.96.0.17")
		}
	}
	return list
}

// render renders the chart as `helm template` does.
func render(release string, values map[string]any) ([]byte, error) {
	chart, err := loader.Load(deploy("helm", "voicegw"))
	if err != nil {
		return nil, err
	}
	all, err := chartutil.ToRenderValues(chart, values, chartutil.ReleaseOptions{Name: release, Namespace: "default"}, nil)
	if err != nil {
		return nil, err
	}
	files, err := engine.Engine{Strict: true}.Render(chart, all)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	for name, text := range files {
		if path.Ext(name) == ".yaml" {
			fmt.Fprintf(&out, "---\n%s\n", text)
		}
	}
	return out.Bytes(), nil
}

// TestManifests checks the manifests for kubectl.
func TestManifests(t *testing.T) {
	text, err := os.ReadFile(deploy("kubernetes", "voicegw.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	o, err := decode(text)
	if err == nil {
		err = o.check()
	}
	if err != nil {
		t.Error(err)
	}
}

// TestChart checks what the chart makes of values.
func TestChart(t *testing.T) {
	for _, c := range []struct {
		name, release string
		values        map[string]any
		refused       string
	}{
		{"defaults", "voicegw", nil, ""},
		{"another name", "phone", nil, ""},
		{"calls", "voicegw", map[string]any{"callsMax": 500, "drainLimitSeconds": 600}, ""},
		{"everything", "voicegw", map[string]any{"admin": map[string]any{"enabled": true}, "secretName": "voicegw-secrets",
			"webrtc": map[string]any{"enabled": true}, "config": map[string]any{"endpoints": []any{"webrtc"},
				"hosts": []any{"voice.example.com"}, "limits": map[string]any{"handshakes_per_address": 256}},
			"nodeSelector": map[string]any{"a": "b"}, "podAnnotations": map[string]any{"a": "b"},
			"imagePullSecrets": []any{map[string]any{"name": "a"}}}, ""},
		{"a volume", "voicegw", map[string]any{"config": map[string]any{"archive": "/data/archive"},
			"volumes":      []any{map[string]any{"name": "data", "emptyDir": map[string]any{}}},
			"volumeMounts": []any{map[string]any{"name": "data", "mountPath": "/data"}}}, ""},
		{"a mount without a volume", "voicegw", map[string]any{
			"volumeMounts": []any{map[string]any{"name": "data", "mountPath": "/data"}}}, `there is no volume "data"`},
		{"no volume", "voicegw", map[string]any{"config": map[string]any{"archive": "/data/archive"}},
			"/data/archive cannot be written"},
		{"admin without a token", "voicegw", map[string]any{"admin": map[string]any{"enabled": true}}, "admin.enabled needs"},
		{"a wrong setting", "voicegw", map[string]any{"config": map[string]any{"voise": "Puck"}}, "did you mean voice?"},
		{"no time to drain", "voicegw", map[string]any{"drainDelaySeconds": 0}, "before it refuses calls"},
	} {
		t.Run(c.name, func(t *testing.T) {
			text, err := render(c.release, c.values)
			var o *objects
			if err == nil {
				o, err = decode(text)
			}
			if err == nil {
				err = o.check()
			}
			if (err == nil) != (c.refused == "") || err != nil && !strings.Contains(err.Error(), c.refused) {
				t.Errorf("%v; want %q", err, c.refused)
			}
		})
	}
}

// TestChartInDocs renders the chart with the values of docs/deploy.md.
func TestChartInDocs(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "deploy.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, line, found := strings.Cut(string(page), "    helm install ")
	line, _, _ = strings.Cut(line, "\n")
	words := strings.Fields(line)
	if !found || len(words) < 4 || words[1] != "deploy/helm/voicegw" {
		t.Fatalf("the page installs %q", words)
	}
	values := map[string]any{}
	for i, w := range words {
		if w == "--set" {
			if err := strvals.ParseInto(words[i+1], values); err != nil {
				t.Fatal(err)
			}
		}
	}
	text, err := render(words[0], values)
	if err != nil {
		t.Fatal(err)
	}
	o, err := decode(text)
	if err != nil {
		t.Fatal(err)
	}
	if got := o.configs["voicegw"].Data["voicegw.yaml"]; !strings.Contains(got, "key_file: /secrets/gemini-key") ||
		!strings.Contains(got, "calls_max: 300") || o.deployments[0].Spec.Template.Spec.Volumes[2].Secret == nil {
		t.Errorf("the settings are\n%s", got)
	}
	if err := o.check(); !strings.Contains(fmt.Sprint(err), "/secrets/gemini-key: no such file") {
		t.Errorf("without the files of the Secret: %v", err)
	}
}

// TestDecodeIsStrict wants misspelled fields refused.
func TestDecodeIsStrict(t *testing.T) {
	for _, bad := range []string{"apiVersion: v1\nkind: Service\nmetadata: {name: a}\nspec: {prots: []}\n",
		"apiVersion: v1\nkind: Service\nmetadata: {name: A_b}\n", "apiVersion: v1\nkind: Gateway\n", "a: [\n",
		"apiVersion: v1\nkind: Service\nmetadata: {name: a, name: b}\n"} {
		if _, err := decode([]byte(bad)); err == nil {
			t.Errorf("taken: %s", bad)
		}
	}
}

// lint parses a Dockerfile as BuildKit does, and returns what its linter says.
func lint(text []byte) (stages []instructions.Stage, said []string, err error) {
	l := linter.New(&linter.Config{Warn: func(rule, _, _, message string, at []parser.Range) {
		said = append(said, fmt.Sprintf("%s: %s %v", rule, message, at))
	}})
	tree, err := parser.Parse(bytes.NewReader(text))
	if err != nil {
		return nil, nil, err
	}
	for _, w := range tree.Warnings {
		said = append(said, w.Short)
	}
	stages, _, err = instructions.Parse(tree.AST, l)
	return stages, said, err
}

// TestDockerfile parses and lints the Dockerfile. Nothing here builds it.
func TestDockerfile(t *testing.T) {
	text, err := os.ReadFile(deploy("Dockerfile"))
	if err != nil {
		t.Fatal(err)
	}
	stages, said, err := lint(text)
	if err != nil || len(said) > 0 || len(stages) != 2 {
		t.Fatalf("%d stages, %v, %q", len(stages), err, said)
	}
	last := stages[1]
	user, entry := "", []string(nil)
	for _, c := range last.Commands {
		switch c := c.(type) {
		case *instructions.UserCommand:
			user = c.User
		case *instructions.EntrypointCommand:
			entry = c.CmdLine
		case *instructions.CopyCommand:
			if c.From != "build" {
				t.Errorf("it copies from %q", c.From)
			}
		}
	}
	if last.BaseName != "scratch" || user != "65532:65532" || !slices.Equal(entry, []string{"/usr/local/bin/voicegw"}) {
		t.Errorf("base %q, user %q, entry %q", last.BaseName, user, entry)
	}
	for _, bad := range []string{"from golang:1.26 AS build\nRUN x\n", "FROM golang:1.26\nCOPYY . .\n",
		"FROM a\nMAINTAINER me\n"} {
		if _, said, err := lint([]byte(bad)); err == nil && len(said) == 0 {
			t.Errorf("nothing is wrong with %q", bad)
		}
	}
}

// newReader is a buffered reader of text.
func newReader(text []byte) *bufio.Reader { return bufio.NewReader(bytes.NewReader(text)) }
