/** The empty conversation: shows the devices, example questions for them, and the model. */
import type { AgentView } from "@edgecall/client/routes.ts";
import { visible } from "@edgecall/core/tools/visible.ts";
import { Skeleton, useLoaded } from "./load.tsx";

/** The name of the local stack's stand-in model, which knows only a few sentences. */
const STAND_IN = "stand-in";
const EXAMPLES = 3;
/** Devices that are named; of more the number is told. */
const NAMED = 12;

/** Example questions for actions; the first ones that fit are shown. */
const ASKS: ReadonlyArray<[action: string, ask: (id: string) => string]> = [
  ["temperature", (id) => `How warm is ${id}?`],
  ["disk", (id) => `How full is the disk of ${id}?`],
  ["memory", (id) => `How much memory is free on ${id}?`],
  ["camera", (id) => `Show me a picture from ${id}.`],
  ["system_info", (id) => `What machine is ${id}, and how long has it been up?`],
  ["ls", (id) => `Which files are in the workspace of ${id}?`],
];

export function Welcome({ onAsk }: { onAsk: (text: string) => void }) {
  const agents = useLoaded("GET /v1/agents", { query: { online: "yes", limit: NAMED } });
  const models = useLoaded("GET /v1/console/usage").value?.models;
  const online = agents.value?.agents ?? [];
  const others = (agents.value?.total ?? 0) - online.length;
  return (
    <div class="welcome">
      <p>
        Ask about your devices, or tell them what to do. An action that changes something waits for your
        approval.
      </p>
      {!agents.value && !agents.problem && <Skeleton lines={3} />}
      {agents.value && (
        <>
          {online.length === 0 ? (
            <p class="quiet">
              No device is online. <a href="#/fleet">Fleet</a> shows the command that adds one.
            </p>
          ) : (
            <ul class="devices">
              {online.map(({ id, capabilities }) => (
                <li>
                  <strong>{id}</strong> <small>{visible(capabilities)}</small>
                </li>
              ))}
              {others > 0 && (
                <li>
                  and {others.toLocaleString()} more: <a href="#/fleet">Fleet</a> finds them
                </li>
              )}
            </ul>
          )}
          {examplesFor(online).map((text) => (
            <button type="button" onClick={() => onAsk(text)}>
              {text}
            </button>
          ))}
        </>
      )}
      {models && <ModelNames names={models.map(({ name }) => name)} />}
    </div>
  );
}

function ModelNames({ names }: { names: string[] }) {
  const [first] = names;
  if (first === undefined)
    return <p class="notice">No model is configured: set LLM_BASE_URL and LLM_MODEL.</p>;
  if (first !== STAND_IN) return <p class="quiet">Answered by {names.join(", ")}.</p>;
  return (
    <p class="notice">
      This model is a stand-in that knows only a few sentences. For a real one set LLM_BASE_URL and LLM_MODEL.
    </p>
  );
}

/** Returns three questions that the devices can answer, spread over as many devices as possible. */
function examplesFor(agents: ReadonlyArray<Pick<AgentView, "id" | "actions" | "foreign">>): string[] {
  const each = agents.map(({ id, actions, foreign }) => [
    ...ASKS.filter(([action]) => actions.includes(action)).map(([, ask]) => ask(id)),
    ...(foreign ? [`What can ${id} do?`] : []),
  ]);
  const found: string[] = [];
  for (let round = 0; found.length < EXAMPLES && each.some((texts) => texts.length > round); round += 1)
    // A different question for each device.
    for (const [at, texts] of each.entries()) {
      const text = texts[(at + round) % Math.max(texts.length, 1)];
      if (text !== undefined && found.length < EXAMPLES && !found.includes(text)) found.push(text);
    }
  return agents.length > 0 && found.length < EXAMPLES ? [...found, "Which of my devices are online?"] : found;
}
