"""The MCP client from PyPI against a gateway. Prints what it found, as JSON.

usage: mcp_client.py URL TOKEN auto|legacy
"""

import asyncio
import json
import sys

from mcp import Client
from mcp.client.streamable_http import create_mcp_http_client, streamable_http_client

URL, TOKEN, MODE = sys.argv[1:]


async def main():
    notes = []

    async def on_progress(progress, total, message):
        notes.append(message)

    async with create_mcp_http_client({"Authorization": f"Bearer {TOKEN}"}) as http:
        async with Client(streamable_http_client(URL, http_client=http), mode=MODE) as client:
            tools = await client.list_tools()
            call = {"agent_id": "pi", "action": "temperature"}
            temperature = await client.call_tool("edge_call", call)
            slow = await client.call_tool("pi__slow", {"ms": 400, "chunks": 4}, progress_callback=on_progress)
            wrong = await client.call_tool("edge_call", {"agent_id": "nobody", "query": "x"})
            print(
                json.dumps(
                    {
                        "tools": [tool.name for tool in tools.tools],
                        "temperature": temperature.content[0].text,
                        "slow": slow.is_error,
                        "notes": "".join(notes),
                        "wrong": wrong.is_error,
                    }
                )
            )


asyncio.run(main())
