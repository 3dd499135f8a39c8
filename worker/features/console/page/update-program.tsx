/** A button that updates a bridge or agent of another version to the gateway's program. */
import type { AnswerOf } from "@edgecall/client/client.ts";
import type { AgentView, SessionView } from "@edgecall/client/routes.ts";
import type { UPDATE_ACTION as Action } from "@edgecall/core/protocol/versions.ts";
import { useEffect, useState } from "preact/hooks";
import { client } from "./api.ts";
import { useAttempt } from "./attempt.ts";
import { Conditions } from "./conditions.tsx";
import { Small } from "./controls.tsx";
import { Problem } from "./load.tsx";
import { useQuestionsOf } from "./open-questions.tsx";
import { ago } from "./times.ts";
import { useCommand } from "./use-command.ts";
import { Questions } from "./waiting.tsx";

/** Only the type is imported, because the module would add the wire's schemas to the page. */
const UPDATE_ACTION: typeof Action = "update_self";
const LOOK_EVERY_MS = 3_000;

type AgentProps = { agent: AgentView; gateway: string; session: SessionView; onDone: () => void };

export function AgentUpdate({ agent, gateway, session, onDone }: AgentProps) {
  const { command, run } = useCommand(agent.id);
  const questions = useQuestionsOf(command.call);
  const { running, begun, reply, problem } = command;
  useEffect(() => {
    if (reply) onDone();
  }, [reply]);
  const canUpdate = agent.actions.includes(UPDATE_ACTION) && agent.version !== gateway;
  if (!canUpdate && !running && !reply) return null;
  const failed = reply && reply.payload.status !== "success";
  return (
    <>
      {canUpdate && (
        <UpdateButton
          name={agent.id}
          version={gateway}
          running={running}
          disabled={!agent.online}
          onPress={() => void run(UPDATE_ACTION, {})}
        />
      )}
      <Questions of={questions} session={session} />
      {begun && <p role="status">It installs the new program and restarts.</p>}
      <Problem text={problem ?? (failed ? String(reply.payload.error ?? "The update failed.") : undefined)} />
      {reply && !failed && <p role="status">{String(reply.payload.result ?? "updated")}</p>}
    </>
  );
}

type Status = AnswerOf<"GET /v1/status">;
/** @property look requests the status again */
type BridgeProps = { status: Status; session: SessionView; look: () => void };

export function Bridge({ status, session, look }: BridgeProps) {
  const { bridge, version: gateway } = status;
  /** The id of the update that was started here; outcomes of others are ignored. */
  const [asked, setAsked] = useState<string>();
  const { failed, attempt } = useAttempt();
  const { update: last } = bridge;
  const running = asked !== undefined && (last?.id !== asked || last.ok === null);
  const ended = running ? undefined : last;
  useEffect(() => {
    if (!running) return;
    const timer = setInterval(look, LOOK_EVERY_MS);
    return () => clearInterval(timer);
  }, [running]);

  const update = () =>
    attempt(async () => {
      const { id } = await client.json("POST /v1/bridge/update");
      setAsked(id);
      look();
    });

  const mayUpdate = session.scopes?.includes("admin") && bridge.updates && bridge.version !== gateway;
  return (
    <section class="panel" aria-labelledby="bridge">
      <div class="row">
        <h2 id="bridge">Bridge</h2>
        <span class={`state ${bridge.online ? "online" : ""}`}>{bridge.online ? "online" : "offline"}</span>
        <span class="quiet">{bridgeText(bridge)}</span>
        {(mayUpdate || running) && (
          <UpdateButton
            name="bridge"
            version={gateway}
            running={running}
            disabled={false}
            onPress={() => void update()}
          />
        )}
      </div>
      <Problem text={failed ?? (ended?.ok === false ? ended.text : undefined)} />
      <Conditions of={bridge.conditions} />
      {ended?.ok && <p role="status">{ended.text}</p>}
    </section>
  );
}

function bridgeText({ id, version, online, last_seen }: Status["bridge"]): string {
  if (id === null)
    return "No bridge has connected yet. It runs on a machine at home and connects to this gateway.";
  const seen = online ? "" : `, last seen ${ago(last_seen, Date.now())}`;
  return `${id}, ${version ?? "of an unknown version"}${seen}`;
}

type ButtonProps = {
  name: string;
  version: string;
  running: boolean;
  disabled: boolean;
  onPress: () => void;
};

function UpdateButton({ name, version, running, disabled, onPress }: ButtonProps) {
  const text = running ? "Updating…" : `Update to ${version}`;
  return (
    <Small aria-label={`${text} (${name})`} disabled={disabled || running} onClick={onPress}>
      {text}
    </Small>
  );
}
