/** Offers an agent's actions, and the form of the chosen one. */
import type { AgentView, SessionView } from "@edgecall/client/routes.ts";
import { useState } from "preact/hooks";
import { Select } from "./controls.tsx";
import { Problem, useLoaded } from "./load.tsx";
import { TryAction } from "./try-action.tsx";

export function Actions({
  agent,
  session,
}: {
  agent: Pick<AgentView, "id" | "online">;
  session: SessionView;
}) {
  const path = { agent: agent.id };
  const { value, problem } = useLoaded("GET /v1/console/agents/{agent}/actions", { path });
  const [chosen, setChosen] = useState("");
  const actions = value?.actions.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const action = actions?.find(({ name }) => name === chosen);
  return (
    <div class="actions">
      <Problem text={problem} />
      {actions && (
        <Select label="Action" value={chosen} onChoose={setChosen}>
          <option value="">choose one…</option>
          {actions.map(({ name }) => (
            <option value={name}>{name}</option>
          ))}
        </Select>
      )}
      {action && <TryAction key={action.name} agent={agent} action={action} session={session} />}
    </div>
  );
}
