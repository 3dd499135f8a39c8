"""Clients from PyPI, as their documentation has them used, against a gateway. Prints what each came to, as JSON.

usage: clients.py BASE_URL API_KEY NAME QUESTION [QUESTION …]
"""

import json
import sys

from pydantic import BaseModel

BASE_URL, API_KEY, NAME, QUESTION, *MORE = sys.argv[1:]


class Disk(BaseModel):
    """How full a disk is."""

    percent: int


def weather(city: str) -> str:
    """Tells the weather.

    Args:
        city: where
    """
    return f"rain in {city}"


WEATHER = {
    "type": "function",
    "function": {
        "name": "weather",
        "description": "Tells the weather.",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    },
}


def client():
    from openai import OpenAI

    return OpenAI(base_url=BASE_URL, api_key=API_KEY)


def openai_chat():
    messages = [{"role": "user", "content": QUESTION}]
    first = client().chat.completions.create(model="edgecall", messages=messages, tools=[WEATHER])
    message = first.choices[0].message
    messages.append(message)
    for call in message.tool_calls:
        text = weather(**json.loads(call.function.arguments))
        messages.append({"role": "tool", "tool_call_id": call.id, "content": text})
    second = client().chat.completions.create(model="edgecall", messages=messages, tools=[WEATHER])
    return {"finish": first.choices[0].finish_reason, "text": second.choices[0].message.content}


def openai_stream():
    with client().chat.completions.stream(
        model="edgecall", messages=[{"role": "user", "content": QUESTION}], tools=[WEATHER]
    ) as stream:
        for _ in stream:
            pass
        choice = stream.get_final_completion().choices[0]
    call = choice.message.tool_calls[0].function
    return {"finish": choice.finish_reason, "text": f"{call.name} {call.arguments}"}


def openai_responses():
    tool = {"type": "function", **WEATHER["function"]}
    first = client().responses.create(model="edgecall", input=QUESTION, tools=[tool])
    outputs = [
        {
            "type": "function_call_output",
            "call_id": item.call_id,
            "output": weather(**json.loads(item.arguments)),
        }
        for item in first.output
        if item.type == "function_call"
    ]
    second = client().responses.create(
        model="edgecall", input=outputs, previous_response_id=first.id, tools=[tool]
    )
    return {"text": second.output_text}


def openai_responses_stream():
    tool = {"type": "function", **WEATHER["function"]}
    with client().responses.stream(model="edgecall", input=QUESTION, tools=[tool]) as stream:
        for _ in stream:
            pass
        final = stream.get_final_response()
    return {"text": " ".join(f"{item.name} {item.arguments}" for item in final.output if item.type == "function_call")}


def instructor_():
    import instructor

    disk = instructor.from_openai(client()).chat.completions.create(
        model="edgecall", response_model=Disk, messages=[{"role": "user", "content": QUESTION}], max_retries=0
    )
    return {"percent": disk.percent}


def pydantic_ai():
    from pydantic_ai import Agent
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider

    model = OpenAIChatModel("edgecall", provider=OpenAIProvider(base_url=BASE_URL, api_key=API_KEY))
    agent = Agent(model, output_type=Disk, tools=[weather])
    return {"percent": agent.run_sync(QUESTION).output.percent}


def langchain():
    from langchain_core.messages import HumanMessage, ToolMessage
    from langchain_core.tools import tool
    from langchain_openai import ChatOpenAI

    chat = ChatOpenAI(model="edgecall", base_url=BASE_URL, api_key=API_KEY)
    bound = chat.bind_tools([tool(weather)])
    messages = [HumanMessage(QUESTION)]
    reply = bound.invoke(messages)
    messages.append(reply)
    for call in reply.tool_calls:
        messages.append(ToolMessage(weather(**call["args"]), tool_call_id=call["id"]))
    text = bound.invoke(messages).content
    disk = chat.with_structured_output(Disk, method="function_calling").invoke(MORE[0])
    return {"text": text, "percent": disk.percent}


def smolagents_():
    from smolagents import OpenAIServerModel, ToolCallingAgent, tool

    model = OpenAIServerModel(model_id="edgecall", api_base=BASE_URL, api_key=API_KEY)
    agent = ToolCallingAgent(tools=[tool(weather)], model=model, max_steps=4, verbosity_level=0)
    return {"text": str(agent.run(QUESTION))}


RUN = {
    "openai": openai_chat,
    "openai-stream": openai_stream,
    "openai-responses": openai_responses,
    "openai-responses-stream": openai_responses_stream,
    "instructor": instructor_,
    "pydantic-ai": pydantic_ai,
    "langchain-openai": langchain,
    "smolagents": smolagents_,
}
print(json.dumps(RUN[NAME]()))
