/** The command with which a machine joins, and how far it has come. */
import type { AnswerOf } from "@edgecall/client/client.ts";
import { isLoopback } from "@edgecall/core/protocol/addresses.ts";
import { useEffect, useRef, useState } from "preact/hooks";
import { client } from "./api.ts";
import { CopyButton } from "./copy-button.tsx";
import { Pre } from "./markdown-view.tsx";
import { say } from "./texts/say.ts";

type Code = AnswerOf<"POST /v1/device-codes">;
type CodeState = AnswerOf<"GET /v1/device-codes/{code}">;

/** How often the state of a code is requested. */
const LOOK_EVERY_MS = 3_000;

export function Joining({ code, onJoined }: { code: Code; onJoined: () => void }) {
  const [seen, setSeen] = useState<CodeState>({ state: "open" });
  const isOver = seen.state === "expired" || seen.online === true;
  const box = useRef<HTMLDivElement>(null);
  // Scrolls to the code, which may be out of sight below a long form.
  useEffect(() => box.current?.scrollIntoView({ block: "nearest" }), []);
  useEffect(() => {
    if (isOver) return;
    const timer = setInterval(() => {
      client.json("GET /v1/device-codes/{code}", { path: { code: code.code } }).then(
        (state) => {
          setSeen(state);
          if (state.online) onJoined();
        },
        // The next request may reach the gateway again.
        () => {},
      );
    }, LOOK_EVERY_MS);
    return () => clearInterval(timer);
  }, [code.code, isOver]);
  return (
    <div class="list" ref={box}>
      {seen.state === "open" && (
        <>
          {isLoopback(/https?:\S+/.exec(code.command)?.[0] ?? "") && (
            <div class="notice">
              <p>{say("openFirst")}</p>
              <code>HOST=0.0.0.0 MQTT_URL=mqtt://192.168.1.2:1883 npm start</code>
              <p>{say("thisMachine")}</p>
            </div>
          )}
          <p>{say("onDevice")}</p>
          <Pre label="Command for the device" text={code.command} />
          <CopyButton text={code.command} />
          {code.command.includes("--with-bridge") && (
            <p class="quiet">It becomes the home's bridge and replaces an existing one.</p>
          )}
        </>
      )}
      <p role="status">{codeText(seen)}</p>
    </div>
  );
}

function codeText(seen: CodeState): string {
  if (seen.state !== "used")
    return seen.state === "open" ? "Waiting for the device…" : "The code has expired. Make a new one.";
  if (seen.online) return `${seen.agent} is online. Its key: ${seen.fingerprint}`;
  return `${seen.agent} has its keys; waiting until it is online…`;
}
