/** Controls for what a device of the broker may be told, and the outcome in words. */
import type { DeviceView, SessionView } from "@edgecall/client/routes.ts";
import { useEffect, useRef, useState } from "preact/hooks";
import { CommandReply } from "../command-reply.tsx";
import { type Control, controlsOf } from "../control-kinds.ts";
import { Small } from "../controls.tsx";
import { Problem } from "../load.tsx";
import { useQuestionsOf } from "../open-questions.tsx";
import { useCommand } from "../use-command.ts";
import { Questions } from "../waiting.tsx";

/** A slider's value counts when it has not changed for so long. */
const SETTLED_MS = 400;

type Props = {
  device: DeviceView;
  session: SessionView;
  look: () => Promise<unknown>;
};

export function DeviceControls({ device, session, look }: Props) {
  const { command, run } = useCommand(device.id, look);
  const { running, call, reply, problem, begun } = command;
  const questions = useQuestionsOf(call);
  const controls = controlsOf(device);
  if (controls.length === 0) return null;
  const send = (action: string, parameters: Record<string, unknown>) => {
    const timeoutMs = device.actions.find(({ name }) => name === action)?.timeout_ms;
    return run(action, parameters, timeoutMs);
  };
  return (
    <>
      <div class="controls">
        {controls.map((control) => (
          <ControlView
            key={`${control.action} ${"parameter" in control ? control.parameter : ""}`}
            control={control}
            device={device.name}
            disabled={running || !device.online || control.disabled === true}
            send={send}
          />
        ))}
      </div>
      {running && questions.length === 0 && (
        <p class="quiet" role="status">
          {begun ?? "Sent; waiting until its state confirms it…"}
        </p>
      )}
      <Questions of={questions} session={session} />
      <Problem text={problem} />
      {reply && <CommandReply reply={reply} agent={device.id} />}
    </>
  );
}

type ControlProps = {
  control: Control;
  /** Its name. */
  device: string;
  disabled: boolean;
  send: (action: string, parameters: Record<string, unknown>) => Promise<void>;
};

function ControlView({ control, device, disabled, send }: ControlProps) {
  const { action, part, isDangerous } = control;
  const about = part === "" ? device : `${part} of ${device}`;
  const tell = (parameters: Record<string, unknown>) => void send(action, parameters);
  switch (control.kind) {
    case "press":
      return (
        <button
          type="button"
          class={isDangerous ? "small bad" : "small"}
          disabled={disabled}
          aria-label={`${control.label}: ${device}`}
          onClick={() => tell({})}
        >
          {control.label}
        </button>
      );
    case "switch":
      return (
        <fieldset class="switch">
          <legend class="quiet">{[part, isDangerous && ASKS].filter(Boolean).join(", ")}</legend>
          {[true, false].map((on) => (
            <Small
              key={String(on)}
              disabled={disabled}
              aria-pressed={control.value === on}
              aria-label={`${on ? "On" : "Off"}: ${about}`}
              onClick={() => tell({ on })}
            >
              {on ? "On" : "Off"}
            </Small>
          ))}
        </fieldset>
      );
    case "choice":
      return (
        <label class="control">
          {[part, control.label, isDangerous && ASKS].filter(Boolean).join(" ")}
          <select
            value={control.value ?? ""}
            disabled={disabled}
            aria-label={`${control.label} of ${about}`}
            onChange={({ currentTarget: { value } }) => value !== "" && tell({ [control.parameter]: value })}
          >
            {control.value === undefined && <option value="">not known</option>}
            {control.options.map((option) => (
              <option value={option}>{option}</option>
            ))}
          </select>
        </label>
      );
    case "range":
      return <Range control={control} about={about} disabled={disabled} tell={tell} />;
  }
}

/** Of a dangerous action. */
const ASKS = "(asks each time)";

type RangeProps = {
  control: Control & { kind: "range" };
  about: string;
  disabled: boolean;
  tell: (parameters: Record<string, unknown>) => void;
};

/** It sends when it was let go, or when the keyboard's arrows have come to rest. */
function Range({ control, about, disabled, tell }: RangeProps) {
  const { parameter, part, isDangerous, label, minimum, maximum, step, unit, value } = control;
  /** Since it was moved, until what was sent has ended. */
  const [wanted, setWanted] = useState<number>();
  const shown = wanted ?? value;
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  // The device's report is shown again then, whatever was asked.
  useEffect(() => {
    if (!disabled) setWanted(undefined);
  }, [disabled]);
  useEffect(() => () => clearTimeout(timer.current), []);
  const send = (wanted: number) => {
    clearTimeout(timer.current);
    timer.current = setTimeout(() => tell({ [parameter]: wanted }), SETTLED_MS);
  };
  return (
    <label class="control">
      <span>
        {[part, label, isDangerous && ASKS].filter(Boolean).join(" ")}{" "}
        <output>{shown === undefined ? "not known" : `${shown} ${unit}`.trim()}</output>
      </span>
      <input
        type="range"
        min={minimum}
        max={maximum}
        step={step}
        value={shown ?? minimum}
        disabled={disabled}
        aria-label={`${label} of ${about}`}
        // Dragged back to where it began, it has nothing to send.
        onInput={({ currentTarget: { valueAsNumber } }) =>
          setWanted(valueAsNumber === value ? undefined : valueAsNumber)
        }
        onChange={({ currentTarget }) => send(currentTarget.valueAsNumber)}
      />
    </label>
  );
}
