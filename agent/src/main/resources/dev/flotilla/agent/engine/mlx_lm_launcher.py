"""mlx-lm's server with one route more: POST /tokenize says how many tokens a request's prompt has.

mlx-lm never looks at its context's length, so that is the hub's to hold, and the hub needs somebody who counts. The
body is that of a chat or of a completion; the answer is {"count": N}, as vLLM has it, by the server's own tokenizer and
template. Nothing is generated, and no request waits for it. Everything else, options among it, is mlx-lm's.
"""

import copy
import json
import sys
import threading
import types

from mlx_lm import server

BODY_BYTES_MAX = 8 << 20


class Loading(Exception):
    pass


class Counter:
    """Counts with a copy of the tokenizer: the server's own belongs to the thread that generates."""

    def __init__(self):
        self.lock = threading.Lock()
        self.copied = None
        self.tokenizer = None

    def count(self, generator, body):
        with self.lock:
            loaded = generator.model_provider.tokenizer
            if loaded is None:
                raise Loading("the model is being loaded")
            if loaded is not self.copied:
                self.tokenizer = copy.deepcopy(loaded)
                self.copied = loaded
            if "messages" in body:
                request = server.CompletionRequest("chat", "", body["messages"], body.get("tools") or None, None)
            else:
                request = server.CompletionRequest("text", body["prompt"], [], None, None)
            arguments = types.SimpleNamespace(chat_template_kwargs=body.get("chat_template_kwargs"))
            return len(generator._tokenize(self.tokenizer, request, arguments)[0])


COUNTER = Counter()
answer_post = server.APIHandler.do_POST


def do_post(handler):
    if handler.path != "/tokenize":
        answer_post(handler)
        return
    try:
        length = int(handler.headers.get("Content-Length", "-1"))
        if not 0 <= length <= BODY_BYTES_MAX:
            raise ValueError("a body of 0 to %d bytes is wanted" % BODY_BYTES_MAX)
        body = json.loads(handler.rfile.read(length).decode())
        status, said = 200, {"count": COUNTER.count(handler.response_generator, body)}
    except Loading as e:
        status, said = 503, {"error": str(e)}
    except Exception as e:  # whatever a template or a foreign version of mlx-lm thinks of it
        status, said = 400, {"error": "%s: %s" % (type(e).__name__, e)}
    reply = json.dumps(said).encode()
    handler.send_response(status)
    handler.send_header("Content-Type", "application/json")
    handler.send_header("Content-Length", str(len(reply)))
    handler.end_headers()
    handler.wfile.write(reply)


if __name__ == "__main__":
    server.APIHandler.do_POST = do_post
    sys.exit(server.main())
