// A client that does as little as a client can: it writes a request over a socket of its own, reads, and takes the time
// of the read that brought the first event. What it shows as time to first token is the server's and the machine's.
//
//	bare -address 127.0.0.1:9100 -model fake -streams 64 -requests 640 -events 20 -pause 50
//
// Each stream sends its next request when the one before has ended, as a closed loop does. Loopback addresses only. It
// prints one JSON object.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"net"
	"os"
	"sort"
	"sync"
	"sync/atomic"
	"time"
)

const timeout = 60 * time.Second

type stream struct {
	firsts []float64 // ms
	events int
	err    error
}

func (s *stream) run(address string, request []byte, next *atomic.Int64, requests int64) {
	socket, err := net.DialTimeout("tcp", address, 5*time.Second)
	if err != nil {
		s.err = err
		return
	}
	defer socket.Close()
	reader := bufio.NewReaderSize(socket, 32<<10)
	for next.Add(1) <= requests {
		socket.SetDeadline(time.Now().Add(timeout))
		if s.err = s.ask(socket, reader, request); s.err != nil {
			return
		}
	}
}

// ask reads lines until the chunk that ends the body: lines of the framing hold no event.
func (s *stream) ask(socket net.Conn, reader *bufio.Reader, request []byte) error {
	begun := time.Now()
	if _, err := socket.Write(request); err != nil {
		return err
	}
	first := true
	for {
		line, err := reader.ReadSlice('\n')
		if err != nil {
			return err
		}
		switch {
		case bytes.HasPrefix(line, []byte("data: {")):
			if first {
				s.firsts = append(s.firsts, float64(time.Since(begun).Nanoseconds())/1e6)
				first = false
			}
			s.events++
		case bytes.Equal(line, []byte("0\r\n")):
			_, err := reader.ReadSlice('\n')
			return err
		}
	}
}

func percentile(sorted []float64, share float64) float64 {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[int(share*float64(len(sorted)-1)+0.5)]
}

func main() {
	address := flag.String("address", "", "host and port of a loopback server")
	model := flag.String("model", "fake", "the model's name")
	streams := flag.Int("streams", 64, "streams at once")
	requests := flag.Int("requests", 640, "requests in all")
	events := flag.Int("events", 20, "events of one reply")
	pause := flag.Int("pause", 50, "ms between two events")
	flag.Parse()
	host, _, err := net.SplitHostPort(*address)
	if err != nil || !net.ParseIP(host).IsLoopback() {
		fmt.Fprintln(os.Stderr, "bare: -address is a loopback address with a port")
		os.Exit(2)
	}
	body, _ := json.Marshal(map[string]any{
		"model": *model, "stream": true, "max_tokens": *events, "user": fmt.Sprintf("pause=%d", *pause),
		"messages": []any{map[string]string{"role": "user", "content": "Hi"}},
	})
	request := []byte(fmt.Sprintf("POST /v1/chat/completions HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", *address, len(body), body))
	all := make([]stream, *streams)
	var next atomic.Int64
	var wait sync.WaitGroup
	for i := range all {
		wait.Add(1)
		go func() {
			defer wait.Done()
			all[i].run(*address, request, &next, int64(*requests))
		}()
	}
	wait.Wait()
	var firsts []float64
	counted := 0
	for i := range all {
		if all[i].err != nil {
			fmt.Fprintln(os.Stderr, "bare:", all[i].err)
			os.Exit(1)
		}
		firsts = append(firsts, all[i].firsts...)
		counted += all[i].events
	}
	sort.Float64s(firsts)
	json.NewEncoder(os.Stdout).Encode(map[string]any{
		"requests": len(firsts), "events": counted,
		"ttft_p50_ms": percentile(firsts, .5), "ttft_p99_ms": percentile(firsts, .99),
	})
}
