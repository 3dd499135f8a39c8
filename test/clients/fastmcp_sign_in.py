"""fastmcp signs in to a gateway and calls a device. It opens the browser itself, and requests the address itself before.

usage: fastmcp_sign_in.py URL
"""

import asyncio
import json
import sys

from fastmcp import Client


async def main():
    async with Client(sys.argv[1], auth="oauth") as client:
        tools = await client.list_tools()
        temperature = await client.call_tool("pi__temperature", {})
    print(
        json.dumps(
            {"tools": [tool.name for tool in tools], "temperature": temperature.content[0].text}
        )
    )


asyncio.run(main())
