/** The empty conversation: shows the devices, example questions for them, and the model. */
import { visible } from "@edgecall/core/tools/visible.ts";
import { examplesFor } from "./examples.ts";
import { Skeleton, useLoaded } from "./load.tsx";

/** Devices that are named; of more the number is told. */
const NAMED = 12;

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
              No device is online. <a href="#/devices/:add">Devices</a> shows the command that adds one.
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
                  and {others.toLocaleString()} more: <a href="#/devices">Devices</a> finds them
                </li>
              )}
            </ul>
          )}
          {examplesFor(online, models !== undefined && models.length > 0).map((text) => (
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
  if (names.length > 0) return <p class="quiet">Answered by {names.join(", ")}.</p>;
  return (
    <p class="notice">
      No model is configured, so plain sentences alone are understood. For others choose one under{" "}
      <a href="#/setup/model">Setup, Model</a>.
    </p>
  );
}
