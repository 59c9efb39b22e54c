// Package k8s tests the manifests beside it: that they are what Kubernetes takes, as far
// as they go, that they fit together, and that what they run does what README.md says.
package k8s

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"go.yaml.in/yaml/v4"
)

// The types have the fields of Kubernetes' API (core/v1, batch/v1) that the manifests
// use; any other is refused.
type (
	object struct {
		APIVersion string `yaml:"apiVersion"`
		Kind       string `yaml:"kind"`
		Metadata   struct{ Name string }
		Data       map[string]string `yaml:"data"`
		Spec       yaml.Node         `yaml:"spec"`
	}
	claimSpec struct {
		AccessModes []string `yaml:"accessModes"`
		Resources   resources
	}
	jobSpec struct {
		CompletionMode       string `yaml:"completionMode"`
		Completions          int
		Parallelism          int
		BackoffLimit         *int `yaml:"backoffLimit"`
		BackoffLimitPerIndex *int `yaml:"backoffLimitPerIndex"`
		Template             struct{ Spec podSpec }
	}
	podSpec struct {
		RestartPolicy   string `yaml:"restartPolicy"`
		SecurityContext struct {
			RunAsNonRoot bool `yaml:"runAsNonRoot"`
			RunAsUser    int  `yaml:"runAsUser"`
			FSGroup      int  `yaml:"fsGroup"`
		} `yaml:"securityContext"`
		Containers []container
		Volumes    []volume
	}
	container struct {
		Name, Image  string
		Args         []string
		Resources    resources
		VolumeMounts []mount `yaml:"volumeMounts"`
	}
	resources struct{ Requests, Limits map[string]string }
	mount     struct {
		Name      string
		MountPath string `yaml:"mountPath"`
		ReadOnly  bool   `yaml:"readOnly"`
	}
	volume struct {
		Name      string
		ConfigMap *struct{ Name string } `yaml:"configMap"`
		Claim     *struct {
			ClaimName string `yaml:"claimName"`
			ReadOnly  bool   `yaml:"readOnly"`
		} `yaml:"persistentVolumeClaim"`
	}
)

// manifests is what both files hold.
type manifests struct {
	configMap map[string]string // of the ConfigMap ragtest-sweep
	claims    []string
	sweep     jobSpec
	merge     jobSpec
}

// strictly decodes YAML, and refuses fields that are not known.
func strictly(data []byte, into any) error {
	d := yaml.NewDecoder(bytes.NewReader(data))
	d.KnownFields(true)
	return d.Decode(into)
}

// read reads the objects in data.
func (m *manifests) read(data []byte) error {
	d := yaml.NewDecoder(bytes.NewReader(data))
	d.KnownFields(true)
	for {
		var o object
		if err := d.Decode(&o); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		spec, err := yaml.Marshal(&o.Spec)
		if err != nil {
			return err
		}
		switch o.APIVersion + " " + o.Kind + " " + o.Metadata.Name {
		case "v1 ConfigMap ragtest-sweep":
			m.configMap = o.Data
		case "v1 PersistentVolumeClaim ragtest-out":
			var claim claimSpec
			if err := strictly(spec, &claim); err != nil {
				return err
			}
			if !slices.Equal(claim.AccessModes, []string{"ReadWriteMany"}) || claim.Resources.Requests["storage"] == "" {
				return fmt.Errorf("the claim %s asks for %v and %v, want ReadWriteMany and storage", o.Metadata.Name, claim.AccessModes, claim.Resources)
			}
			m.claims = append(m.claims, o.Metadata.Name)
		case "batch/v1 Job ragtest-sweep":
			err = strictly(spec, &m.sweep)
		case "batch/v1 Job ragtest-merge":
			err = strictly(spec, &m.merge)
		default:
			return fmt.Errorf("found the object %s %s %s, want none", o.APIVersion, o.Kind, o.Metadata.Name)
		}
		if err != nil {
			return fmt.Errorf("%s %s: %w", o.Kind, o.Metadata.Name, err)
		}
	}
}

func readManifests(t *testing.T) *manifests {
	t.Helper()
	m := &manifests{claims: []string{"ragtest-data"}} // the user's
	for _, name := range []string{"job.yaml", "merge.yaml"} {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := m.read(data); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	return m
}

// check returns what is wrong with the manifests.
func (m *manifests) check() error {
	var errs []error
	wrong := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if m.sweep.CompletionMode != "Indexed" {
		wrong("completionMode is %q: only pods of an Indexed Job have a JOB_COMPLETION_INDEX", m.sweep.CompletionMode)
	}
	if m.sweep.BackoffLimitPerIndex == nil || m.sweep.Template.Spec.RestartPolicy != "Never" {
		wrong("restartPolicy is %q: backoffLimitPerIndex, which is wanted, demands Never", m.sweep.Template.Spec.RestartPolicy)
	}
	if m.sweep.Parallelism < 1 || m.sweep.Parallelism > m.sweep.Completions {
		wrong("parallelism is %d, want 1 to %d", m.sweep.Parallelism, m.sweep.Completions)
	}
	for name, job := range map[string]jobSpec{"ragtest-sweep": m.sweep, "ragtest-merge": m.merge} {
		pod := job.Template.Spec
		if len(pod.Containers) != 1 {
			wrong("%s has %d containers, want 1", name, len(pod.Containers))
			continue
		}
		if pod.RestartPolicy != "Never" && pod.RestartPolicy != "OnFailure" {
			wrong("%s: restartPolicy is %q, and a Job's is Never or OnFailure", name, pod.RestartPolicy)
		}
		if s := pod.SecurityContext; !s.RunAsNonRoot || s.RunAsUser == 0 || s.FSGroup != s.RunAsUser {
			wrong("%s: securityContext is %+v, want a user who is not root and whose group owns the volumes", name, s)
		}
		c := pod.Containers[0]
		if c.Resources.Requests["memory"] == "" || c.Resources.Limits["memory"] == "" {
			wrong("%s asks for no memory", name)
		}
		mounted := map[string]mount{}
		for _, v := range c.VolumeMounts {
			mounted[v.Name] = v
			if !path.IsAbs(v.MountPath) {
				wrong("%s: mountPath %s is not absolute", name, v.MountPath)
			}
		}
		for _, v := range pod.Volumes {
			if _, ok := mounted[v.Name]; !ok {
				wrong("%s: the volume %s is not mounted", name, v.Name)
			}
			delete(mounted, v.Name)
			if (v.ConfigMap == nil) == (v.Claim == nil) {
				wrong("%s: the volume %s wants a configMap or a persistentVolumeClaim", name, v.Name)
			}
			if v.ConfigMap != nil && (v.ConfigMap.Name != "ragtest-sweep" || m.configMap == nil) {
				wrong("%s: there is no ConfigMap %s", name, v.ConfigMap.Name)
			}
			if v.Claim != nil && !slices.Contains(m.claims, v.Claim.ClaimName) {
				wrong("%s: there is no claim %s", name, v.Claim.ClaimName)
			}
		}
		for v := range mounted {
			wrong("%s: there is no volume %s", name, v)
		}
	}
	if len(errs) > 0 {
		return errors.Join(errs...)
	}
	sweep, merge := m.sweep.Template.Spec.Containers[0], m.merge.Template.Spec.Containers[0]
	if i := slices.Index(sweep.Args, "-shard"); i < 0 || i+1 == len(sweep.Args) || sweep.Args[i+1] != fmt.Sprintf("job/%d", m.sweep.Completions) {
		wrong("the arguments are %q, want -shard job/%d for %d completions", sweep.Args, m.sweep.Completions, m.sweep.Completions)
	}
	if sweep.Image != merge.Image || !slices.Equal(sweep.VolumeMounts, merge.VolumeMounts) {
		wrong("the Jobs differ in image or volumes")
	}
	if i := slices.Index(sweep.Args, "-config"); i < 0 || !slices.Contains(merge.Args, sweep.Args[i+1]) {
		wrong("the Jobs have not the same -config: %q and %q", sweep.Args, merge.Args)
	} else if dir, file := path.Split(sweep.Args[i+1]); m.configMap[file] == "" || !slices.ContainsFunc(sweep.VolumeMounts, func(v mount) bool { return v.Name == "config" && v.MountPath+"/" == dir }) {
		wrong("-config is %s, which the ConfigMap does not hold", sweep.Args[i+1])
	}
	return errors.Join(errs...)
}

func TestManifestsFitTogether(t *testing.T) {
	if err := readManifests(t).check(); err != nil {
		t.Error(err)
	}
}

// TestCheckFindsMistakes makes sure that the check above can fail.
func TestCheckFindsMistakes(t *testing.T) {
	for _, test := range []struct{ old, new, want string }{
		{"completions: 8", "completions: 9", "-shard job/9"},
		{"completions: 8", "completion: 8", "completion"},
		{"completionMode: Indexed", "completionMode: NonIndexed", "JOB_COMPLETION_INDEX"},
		{"restartPolicy: Never", "restartPolicy: OnFailure", "demands Never"},
		{"restartPolicy: Never", "restartPolcy: Never", "restartPolcy"},
		{"parallelism: 8", "parallelism: 80", "parallelism is 80"},
		{"claimName: ragtest-out", "claimName: ragtest-in", "no claim ragtest-in"},
		{"- {name: out, mountPath: /out}", "- {name: aut, mountPath: /out}", "no volume aut"},
		{"  sweep.yaml: |", "  other.yaml: |", "which the ConfigMap does not hold"},
		{"kind: ConfigMap", "kind: ConfigMop", "ConfigMop"},
		{"runAsUser: 65532", "runAsUser: 0", "not root"},
		{"[ReadWriteMany]", "[ReadWriteOnce]", "ReadWriteMany"},
	} {
		m := &manifests{claims: []string{"ragtest-data"}}
		job, err := os.ReadFile("job.yaml")
		if err != nil {
			t.Fatal(err)
		}
		merge, err := os.ReadFile("merge.yaml")
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Contains(job, []byte(test.old)) {
			t.Fatalf("job.yaml does not hold %q", test.old)
		}
		err = m.read(bytes.Replace(job, []byte(test.old), []byte(test.new), 1))
		if err == nil {
			err = m.read(merge)
		}
		if err == nil {
			err = m.check()
		}
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s in place of %s: got the error %v, want one with %q", test.new, test.old, err, test.want)
		}
	}
}

// cluster runs containers as processes, with folders in place of volumes.
type cluster struct {
	ragtest string
	root    string // holds the mount paths
}

// place returns the text with the paths of the cluster's folders in place of the mount
// paths of a container.
func (c *cluster) place(text string, mounts []mount) string {
	var pairs []string
	for _, m := range mounts {
		pairs = append(pairs, m.MountPath, filepath.Join(c.root, filepath.FromSlash(m.MountPath)))
	}
	return strings.NewReplacer(pairs...).Replace(text)
}

// run runs a container with one more variable in its environment, and returns what it
// printed.
func (c *cluster) run(t *testing.T, of container, variable string, more ...string) ([]byte, error) {
	var args []string
	for _, arg := range append(of.Args, more...) {
		args = append(args, c.place(arg, of.VolumeMounts))
	}
	cmd := exec.CommandContext(t.Context(), c.ragtest, args...)
	cmd.Env = append(os.Environ(), variable)
	cmd.Dir = c.root
	out, err := cmd.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return nil, fmt.Errorf("ragtest %q: %w\n%s", args, err, exit.Stderr)
	}
	return out, err
}

// TestJobsAreTheWholeSweep runs what the manifests run, each index in a process of its
// own, all at once, and compares what they write with a sweep that is not shared.
func TestJobsAreTheWholeSweep(t *testing.T) {
	if testing.Short() {
		t.Skip("builds and runs the command")
	}
	m := readManifests(t)
	c := &cluster{ragtest: filepath.Join(t.TempDir(), "ragtest"), root: t.TempDir()}
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", c.ragtest, "github.com/rageval/rageval/ragtest/cmd/ragtest").CombinedOutput(); err != nil {
		t.Fatalf("building ragtest: %v\n%s", err, out)
	}
	sweep, merge := m.sweep.Template.Spec.Containers[0], m.merge.Template.Spec.Containers[0]
	for _, v := range sweep.VolumeMounts {
		if err := os.MkdirAll(filepath.Join(c.root, v.MountPath), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	for name, content := range m.configMap {
		if err := os.WriteFile(filepath.Join(c.root, "config", name), []byte(c.place(content, sweep.VolumeMounts)), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.CopyFS(filepath.Join(c.root, "data"), os.DirFS("../quickstart/testdata")); err != nil {
		t.Fatal(err)
	}

	var group sync.WaitGroup
	errs := make([]error, m.sweep.Completions)
	for i := range m.sweep.Completions {
		group.Go(func() { _, errs[i] = c.run(t, sweep, fmt.Sprintf("JOB_COMPLETION_INDEX=%d", i)) })
	}
	group.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	merged, err := c.run(t, merge, "JOB_COMPLETION_INDEX=")
	if err != nil {
		t.Fatal(err)
	}

	alone := sweep
	alone.Args = slices.Delete(slices.Clone(sweep.Args), slices.Index(sweep.Args, "-shard"), slices.Index(sweep.Args, "-shard")+2)
	whole := filepath.Join(c.root, "whole")
	printed, err := c.run(t, alone, "JOB_COMPLETION_INDEX=", "-output-dir", whole)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(merged, printed) || len(printed) == 0 {
		t.Errorf("the merged report is printed as\n%s, want\n%s", merged, printed)
	}
	for _, name := range []string{"sweep.json", "sweep.csv", "sweep.html"} {
		got, err := os.ReadFile(filepath.Join(c.root, "out", name))
		if err != nil {
			t.Fatal(err)
		}
		want, err := os.ReadFile(filepath.Join(whole, name))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) || len(want) == 0 {
			t.Errorf("%s of the shards (%d bytes) is not that of the whole sweep (%d bytes)", name, len(got), len(want))
		}
	}

	// A part that is missing is no merged report.
	if err := os.Remove(filepath.Join(c.root, "out", fmt.Sprintf("sweep-2-of-%d.json", m.sweep.Completions))); err != nil {
		t.Fatal(err)
	}
	if _, err := c.run(t, merge, "JOB_COMPLETION_INDEX="); err == nil || !strings.Contains(err.Error(), "missing") {
		t.Errorf("a part is missing: got the error %v", err)
	}
	// Nor is there a pod without an index.
	if _, err := c.run(t, sweep, "JOB_COMPLETION_INDEX="); err == nil || !strings.Contains(err.Error(), "JOB_COMPLETION_INDEX") {
		t.Errorf("there is no index: got the error %v", err)
	}
}
