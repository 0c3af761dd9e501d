"""What the openai package makes of a hub: one line of JSON for each thing tried."""

import json
import os

import openai

MODEL = os.environ["FLOTILLA_MODEL"]
MESSAGES = [{"role": "user", "content": "Say hi"}]
TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "weather",
            "description": "The weather of a city",
            "parameters": {
                "type": "object",
                "properties": {"city": {"type": "string"}},
                "required": ["city"],
            },
        },
    }
]


def models(client):
    return [model.id for model in client.models.list()]


def whole(client):
    return seen(client.chat.completions.create(model=MODEL, messages=MESSAGES, max_tokens=8))


def streamed(client):
    chunks = list(
        client.chat.completions.create(
            model=MODEL,
            messages=MESSAGES,
            max_tokens=8,
            stream=True,
            stream_options={"include_usage": True},
        )
    )
    text = "".join(c.delta.content or "" for chunk in chunks for c in chunk.choices)
    return {
        "models": sorted({chunk.model for chunk in chunks}),
        "text": text,
        "finish": [c.finish_reason for chunk in chunks for c in chunk.choices][-1],
        "tokens": chunks[-1].usage.completion_tokens,
    }


def tools(client):
    return seen(
        client.chat.completions.create(
            model=MODEL, messages=MESSAGES, max_tokens=8, tools=TOOLS, tool_choice="auto"
        )
    )


def legacy_whole(client):
    reply = client.completions.create(model=MODEL, prompt="Once upon a time", max_tokens=8)
    return {
        "model": reply.model,
        "text": reply.choices[0].text,
        "finish": reply.choices[0].finish_reason,
        "tokens": reply.usage.completion_tokens,
    }


def legacy_streamed(client):
    chunks = list(
        client.completions.create(
            model=MODEL,
            prompt="Once upon a time",
            max_tokens=8,
            stream=True,
            stream_options={"include_usage": True},
        )
    )
    return {
        "models": sorted({chunk.model for chunk in chunks}),
        "text": "".join(c.text for chunk in chunks for c in chunk.choices),
        "finish": [c.finish_reason for chunk in chunks for c in chunk.choices][-1],
        "tokens": chunks[-1].usage.completion_tokens,
    }


def unknown_model(client):
    client.chat.completions.create(model="no-such-model", messages=MESSAGES)


def unknown_model_streamed(client):
    list(client.chat.completions.create(model="no-such-model", messages=MESSAGES, stream=True))


def embeddings(client):
    client.embeddings.create(model=MODEL, input="hello")


def wrong_key(client):
    client.with_options(api_key="fk_wrong").chat.completions.create(
        model=MODEL, messages=MESSAGES
    )


def seen(completion):
    return {
        "model": completion.model,
        "text": completion.choices[0].message.content,
        "calls": len(completion.choices[0].message.tool_calls or []),
        "finish": completion.choices[0].finish_reason,
        "tokens": completion.usage.completion_tokens,
    }


def outcome(client, tried):
    try:
        return tried(client)
    except openai.APIStatusError as error:
        return {
            "raised": type(error).__name__,
            "status": error.status_code,
            "code": error.code,
            "message": error.message,
        }


def main():
    client = openai.OpenAI()
    for tried in (
        models,
        whole,
        streamed,
        tools,
        legacy_whole,
        legacy_streamed,
        unknown_model,
        unknown_model_streamed,
        embeddings,
        wrong_key,
    ):
        print(json.dumps({"tried": tried.__name__, "outcome": outcome(client, tried)}))


main()
