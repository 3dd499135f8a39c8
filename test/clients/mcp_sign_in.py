"""The MCP client from PyPI signs in to a gateway and calls a device. Prints what it got, as JSON.

The sign-in's address is given to the program in BROWSER, which prints where it was sent to.

usage: mcp_sign_in.py URL
"""

import asyncio
import json
import os
import subprocess
import sys
from urllib.parse import parse_qs, urlsplit

import httpx2
from mcp import Client
from mcp.client.auth import AuthorizationCodeResult, OAuthClientProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import OAuthClientMetadata

URL = sys.argv[1]
REDIRECT = "http://127.0.0.1:33419/callback"


class Storage:
    tokens = None
    client = None

    async def get_tokens(self):
        return self.tokens

    async def set_tokens(self, tokens):
        self.tokens = tokens

    async def get_client_info(self):
        return self.client

    async def set_client_info(self, client):
        self.client = client


async def main():
    storage = Storage()
    sent_to = []

    async def redirect(url):
        done = await asyncio.to_thread(
            subprocess.run, [os.environ["BROWSER"], url], capture_output=True, text=True, check=True
        )
        sent_to.append(done.stdout.strip())

    async def callback():
        query = parse_qs(urlsplit(sent_to[-1]).query)
        return AuthorizationCodeResult(
            code=query["code"][0], state=query["state"][0], iss=query["iss"][0]
        )

    metadata = OAuthClientMetadata(
        client_name="Python client",
        redirect_uris=[REDIRECT],
        grant_types=["authorization_code", "refresh_token"],
        response_types=["code"],
        token_endpoint_auth_method="none",
    )
    auth = OAuthClientProvider(URL, metadata, storage, redirect, callback)
    async with httpx2.AsyncClient(auth=auth, follow_redirects=True, timeout=30) as http:
        async with Client(streamable_http_client(URL, http_client=http)) as client:
            tools = await client.list_tools()
            temperature = await client.call_tool("pi__temperature", {})
    print(
        json.dumps(
            {
                "tools": [tool.name for tool in tools.tools],
                "temperature": temperature.content[0].text,
                "scope": storage.tokens.scope,
                "signed_in": len(sent_to),
            }
        )
    )


asyncio.run(main())
