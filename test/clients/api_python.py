"""Asks a question and approves what it needs, with a client that openapi-python-client made of the gateway's openapi.json.

usage: api_python.py FOLDER GATEWAY TOKEN QUESTION; FOLDER has the generated package `edgecall_api`
"""

import json
import sys
import time

folder, gateway, token, question = sys.argv[1:]
sys.path.insert(0, folder)

from edgecall_api import AuthenticatedClient  # noqa: E402
from edgecall_api.api.agents import get_agents  # noqa: E402
from edgecall_api.api.conversations import get_conversation_turn, post_conversation_messages  # noqa: E402
from edgecall_api.api.questions import get_questions, post_question  # noqa: E402
from edgecall_api.models import (  # noqa: E402
    AgentPage,
    Error,
    OpenQuestion,
    PostConversationMessagesBody,
    PostQuestionBody,
    QuestionList,
    TurnResult,
)

CONVERSATION = "python"
PAUSE_S = 0.1
WITHIN_S = 40


def expect(value, kind):
    if not isinstance(value, kind):
        raise SystemExit(f"expected {kind.__name__}, got {value}")
    return value


def wait_for(find, what):
    end = time.monotonic() + WITHIN_S
    while time.monotonic() < end:
        found = find()
        if found:
            return found
        time.sleep(PAUSE_S)
    raise SystemExit(f"timed out: {what}")


client = AuthenticatedClient(base_url=gateway, token=token)
page = expect(get_agents.sync(client=client), AgentPage)

unknown = PostConversationMessagesBody(text="?", model="no-such-model")
refused = expect(post_conversation_messages.sync(CONVERSATION, client=client, body=unknown), Error)

# The turn is asked for with an answer at once, since it waits for this program.
begun = post_conversation_messages.sync_detailed(
    CONVERSATION, client=client, body=PostConversationMessagesBody(text=question), prefer="wait=0"
)
turn = expect(begun.parsed, TurnResult)
asked = wait_for(lambda: expect(get_questions.sync(client=client), QuestionList).questions, "a question")[0]
answered = post_question.sync(asked.id, client=client, body=PostQuestionBody(answer="approve"))


def ended():
    result = expect(get_conversation_turn.sync(CONVERSATION, turn.turn, client=client), TurnResult)
    return result if result.status != "running" else None


result = wait_for(ended, "the end of the turn")
print(
    json.dumps(
        {
            "agents": [agent.id for agent in page.agents],
            "refused": refused.error.code,
            "begun": [begun.status_code, turn.status],
            "asked": {"agent": asked.agent, "tool": asked.approval.tool, "parameters": asked.approval.parameters.to_dict()},
            "answered": expect(answered, OpenQuestion).answer,
            "status": result.status,
            "answer": result.answer,
            "calls": [[call.agent, call.action, call.status] for call in result.calls],
        }
    )
)
