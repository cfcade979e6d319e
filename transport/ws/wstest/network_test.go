package wstest

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"testing/synctest"
	"time"
)

func pair(t *testing.T, n *Network) (client, server net.Conn) {
	t.Helper()
	got := make(chan net.Conn, 1)
	go func() {
		c, err := n.Accept()
		if err != nil {
			t.Error(err)
		}
		got <- c
	}()
	client, err := n.Dial(t.Context(), "tcp", "anywhere:1")
	if err != nil {
		t.Fatal(err)
	}
	return client, <-got
}

func TestConn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, server := pair(t, New())
		b := make([]byte, 8)
		if _, err := client.Write([]byte("hello")); err != nil {
			t.Fatal(err)
		}
		if n, err := server.Read(b); err != nil || string(b[:n]) != "hello" {
			t.Errorf("Read = %q, %v", b[:n], err)
		}
		start := time.Now()
		_ = server.SetReadDeadline(start.Add(3 * time.Second))
		if _, err := server.Read(b); !errors.Is(err, os.ErrDeadlineExceeded) || time.Since(start) != 3*time.Second {
			t.Errorf("Read = %v after %v, want the deadline after 3 s", err, time.Since(start))
		}
		_ = server.SetDeadline(time.Time{})
		_, _ = client.Write([]byte("last"))
		_ = client.Close()
		if all, err := io.ReadAll(server); err != nil || string(all) != "last" {
			t.Errorf("after Close the far end read %q, %v", all, err)
		}
		if _, err := server.Write(b); err == nil {
			t.Error("a write to a closed end was taken")
		}
		if _, err := client.Read(b); !errors.Is(err, net.ErrClosed) {
			t.Errorf("Read on the closed end = %v", err)
		}
	})
}

func TestReadIsUnblocked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, _ := pair(t, New())
		done := make(chan error, 1)
		go func() {
			_, err := client.Read(make([]byte, 1))
			done <- err
		}()
		synctest.Wait()
		_ = client.SetReadDeadline(time.Now())
		if err := <-done; !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("Read = %v", err)
		}
	})
}

func TestNobodyListens(t *testing.T) {
	n := New()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := n.Dial(ctx, "", ""); err == nil {
		t.Error("Dial with a context that is done connected")
	}
	_ = n.Close()
	_ = n.Close()
	if _, err := n.Dial(context.Background(), "", ""); !errors.Is(err, net.ErrClosed) {
		t.Errorf("Dial = %v", err)
	}
	if _, err := n.Accept(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("Accept = %v", err)
	}
}
