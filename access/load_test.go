package access

import (
	"context"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/voicegw/voicegw/transport"
)

func TestLoad(t *testing.T) {
	calm, cpu, late := reading{}, reading{cpu: 0.9}, reading{late: 110 * time.Millisecond}
	between := reading{cpu: 0.8}
	repeat := func(r reading, n int) []reading {
		var out []reading
		for range n {
			out = append(out, r)
		}
		return out
	}
	for _, tt := range []struct {
		name  string
		looks [][]reading
		high  bool
	}{
		{"nothing", nil, false},
		{"a moment", [][]reading{repeat(cpu, 3)}, false},
		{"processors", [][]reading{repeat(cpu, 4)}, true},
		{"timers", [][]reading{repeat(late, 4)}, true},
		{"one, then the other", [][]reading{repeat(cpu, 2), repeat(late, 2)}, true},
		{"off and on", [][]reading{repeat(cpu, 3), repeat(calm, 1), repeat(cpu, 3)}, false},
		{"not low yet", [][]reading{repeat(cpu, 4), repeat(calm, 7)}, true},
		{"low again", [][]reading{repeat(cpu, 4), repeat(calm, 8)}, false},
		{"just below is not low", [][]reading{repeat(cpu, 4), repeat(between, 100)}, true},
		{"just below is not high", [][]reading{repeat(between, 100)}, false},
	} {
		l, err := NewLoad(LoadConfig{})
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range tt.looks {
			for _, r := range part {
				l.judge(r)
			}
		}
		if l.high.Load() != tt.high {
			t.Errorf("%s: high is %v", tt.name, l.high.Load())
		}
	}
}

// TestLoadRuns lets the process use all of its processors, then none.
func TestLoadRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var share atomic.Int64 // of the processors, in percent
		share.Store(100)
		began, used := time.Now(), time.Duration(0)
		l, err := NewLoad(LoadConfig{CPU: func() time.Duration {
			used += time.Since(began) * time.Duration(share.Load()) * time.Duration(runtime.GOMAXPROCS(0)) / 100
			began = time.Now()
			return used
		}})
		if err != nil {
			t.Fatal(err)
		}
		g, err := New(Config{Load: l})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() { l.Run(ctx); close(ended) }()
		if err := g.Ready(); err != nil {
			t.Error(err)
		}
		time.Sleep(1100 * time.Millisecond)
		if r := refused(t, g.Ready(), transport.ReasonBusy); r.RetryAfter != 2*time.Second || r.Status() != 503 {
			t.Errorf("%+v, retry after %v", r, r.RetryAfter)
		}
		share.Store(10)
		time.Sleep(2100 * time.Millisecond)
		if err := g.Ready(); err != nil {
			t.Error(err)
		}
		for range 5 {
			l.Late(time.Second)
			time.Sleep(250 * time.Millisecond)
		}
		refused(t, g.Ready(), transport.ReasonBusy)
		cancel()
		<-ended
		if err := g.Ready(); err != nil {
			t.Errorf("when nobody looks: %v", err)
		}
	})
}

func TestProcessTime(t *testing.T) {
	before := processTime()
	for began := time.Now(); processTime() == before; {
		if time.Since(began) > 10*time.Second {
			t.Fatal("work takes no processor time")
		}
	}
}

func TestLoadConfig(t *testing.T) {
	for _, c := range []LoadConfig{{CPUMax: -1}, {LateMax: -1}, {Every: time.Millisecond}} {
		if _, err := NewLoad(c); err == nil {
			t.Errorf("%+v was taken", c)
		}
	}
}
