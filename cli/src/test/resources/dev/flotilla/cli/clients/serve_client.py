"""What the openai package makes of `flotilla serve`: one line of JSON for each thing tried."""

import json
import os

import openai

MODEL = os.environ["FLOTILLA_MODEL"]
MESSAGES = [{"role": "user", "content": "What is the weather in Rome?"}]
CITY = {
    "type": "object",
    "properties": {"city": {"type": "string", "enum": ["Rome", "Paris"]}},
    "required": ["city"],
    "additionalProperties": False,
}
TOOLS = [{"type": "function", "function": {"name": "weather", "parameters": CITY}}]


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
    return {
        "text": "".join(c.delta.content or "" for chunk in chunks for c in chunk.choices),
        "tokens": chunks[-1].usage.completion_tokens,
    }


def tool(client):
    call = (
        client.chat.completions.create(
            model=MODEL, messages=MESSAGES, tools=TOOLS, tool_choice="required", max_tokens=200
        )
        .choices[0]
        .message.tool_calls[0]
    )
    return {"name": call.function.name, "arguments": json.loads(call.function.arguments)}


def tool_streamed(client):
    name, arguments, pieces, finish = "", "", 0, ""
    for chunk in client.chat.completions.create(
        model=MODEL,
        messages=MESSAGES,
        tools=TOOLS,
        tool_choice={"type": "function", "function": {"name": "weather"}},
        max_tokens=200,
        stream=True,
    ):
        for choice in chunk.choices:
            finish = choice.finish_reason or finish
            for call in choice.delta.tool_calls or []:
                name += call.function.name or ""
                arguments += call.function.arguments or ""
                pieces += 1 if call.function.arguments else 0
    return {
        "name": name,
        "arguments": json.loads(arguments),
        "pieces": pieces,
        "finish": finish,
    }


def schema(client):
    reply = client.chat.completions.create(
        model=MODEL,
        messages=MESSAGES,
        max_tokens=100,
        response_format={
            "type": "json_schema",
            "json_schema": {"name": "city", "schema": CITY, "strict": True},
        },
    )
    return json.loads(reply.choices[0].message.content)


def unknown_option(client):
    client.chat.completions.create(
        model=MODEL, messages=MESSAGES, extra_body={"mirostat": 2}, max_tokens=1
    )


def outcome(client, tried):
    try:
        return tried(client)
    except openai.APIStatusError as error:
        return {"status": error.status_code, "message": error.message}


def main():
    client = openai.OpenAI()
    for tried in (streamed, tool, tool_streamed, schema, unknown_option):
        print(json.dumps({"tried": tried.__name__, "outcome": outcome(client, tried)}))


main()
