"""A client in Python, with the standard library alone: it asks one question and prints the answer.

    EDGECALL_URL=http://localhost:8787 EDGECALL_TOKEN=… python3 ask.py "How full is the root disk?"
"""

import json
import os
import sys
import time
import urllib.error
import urllib.request
import uuid

URL = os.environ.get("EDGECALL_URL", "http://localhost:8787")
TOKEN = os.environ.get("EDGECALL_TOKEN", "")
CONVERSATION = f"{URL}/v1/conversations/example-python"


def call(url, body=None, **headers):
    request = urllib.request.Request(
        url,
        data=None if body is None else json.dumps(body).encode(),
        headers={"authorization": f"Bearer {TOKEN}", "content-type": "application/json", **headers},
    )
    try:
        with urllib.request.urlopen(request, timeout=60) as response:
            return json.load(response)
    except urllib.error.HTTPError as error:
        # Each error has words for a person, which name the wrong field.
        sys.exit(json.load(error)["error"]["message"])


def main():
    text = " ".join(sys.argv[1:])
    # A repeat under the same key is the same question: nothing is done twice.
    key = {"idempotency-key": str(uuid.uuid4())}
    turn = call(f"{CONVERSATION}/messages", {"text": text}, **key)
    # A slow device, or a person who has to say yes.
    while turn["status"] == "running":
        for question in turn.get("waiting", {}).get("questions", []):
            print(f"waits for you: {question['text']}", file=sys.stderr)
        time.sleep(1)
        turn = call(f"{CONVERSATION}/turns/{turn['turn']}")
    print(turn["answer"])
    sys.exit(0 if turn["status"] == "done" else 1)


main()
