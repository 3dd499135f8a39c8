/** One machine, or an agent that another home lends: its state, its actions, its program, its key. */
import type { AgentView, SessionView } from "@edgecall/client/routes.ts";
import { counted } from "@edgecall/core/text/counted.ts";
import { visible } from "@edgecall/core/tools/visible.ts";
import { useState } from "preact/hooks";
import { Actions } from "../actions.tsx";
import { addressOfPlace } from "../address.ts";
import { client, errorText } from "../api.ts";
import { useAttempt } from "../attempt.ts";
import { Conditions, Readmit } from "../conditions.tsx";
import { Small } from "../controls.tsx";
import { Problem, Skeleton, useLoaded } from "../load.tsx";
import { NewText } from "../new-text.tsx";
import { Mark } from "../parts/parts.tsx";
import { PermissionLines, usePermissions } from "../permissions.tsx";
import { Sure } from "../sure.tsx";
import { say } from "../texts/say.ts";
import { ago, duration } from "../times.ts";
import { AgentUpdate } from "../update-program.tsx";

type Props = {
  id: string;
  /** The gateway's version; undefined until it is known. */
  gateway: string | undefined;
  session: SessionView;
  look: () => void;
};

export function MachinePage({ id, look, ...more }: Props) {
  const { value, problem, reload } = useLoaded("GET /v1/agents/{agent}", { path: { agent: id } });
  const lookAgain = () => {
    void reload();
    look();
  };
  if (!value) return problem ? <Problem text={problem} /> : <Skeleton lines={4} />;
  return <AgentCard agent={value} {...more} look={lookAgain} />;
}

type CardProps = {
  agent: AgentView;
  /** The gateway's version; undefined until it is known. */
  gateway: string | undefined;
  session: SessionView;
  look: () => void;
};

function AgentCard({ agent, gateway, session, look }: CardProps) {
  const [opened, setOpened] = useState(false);
  const { failed, attempt } = useAttempt();
  const mayCommand = session.scopes?.includes("command") ?? false;
  // A paired device cannot be removed before its key is revoked.
  const mayRemove = !agent.online && !agent.paired && (session.scopes?.includes("admin") ?? false);
  const remove = () =>
    attempt(async () => {
      await client.json("DELETE /v1/agents/{agent}", { path: { agent: agent.id } });
      location.hash = addressOfPlace("devices");
    });
  return (
    <article class="card device-page" aria-labelledby={`agent-${agent.id}`}>
      <header>
        <Mark icon="machine" tone={agent.online ? (agent.problem ? "bad" : "plain") : "gone"} large />
        <div class="grow">
          <h2 id={`agent-${agent.id}`}>{agent.id}</h2>
          <p>
            <strong class="state">{agent.status}</strong>
          </p>
        </div>
      </header>
      <p class="advert">{visible(agent.capabilities)}</p>
      <dl class="facts">
        <Fact name="Last seen" value={agent.online ? "now" : ago(agent.last_seen, Date.now())} />
        {agent.group !== undefined && <Fact name="Group" value={agent.group} />}
        <Fact name="Last used" value={ago(agent.last_active, Date.now())} />
        <Fact name="Version" value={agent.version ?? (agent.foreign ? "a foreign agent" : "unknown")} />
        <Fact name="Calls" value={countsOf(agent)} />
      </dl>
      {agent.conditions === undefined && !agent.online && agent.reason && <p class="quiet">{agent.reason}</p>}
      <Conditions of={agent.conditions} />
      <Readmit agent={agent} session={session} look={look} />
      <NewText agent={agent} session={session} look={look} />
      <Unasked id={agent.id} />
      {mayCommand && (
        <div class="row">
          <Ping agent={agent.id} disabled={!agent.online} />
          {agent.actions.length > 0 && (
            <Small aria-expanded={opened} onClick={() => setOpened(!opened)}>
              {opened ? "Close" : counted(agent.actions.length, "action")}
            </Small>
          )}
        </div>
      )}
      {mayRemove && (
        <div class="row">
          <Sure label="Remove" about={agent.id} onSure={() => void remove()} />
        </div>
      )}
      <Problem text={failed} />
      {mayCommand && gateway !== undefined && (
        <AgentUpdate agent={agent} gateway={gateway} session={session} onDone={look} />
      )}
      {opened && <Actions agent={agent} session={session} />}
      {agent.paired && session.scopes?.includes("admin") && (
        <p>
          <a href="#/setup/keys">{say("keysOfDevices")}</a>
        </p>
      )}
    </article>
  );
}

/** What it may be told without a question; nothing where nothing is. */
function Unasked({ id }: { id: string }) {
  const { permissions, look } = usePermissions(id);
  if (permissions.length === 0) return null;
  return (
    <section>
      <h3>{say("permissions")}</h3>
      <ul class="rows who-may">
        <PermissionLines permissions={permissions} look={look} />
      </ul>
    </section>
  );
}

function Fact({ name, value }: { name: string; value: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  );
}

function countsOf({ counts }: AgentView): string {
  const { calls, error, open } = counts;
  return [`${calls}`, error > 0 && `${error} failed`, open > 0 && `${open} open`].filter(Boolean).join(", ");
}

function Ping({ agent, disabled }: { agent: string; disabled: boolean }) {
  const [text, setText] = useState("");
  const [asking, setAsking] = useState(false);
  async function ping() {
    setAsking(true);
    const began = performance.now();
    try {
      const reply = await client.json("POST /v1/agents/{agent}/commands", {
        path: { agent },
        body: { command: "ping" },
      });
      const there = performance.now() - began;
      setText(
        "status" in reply
          ? "no answer within 25 s"
          : `${duration(there)} round trip, ${duration(reply.elapsed_ms)} of it from the gateway`,
      );
    } catch (error) {
      setText(errorText(error));
    }
    setAsking(false);
  }
  return (
    <>
      <Small disabled={disabled || asking} onClick={() => ping()}>
        {asking ? "Asking…" : "Ping"}
      </Small>
      <output class="quiet">{text}</output>
    </>
  );
}
