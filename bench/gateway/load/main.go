// A closed-loop load client that measures several gateways against each other.
//
//	load -targets FILE [-rounds 3] [-block 2s] [-only NAME] > results.json
//
// FILE holds a JSON list of {"name","address","model","key","pids"}; the target named "direct" is the fake upstream
// itself. Each scenario runs in short blocks that go round the targets, so that a slow spell of the machine meets all of
// them; a result is the median over the rounds. Speaks raw HTTP/1.1 over one kept-alive socket for each connection, to
// loopback addresses only.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http/httputil"
	"os"
	"sort"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	requestTimeout = 60 * time.Second
	errorsMax      = 20
	prompt         = 600 // bytes
)

type target struct {
	Name    string `json:"name"`
	Address string `json:"address"`
	Model   string `json:"model"`
	Key     string `json:"key"`
	Pids    []int  `json:"pids"`
}

type scenario struct {
	Name        string
	Connections int
	Events      int // 0: no stream
	Pause       int // ms between two events
	Once        bool
}

// The rows of the table. "many" is one stream for each connection, whatever time it takes.
var scenarios = []scenario{
	{Name: "rate", Connections: 32},
	{Name: "latency", Connections: 1},
	{Name: "first-token", Connections: 64, Events: 20, Pause: 50},
	{Name: "events", Connections: 64, Events: 100},
	{Name: "many", Connections: 512, Events: 50, Pause: 100, Once: true},
}

// What one connection, or all of them together, saw in one block; times in milliseconds.
type sample struct {
	latencies, firsts, transits []float64
	requests, events, failures  int
	firstFailure                string
	seconds, cpu                float64
}

func (s *sample) add(o *sample) {
	s.latencies = append(s.latencies, o.latencies...)
	s.firsts = append(s.firsts, o.firsts...)
	s.transits = append(s.transits, o.transits...)
	s.requests += o.requests
	s.events += o.events
	s.failures += o.failures
	if s.firstFailure == "" {
		s.firstFailure = o.firstFailure
	}
}

type connection struct {
	socket net.Conn
	reader *bufio.Reader
}

func (c *connection) close() {
	if c.socket != nil {
		c.socket.Close()
		c.socket = nil
	}
}

func (c *connection) ask(t *target, request []byte, sc *scenario, s *sample) (err error) {
	defer func() {
		if err != nil {
			c.close()
		}
	}()
	if c.socket == nil {
		socket, err := net.DialTimeout("tcp", t.Address, 5*time.Second)
		if err != nil {
			return err
		}
		c.socket, c.reader = socket, bufio.NewReaderSize(socket, 32<<10)
	}
	c.socket.SetDeadline(time.Now().Add(requestTimeout))
	begun := time.Now()
	if _, err := c.socket.Write(request); err != nil {
		return err
	}
	status, body, whole, err := c.head()
	if err != nil {
		return err
	}
	if status != 200 {
		text, _ := io.ReadAll(io.LimitReader(body, 500))
		return fmt.Errorf("status %d: %s", status, text)
	}
	if sc.Events == 0 {
		text, err := io.ReadAll(body)
		if err != nil {
			return err
		}
		if !bytes.Contains(text, []byte("The quick brown fox")) {
			return fmt.Errorf("not the answer: %.200s", text)
		}
	} else if err := readStream(body, begun, sc, s); err != nil {
		return err
	}
	if err := whole(); err != nil {
		return err
	}
	s.requests++
	s.latencies = append(s.latencies, millis(time.Since(begun)))
	return nil
}

// head reads up to the body; whole is called after the body and reads what frames its end.
func (c *connection) head() (status int, body io.Reader, whole func() error, err error) {
	line, err := c.reader.ReadString('\n')
	if err != nil {
		return 0, nil, nil, err
	}
	if len(line) < 12 {
		return 0, nil, nil, fmt.Errorf("not a status line: %q", line)
	}
	status, _ = strconv.Atoi(line[9:12])
	length, chunked, closing := int64(-1), false, false
	for {
		line, err := c.reader.ReadString('\n')
		if err != nil {
			return 0, nil, nil, err
		}
		name, value, found := strings.Cut(strings.TrimRight(line, "\r\n"), ":")
		if !found {
			break
		}
		value = strings.ToLower(strings.TrimSpace(value))
		switch strings.ToLower(name) {
		case "content-length":
			length, _ = strconv.ParseInt(value, 10, 64)
		case "transfer-encoding":
			chunked = value == "chunked"
		case "connection":
			closing = value == "close"
		}
	}
	switch {
	case chunked:
		body = httputil.NewChunkedReader(c.reader)
	case length >= 0:
		body = io.LimitReader(c.reader, length)
	default:
		body, closing = c.reader, true
	}
	whole = func() error {
		if chunked {
			if _, err := c.reader.ReadSlice('\n'); err != nil {
				return err
			}
		}
		if closing {
			c.close()
		}
		return nil
	}
	return status, body, whole, nil
}

func readStream(body io.Reader, begun time.Time, sc *scenario, s *sample) error {
	reader := bufio.NewReaderSize(body, 16<<10)
	events, done := 0, false
	for {
		line, err := reader.ReadSlice('\n')
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		if bytes.HasPrefix(line, []byte("data: [DONE]")) {
			done = true
			continue
		}
		if number(line) != events {
			continue
		}
		now := time.Now()
		if events == 0 {
			s.firsts = append(s.firsts, millis(now.Sub(begun)))
		}
		if sc.Pause > 0 {
			if at := bytes.LastIndex(line, []byte(`"at":`)); at >= 0 {
				digits, _, _ := bytes.Cut(line[at+5:], []byte("}"))
				sent, _ := strconv.ParseInt(string(digits), 10, 64)
				s.transits = append(s.transits, float64(now.UnixNano()-sent)/1e6)
			}
		}
		events++
	}
	s.events += events
	if events != sc.Events || !done {
		return fmt.Errorf("lost events: %d of %d in order, end announced: %v", events, sc.Events, done)
	}
	return nil
}

// number is the event's own number, -1 where the line holds none.
func number(line []byte) int {
	at := bytes.Index(line, []byte(" tok"))
	if at < 0 || at+10 > len(line) {
		return -1
	}
	n := 0
	for _, digit := range line[at+4 : at+10] {
		n = n*10 + int(digit-'0')
	}
	return n
}

func requestBytes(t *target, sc *scenario) []byte {
	body := map[string]any{
		"model":       t.Model,
		"messages":    []any{map[string]string{"role": "user", "content": strings.Repeat("lorem ipsum ", prompt/12)}},
		"temperature": 0.5,
		"user":        fmt.Sprintf("pause=%d", sc.Pause),
	}
	if sc.Events > 0 {
		body["stream"] = true
		body["max_tokens"] = sc.Events
	}
	text, _ := json.Marshal(body)
	key := ""
	if t.Key != "" {
		key = "Authorization: Bearer " + t.Key + "\r\n"
	}
	return []byte(fmt.Sprintf("POST /v1/chat/completions HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\n%sContent-Length: %d\r\n\r\n%s", t.Address, key, len(text), text))
}

func block(t *target, sc *scenario, length time.Duration) *sample {
	request := requestBytes(t, sc)
	parts := make([]sample, sc.Connections)
	var wait sync.WaitGroup
	cpu, begun := cpuSeconds(t.Pids), time.Now()
	end := begun.Add(length)
	for i := range parts {
		wait.Add(1)
		go func() {
			defer wait.Done()
			c := &connection{}
			defer c.close()
			if sc.Once {
				// Spread over one pause: streams of real clients do not begin in the same millisecond.
				time.Sleep(time.Duration(i*sc.Pause/sc.Connections) * time.Millisecond)
			}
			for parts[i].failures < errorsMax {
				if err := c.ask(t, request, sc, &parts[i]); err != nil {
					parts[i].failures++
					parts[i].firstFailure = err.Error()
				}
				if sc.Once || time.Now().After(end) {
					return
				}
			}
		}()
	}
	wait.Wait()
	all := &sample{seconds: time.Since(begun).Seconds(), cpu: cpuSeconds(t.Pids) - cpu}
	for i := range parts {
		all.add(&parts[i])
	}
	return all
}

func cpuSeconds(pids []int) (seconds float64) {
	for _, pid := range pids {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil {
			continue
		}
		fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+2:]))
		user, _ := strconv.ParseFloat(fields[11], 64)
		system, _ := strconv.ParseFloat(fields[12], 64)
		seconds += (user + system) / 100
	}
	return seconds
}

func millis(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e6 }

func percentile(values []float64, share float64) float64 {
	if len(values) == 0 {
		return 0
	}
	sort.Float64s(values)
	return values[int(share*float64(len(values)-1)+0.5)]
}

// One scenario on one target: medians over the rounds, the worst over all rounds where a maximum is asked for.
type result struct {
	Scenario     string    `json:"scenario"`
	Target       string    `json:"target"`
	Rate         float64   `json:"requests_per_s"`
	Rates        []float64 `json:"requests_per_s_rounds"`
	P50          float64   `json:"latency_p50_ms"`
	P99          float64   `json:"latency_p99_ms"`
	FirstP50     float64   `json:"first_p50_ms"`
	FirstP99     float64   `json:"first_p99_ms"`
	Events       float64   `json:"events_per_s"`
	EventRates   []float64 `json:"events_per_s_rounds"`
	TransitP99   float64   `json:"transit_p99_ms"`
	TransitMax   float64   `json:"transit_max_ms"`
	CPU          float64   `json:"cpu_s_per_1000"`
	Requests     int       `json:"requests"`
	Failures     int       `json:"failures"`
	FirstFailure string    `json:"first_failure"`
}

func measure(ts []target, sc *scenario, rounds int, length, warm time.Duration) []result {
	samples := make([][]*sample, len(ts))
	for round := 0; round < rounds; round++ {
		for j := range ts {
			i := (j + round) % len(ts)
			if !sc.Once {
				block(&ts[i], sc, warm)
			}
			samples[i] = append(samples[i], block(&ts[i], sc, length))
		}
		fmt.Fprintf(os.Stderr, "%s: round %d of %d\n", sc.Name, round+1, rounds)
	}
	results := make([]result, len(ts))
	for i := range ts {
		results[i] = summary(sc.Name, ts[i].Name, samples[i])
	}
	return results
}

func summary(scenario, target string, samples []*sample) result {
	r := result{Scenario: scenario, Target: target}
	var p50, p99, f50, f99, t99, cpu []float64
	for _, s := range samples {
		r.Rates = append(r.Rates, float64(s.requests)/s.seconds)
		r.EventRates = append(r.EventRates, float64(s.events)/s.seconds)
		p50 = append(p50, percentile(s.latencies, .5))
		p99 = append(p99, percentile(s.latencies, .99))
		f50 = append(f50, percentile(s.firsts, .5))
		f99 = append(f99, percentile(s.firsts, .99))
		t99 = append(t99, percentile(s.transits, .99))
		if s.requests > 0 {
			cpu = append(cpu, s.cpu*1000/float64(s.requests))
		}
		r.TransitMax = max(r.TransitMax, percentile(s.transits, 1))
		r.Requests += s.requests
		r.Failures += s.failures
		if r.FirstFailure == "" {
			r.FirstFailure = s.firstFailure
		}
	}
	r.P50, r.P99 = percentile(p50, .5), percentile(p99, .5)
	r.FirstP50, r.FirstP99 = percentile(f50, .5), percentile(f99, .5)
	r.TransitP99, r.CPU = percentile(t99, .5), percentile(cpu, .5)
	// Copies, because percentile sorts: the rounds stay in their order.
	r.Rate = percentile(append([]float64{}, r.Rates...), .5)
	r.Events = percentile(append([]float64{}, r.EventRates...), .5)
	return r
}

func readTargets(file string) ([]target, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var ts []target
	if err := json.Unmarshal(text, &ts); err != nil {
		return nil, err
	}
	for _, t := range ts {
		host, _, err := net.SplitHostPort(t.Address)
		if err != nil || !net.ParseIP(host).IsLoopback() {
			return nil, errors.New(t.Address + " is not a loopback address with a port")
		}
	}
	return ts, nil
}

func main() {
	file := flag.String("targets", "", "JSON list of targets")
	rounds := flag.Int("rounds", 3, "rounds of each scenario")
	length := flag.Duration("block", 2*time.Second, "length of one block")
	warm := flag.Duration("warm", 500*time.Millisecond, "load before each block that is not counted")
	prepare := flag.Duration("prepare", 40*time.Second, "load on each target before the first scenario, half whole and half streamed")
	only := flag.String("only", "", "one scenario instead of all")
	flag.Parse()
	ts, err := readTargets(*file)
	if err != nil {
		fmt.Fprintln(os.Stderr, "load:", err)
		os.Exit(2)
	}
	for i := range ts {
		block(&ts[i], &scenarios[0], *prepare/2)
		block(&ts[i], &scenarios[3], *prepare/2)
	}
	var all []result
	for i := range scenarios {
		if *only == "" || *only == scenarios[i].Name {
			all = append(all, measure(ts, &scenarios[i], *rounds, *length, *warm)...)
		}
	}
	encoder := json.NewEncoder(os.Stdout)
	encoder.SetIndent("", " ")
	encoder.Encode(all)
}
