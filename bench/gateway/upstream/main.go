// A fast fake inference server: what stands behind every gateway that the benchmark measures.
//
//	upstream --port 9100                      an OpenAI-compatible server
//	upstream --port N --alias M --ctx-size C --parallel S ...
//	                                          the same, taken by an agent for a llama-server: it answers the
//	                                          adapter's questions and ignores the flags that it does not know
//	upstream --port N --first 100 --pause 20  the same, paced: every stream has its first event so many milliseconds
//	                                          after its request, and the next ones so far apart, and prompts are
//	                                          counted, a word for a token
//
// A request of the benchmark says what it wants back: "stream", "max_tokens" (events), and in "user" the pause between two
// events ("pause=50" is 50 ms, and every such request has one). Each event carries the wall clock at which it was written,
// in nanoseconds, so that the client can tell what the way cost. Where "user" says nothing of the kind, and the server is
// not paced, a chat or a text is answered as a well-behaved server would (answers.go). Listens on loopback only.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"
)

const (
	eventsMax = 100_000
	bodyMax   = 4 << 20
	answer    = "The quick brown fox jumps over the lazy dog. The quick brown fox jumps over the lazy dog. The quick."
)

// What the command line said, with llama-server's names.
type options struct {
	port, model, path, key string
	context, slots         int
	first, pause           int // milliseconds; a server is paced where either is above 0
}

func (o options) paced() bool { return o.first > 0 || o.pause > 0 }

func parse(args []string) options {
	o := options{port: "9100", model: "fake", context: 4096, slots: 4, key: os.Getenv("LLAMA_API_KEY")}
	for i := 0; i < len(args); i++ {
		name, value, joined := strings.Cut(args[i], "=")
		if !joined && i+1 < len(args) {
			value = args[i+1]
		}
		switch name {
		case "--port":
			o.port = value
		case "--alias", "-a":
			o.model = value
		case "--model", "-m":
			o.path = value
		case "--ctx-size", "-c":
			o.context, _ = strconv.Atoi(value)
		case "--parallel", "-np":
			o.slots, _ = strconv.Atoi(value)
		case "--first":
			o.first, _ = strconv.Atoi(value)
		case "--pause":
			o.pause, _ = strconv.Atoi(value)
		case "--api-key-file":
			if key, err := os.ReadFile(value); err == nil {
				o.key = strings.TrimSpace(string(key))
			}
		case "--version":
			fmt.Fprintln(os.Stderr, "version: 0.0.0 (build 1, commit fake)")
			os.Exit(0)
		case "--help":
			fmt.Println("-m, --model FILE; -a, --alias NAME; --port N; -c, --ctx-size N; -np, --parallel N; --cache-ram N; --ubatch-size N")
			os.Exit(0)
		}
	}
	return o
}

type request struct {
	Stream      bool            `json:"stream"`
	Events      int             `json:"max_tokens"`
	NewerEvents int             `json:"max_completion_tokens"`
	User        string          `json:"user"`
	Messages    json.RawMessage `json:"messages"`
	Options     struct {
		Usage bool `json:"include_usage"`
	} `json:"stream_options"`
}

// What a message says: a text, or a list of parts of which some are text.
type message struct {
	Content json.RawMessage `json:"content"`
}

type part struct {
	Text string `json:"text"`
}

// promptTokens is the number of words in all messages.
func (q *request) promptTokens() int {
	prompt, _ := promptText(q.Messages)
	return len(strings.Fields(prompt))
}

type server struct {
	options
	plain []byte
}

func main() {
	o := parse(os.Args[1:])
	s := &server{options: o}
	s.plain = []byte(fmt.Sprintf(`{"id":"chatcmpl-0123456789abcdef","object":"chat.completion","created":1760000000,"model":%q,"choices":[{"index":0,"message":{"role":"assistant","content":%q},"logprobs":null,"finish_reason":"stop"}],"usage":{"prompt_tokens":12,"completion_tokens":24,"total_tokens":36},"x_extra":"kept"}`, o.model, answer))
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/chat/completions", s.locked(s.chat))
	mux.HandleFunc("POST /v1/completions", s.locked(s.completion))
	mux.HandleFunc("GET /health", func(w http.ResponseWriter, r *http.Request) { reply(w, map[string]any{"status": "ok"}) })
	mux.HandleFunc("GET /v1/health", func(w http.ResponseWriter, r *http.Request) { reply(w, map[string]any{"status": "ok"}) })
	mux.HandleFunc("GET /props", s.locked(s.props))
	mux.HandleFunc("GET /v1/models", s.locked(s.models))
	mux.HandleFunc("GET /models", s.locked(s.models))
	mux.HandleFunc("GET /slots", s.locked(s.slotList))
	mux.HandleFunc("POST /apply-template", s.locked(s.applyTemplate))
	mux.HandleFunc("POST /tokenize", s.locked(s.tokenize))
	listener, err := net.Listen("tcp", "127.0.0.1:"+o.port)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Fprintln(os.Stderr, "listening on", listener.Addr())
	fmt.Fprintln(os.Stderr, http.Serve(listener, mux))
	os.Exit(1)
}

func reply(w http.ResponseWriter, value any) {
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(value)
}

// locked answers only who knows the key, where there is one: as llama-server does.
func (s *server) locked(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if s.key != "" && r.Header.Get("Authorization") != "Bearer "+s.key {
			w.WriteHeader(http.StatusUnauthorized)
			reply(w, map[string]any{"error": map[string]any{"code": 401, "message": "Invalid API Key", "type": "authentication_error"}})
			return
		}
		next(w, r)
	}
}

func (s *server) props(w http.ResponseWriter, r *http.Request) {
	reply(w, map[string]any{
		"default_generation_settings": map[string]any{"n_ctx": s.context / s.slots, "params": map[string]any{}},
		"total_slots":                 s.slots,
		"model_alias":                 s.model,
		"model_path":                  s.path,
		"modalities":                  map[string]any{"vision": false, "audio": false},
		"chat_template":               "{{ messages }}",
		"build_info":                  "b1-fake",
		"is_sleeping":                 false,
	})
}

func (s *server) models(w http.ResponseWriter, r *http.Request) {
	reply(w, map[string]any{"object": "list", "data": []any{map[string]any{
		"id": s.model, "object": "model", "created": time.Now().Unix(), "owned_by": "llamacpp",
		"meta": map[string]any{"n_ctx": s.context / s.slots, "n_ctx_train": s.context, "n_vocab": 256},
	}}})
}

func (s *server) slotList(w http.ResponseWriter, r *http.Request) {
	list := make([]any, s.slots)
	for i := range list {
		list[i] = map[string]any{"id": i, "n_ctx": s.context / s.slots, "is_processing": false}
	}
	reply(w, list)
}

// The template is none: what the messages say, one after the other.
func (s *server) applyTemplate(w http.ResponseWriter, r *http.Request) {
	var q request
	json.NewDecoder(io.LimitReader(r.Body, bodyMax)).Decode(&q)
	prompt, _ := promptText(q.Messages)
	reply(w, map[string]any{"prompt": prompt})
}

func (s *server) tokenize(w http.ResponseWriter, r *http.Request) {
	var q struct {
		Content string `json:"content"`
	}
	json.NewDecoder(io.LimitReader(r.Body, bodyMax)).Decode(&q)
	reply(w, map[string]any{"tokens": make([]int, len(strings.Fields(q.Content)))})
}

func (s *server) completion(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(io.LimitReader(r.Body, bodyMax))
	if err != nil {
		return
	}
	s.answer(w, r, body, false)
}

func (s *server) chat(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(io.LimitReader(r.Body, bodyMax))
	if err != nil {
		return
	}
	var q request
	if json.Unmarshal(body, &q) != nil || !(s.paced() || strings.HasPrefix(q.User, "pause=")) {
		s.answer(w, r, body, true)
		return
	}
	q.Events = max(q.Events, q.NewerEvents)
	if !q.Stream {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Length", strconv.Itoa(len(s.plain)))
		w.Write(s.plain)
		return
	}
	s.stream(w, r, &q)
}

func (s *server) stream(w http.ResponseWriter, r *http.Request, q *request) {
	begun, prompt := time.Now(), 12
	if s.paced() {
		prompt = q.promptTokens()
	}
	pause := s.pause
	if after, ok := strings.CutPrefix(q.User, "pause="); ok {
		pause, _ = strconv.Atoi(after)
	}
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-cache")
	flusher := w.(http.Flusher)
	head := fmt.Sprintf(`data: {"id":"chatcmpl-0123456789","object":"chat.completion.chunk","created":1760000000,"model":%q,"choices":[{"index":0,"delta":`, s.model)
	tick := time.NewTimer(0)
	<-tick.C
	defer tick.Stop()
	start := begun.Add(time.Duration(s.first) * time.Millisecond)
	for i := 0; i < min(q.Events, eventsMax); i++ {
		if (pause > 0 && i > 0) || (s.first > 0 && i == 0) {
			// Against the start and not the last event: a late event must not move all later ones.
			tick.Reset(time.Until(start.Add(time.Duration(i*pause) * time.Millisecond)))
			select {
			case <-tick.C:
			case <-r.Context().Done():
				return
			}
		}
		if _, err := fmt.Fprintf(w, "%s{\"content\":\" tok%06d\"},\"logprobs\":null,\"finish_reason\":null}],\"at\":%d}\n\n", head, i, time.Now().UnixNano()); err != nil {
			return
		}
		flusher.Flush()
	}
	fmt.Fprintf(w, "%s{},\"finish_reason\":\"stop\"}]}\n\n", head)
	if q.Options.Usage {
		fmt.Fprintf(w, `data: {"id":"chatcmpl-0123456789","object":"chat.completion.chunk","created":1760000000,"model":%q,"choices":[],"usage":{"prompt_tokens":%d,"completion_tokens":%d,"total_tokens":%d}}`+"\n\n", s.model, prompt, q.Events, prompt+q.Events)
	}
	io.WriteString(w, "data: [DONE]\n\n")
	flusher.Flush()
}
