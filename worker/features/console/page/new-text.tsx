/** Shows a device's changed description of itself, which an administrator can accept. */
import type { AgentView, SessionView } from "@edgecall/client/routes.ts";
import { visible } from "@edgecall/core/tools/visible.ts";
import { client } from "./api.ts";
import { useAttempt } from "./attempt.ts";
import { Small } from "./controls.tsx";
import { Problem } from "./load.tsx";

type Props = {
  agent: Pick<AgentView, "id" | "capabilities" | "hosted" | "new_text">;
  session: SessionView;
  look: () => void;
};

export function NewText({ agent, session, look }: Props) {
  const { failed, attempt } = useAttempt(look);
  const { new_text: text } = agent;
  if (!text) return null;
  const accept = () =>
    attempt(() =>
      client.json("POST /v1/agents/{agent}/accept-text", {
        path: { agent: agent.id },
        // The line shown here, so that a newer one is not accepted unseen. What a hosted device says of itself is only a part of its line.
        body: { line: agent.hosted ? text.line : agent.capabilities },
      }),
    );
  return (
    <div class="notice">
      <p>
        {text.by_use
          ? "Its first description counts among agents without a key; calls to other devices ask for approval until this is accepted."
          : `${changeOf(text)}; calls to other devices ask for approval until this is accepted.`}
      </p>
      {text.line !== undefined && <p>Now: {visible(text.line)}</p>}
      {text.was !== undefined && <p>Accepted before: {visible(text.was)}</p>}
      {text.group !== undefined && (
        <p>New group: {text.group}. It then gets calls to any agent of that group.</p>
      )}
      {text.actions.length > 0 && <p>New actions: {text.actions.join(", ")}</p>}
      {session.scopes?.includes("admin") && <Small onClick={() => accept()}>Accept text</Small>}
      <Problem text={failed} />
    </div>
  );
}

function changeOf({ line, group, actions }: NonNullable<AgentView["new_text"]>): string {
  if (line !== undefined) return "Its description has changed";
  return group !== undefined && actions.length === 0 ? "It has joined a group" : "It offers new actions";
}
