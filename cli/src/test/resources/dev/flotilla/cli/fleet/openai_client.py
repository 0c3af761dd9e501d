"""What a user of the openai package does: a chat in one piece, a chat as a stream, the list of models."""

import sys

from openai import NotFoundError, OpenAI

client = OpenAI(base_url=sys.argv[1], api_key="no-key-is-demanded")
model = sys.argv[2]

assert [m.id for m in client.models.list()] == [model]

messages = [{"role": "user", "content": "Say hi"}]
whole = client.chat.completions.create(model=model, messages=messages, max_tokens=16)
assert whole.choices[0].message.content, whole
assert whole.choices[0].finish_reason in ("stop", "length"), whole
assert whole.usage.completion_tokens > 0, whole
assert whole.model == model, whole

text, end, usage = "", None, None
stream = client.chat.completions.create(
    model=model, messages=messages, max_tokens=16, stream=True, stream_options={"include_usage": True}
)
for chunk in stream:
    assert chunk.model == model, chunk
    if chunk.choices:
        text += chunk.choices[0].delta.content or ""
        end = chunk.choices[0].finish_reason or end
    usage = chunk.usage or usage
assert text and end in ("stop", "length") and usage.completion_tokens > 0, (text, end, usage)

legacy = client.completions.create(model=model, prompt="The sea is", max_tokens=8)
assert legacy.choices[0].text, legacy

try:
    client.chat.completions.create(model="nobody", messages=messages)
    raise AssertionError("an unknown model was answered")
except NotFoundError as error:
    assert "nobody" in str(error), error

print("all is well")
