/** Shows what is wrong with a device or the bridge, each with its cure, in the words of every list and doctor. */
import type { AgentView, SessionView } from "@edgecall/client/routes.ts";
import { client } from "./api.ts";
import { useAttempt } from "./attempt.ts";
import { Small } from "./controls.tsx";
import { Problem } from "./load.tsx";

type Shown = NonNullable<AgentView["conditions"]>;

export function Conditions({ of }: { of: Shown | undefined }) {
  return (
    <>
      {of?.map(({ code, severity, text, cure }) => (
        <div key={code} class={severity === "wrong" ? "notice" : "quiet"}>
          <p>{text}</p>
          <p class="quiet">→ {cure}</p>
        </div>
      ))}
    </>
  );
}

type ReadmitProps = { agent: Pick<AgentView, "id" | "conditions">; session: SessionView; look: () => void };

/** The button is for a device whose numbers are old. It connects anew when it is told. */
export function Readmit({ agent, session, look }: ReadmitProps) {
  const { failed, attempt } = useAttempt(look);
  const isOld = agent.conditions?.some(({ code }) => code === "old_numbers");
  if (!isOld || !session.scopes?.includes("admin")) return null;
  const readmit = () =>
    attempt(() => client.json("POST /v1/agents/{agent}/readmit", { path: { agent: agent.id } }));
  return (
    <>
      <div class="row">
        <Small onClick={() => readmit()}>Let it in again</Small>
      </div>
      <Problem text={failed} />
    </>
  );
}
