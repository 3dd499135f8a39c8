/** Ways to add something to the home. A machine joins with one command. For administrators. */
import type { AnswerOf } from "@edgecall/client/client.ts";
import { useState } from "preact/hooks";
import { client } from "../api.ts";
import { useAttempt } from "../attempt.ts";
import { Field } from "../controls.tsx";
import { Joining } from "../joining.tsx";
import { Problem } from "../load.tsx";
import { LinkLine } from "../parts/parts.tsx";
import { say } from "../texts/say.ts";

type Code = AnswerOf<"POST /v1/device-codes">;

type Props = {
  /** Its machines have a broker already. */
  hasBridge: boolean;
  onJoined: () => void;
};

export function AddDevice({ hasBridge, onJoined }: Props) {
  const [code, setCode] = useState<Code>();
  const { failed, attempt } = useAttempt();
  const [broker, setBroker] = useState("");

  /** @param agent `@bridge`: the bridge, if there is one */
  const make = (agent?: string) =>
    attempt(async () => {
      // An older code could be mistaken for the new one.
      setCode(undefined);
      const body = { ...(agent && { agent }), ...(broker.trim() && { broker: { url: broker.trim() } }) };
      setCode(await client.json("POST /v1/device-codes", { body }));
    });

  const bridge = (
    <>
      <div class="row">
        <Field
          label={say("broker")}
          value={broker}
          placeholder="mqtt://192.168.1.2:1883"
          onValue={setBroker}
        />
        <button type="button" onClick={() => void make("@bridge")}>
          {say("addBridge")}
        </button>
      </div>
      <p class="quiet">{say("bridgeIs")}</p>
    </>
  );
  return (
    <section class="card device-page" aria-labelledby="add-device">
      <h2 id="add-device">{say("addDevice")}</h2>
      <section>
        <h3>{say("addMachine")}</h3>
        <p class="quiet">{say("addMachineText")}</p>
        <div class="row">
          <button type="button" class="main" onClick={() => void make()}>
            {say("showCommand")}
          </button>
        </div>
        {hasBridge ? (
          <details>
            <summary>{say("more")}</summary>
            {bridge}
          </details>
        ) : (
          bridge
        )}
        <Problem text={failed} />
        {code && <Joining key={code.code} code={code} onJoined={onJoined} />}
      </section>
      <section>
        <h3>{say("addBroker")}</h3>
        <p class="quiet">{say("addBrokerText")}</p>
      </section>
      <section>
        <h3>Home Assistant</h3>
        <p class="quiet">{say("addHomeAssistantText")}</p>
      </section>
      <ul class="rows">
        <LinkLine icon="globe" title={say("addLent")} second={say("addLentText")} href="#/setup/lending" />
      </ul>
    </section>
  );
}
