"""LiteLLM as a library, from PyPI, against a gateway. Prints what each question came to, as JSON.

usage: litellm_client.py BASE_URL TOKEN <QUESTIONS
"""

import json
import sys

import litellm

BASE_URL, TOKEN = sys.argv[1:]
QUESTIONS = json.load(sys.stdin)
COMMON = {"model": "openai/edgecall", "api_base": BASE_URL, "api_key": TOKEN, "max_retries": 0}
FUNCTION = {
    "name": "weather",
    "description": "Tells the weather.",
    "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
}
TOOLS = [{"type": "function", "function": FUNCTION}]


def weather(city):
    return f"rain in {city}"


def user(content):
    return {"role": "user", "content": content}


def ask(messages, **more):
    return litellm.completion(messages=messages, **{**COMMON, **more})


def completion(question):
    reply = ask([user(question)])
    return {"text": reply.choices[0].message.content, "tokens": reply.usage.total_tokens}


def stream(question):
    chunks = list(ask([user(question)], stream=True, stream_options={"include_usage": True}))
    whole = litellm.stream_chunk_builder(chunks)
    return {"text": whole.choices[0].message.content, "tokens": whole.usage.total_tokens, "chunks": len(chunks) > 2}


def loop(first, second, streaming):
    messages = [user(first)]
    for question in (second, None):
        while True:
            reply = ask(messages, tools=TOOLS, stream=streaming)
            if streaming:
                reply = litellm.stream_chunk_builder(list(reply), messages=messages)
            message = reply.choices[0].message
            messages.append(message.model_dump())
            if not message.tool_calls:
                break
            for call in message.tool_calls:
                content = weather(**json.loads(call.function.arguments))
                messages.append({"role": "tool", "tool_call_id": call.id, "content": content})
        if question:
            messages.append(user(question))
    return [one["content"] for one in messages if one["role"] == "assistant" and not one.get("tool_calls")]


def tools(first, second):
    return loop(first, second, False)


def tools_streamed(first, second):
    return loop(first, second, True)


def responses(first, second):
    tool = {"type": "function", **FUNCTION}
    one = litellm.responses(input=first, tools=[tool], **COMMON)
    calls = [item for item in one.output if item.type == "function_call"]
    results = [
        {"type": "function_call_output", "call_id": call.call_id, "output": weather(**json.loads(call.arguments))}
        for call in calls
    ]
    two = litellm.responses(input=results, tools=[tool], previous_response_id=one.id, **COMMON)
    three = litellm.responses(input=second, previous_response_id=two.id, store=False, **COMMON)
    return [two.output_text, three.output_text, three.store]


def responses_stream(question):
    events = list(litellm.responses(input=question, stream=True, **COMMON))
    return "".join(event.delta for event in events if event.type == "response.output_text.delta")


def picture(question, url):
    parts = [{"type": "text", "text": question}, {"type": "image_url", "image_url": {"url": url}}]
    return ask([user(parts)]).choices[0].message.content


def form(question):
    schema = {"type": "object", "properties": {"percent": {"type": "integer"}}}
    wanted = {"type": "json_schema", "json_schema": {"name": "disk", "schema": schema}}
    return json.loads(ask([user(question)], response_format=wanted).choices[0].message.content)


def wrong_key(question):
    return ask([user(question)], api_key="nobody-has-this-token").choices[0].message.content


def wrong_model(question):
    return ask([user(question)], model="openai/gpt-9").choices[0].message.content


def failing(question):
    return ask([user(question)]).choices[0].message.content


RUN = {
    run.__name__: run
    for run in (
        *(completion, stream, tools, tools_streamed, responses, responses_stream),
        *(picture, form, wrong_key, wrong_model, failing),
    )
}
came_to = {}
for name, question in QUESTIONS.items():
    try:
        came_to[name] = RUN[name](*question)
    except Exception as error:
        came_to[name] = {"error": f"{type(error).__name__}: {error}"}
print(json.dumps(came_to))
