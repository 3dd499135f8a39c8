"""openai-agents from PyPI against a gateway, with each of OpenAI's APIs and with MCP. Prints what each question came to, as JSON.

usage: agents_client.py GATEWAY TOKEN <QUESTIONS   (by API, responses or chat)
"""

import asyncio
import json
import sys

from agents import (
    Agent,
    ModelSettings,
    OpenAIChatCompletionsModel,
    OpenAIResponsesModel,
    Runner,
    function_tool,
    set_tracing_disabled,
)
from agents.mcp import MCPServerStreamableHttp
from openai import AsyncOpenAI
from pydantic import BaseModel

GATEWAY, TOKEN = sys.argv[1:]
QUESTIONS = json.load(sys.stdin)
# It would be sent to OpenAI.
set_tracing_disabled(True)


class Disk(BaseModel):
    percent: int


@function_tool
def weather(city: str) -> str:
    """Tells the weather.

    Args:
        city: where
    """
    return f"rain in {city}"


MODELS = {"responses": OpenAIResponsesModel, "chat": OpenAIChatCompletionsModel}
api = "responses"


def agent(key=TOKEN, name="edgecall", **more):
    client = AsyncOpenAI(base_url=f"{GATEWAY}/v1", api_key=key, max_retries=0)
    return Agent(name="helper", instructions="Be brief.", model=MODELS[api](name, client), **more)


def user(content):
    return {"role": "user", "content": content}


async def tools(first, second):
    one = await Runner.run(agent(tools=[weather]), first)
    two = await Runner.run(agent(tools=[weather]), [*one.to_input_list(), user(second)])
    return [one.final_output, two.final_output]


async def streamed(first, second):
    texts = []
    earlier = []
    for question in (first, second):
        run = Runner.run_streamed(agent(tools=[weather]), [*earlier, user(question)])
        deltas = ""
        async for event in run.stream_events():
            if event.type == "raw_response_event" and event.data.type == "response.output_text.delta":
                deltas += event.data.delta
        texts.append([run.final_output, deltas])
        earlier = run.to_input_list()
    return texts


async def unstored(first, second):
    settings = ModelSettings(store=False)
    one = await Runner.run(agent(tools=[weather], model_settings=settings), first)
    two = await Runner.run(agent(tools=[weather], model_settings=settings), [*one.to_input_list(), user(second)])
    return [one.final_output, two.final_output, one.last_response_id]


async def continued(first, second):
    one = await Runner.run(agent(tools=[weather]), first, auto_previous_response_id=True)
    two = await Runner.run(agent(tools=[weather]), second, previous_response_id=one.last_response_id)
    return [one.final_output, two.final_output]


async def output(question):
    return (await Runner.run(agent(output_type=Disk), question)).final_output.percent


async def picture(question, url):
    parts = [{"type": "input_text", "text": question}, {"type": "input_image", "image_url": url, "detail": "auto"}]
    return (await Runner.run(agent(), [user(parts)])).final_output


async def wrong_key(question):
    return (await Runner.run(agent(key="nobody-has-this-token"), question)).final_output


async def wrong_model(question):
    return (await Runner.run(agent(name="gpt-9"), question)).final_output


async def failing(question):
    return (await Runner.run(agent(), question)).final_output


async def mcp(question):
    params = {"url": f"{GATEWAY}/mcp", "headers": {"Authorization": f"Bearer {TOKEN}"}}
    # `edge_call` is also a tool of the gateway's own model.
    only = {"allowed_tool_names": ["pi__temperature", "pi__picture"]}
    async with MCPServerStreamableHttp(params, tool_filter=only, cache_tools_list=True) as server:
        names = [tool.name for tool in await server.list_tools()]
        run = await Runner.run(agent(mcp_servers=[server]), question)
        shot = await server.call_tool("pi__picture", {"bytes": 20_000})
        prompts = await server.list_prompts()
        for _ in range(100):
            resources = (await server.list_resources()).resources
            if resources:
                break
            await asyncio.sleep(0.1)
        read = await server.read_resource(str(resources[0].uri))
        return {
            "names": names,
            "text": run.final_output,
            "picture": [part.type for part in shot.content],
            "prompts": len(prompts.prompts),
            "resource": len(read.contents[0].blob),
        }


RUN = {
    run.__name__: run
    for run in (
        *(tools, streamed, unstored, continued, output),
        *(picture, wrong_key, wrong_model, failing, mcp),
    )
}


async def main():
    global api
    came_to = {}
    for api, questions in QUESTIONS.items():
        came_to[api] = {}
        for name, question in questions.items():
            try:
                came_to[api][name] = await RUN[name](*question)
            except Exception as error:
                came_to[api][name] = {"error": f"{type(error).__name__}: {error}"}
    print(json.dumps(came_to))


asyncio.run(main())
