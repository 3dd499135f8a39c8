/** Shows a device's changed description of itself, which an administrator can accept. */
import { visible } from "@edgecall/core/tools/visible.ts";
import { useState } from "preact/hooks";
import { send, wordsOf } from "./api.ts";
import { Problem } from "./load.tsx";
import type { Agent, Session } from "./shapes.ts";

export function NewText({ agent, session, look }: { agent: Agent; session: Session; look: () => void }) {
  const [problem, setProblem] = useState<string>();
  const { new_text: text } = agent;
  if (!text) return null;
  async function accept() {
    try {
      // Sends the line shown here, so that a newer one is not accepted unseen.
      const body = { line: agent.capabilities };
      await send(`/v1/agents/${agent.id}/accept-text`, { method: "POST", body });
      setProblem(undefined);
    } catch (error) {
      setProblem(wordsOf(error));
    }
    look();
  }
  return (
    <div class="notice">
      <p>{changeOf(text)}; calls to other devices ask for approval until this is accepted.</p>
      {text.line !== undefined && <p>Now: {visible(text.line)}</p>}
      {text.was !== undefined && <p>Accepted before: {visible(text.was)}</p>}
      {text.group !== undefined && (
        <p>New group: {text.group}. It then gets calls to any agent of that group.</p>
      )}
      {text.actions.length > 0 && <p>New actions: {text.actions.join(", ")}</p>}
      {session.scopes?.includes("admin") && (
        <button type="button" class="small" onClick={() => void accept()}>
          Accept text
        </button>
      )}
      <Problem text={problem} />
    </div>
  );
}

function changeOf({ line, group, actions }: NonNullable<Agent["new_text"]>): string {
  if (line !== undefined) return "Its description has changed";
  return group !== undefined && actions.length === 0 ? "It has joined a group" : "It offers new actions";
}
