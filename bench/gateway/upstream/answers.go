package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// What a server is asked by everybody but the benchmark's client: a hub that proves a worker, a person with curl. The
// answers are those of a well-behaved llama-server whose model knows some lines by heart, tells one story otherwise, and
// never thinks: limits, stop strings, schemas, grammars, forced calls, log-probabilities and usage are honoured, and a
// word is a token. They are as honest as a server can be that has no model: nothing in them depends on who asks, or why.

const (
	story      = "Once upon a time there was water that ran on and on through the land. "
	storyTimes = 3 // how often it is told before the answer ends
	logprob    = -0.25
)

// Whoever begins one of these hears the rest of it.
var byHeart = []string{
	"1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12",
	"A, B, C, D, E, F, G, H",
	"Monday, Tuesday, Wednesday, Thursday, Friday",
	"January, February, March, April, May, June",
	"The quick brown fox jumps over the lazy dog",
	"Once upon a time",
	"To be, or not to be, that is the question",
	"All human beings are born free and equal in dignity and rights",
	"The sun rises in the east and sets in the west",
	"The United States of America",
	"Romeo and Juliet",
}

type question struct {
	Stream         bool            `json:"stream"`
	MaxTokens      json.RawMessage `json:"max_tokens"`
	NewerMaxTokens json.RawMessage `json:"max_completion_tokens"`
	Messages       json.RawMessage `json:"messages"`
	Prompt         json.RawMessage `json:"prompt"`
	Stop           json.RawMessage `json:"stop"`
	Logprobs       json.RawMessage `json:"logprobs"`
	TopLogprobs    int             `json:"top_logprobs"`
	GoOn           bool            `json:"ignore_eos"`
	Grammar        string          `json:"grammar"`
	Format         struct {
		Type   string `json:"type"`
		Schema struct {
			Schema schema `json:"schema"`
		} `json:"json_schema"`
	} `json:"response_format"`
	Tools      []tool          `json:"tools"`
	ToolChoice json.RawMessage `json:"tool_choice"`
	Options    struct {
		Usage bool `json:"include_usage"`
	} `json:"stream_options"`
}

type tool struct {
	Function struct {
		Name       string `json:"name"`
		Parameters schema `json:"parameters"`
	} `json:"function"`
}

type schema struct {
	Type       string            `json:"type"`
	Enum       []json.RawMessage `json:"enum"`
	Properties map[string]schema `json:"properties"`
	Items      *schema           `json:"items"`
}

// value is the shortest one that the schema allows.
func (s schema) value() json.RawMessage {
	if len(s.Enum) > 0 {
		return s.Enum[0]
	}
	switch s.Type {
	case "string":
		return json.RawMessage(`"a"`)
	case "integer", "number":
		return json.RawMessage(`1`)
	case "boolean":
		return json.RawMessage(`true`)
	case "array":
		return json.RawMessage(`[]`)
	}
	fields := map[string]json.RawMessage{}
	for name, each := range s.Properties {
		fields[name] = each.value()
	}
	text, _ := json.Marshal(fields)
	return text
}

// What is answered: words, or a call.
type said struct {
	words           []string
	call, arguments string
	finish          string
}

func (s said) tokens() int {
	if s.call != "" {
		return 1 + len(strings.Fields(s.arguments))
	}
	return len(s.words)
}

// answer is the way of a request that is not the benchmark's.
func (s *server) answer(w http.ResponseWriter, r *http.Request, body []byte, chat bool) {
	var q question
	if err := json.Unmarshal(body, &q); err != nil {
		refuse(w, "invalid_request_error", "the body can't be read: "+err.Error(), nil)
		return
	}
	limit, err := q.limit()
	prompt, there := q.prompt(chat)
	switch {
	case err != nil:
		refuse(w, "invalid_request_error", err.Error(), nil)
		return
	case !there:
		refuse(w, "invalid_request_error", "there is nothing to answer to", nil)
		return
	case q.Format.Type != "" && q.Format.Type != "text" && q.Format.Type != "json_object" && q.Format.Type != "json_schema":
		refuse(w, "invalid_request_error", "there is no response_format "+strconv.Quote(q.Format.Type), nil)
		return
	}
	tokens, context := len(strings.Fields(prompt)), s.context/s.slots
	if tokens+1 > context {
		refuse(w, "exceed_context_size_error", fmt.Sprintf("request (%d tokens) exceeds the available context size (%d tokens), try increasing it", tokens, context),
			map[string]any{"n_prompt_tokens": tokens, "n_ctx": context})
		return
	}
	form := answerForm{server: s, question: &q, chat: chat, prompt: tokens, said: q.say(prompt, min(limit, context-tokens))}
	if q.Stream {
		form.stream(w)
	} else {
		form.whole(w)
	}
}

func refuse(w http.ResponseWriter, kind, message string, more map[string]any) {
	fields := map[string]any{"code": 400, "message": message, "type": kind}
	for name, value := range more {
		fields[name] = value
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusBadRequest)
	json.NewEncoder(w).Encode(map[string]any{"error": fields})
}

// limit is that of the answer's tokens.
func (q *question) limit() (int, error) {
	limit := eventsMax
	for _, raw := range []json.RawMessage{q.MaxTokens, q.NewerMaxTokens} {
		if given(raw) {
			if err := json.Unmarshal(raw, &limit); err != nil {
				return 0, fmt.Errorf("a limit of tokens has to be a whole number")
			}
		}
	}
	return limit, nil
}

// prompt is the text that a model would read, and whether there is one.
func (q *question) prompt(chat bool) (string, bool) {
	if chat {
		return promptText(q.Messages)
	}
	var text string
	return text, json.Unmarshal(q.Prompt, &text) == nil
}

func (q *question) say(prompt string, limit int) said {
	if call, forced := q.forcedCall(); forced {
		return said{call: call.Function.Name, arguments: string(call.Function.Parameters.value()), finish: "tool_calls"}
	}
	text, ended := "", true
	switch {
	case q.Grammar != "":
		text = literal(q.Grammar)
	case q.Format.Type == "json_schema":
		text = string(q.Format.Schema.Schema.value())
	case q.Format.Type == "json_object":
		text = `{"story": "river"}`
	case q.GoOn:
		text, ended = strings.Repeat(story, limit/len(strings.Fields(story))+1), false
	default:
		text = goOnWith(prompt)
	}
	for _, stop := range q.stops() {
		if at := strings.Index(text, stop); at >= 0 {
			text, ended = text[:at], true
		}
	}
	words := tokensOf(strings.TrimRight(text, " "))
	if len(words) > limit || !ended {
		return said{words: words[:min(limit, len(words))], finish: "length"}
	}
	return said{words: words, finish: "stop"}
}

func goOnWith(prompt string) string {
	for _, line := range byHeart {
		for begun := range line {
			// The line may stand at the end of the prompt; a word of it is not enough.
			if strings.HasPrefix(line[begun:], " ") && strings.Count(line[:begun], " ") > 0 && strings.HasSuffix(prompt, line[:begun]) {
				return line[begun:]
			}
		}
	}
	return strings.Repeat(story, storyTimes)
}

// tokensOf cuts before each blank behind a word.
func tokensOf(text string) (tokens []string) {
	begun := 0
	for i := 1; i < len(text); i++ {
		if text[i] == ' ' && text[i-1] != ' ' {
			tokens, begun = append(tokens, text[begun:i]), i
		}
	}
	return append(tokens, text[begun:])
}

// literal is the only text that a grammar of one rule with one literal allows.
func literal(grammar string) (text string) {
	_, quoted, _ := strings.Cut(grammar, "::=")
	json.Unmarshal([]byte(quoted), &text)
	return text
}

func (q *question) forcedCall() (tool, bool) {
	var word string
	var named tool
	json.Unmarshal(q.ToolChoice, &word)
	json.Unmarshal(q.ToolChoice, &named)
	for _, each := range q.Tools {
		if word == "required" || (named.Function.Name != "" && named.Function.Name == each.Function.Name) {
			return each, true
		}
	}
	return tool{}, false
}

func (q *question) stops() (stops []string) {
	var one string
	if json.Unmarshal(q.Stop, &one) == nil && one != "" {
		return []string{one}
	}
	json.Unmarshal(q.Stop, &stops)
	return stops
}

// wantsLogprobs takes both forms that there are: a switch for chats, a number for texts.
func (q *question) wantsLogprobs() bool {
	return given(q.Logprobs) && string(q.Logprobs) != "false" && string(q.Logprobs) != "0"
}

func given(raw json.RawMessage) bool { return len(raw) > 0 && string(raw) != "null" }

// promptText is what all messages say, as far as it is text; false where there is no message.
func promptText(raw json.RawMessage) (string, bool) {
	var messages []message
	if json.Unmarshal(raw, &messages) != nil || len(messages) == 0 {
		return "", false
	}
	var prompt strings.Builder
	for _, m := range messages {
		var text string
		var parts []part
		if json.Unmarshal(m.Content, &text) == nil {
			prompt.WriteString(text)
		} else if json.Unmarshal(m.Content, &parts) == nil {
			for _, p := range parts {
				prompt.WriteString(p.Text)
			}
		}
		prompt.WriteString("\n")
	}
	return prompt.String(), true
}

// An answer in the API's forms.
type answerForm struct {
	*server
	*question
	chat   bool
	prompt int
	said   said
}

func (f *answerForm) whole(w http.ResponseWriter) {
	text := strings.Join(f.said.words, "")
	choice := map[string]any{"index": 0, "finish_reason": f.said.finish}
	switch {
	case !f.chat:
		choice["text"] = text
	case f.said.call != "":
		choice["message"] = map[string]any{"role": "assistant", "content": nil, "tool_calls": []any{f.call(f.said.call, f.said.arguments)}}
	default:
		choice["message"] = map[string]any{"role": "assistant", "content": text}
	}
	if f.wantsLogprobs() {
		choice["logprobs"] = f.logprobs(f.said.words)
	}
	body := f.head(false, choice)
	body["usage"] = f.usage()
	reply(w, body)
}

func (f *answerForm) stream(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-cache")
	send := func(body map[string]any) {
		text, _ := json.Marshal(body)
		fmt.Fprintf(w, "data: %s\n\n", text)
		w.(http.Flusher).Flush()
	}
	delta := func(fields map[string]any) map[string]any {
		return map[string]any{"index": 0, "delta": fields, "finish_reason": nil}
	}
	if f.chat {
		send(f.head(true, delta(map[string]any{"role": "assistant", "content": nil})))
	}
	if f.said.call != "" {
		call := f.call(f.said.call, "")
		call["index"] = 0
		send(f.head(true, delta(map[string]any{"tool_calls": []any{call}})))
		rest := map[string]any{"index": 0, "function": map[string]any{"arguments": f.said.arguments}}
		send(f.head(true, delta(map[string]any{"tool_calls": []any{rest}})))
	}
	for _, word := range f.said.words {
		choice := delta(map[string]any{"content": word})
		if !f.chat {
			choice = map[string]any{"index": 0, "text": word, "finish_reason": nil}
		}
		if f.wantsLogprobs() {
			choice["logprobs"] = f.logprobs([]string{word})
		}
		send(f.head(true, choice))
	}
	last := map[string]any{"index": 0, "delta": map[string]any{}, "finish_reason": f.said.finish}
	if !f.chat {
		last = map[string]any{"index": 0, "text": "", "finish_reason": f.said.finish}
	}
	send(f.head(true, last))
	if f.Options.Usage {
		usage := f.head(true)
		usage["usage"] = f.usage()
		send(usage)
	}
	fmt.Fprint(w, "data: [DONE]\n\n")
}

func (f *answerForm) head(streamed bool, choices ...any) map[string]any {
	object := "text_completion"
	if f.chat {
		object = map[bool]string{false: "chat.completion", true: "chat.completion.chunk"}[streamed]
	}
	if choices == nil {
		choices = []any{}
	}
	return map[string]any{"id": "chatcmpl-fake", "object": object, "created": time.Now().Unix(), "model": f.model, "choices": choices}
}

func (f *answerForm) call(name, arguments string) map[string]any {
	return map[string]any{"id": "call_1", "type": "function", "function": map[string]any{"name": name, "arguments": arguments}}
}

func (f *answerForm) usage() map[string]any {
	tokens := f.said.tokens()
	return map[string]any{"prompt_tokens": f.prompt, "completion_tokens": tokens, "total_tokens": f.prompt + tokens}
}

func (f *answerForm) logprobs(words []string) map[string]any {
	content, top := make([]any, len(words)), f.TopLogprobs
	if !f.chat {
		json.Unmarshal(f.Logprobs, &top) // For a text the same field says how many.
	}
	for i, word := range words {
		options := []any{}
		for rank := 0; rank < top; rank++ {
			option := map[string]any{"token": word, "logprob": logprob, "bytes": nil}
			if rank > 0 {
				option = map[string]any{"token": fmt.Sprintf(" word%d", rank), "logprob": logprob - float64(rank)*2, "bytes": nil}
			}
			options = append(options, option)
		}
		content[i] = map[string]any{"token": word, "logprob": logprob, "bytes": nil, "top_logprobs": options}
	}
	return map[string]any{"content": content}
}
