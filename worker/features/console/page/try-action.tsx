/** A form for one action of an agent, made from its schema, and the result. */
import type { AnswerOf } from "@edgecall/client/client.ts";
import type { AgentView, SessionView } from "@edgecall/client/routes.ts";
import { useState } from "preact/hooks";
import { CommandReply } from "./command-reply.tsx";
import { Form } from "./controls.tsx";
import { type Field, fieldsOf, valuesOf } from "./form-values.ts";
import { Problem } from "./load.tsx";
import { useQuestionsOf } from "./open-questions.tsx";
import { useCommand } from "./use-command.ts";
import { Questions } from "./waiting.tsx";

type Action = AnswerOf<"GET /v1/console/agents/{agent}/actions">["actions"][number];
type Props = { agent: Pick<AgentView, "id" | "online">; action: Action; session: SessionView };

export function TryAction({ agent, action, session }: Props) {
  const fields = fieldsOf(action.parameters);
  const [typed, setTyped] = useState<ReadonlyMap<string, string>>(new Map());
  const { command, run, fail } = useCommand(agent.id);
  const { running, call, begun, reply, problem } = command;
  const questions = useQuestionsOf(call);

  async function tryIt() {
    const parameters = valuesOf(fields, typed);
    if (parameters.ok) await run(action.name, parameters.value, action.timeout_ms);
    else fail(parameters.error);
  }

  return (
    <Form class="try" aria-label={`Try ${action.name}`} onSend={tryIt}>
      <p class="quiet">
        {action.description}
        {action.effect && action.effect !== "read" && ` ${EFFECTS[action.effect] ?? "It changes something."}`}
      </p>
      {fields.map((field) => (
        <FieldView
          key={field.name}
          field={field}
          id={`${agent.id}-${action.name}-${field.name}`}
          value={typed.get(field.name) ?? ""}
          onValue={(text) => setTyped((before) => new Map(before).set(field.name, text))}
        />
      ))}
      <div class="row">
        <button type="submit" class="main" disabled={running || !agent.online}>
          {running ? "Running…" : "Try it"}
        </button>
        {!agent.online && <span class="quiet">It is offline.</span>}
      </div>
      <Questions of={questions} session={session} />
      {begun && <p role="status">{begun}</p>}
      <Problem text={problem} />
      {reply && <CommandReply reply={reply} agent={agent.id} />}
    </Form>
  );
}

const EFFECTS: Record<string, string> = {
  write: "It writes to the device.",
  exec: "It runs a program there.",
  device: "It acts on the device's hardware.",
};

type FieldProps = { field: Field; id: string; value: string; onValue: (text: string) => void };

function FieldView({ field, id, value, onValue }: FieldProps) {
  const { name, kind, required, description, choices } = field;
  const shared = {
    id,
    value,
    required,
    ...(description !== "" && { "aria-describedby": `${id}-about` }),
  };
  return (
    <div class="field">
      <label for={id}>
        {name}
        {required && <span class="must"> (required)</span>}
      </label>
      {kind === "flag" || kind === "choice" ? (
        <select {...shared} onChange={(event) => onValue(event.currentTarget.value)}>
          <option value="">{required ? "choose…" : "left to the device"}</option>
          {(kind === "flag" ? ["true", "false"] : choices).map((choice) => (
            <option value={choice}>{choice}</option>
          ))}
        </select>
      ) : kind === "json" ? (
        <textarea
          {...shared}
          rows={2}
          placeholder="JSON"
          onInput={(event) => onValue(event.currentTarget.value)}
        />
      ) : (
        <input
          {...shared}
          inputMode={kind === "number" ? "decimal" : "text"}
          autocomplete="off"
          onInput={(event) => onValue(event.currentTarget.value)}
        />
      )}
      {description !== "" && (
        <small id={`${id}-about`} class="quiet">
          {description}
        </small>
      )}
    </div>
  );
}
